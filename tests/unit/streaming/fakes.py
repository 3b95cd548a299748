"""Small models whose answers are obvious: they count labels."""

from collections import Counter

import numpy as np

from infinimix.estimators.online.forecast import NEW_CLASS, Forecast


class TableCounter:
    """Of scikit-learn's kind; every class has its share of the rows so far."""

    def __init__(self):
        self.counts = Counter()
        self.calls = []

    def partial_fit(self, X, y):
        if any(label == "refused" for label in y):
            raise ValueError("this label is refused")
        self.calls.append(len(y))
        self.counts.update(y)
        self.classes_ = np.array(sorted(self.counts))
        return self

    def predict_proba(self, X):
        n = X.shape[0] if hasattr(X, "shape") else len(X)
        share = np.array([self.counts[label] for label in self.classes_.tolist()], float)
        return np.tile(share / share.sum(), (n, 1))


class OpenCounter(TableCounter):
    """It also believes in new classes, and says so while rows are few."""

    def new_class_proba(self, X):
        return np.full(len(X), 1 / (1 + sum(self.counts.values())))

    def predict(self, X):
        answer = NEW_CLASS if self.new_class_proba(X)[0] > 0.3 else self.classes_[0]
        return np.array([answer] * len(X), dtype=object)


class RowCounter:
    """Of River's kind."""

    def __init__(self):
        self.counts = Counter()
        self.rows = []

    def learn_one(self, x, y):
        self.rows.append(x)
        self.counts[y] += 1

    def predict_proba_one(self, x):
        total = sum(self.counts.values())
        return {label: self.counts[label] / total for label in sorted(self.counts)}


class Scripted:
    """A model with a forecast of its own, read off the rows; it remembers the cuts."""

    def __init__(self):
        self.cuts = []

    def forecast(self, X, y):
        self.cuts.append(len(y))
        found = Forecast.empty(len(y))
        for i, row in enumerate(X):
            found.predicted[i] = row["says"]
            found.proba_true[i] = row.get("proba", np.nan)
            found.confidence[i] = row.get("confidence", np.nan)
            found.new[i] = row.get("new", np.nan)
        return found
