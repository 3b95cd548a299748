"""Trees as they were written before models had a state: they load and answer as they did.

All are of six rows of one column at LAM = 20, with the numbers that were written then and what was
said of these rows; those of the classifiers with means share one set of clusters. Answers are
equal to the last digit, but for what another BLAS may round.
"""

import io

import numpy as np
import pandas as pd
import pytest

import infinimix
from infinimix import artifacts

X = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.5]])
F = pd.DataFrame(X, columns=["size"])
LAM = 20.0
DIVERGENCE = ("euclidean", np.array([6.083333333333333]), np.array([-np.inf]), np.zeros(1), None)
MEANS = np.array([[11.166666666666666], [1.0]])
Z = np.array([1, 1, 1, 0, 0, 0])
ETA = np.array(
    [[[0.04915381762761114, 0.460032306503892]], [[0.999895520191574, -1.0001983928393563]]]
)
EQUATIONS = np.array(
    [
        [
            [2285.3209869472726, 216.0256789557818, 212.4743210442182],
            [216.0256789557818, 20.482054316462545, 20.517945683537455],
        ],
        [
            [41.00030296440742, 21.000302964407414, 19.999697035592586],
            [21.000302964407414, 21.000302964407414, -2.000302964407414],
        ],
    ]
)[:, None]
MARGIN = {
    "cluster_means_": MEANS, "cluster_sizes_": np.array([3.0, 3.0]), "labels_": Z,
    "objective_history_": np.array([52.52263310408375, 52.520940258773265, 52.5197615629977]),
    "lam_": LAM, "s_": 1.0, "c_": 1.0, "n_iter_": 3, "label_purity_": 0.6666666666666666,
    "gating_precision_": 0.5806451612903238, "probability_slope_": 0.2899952029599299, "_eta": ETA,
    "_cells": np.array([[3.0], [3.0]]), "_equations": EQUATIONS,
}  # fmt: skip
EXPERTS = {
    "c": 1.0, "calibrate": True, "divergence": "euclidean", "gating": "hard", "lam": LAM,
    "margin": 1.0, "nu": 1.0, "random_state": 0,
}  # fmt: skip
DESCENT = {"max_iter": 300, "n_init": 1, "tol": 0.0001}
LABELS = ["no", "yes"]
TREES = {
    "DPMeans": {
        "parameters": {
            "creation": "delayed", "divergence": "euclidean", "lam": LAM, "matrix": None,
            "max_clusters": None, "max_iter": 300, "n_init": 4, "random_state": 0,
        },
        "names": ["size"],
        "labels": None,
        "divergence": DIVERGENCE,
        "fitted": {
            "cluster_means_": MEANS, "labels_": Z,
            "objective_history_": np.array([53.5, 45.16666666666666]), "lam_": LAM, "n_iter_": 2,
        },
    },
    "DPMeansSVC": {
        "parameters": EXPERTS,
        "names": None,
        "labels": LABELS,
        "divergence": DIVERGENCE,
        "fitted": {key: MARGIN[key] for key in MARGIN if key not in ("_cells", "_equations")},
    },
    "MaxMarginDPMeans": {
        "parameters": EXPERTS | DESCENT | {"s": 1.0, "warm_start": False},
        "names": None,
        "labels": LABELS,
        "divergence": DIVERGENCE,
        "fitted": MARGIN,
    },
    "MaxMarginDPMeansCV": {
        "parameters": {key: EXPERTS[key] for key in EXPERTS if key not in ("c", "lam")}
        | DESCENT | {"cs": [1.0], "lams": [LAM], "ss": [1.0], "cv": 2},
        "names": ["size"],
        "labels": LABELS,
        "divergence": DIVERGENCE,
        "fitted": MARGIN
        | {
            "best_score_": 0.16666666666666666, "_cv_table": np.array([[LAM], [1.0], [1.0]]),
            "_cv_scores": np.array([0.16666666666666666]),
        },
    },
    "GibbsInfiniteSVC": {
        "parameters": {
            "alpha": 1.0, "burn_in": 2, "c": 1.0, "cluster_prior": "empirical", "clusters": "real",
            "margin": 1.0, "n_iter": 4, "n_samples": 50, "nu": 1.0, "random_state": 0,
        },
        "names": ["size"],
        "labels": LABELS,
        "schema": {
            "columns": [["size", "real"]], "named": True, "categories": [], "sources": ["float"],
        },
        "base": [[np.array([[6.083333333333333], [0.3], [2.0], [4.005208333333333]])]],
        "counts": [
            np.array(
                [
                    [1.0, 12.5, 0.0], [2.0, 10.5, 0.5], [1.0, 2.0, 0.0], [2.0, 0.5, 0.5],
                    [1.0, 12.5, 0.0], [2.0, 10.5, 0.5], [1.0, 0.0, 0.0], [2.0, 1.5, 0.5],
                ]
            )[:, :, None]
        ],
        "kept": {
            "sizes": np.array([1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0]),
            "eta": np.array(
                [
                    [-0.537287577051541, -0.13215093899715907],
                    [0.8408865395935885, 0.4225565059560394],
                    [0.09425823255382805, 0.5582117332567311],
                    [0.1499426624300901, -0.548859729119233],
                    [-0.03624681736617015, -0.48169971121564253],
                    [0.6570812076432435, 0.7180341502031518],
                    [-0.1521929584082903, -1.6710146672445947],
                    [0.06269018376099625, -0.2884441681829959],
                ]
            )[:, None],
            "owner": np.array([0, 0, 0, 0, 1, 1, 1, 1]),
        },
        "fill": np.array([6.083333333333333]),
        "rows": np.array([2, 3, 3, 1, 1, 0]),
        "traces": {
            "n_clusters": np.array([4.0, 3.0, 4.0, 4.0]),
            "hinge": np.array(
                [1.8599179071837304, 0.23476330089288466, 1.305495005827237, 2.0025248879462345]
            ),
        },
    },
}  # fmt: skip
PUBLISHED = {"multi_class": "one-vs-rest", "creation": "delayed", "fit_intercept": True}
SINCE = {  # parameters that came later: a file of before has their defaults
    "DPMeansSVC": {"class_weight": None},
    "MaxMarginDPMeans": PUBLISHED | {"class_weight": None},
    "MaxMarginDPMeansCV": PUBLISHED | {"class_weight": None},
    "GibbsInfiniteSVC": {"fit_intercept": True, "class_weight": None},
}
BY_MEANS = [
    0.5720090435117042, 0.500021957903727, 0.42803396197270016, 0.4314467511966402,
    0.4279536200443492, 0.4227274654425235,
]  # fmt: skip
BY_CHAIN = [
    0.7548519623211136, 0.6942523884417674, 0.6142022432616833, 0.26330076410449527,
    0.2954049877328454, 0.3841080613030612,
]  # fmt: skip


def written(name):
    """The file of a tree, as it was written."""
    file = io.BytesIO()
    artifacts.write(file, name, {"version": 2, **TREES[name]}, library_version="0.1.0")
    return file.getvalue()


def loaded(name):
    return infinimix.load(io.BytesIO(written(name)))


def plain(tree):
    """A tree whose arrays are lists, so that trees compare."""
    if isinstance(tree, dict):
        return {key: plain(value) for key, value in tree.items()}
    if isinstance(tree, list | tuple):
        return [plain(value) for value in tree]
    return (tree.dtype.str, tree.tolist()) if isinstance(tree, np.ndarray) else tree


ADDED = {  # which were read from the parameters before
    "GibbsInfiniteSVC": ("hyper", "burn_in"),
    "DPMeansSVC": ("soft",),
    "MaxMarginDPMeans": ("soft",),
    "MaxMarginDPMeansCV": ("soft",),
}


def settings_of(added):
    if "soft" in added:
        return {"gating": "soft" if added["soft"] else "hard"}
    return {} if not added else added["hyper"] | {"burn_in": added["burn_in"]}


@pytest.mark.parametrize("name", TREES)
def test_a_file_of_before_is_written_again_as_it_was(name):
    file = io.BytesIO()
    infinimix.save(loaded(name), file)
    kind, tree, _ = artifacts.read(io.BytesIO(file.getvalue()))
    assert kind == name
    added = {key: tree.pop(key) for key in ADDED.get(name, ())}
    assert all(tree["parameters"][key] == value for key, value in settings_of(added).items())
    expected = plain(artifacts.read(io.BytesIO(written(name)))[1])
    expected["parameters"] |= SINCE.get(name, {})
    assert plain(tree) == expected


@pytest.mark.parametrize(
    ("name", "table", "expected"),
    [
        ("DPMeansSVC", X, BY_MEANS),
        ("MaxMarginDPMeans", X, BY_MEANS),
        ("MaxMarginDPMeansCV", F, BY_MEANS),
        ("GibbsInfiniteSVC", F, BY_CHAIN),
    ],
)
def test_classifiers_of_before_answer_as_they_did(name, table, expected):
    model = loaded(name)
    assert np.allclose(model.predict_proba(table)[:, 0], expected, rtol=1e-14, atol=0)
    assert model.n_features_in_ == 1
    assert model.classes_.tolist() == LABELS


def test_dp_means_of_before_answer_as_they_did():
    model = loaded("DPMeans")
    assert model.feature_names_in_.tolist() == ["size"]
    assert model.predict(F).tolist() == model.labels_.tolist() == Z.tolist()
    assert np.allclose(
        model.divergences(F)[:2], [[124.69444444444443, 1.0], [103.3611111111111, 0]]
    )
    assert (model.n_iter_, model.objective_, model.lam_) == (2, 45.16666666666666, LAM)


def test_a_stream_of_before_goes_on():
    model = loaded("MaxMarginDPMeans").partial_fit(X[:3], ["no", "no", "yes"])
    assert np.allclose(model.coef_, [[0.04915381762761114], [1.045983066872729]], rtol=1e-13)
    assert np.allclose(model.intercept_, [0.460032306503892, -1.1146942582181096], rtol=1e-13)


def test_a_batch_that_fails_leaves_the_model_as_it_was():
    model = loaded("MaxMarginDPMeans")
    before = plain(model._state.to_tree())
    with pytest.raises(ValueError, match="none of the classes"):
        model.partial_fit(X[:2], ["no", "perhaps"])
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(np.ones((2, 3)), ["no", "yes"])
    assert plain(model._state.to_tree()) == before


def test_a_fit_that_fails_leaves_the_model_as_it_was():
    model = loaded("DPMeans")
    with pytest.raises(ValueError, match="infinity"):
        model.fit(np.full((4, 3), np.inf))
    assert model.n_features_in_ == 1
    assert model.feature_names_in_.tolist() == ["size"]
