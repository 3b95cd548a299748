import numpy as np
import pandas as pd
import pytest
from scipy.stats import entropy

from infinimix import AClassClassifier, CRPMixture
from infinimix.reports.defining import evidence_of_groups

SMALL = {"effort": "fast", "n_islands": 1, "n_particles": 2, "sweeps": 0, "random_state": 0}


def test_binary_columns_by_hand():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 80)
    X = pd.DataFrame({"a": rng.random(80) < 0.1 + 0.8 * y, "b": rng.random(80) < 0.5})
    model = AClassClassifier(max_groups=1, **SMALL).fit(X, y)
    p = np.array([model.prototypes(label)[["a", "b"]].iloc[0] for label in (0, 1)])
    q = model.class_count_ / 80 @ p
    for label in (0, 1):
        c = model._state.labels.values.index(label)
        (found,) = evidence_of_groups(model, c, 8)
        expected = [entropy([x, 1 - x], [m, 1 - m]) for x, m in zip(p[label], q, strict=True)]
        assert found == pytest.approx(expected)


def test_real_columns_and_categories_as_explain_says():
    # For the typical cells of a group, as `explain` compares the group with all groups.
    rng = np.random.default_rng(0)
    z = np.arange(60) % 2
    X = pd.DataFrame({"x": rng.normal(8.0 * z), "c": np.array(["u", "v"])[z]})
    model = CRPMixture(alpha=1e-9, **SMALL).fit(X)  # so that a new group has no say
    found = evidence_of_groups(model, 0, 8)
    table = model.prototypes()
    for k in range(len(table)):
        why = model.explain(table.iloc[k][["x", "c"]].to_dict())
        assert why.answer == k
        assert found[k] == pytest.approx(why.columns["evidence"].to_numpy(float), abs=1e-6)


def test_gaussian_blocks():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        rng.normal(6.0 * (np.arange(60) % 2)[:, None], size=(60, 2)), columns=["a", "b"]
    )
    model = CRPMixture({("a", "b"): "gaussian"}, **SMALL).fit(X)
    found = evidence_of_groups(model, 0, 2)
    assert found.shape == (2, 2)
    assert (found > 0).all()
