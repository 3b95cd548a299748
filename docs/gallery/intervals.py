"""A number with an interval around it."""

import numpy as np

from infinimix import CRPRegressor

rng = np.random.default_rng(2)
x = rng.uniform(-3, 3, 200)
y = np.sin(x) + rng.normal(0, 0.1 + 0.1 * (x > 0), 200)
model = CRPRegressor(effort="fast", random_state=0).fit(x[:150, None], y[:150])
low, high = model.predict_interval(x[150:, None], coverage=0.9).T
print("covered:", ((low <= y[150:]) & (y[150:] <= high)).mean())
print(model.predict([[0.0], [1.5]]).round(2))
