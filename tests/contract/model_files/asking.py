"""Small fitted models of every class that can be saved, and all that users call on them."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

import infinimix
from infinimix import (
    AClassClassifier,
    BlockmodelBayesNet,
    CRPImputer,
    CRPMixture,
    CRPRegressor,
    DPMeans,
    DPMeansSVC,
    FiniteMixtureClassifier,
    GibbsInfiniteSVC,
    HybridClassifier,
    MaxMarginDPMeans,
    MaxMarginDPMeansCV,
    OnlineCRPClassifier,
    Text,
)
from infinimix.networks import BlockmodelDynamicNet, BlockmodelMarkovNet, NetworkFranchise

rng = np.random.default_rng(5)
N = 50
CODES = rng.integers(0, 3, N)
Y = np.array(["u", "v", "w"])[CODES]
TABLE = pd.DataFrame({
    "size": CODES + rng.normal(size=N),
    "width": CODES - rng.normal(size=N) * 0.5,
    "money": np.where(rng.random(N) < 0.4, 0.0, np.exp(rng.normal(size=N))),
    "colour": np.array(["red", "green", "blue", None], dtype=object)[rng.integers(0, 4, N)],
    "old": rng.random(N) < 0.3 + 0.2 * CODES,
    "visits": rng.poisson(2.0 + CODES),
})  # fmt: skip
COLUMNS = {"size": "real", "width": "real:rank", "money": "spiked", "visits": "count"}
TABLE.loc[::7, "size"] = np.nan
NUMBERS = CODES[:, None] + rng.normal(size=(N, 3))
BITS = (rng.random((N, 4)) < 0.3 + 0.2 * CODES[:, None]).astype(int)
HOLED, GAPS = BITS.astype(float), NUMBERS.copy()
HOLED[::7, 1] = GAPS[3::9, 2] = np.nan
TEXTS = [" ".join(2 * c for c in rng.choice(list("abcdefgh"[k : k + 5]), 6)) for k in CODES]
WORDS = csr_array(rng.poisson(0.3 + 0.4 * (np.arange(9) % 3 == CODES[:, None])).astype(float))
TWO = (CODES > 0).astype(int)
QUICK: dict[str, Any] = {"n_islands": 2, "n_particles": 4, "random_state": 0}
SHORT: dict[str, Any] = {"n_iter": 20, "n_chains": 2, "random_state": 0}


class Case(NamedTuple):
    """A fitted model, and rows and labels to ask it about and to teach it."""

    fit: Callable[[], Any]
    X: Any
    y: Any = None


def _open_world() -> OnlineCRPClassifier:
    model = OnlineCRPClassifier("text", open_world=True, alpha=50.0, random_state=0)
    some = [None if k % 3 == 2 else label for k, label in enumerate(Y.tolist())]
    return model.partial_fit(TEXTS, some)


FEW = 12  # rows that are asked about

CASES = {
    "aclass": Case(lambda: AClassClassifier(COLUMNS, **QUICK).fit(TABLE, Y), TABLE, Y),
    "aclass shared": Case(
        lambda: AClassClassifier("gaussian", shared_directions=1, **QUICK).fit(NUMBERS, Y),
        NUMBERS, Y,
    ),
    "aclass stream": Case(
        lambda: AClassClassifier(COLUMNS, **QUICK, n_label_particles=3).partial_fit(
            TABLE, [None if k % 4 == 3 else y for k, y in enumerate(Y)]
        ),
        TABLE, Y,
    ),
    "mixture": Case(lambda: CRPMixture(COLUMNS, **QUICK).fit(TABLE), TABLE),
    "imputer": Case(lambda: CRPImputer(COLUMNS, **QUICK).fit(TABLE), TABLE),
    "regressor": Case(
        lambda: CRPRegressor(COLUMNS, **QUICK).fit(TABLE, NUMBERS[:, 0]), TABLE, NUMBERS[:, 0]
    ),
    "online text": Case(lambda: OnlineCRPClassifier(random_state=0).fit(TEXTS, Y), TEXTS, Y),
    "online hashed": Case(
        lambda: OnlineCRPClassifier(Text(hash_bits=4), random_state=0).fit(TEXTS, Y), TEXTS, Y
    ),
    "online sparse": Case(lambda: OnlineCRPClassifier(random_state=0).fit(WORDS, Y), WORDS, Y),
    "online open": Case(_open_world, TEXTS, Y),
    "online table": Case(
        lambda: OnlineCRPClassifier(COLUMNS, random_state=0).fit(TABLE, Y), TABLE, Y
    ),
    "finite": Case(
        lambda: FiniteMixtureClassifier(COLUMNS, n_init=2, max_iter=10, random_state=0).fit(
            TABLE, Y
        ),
        TABLE, Y,
    ),
    "hybrid": Case(
        lambda: HybridClassifier(
            AClassClassifier(COLUMNS, **QUICK, effort="fast"), n_draws=2, random_state=0
        ).fit(TABLE, Y),
        TABLE,
        Y,
    ),
    "dpmeans": Case(lambda: DPMeans(random_state=0).fit(NUMBERS), NUMBERS),
    "dpmeans svc": Case(lambda: DPMeansSVC(random_state=0).fit(NUMBERS, Y), NUMBERS, Y),
    "maxmargin": Case(
        lambda: MaxMarginDPMeans(lam=9.0, s=1.0, random_state=0).fit(NUMBERS, Y), NUMBERS, Y
    ),
    "maxmargin cv": Case(
        lambda: MaxMarginDPMeansCV(random_state=0).fit(NUMBERS, TWO), NUMBERS, TWO
    ),
    "gibbs svc": Case(
        lambda: GibbsInfiniteSVC(n_iter=8, burn_in=4, random_state=0).fit(NUMBERS, Y), NUMBERS, Y
    ),
    "bayes net": Case(lambda: BlockmodelBayesNet(**SHORT).fit(BITS), BITS),
    "bayes net, mixed": Case(
        lambda: BlockmodelBayesNet(**SHORT).fit(TABLE[["size", "colour", "old"]]),
        TABLE[["size", "colour", "old"]],
    ),
    "bayes net, signs": Case(
        lambda: BlockmodelBayesNet(effects="signed", **SHORT).fit(BITS), BITS
    ),
    "markov net": Case(lambda: BlockmodelMarkovNet(**SHORT).fit(BITS), BITS),
    "markov net, holes": Case(lambda: BlockmodelMarkovNet(**SHORT).fit(HOLED), HOLED),
    "dynamic net": Case(lambda: BlockmodelDynamicNet(**SHORT).fit(BITS), BITS),
    "dynamic net, numbers": Case(lambda: BlockmodelDynamicNet(**SHORT).fit(GAPS), GAPS),
    "franchise": Case(
        lambda: NetworkFranchise(**SHORT).fit({"a": BITS, "b": BITS[:40, :3]}), None
    ),
}  # fmt: skip


@cache
def saved(name: str) -> bytes:
    """Return the file of a model."""
    file = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        infinimix.save(CASES[name].fit(), file)
    return file.getvalue()


#: What users call on a model of tables or text, if it has it: arguments from rows and labels.
#: Questions come first, as learning changes the model.
CALLS: dict[str, Callable[[Any, Any], tuple[Any, ...]]] = {
    "predict": lambda X, y: (X,),
    "predict_proba": lambda X, y: (X,),
    "predict_log_proba": lambda X, y: (X,),
    "predict_proba_batch": lambda X, y: (X[:4],),
    "decision_function": lambda X, y: (X,),
    "predict_cluster": lambda X, y: (X,),
    "divergences": lambda X, y: (X,),
    "predict_interval": lambda X, y: (X,),
    "predict_quantiles": lambda X, y: (X, [0.1, 0.5]),
    "sample_y": lambda X, y: (X,),
    "log_density": lambda X, y: (X, y),
    "score_samples": lambda X, y: (X,),
    "score": lambda X, y: (X, y),
    "pseudo_log_likelihood": lambda X, y: (X,),
    "score_steps": lambda X, y: (X,),
    "score_sequences": lambda X, y: (X,),
    "edge_table": lambda X, y: (),
    "anomaly_score": lambda X, y: (X,),
    "cell_anomaly_score": lambda X, y: (X,),
    "new_class_proba": lambda X, y: (X,),
    "similarity": lambda X, y: (X,),
    "impute": lambda X, y: (X,),
    "transform": lambda X, y: (X,),
    "uncertainty": lambda X, y: (X,),
    "sample": lambda X, y: (3,),
    "dependence": lambda X, y: (20,),
    "explain": lambda X, y: (X[:1],),
    "provisional_classes": lambda X, y: (),
    "network": lambda X, y: (),
    "path_probabilities": lambda X, y: (),
    "share_roles": lambda X, y: (),
    "to_bif": lambda X, y: (),
    "to_dot": lambda X, y: (),
    "topological_order": lambda X, y: (),
    "get_feature_names_out": lambda X, y: (),
}
REFITTED = ("DPMeans", "DPMeansSVC", "FiniteMixtureClassifier", "CRPMixture", "OnlineCRPClassifier")


def questions(model: Any, case: Case) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield all that is asked of a model, each by a name."""
    X, y = (None if part is None else part[-FEW:] for part in (case.X, case.y))
    for name in dir(type(model)):
        if isinstance(getattr(type(model), name), property) and not name.startswith("_"):
            yield name, lambda name=name: getattr(model, name)
    yield "repr", lambda: repr(model)
    for name, arguments in CALLS.items():
        if hasattr(type(model), name):
            yield name, lambda name=name, own=arguments: getattr(model, name)(*own(X, y))
    if hasattr(model, "to_dot"):
        yield "to_dot above", lambda: model.to_dot(0.5)
    if hasattr(model, "query"):
        yield "query", lambda: [model.query(name) for name in model._state.names]
    if hasattr(model, "prototypes"):
        yield "prototypes", lambda: model.prototypes(*([] if y is None else [model.classes_[0]]))
    if hasattr(model, "networks_"):
        yield "members", lambda: [one.to_dot() for one in model.networks_.values()]
    yield "save", lambda: infinimix.save(model, io.BytesIO())
    if hasattr(model, "learn_one") and isinstance(X, pd.DataFrame):
        yield "learn_one", lambda: model.learn_one(X.iloc[0].to_dict(), y[0])
    if hasattr(model, "partial_fit"):
        yield "partial_fit", lambda: model.partial_fit(X[:4], *([] if y is None else [y[:4]]))
        yield "predict, then", lambda: getattr(model, "predict", model.score)(X[:4])
    yield "save, then", lambda: infinimix.load(_again(model))
    if type(model).__name__ in REFITTED and _is_modest(model):
        yield "fit", lambda: model.fit(X, *([] if y is None else [y]))


def _is_modest(model: Any) -> bool:
    """Return whether a fit is soon done: a million iterations take the time that was asked for."""
    numbers = [v for v in model.get_params().values() if isinstance(v, int | float | np.number)]
    return all(abs(v) <= 1000 for v in numbers)


def _again(model: Any) -> io.BytesIO:
    file = io.BytesIO()
    infinimix.save(model, file)
    return io.BytesIO(file.getvalue())
