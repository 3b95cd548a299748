"""A script that asks of the public classes what few users ask, for `test_compiled_ahead`.

It shares no code with the workloads of `infinimix warm-up`: what these have forgotten shows here.
"""

import warnings

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from infinimix import (
    AClassClassifier,
    CRPImputer,
    CRPMixture,
    CRPRegressor,
    DPMeansSVC,
    FiniteMixtureClassifier,
    GibbsInfiniteSVC,
    HybridClassifier,
    MaxMarginDPMeans,
    OnlineCRPClassifier,
    Text,
)
from infinimix.networks import (
    BlockmodelBayesNet,
    BlockmodelDynamicNet,
    BlockmodelMarkovNet,
    NetworkFranchise,
)

N = 30
COLUMNS = {"visits": "count", "gain": "spiked", ("x", "y"): "gaussian"}
rng = np.random.default_rng(3)
labels = rng.permutation(np.arange(N) % 3)
some = [None if i % 6 == 5 else int(label) for i, label in enumerate(labels)]
X = pd.DataFrame(
    {
        "flag": rng.random(N) < 0.5,
        "colour": rng.choice(["red", "green", "blue"], N),
        "size": rng.normal(size=N) + labels,
        "visits": rng.poisson(2.0, N).astype(float),
        "gain": np.where(rng.random(N) < 0.5, 0.0, rng.normal(size=N)),
        "x": rng.normal(size=N),
        "y": rng.normal(size=N),
    }
)
holes = X.mask(rng.random(X.shape) < 0.1)
texts = [f"word{i % 7} of the text{i % 3} in line{i % 5}" for i in range(N)]


def classifiers():
    model = AClassClassifier(columns=COLUMNS, n_islands=2, random_state=0).fit(holes, labels)
    model.predict_proba_batch(holes)
    model.score_samples(holes)
    model.impute(holes)
    model.explain(holes.iloc[0])
    model.sample(2)
    AClassClassifier(columns=COLUMNS, effort="thorough", n_islands=2, random_state=0).fit(X, some)
    stream = AClassClassifier(columns=COLUMNS, window=4, sweeps=1, max_groups=2, random_state=0)
    stream.partial_fit(holes, some).predict(holes)
    for resampling in ("multinomial", "systematic", "lookahead"):
        stream = AClassClassifier(columns=COLUMNS, resampling=resampling, random_state=0)
        stream.partial_fit(holes, labels).predict_proba(holes[:2])


def mixtures():
    mixture = CRPMixture(columns=COLUMNS, effort="thorough", n_islands=2, random_state=0)
    mixture.fit(holes)
    mixture.group_proba(holes)
    mixture.similarity(holes)
    CRPImputer(columns=COLUMNS, effort="fast", strategy="draw").fit(holes).transform(holes)
    CRPRegressor(columns=COLUMNS, effort="fast").fit(holes, X["size"]).predict_interval(holes)
    FiniteMixtureClassifier(COLUMNS, 3, "map", n_init=1).fit(holes, some).predict_batch(holes)
    generative = AClassClassifier(columns=COLUMNS, effort="fast")
    HybridClassifier(generative, LogisticRegression(), random_state=0).fit(holes, labels)


def stream(rows, unknown, **parameters):
    model = OnlineCRPClassifier(open_world=True, alpha=1e9, random_state=0, **parameters)
    model.partial_fit(rows[:5], list(labels[:5]))
    model.new_class_proba(rows)
    for k in range(len(unknown)):
        model.partial_fit(unknown[k : k + 1], [None])
    found = model.provisional_classes()
    assert found, "the script would not reach what it is for"
    if len(found) > 1:
        model.merge_provisional(found[0].number, found[1].number)
    model.name_class(model.provisional_classes()[0].number, labels[0])
    model.forecast(rows, some)
    model.forget_class(1)


def streams():
    nothing = holes[:4].mask(holes[:4].notna())
    strange = nothing.assign(colour=["white", "black", "grey", "pink"])
    for algorithm in ("collapsed", "sampled", "redrawn"):
        stream(texts, ["oboe and harp", "mast", "oboe sail"], algorithm=algorithm)
        stream(holes, strange, columns=COLUMNS, algorithm=algorithm)
        published = OnlineCRPClassifier.as_published(algorithm=algorithm, random_state=0)
        published.partial_fit(texts, labels).predict_proba(texts)
    OnlineCRPClassifier.as_published(decision="sample").fit(texts, labels).predict(texts)
    OnlineCRPClassifier(columns=Text(hash_bits=8)).partial_fit(texts, labels).predict(texts)
    forgetful = OnlineCRPClassifier(half_life=9.0, max_features=5, max_classes=2)
    forgetful.partial_fit(texts, labels)
    counts = rng.poisson(1.0, (N, 5))
    for kind in (sparse.csr_matrix, sparse.csc_array, np.asarray, pd.DataFrame):
        OnlineCRPClassifier().partial_fit(kind(counts), labels).predict(kind(counts))
    wide = sparse.csr_matrix(counts)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    OnlineCRPClassifier().partial_fit(wide, labels).predict(wide)


def networks():
    table = X[["flag", "colour"]].assign(more=rng.random(N) < 0.5)
    settings = {"n_iter": 10, "n_chains": 2, "random_state": 0}
    net = BlockmodelBayesNet(**settings).fit_for(table, 30.0).run(n_iter=5)
    net.graph_score(np.zeros((3, 3)))
    net.score_samples(table)
    for prior in ("ordered", "sparse", "uniform"):
        BlockmodelBayesNet(prior=prior, **settings).fit(X[["size", "x", "y"]])
    BlockmodelBayesNet(likelihood="mixed", **settings).fit(X[["flag", "colour", "size", "x"]])
    bits = table[["flag", "more"]]
    BlockmodelBayesNet(effects="signed", **settings).fit(bits).score_samples(bits)
    BlockmodelMarkovNet(**settings).fit(table)
    BlockmodelDynamicNet(**settings).fit(table)
    NetworkFranchise(**settings).fit([table, table])


def experts():
    numbers = X[["size", "x", "y"]].to_numpy()
    MaxMarginDPMeans(gating="soft", random_state=0).fit(numbers, labels).predict_proba(numbers)
    DPMeansSVC(random_state=0).fit(numbers, labels).predict(numbers)
    GibbsInfiniteSVC(n_iter=6, burn_in=2, random_state=0).fit(numbers, labels)


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # so few rows and sweeps
    for use in (classifiers, mixtures, streams, networks, experts):
        use()
