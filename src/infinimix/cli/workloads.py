"""Small fits that between them reach every kernel: what `infinimix warm-up` compiles.

Each workload is a function of its own that needs a second or less once its kernels are on disk.
They stand in the order in which they are handed out: those that compile longest come first (28 CPU
seconds, then 17 to 14, down to 2), so that all processes end at about the same time, and those that
share kernels stand apart, so that two processes seldom compile the same thing.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from infinimix.cli.workload_rows import ALL_KINDS, COLUMNS, WORDS, N, frame

WORKLOADS: dict[str, Callable[[], None]] = {}


def workload(function: Callable[[], None]) -> Callable[[], None]:
    """List a function among the workloads, under its own name."""
    WORKLOADS[function.__name__] = function
    return function


def run(name: str) -> None:
    """Do one workload; what models would say of such tables is of no interest."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        WORKLOADS[name]()


def _streamed(model: Any, X: Any, y: Any) -> None:
    """Learn a table in a stream, and row by row."""
    half = N // 2
    model.partial_fit(X[:half], y[:half]).partial_fit(X[half:], y[half:])
    model.predict_proba(X)
    row = dict(X.iloc[0])
    model.learn_one(row, y[0])
    model.predict_proba_one(row)


@workload
def bayes_nets() -> None:
    """Chains over graphs."""
    from infinimix.networks import BlockmodelBayesNet

    X, _ = frame("binary", "categorical", holes=True)
    for prior in ("blockmodel", "sparse", "uniform"):
        net = BlockmodelBayesNet(prior=prior, n_iter=20, n_chains=2, random_state=0).fit(X)
    net.score_samples(X)
    BlockmodelBayesNet(normalise="global", alpha="learn", beta="learn", n_iter=20).fit(X)
    BlockmodelBayesNet.as_published(n_iter=20, n_chains=1, random_state=0).fit(X)


@workload
def mixtures_of_binary_columns() -> None:
    """The filter, prediction and calibration: the first answer on any table."""
    from infinimix import AClassClassifier

    X, y = frame("binary", holes=True)
    AClassClassifier(random_state=0).fit(X, y).predict_proba(X)
    X, y = frame("binary")
    AClassClassifier(random_state=0).fit(X.to_numpy(float), y).predict_proba(X.to_numpy(float))


@workload
def sampled_streams() -> None:
    """The Online CRP with parameters summed out or drawn, of words that nobody has named too."""
    for algorithm in ("collapsed", "sampled", "redrawn"):
        _open_world(algorithm, "text", WORDS, ["xx yy", "zz uu", "xx uu"])


def _open_world(algorithm: str, columns: Any, rows: Any, unknown: Any) -> None:
    """Let classes come, join and go; so few rows do not teach the model that classes are known."""
    from infinimix import OnlineCRPClassifier

    model = OnlineCRPClassifier(
        columns=columns, algorithm=algorithm, open_world=True, alpha=1e8, random_state=0
    )
    model.partial_fit(rows[:6], [0, 1, 2] * 2)
    model.partial_fit(unknown, [None] * len(unknown))
    for group in model.provisional_classes()[:1]:
        model.name_class(group.number, 0)
    model.forget_class(1)


@workload
def ordered_bayes_nets() -> None:
    """Chains with the graph summed out."""
    from infinimix.networks import BlockmodelBayesNet

    X, _ = frame("binary", "categorical")
    BlockmodelBayesNet(prior="ordered", n_iter=20, n_chains=2, random_state=0).fit(X)
    BlockmodelBayesNet.as_published(prior="ordered", n_iter=20, n_chains=1, random_state=0).fit(X)


@workload
def streams_of_text() -> None:
    """The Online CRP over words."""
    from infinimix import OnlineCRPClassifier

    labels = [j % 3 for j in range(N)]
    plain = OnlineCRPClassifier(random_state=0)
    rich = OnlineCRPClassifier(random_state=0, open_world=True, half_life=20.0, max_features=8)
    for model in (plain, rich):
        model.partial_fit(WORDS, labels).predict_proba(WORDS)
        model.learn_one({"goal": 2, "law": 1}, 0)
        model.predict_one({"goal": 1})


@workload
def streams_of_tables() -> None:
    """The Online CRP and AClass over rows of a mixed table."""
    from infinimix import AClassClassifier, OnlineCRPClassifier

    X, y = frame("binary", "categorical", "real")
    _streamed(OnlineCRPClassifier(columns="auto", random_state=0), X, y)
    _streamed(AClassClassifier(random_state=0), X, y)
    AClassClassifier(window=5, sweeps=1, max_groups=3, random_state=0).partial_fit(X, y)


@workload
def published_rivals() -> None:
    """The Dirichlet process mixture of logistic regressions that M2DPM is compared with."""
    from infinimix.papers.m2dpm.dpmnl import DPMNL

    X, y = frame("real")
    DPMNL(n_iter=2, burn_in=1, n_samples=1).fit(X.to_numpy(), y).predict(X.to_numpy())


@workload
def timed_nets() -> None:
    """Sweeps by parts, which look at the clock, and the score of a given graph."""
    from infinimix.networks import BlockmodelBayesNet

    X, _ = frame("binary", "categorical")
    net = BlockmodelBayesNet(n_iter=20, n_chains=1, random_state=0)
    net.fit_for(X, seconds=600.0).graph_score([("binary0", "binary1")])


@workload
def streams_of_all_kinds() -> None:
    """The Online CRP over tables of every kind, with classes that join, and drawn parameters."""
    X, _ = frame(*ALL_KINDS, holes=True)
    empty = X[:3].mask(X[:3].notna())
    for algorithm in ("collapsed", "sampled"):
        _open_world(algorithm, COLUMNS, X, empty.assign(categorical0="new", categorical1="new"))


@workload
def max_margin() -> None:
    """Experts and their clusters."""
    from infinimix import DPMeans, DPMeansSVC, GibbsInfiniteSVC, MaxMarginDPMeans

    X, y = frame("real")
    X = X.to_numpy()
    DPMeans(random_state=0).fit(X)
    DPMeans(creation="sequential", random_state=0).fit(X)
    DPMeansSVC(random_state=0).fit(X, y)
    MaxMarginDPMeans(random_state=0).fit(X, y).predict_proba(X)
    MaxMarginDPMeans(lam=1.0, s=1.0, random_state=0).partial_fit(X, y, classes=[0, 1])
    MaxMarginDPMeans.as_published(lam=1.0, s=1.0, random_state=0).fit(X, y)
    GibbsInfiniteSVC(n_iter=6, burn_in=2, random_state=0).fit(X, y).predict_proba(X)


@workload
def mixtures_by_sweeps() -> None:
    """Split and merge, other ways of resampling, and labels that are missing."""
    from infinimix import AClassClassifier, CRPMixture

    X, y = frame("binary", "real")
    CRPMixture(effort="thorough", n_islands=2, random_state=0).fit(X)
    others, _ = frame(*ALL_KINDS[2:], holes=True)
    CRPMixture(columns=COLUMNS, effort="thorough", n_islands=2, random_state=0).fit(others)
    for resampling in ("multinomial", "lookahead"):
        CRPMixture(resampling=resampling, n_islands=1, random_state=0).fit(X)
    some = [None if j % 3 == 0 else label for j, label in enumerate(y)]
    AClassClassifier(n_islands=2, random_state=0).fit(X, some)
    AClassClassifier(n_islands=2, random_state=0).partial_fit(X, some, classes=[0, 1])


@workload
def mixtures_of_correlated_columns() -> None:
    """Gaussian blocks, and what the imputer asks of them."""
    import pandas as pd

    from infinimix import AClassClassifier, CRPImputer

    X, y = frame("real", holes=True)
    AClassClassifier(columns="gaussian", random_state=0).fit(X.astype(float), y).predict_proba(X)
    together = pd.concat([X.assign(real1=X["real0"] + 0.5 * X["real1"])] * 2, ignore_index=True)
    CRPImputer(n_islands=2, random_state=0).fit(together).transform(together)


@workload
def mixtures_of_other_columns() -> None:
    """Real, categorical, count and spiked columns."""
    from infinimix import AClassClassifier

    kinds = ("categorical", "real", "count", "spiked")
    X, y = frame(*kinds, holes=True)
    columns = {f"{kind}{j}": kind for kind in kinds[2:] for j in range(2)}
    AClassClassifier(columns=columns, random_state=0).fit(X, y).predict_proba(X)
    X, y = frame("real", "count")
    columns = {"real0": "real:log", "real1": "real:rank", "count0": "count", "count1": "count"}
    AClassClassifier(columns=columns, random_state=0).fit(X, y).impute(X.mask(X < 0.2))


@workload
def larger_nets() -> None:
    """Candidate parents, where there are too many variables for all sets of them."""
    import numpy as np

    from infinimix.networks import BlockmodelBayesNet

    X = np.random.default_rng(0).integers(2, size=(N, 16))
    BlockmodelBayesNet(n_iter=20, n_chains=1, random_state=0).fit(X)
    BlockmodelBayesNet(prior="uniform", gamma="learn", n_iter=20, n_chains=1).fit(X[:, :4])
    BlockmodelBayesNet(prior="uniform", n_iter=20, n_chains=1).fit(X[:, :4])


@workload
def streams_with_new_classes() -> None:
    """Provisional classes, and matrices of counts whose columns grow."""
    import numpy as np
    from scipy.sparse import csr_matrix

    from infinimix import OnlineCRPClassifier, Text

    model = OnlineCRPClassifier(open_world=True, random_state=0)
    texts = ["red apple", "green apple", "red pear", "fast car", "slow car"] * 4
    model.partial_fit(texts, (["fruit"] * 3 + ["car"] * 2) * 4)
    model.partial_fit(["oboe solo", "oboe and harp", "tall mast"], [None, None, None])
    model.name_class(model.provisional_classes()[0].number, "fruit")
    model.forget_class("car")
    counts = np.array([[1, 0, 2], [0, 3, 0]] * 4)
    narrow, wide = csr_matrix(counts), csr_matrix(counts)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    for X in (counts, narrow, wide):
        OnlineCRPClassifier(random_state=0).partial_fit(X, [0, 1] * 4).predict(X)
    OnlineCRPClassifier(columns=Text(hash_bits=10)).partial_fit(["a late goal", "a law"], [0, 1])
    X, y = frame("binary", "real")
    model = OnlineCRPClassifier(columns="auto", open_world=True, random_state=0)
    model.partial_fit(X, [None if j % 5 == 4 else v for j, v in enumerate(y)])


@workload
def finite_mixtures() -> None:
    """EM."""
    from infinimix import FiniteMixtureClassifier

    for holes in (False, True):
        X, y = frame("binary", "categorical", "real", holes=holes)
        FiniteMixtureClassifier(random_state=0).fit(X, y).predict_batch(X)
    X, y = frame("real")
    FiniteMixtureClassifier(columns="gaussian", random_state=0).fit(X, y).predict_batch(X)


@workload
def nets_of_numbers() -> None:
    """Gaussian, mixed and signed scores, Markov nets, dynamic nets, several networks."""
    from infinimix.networks import (
        BlockmodelBayesNet,
        BlockmodelDynamicNet,
        BlockmodelMarkovNet,
        NetworkFranchise,
    )

    X, _ = frame("real")
    settings: dict[str, Any] = {"n_iter": 20, "n_chains": 2, "random_state": 0}
    BlockmodelBayesNet(**settings).fit(X)
    BlockmodelMarkovNet(**settings).fit(X)
    BlockmodelDynamicNet(**settings).fit(X)
    mixed, _ = frame("binary", "categorical", "real")
    BlockmodelBayesNet(likelihood="mixed", **settings).fit(mixed)
    B, _ = frame("binary")
    NetworkFranchise(**settings).fit([B, B])
    edge = [("binary0", "binary1")]  # so that predictions need a table with a parent
    signed = BlockmodelBayesNet(effects="signed", required=edge, **settings).fit(B)
    signed.score_samples(B)
