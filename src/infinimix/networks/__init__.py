"""Bayesian networks whose variables have roles.

The estimators are `bayes_net`, `markov_net`, `dynamic_net` and `franchise`; `graph_net` has what
those of one graph share, and `unconstrained_net` what the middle two do besides. Compiled code is
in `engine`: `families`, `mixed_scores` and `scores`, `candidates` (parents), `blocks`, `acyclicity`
and `constants` (priors), `model` and `chain` (chains over graphs), their moves `graph_moves`,
`set_moves`, `reversal`, `relocation`, `node_swaps` and `class_moves`; `layers`, `groups` and
`order_jumps` (whole graphs of many nodes); `ordered`, `ordered_moves` and `ordered_chain` (chains
with the graph summed out); `unconstrained` (graphs that may have cycles); `signs`, `monotone`,
`signed_scores` and `signed_moves` (effects with signs). Around it, `learning` goes from a table to
marginals: `columns` and `knowledge` (what goes in), `problem` (what chains share), `starts`,
`chains`, `ordered_chains`, `signed_chains` and `unconstrained_chains` (from start to record),
`completion`, `conditional`, `mixed_completion` and `completed_tables` (missing cells), `posterior`
and `summary` (from records to fitted attributes). `answers` is what comes out, `shared` is for
several networks that share their roles, and `interchange` has networks with known tables, their
files, other libraries and plots.
"""

from infinimix.networks.bayes_net import BlockmodelBayesNet
from infinimix.networks.dynamic_net import BlockmodelDynamicNet
from infinimix.networks.franchise import NetworkFranchise
from infinimix.networks.interchange.bif import from_bif, read_network, to_bif
from infinimix.networks.interchange.gaussian import LinearGaussianNet
from infinimix.networks.interchange.network import BayesNet, sample_network
from infinimix.networks.learning.slices import pair_slices
from infinimix.networks.markov_net import BlockmodelMarkovNet

__all__ = [
    "BayesNet",
    "BlockmodelBayesNet",
    "BlockmodelDynamicNet",
    "BlockmodelMarkovNet",
    "LinearGaussianNet",
    "NetworkFranchise",
    "from_bif",
    "pair_slices",
    "read_network",
    "sample_network",
    "to_bif",
]
