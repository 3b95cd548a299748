"""Few labels and many rows without."""

import numpy as np

from infinimix import FiniteMixtureClassifier

rng = np.random.default_rng(4)
truth = np.arange(120) % 2
X = rng.normal(4.0 * truth[:, None], 1.0, (120, 2))
labels = [str(t) if k < 4 else None for k, t in enumerate(truth)]
model = FiniteMixtureClassifier(n_init=2, random_state=0).fit(X, labels)
print("right:", (model.predict(X).astype(int) == truth).mean())
