"""A call that fails anywhere leaves the model as it was: the law of every public estimator.

A profiler raises at the start of a chosen call of one of our own functions, as an interruption or a
lack of memory would. Calls are counted first, then a few of them, spread over the whole way and
close to its end, are made to fail. What a model knows is compared by the bytes of its file.
"""

import io
import pickle
import sys
from inspect import CO_GENERATOR
from pathlib import Path

import numpy as np
import pytest

import infinimix
from infinimix import networks

pytestmark = pytest.mark.filterwarnings("ignore")
ROOT = str(Path(infinimix.__file__).parent)
COMPILED = str(Path(ROOT) / "kernels")
rng = np.random.default_rng(0)
X = np.where(rng.random((24, 3)) < 0.5, 0.0, 2.0) + rng.normal(size=(24, 3))
Y = np.where(X[:, 0] > 1, "p", "q")
NUMBER = X[:, 0] + rng.normal(size=24)
BITS = rng.integers(0, 2, (40, 3))
MORE = slice(8, 24)
SMALL = {"n_islands": 1, "n_particles": 2, "random_state": 0}
SHORT = {"n_iter": 10, "n_chains": 2, "random_state": 0}
CASES = {
    "AClassClassifier": (SMALL, (X, Y)),
    "CRPMixture": (SMALL, (X,)),
    "CRPImputer": (SMALL, (X,)),
    "CRPRegressor": (SMALL, (X, NUMBER)),
    "FiniteMixtureClassifier": ({"n_init": 2, "random_state": 0}, (X, Y)),
    "HybridClassifier": ({"generative": infinimix.CRPMixture(**SMALL), "random_state": 0}, (X, Y)),
    "OnlineCRPClassifier": ({"columns": "auto", "random_state": 0}, (X, Y)),
    "DPMeans": ({"n_init": 2, "random_state": 0}, (X,)),
    "DPMeansSVC": ({"random_state": 0}, (X, Y)),
    "MaxMarginDPMeans": ({"n_init": 1, "random_state": 0}, (X, Y)),
    "MaxMarginDPMeansCV": ({"n_init": 1, "cv": 2, "random_state": 0}, (X, Y)),
    "GibbsInfiniteSVC": ({"n_iter": 10, "burn_in": 2, "random_state": 0}, (X, Y)),
    "BlockmodelBayesNet": (SHORT, (BITS,)),
    "BlockmodelMarkovNet": (SHORT, (BITS,)),
    "BlockmodelDynamicNet": (SHORT, (BITS,)),
    "NetworkFranchise": (SHORT, ([BITS, BITS[:, ::-1]],)),
}
CONTINUED = [name for name in CASES if hasattr(getattr(infinimix, name, None), "partial_fit")]
# Rows are added to these in place; a call that stops halfway marks them, and they refuse to answer.
GROWING = {"AClassClassifier", "OnlineCRPClassifier"}  # which take new classes at any time
MARKED = {"AClassClassifier", "CRPMixture", "CRPImputer", "OnlineCRPClassifier"}


class Interruption(BaseException):
    """What nobody catches by accident."""


def make(name):
    parameters, table = CASES[name]
    cls = getattr(networks, name, None) or getattr(infinimix, name)
    return cls(**parameters), table


def parts(name, rows):
    """The same rows of all that is learned."""
    table = CASES[name][1]
    return tuple([t[rows] for t in a] if isinstance(a, list) else a[rows] for a in table)


def known(model):
    """All that a model has learned, as bytes."""
    if type(model).__name__ == "HybridClassifier":
        return pickle.dumps(model)
    file = io.BytesIO()
    infinimix.save(model, file)
    return file.getvalue()


def is_marked(model):
    """Whether a model knows that rows are learned in part."""
    state = model._state
    return state.torn if isinstance(model, infinimix.OnlineCRPClassifier) else state.bank.torn


def run(call, fail_at=None):
    """Make a call, which fails when so many of our functions have begun; return their number."""
    begun = 0

    def count(frame, event, argument):
        nonlocal begun
        file = frame.f_code.co_filename
        if event != "call" or not file.startswith(ROOT) or file.startswith(COMPILED):
            return
        code = frame.f_code
        if code.co_flags & CO_GENERATOR or code.co_name.startswith("warn"):
            return  # nothing can be raised where a generator is closed; a warning is no failure
        begun += 1
        if begun == fail_at:
            raise Interruption

    sys.setprofile(count)
    try:
        call()
    finally:
        sys.setprofile(None)
    return begun


def points(n):
    """Some calls of n: spread over all of them, and the last ones."""
    return sorted({1, *np.linspace(1, n, 8).astype(int).tolist(), max(n - 1, 1), n})


@pytest.mark.parametrize("name", CASES)
def test_a_fit_that_fails_leaves_what_was_learned(name):
    model, table = make(name)
    other = parts(name, MORE)
    model.fit(*other)  # fills caches of constants, so that the next call is counted right
    n = run(lambda: model.fit(*other))
    before = known(model.fit(*table))
    for point in points(n):
        with pytest.raises(Interruption):
            run(lambda: model.fit(*other), point)
        assert known(model) == before, f"changed by a failure at call {point} of {n}"


@pytest.mark.parametrize("name", CONTINUED)
def test_more_rows_that_fail_leave_what_was_learned_or_say_so(name):
    model, table = make(name)
    model.partial_fit(*table)
    before, other = known(model), parts(name, MORE)
    if name in GROWING:
        other = other[0], np.where(np.arange(len(other[1])) % 5, other[1], "new")
    trials = [pickle.loads(pickle.dumps(model)) for _ in range(2)]
    trials[0].partial_fit(*other)
    n = run(lambda: trials[1].partial_fit(*other))
    for point in points(n):
        trial = pickle.loads(pickle.dumps(model))
        with pytest.raises(Interruption):
            run(lambda trial=trial: trial.partial_fit(*other), point)
        if name in MARKED and is_marked(trial):
            with pytest.raises(RuntimeError, match="interrupted"):
                known(trial)
        else:
            assert known(trial) == before, f"changed by a failure at call {point} of {n}"


def test_every_public_estimator_is_here():
    public = {name for name in infinimix.__all__ if name not in ("Text", "NEW_CLASS")}
    estimators = {name for name in public if hasattr(getattr(infinimix, name), "get_params")}
    assert estimators <= CASES.keys()
