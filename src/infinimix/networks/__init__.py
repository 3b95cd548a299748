"""Bayesian networks whose variables have roles.

`BlockmodelBayesNet` (`estimator`) is the door. Compiled code is in `engine`: `scores` (families),
`candidates` (parents), `blocks` and `acyclicity` (priors), `model` and `chain` (chains over
graphs), their moves `graph_moves`, `set_moves`, `reversal`, `relocation`, `node_swaps` and
`class_moves`, `ordered`, `ordered_moves` and `ordered_chain` (chains with the graph summed out).
Around it: `columns` and `knowledge` (what goes in), `problem` (what chains share), `starts`,
`chains` and `ordered_chains` (from start to record), `completion` (missing cells), `posterior` and
`summary` (from records to fitted attributes), `states`, `predictive` and `answers` (what comes
out). `slices` makes pairs of rows of sequences. `franchise`, `several`, `joint` and `weights` are
for several networks that share their roles. `network`, `bif` and `elimination` are networks with
known tables.

`BlockmodelMarkovNet` (`undirected`) and `BlockmodelDynamicNet` (`dynamic`) need no acyclicity: they
share `free_net`, `free_chains` and `engine.free_graphs`, and take all else from the above.
"""

from infinimix.networks.bif import from_bif, read_network, to_bif
from infinimix.networks.dynamic import BlockmodelDynamicNet
from infinimix.networks.estimator import BlockmodelBayesNet
from infinimix.networks.franchise import NetworkFranchise
from infinimix.networks.network import BayesNet, sample_network
from infinimix.networks.slices import pair_slices
from infinimix.networks.undirected import BlockmodelMarkovNet

__all__ = [
    "BayesNet",
    "BlockmodelBayesNet",
    "BlockmodelDynamicNet",
    "BlockmodelMarkovNet",
    "NetworkFranchise",
    "from_bif",
    "pair_slices",
    "read_network",
    "sample_network",
    "to_bif",
]
