"""Groups of rows, their means and spreads, and a strange row."""

import numpy as np
import pandas as pd

from infinimix import CRPMixture

rng = np.random.default_rng(1)
group = rng.integers(0, 3, 150)
X = pd.DataFrame({"x": rng.normal(6.0 * group), "y": rng.normal(-4.0 * group)})
model = CRPMixture(effort="fast", random_state=0).fit(X)
print(model.n_groups_, "groups; shares", model.weights_.round(2))
print(model.means_.round(1), model.spreads_.round(1), sep="\n")
print(model.group_proba(X[:3]).round(3))
print(model.anomaly_score([{"x": 0.0, "y": -8.0}], calibrated=True))
