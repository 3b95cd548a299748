"""Questions from several threads at once: each has the answers that it has alone."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest

from infinimix import OnlineCRPClassifier


def texts(rng, n):
    return [" ".join(f"word{w}" for w in rng.integers(0, 300, 30)) for _ in range(n)]


def table(rng, n):
    cells = rng.normal(size=(n, 6))
    return pd.DataFrame({f"c{j}": cells[:, j] for j in range(6)})


@pytest.mark.parametrize(("make", "columns"), [(texts, "text"), (table, "auto")])
def test_answers_do_not_depend_on_who_else_asks(make, columns):
    rng = np.random.default_rng(0)
    model = OnlineCRPClassifier(columns=columns).fit(make(rng, 200), rng.integers(0, 8, 200))
    asked = [make(rng, 40 + 7 * k) for k in range(8)]
    alone = [model.predict_proba(X) for X in asked]

    def ask(k):
        return k % 8, model.predict_proba(asked[k % 8])

    with ThreadPoolExecutor(4) as pool:
        for k, found in pool.map(ask, range(160)):
            np.testing.assert_array_equal(found, alone[k])
