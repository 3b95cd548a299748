"""A classifier for a table with missing cells, and why it answers so."""

import numpy as np
import pandas as pd

from infinimix import AClassClassifier

rng = np.random.default_rng(0)
kind = np.array(["ant", "bee"] * 40)
X = pd.DataFrame(
    {
        "size": np.where(kind == "ant", 3.0, 8.0) + rng.normal(size=80),
        "colour": np.where((kind == "bee") & (rng.random(80) < 0.8), "yellow", "black"),
    }
)
X = X.mask(rng.random(X.shape) < 0.3)
model = AClassClassifier(effort="fast", random_state=0).fit(X[:60], kind[:60])
print("right:", (model.predict(X[60:]) == kind[60:]).mean())
print(model.explain({"size": None, "colour": "yellow"}))
