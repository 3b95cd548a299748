"""A Bayesian network: edges, a query, the most probable row."""

import pandas as pd

from infinimix.networks import BlockmodelBayesNet, sample_network

truth = sample_network((2, 3), random_state=3)
X = pd.DataFrame(truth.sample(400, random_state=0), columns=truth.names)
model = BlockmodelBayesNet(n_iter=200, n_chains=2, random_state=0).fit(X)
print(model.edge_table(threshold=0.3).round(2))
print(model.query("x0", {"x3": 1}))
print(model.most_probable(given={"x3": 1}))
print(model.markov_blanket("x4"))
