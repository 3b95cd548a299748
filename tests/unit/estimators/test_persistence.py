"""`save` and `load`: the same bits after, and no file that leads compiled code astray."""

import io
from collections import UserDict
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from infinimix import AClassClassifier, CRPMixture, load, save
from infinimix.artifacts import ArtifactError
from tests.unit.estimators.states import differences, state_of
from tests.unit.estimators.tables import KINDS, columns_of, make_labels, make_table
from tests.unit.saved_models import edited, put, saved


def through(model):
    return load(io.BytesIO(saved(model)))


def assert_same(a, b):
    assert differences(state_of(a), state_of(b)) == []


@pytest.mark.parametrize("resampling", ["optimal", "multinomial"])
@pytest.mark.parametrize("prior", ["empirical", "reference"])
@pytest.mark.parametrize("kind", sorted(KINDS))
def test_a_classifier_continues_bit_for_bit(kind, prior, resampling):
    X, y = make_table(kind, 90), make_labels(90)
    model = AClassClassifier(
        columns_of(kind),
        prior=prior,
        resampling=resampling,
        n_particles=4,
        n_islands=2,
        random_state=0,
    ).partial_fit(X[:35], y[:35])
    model.sample(3)
    again = through(model)
    assert_same(model, again)
    for i in range(35, 90, 11):
        model.partial_fit(X[i : i + 11], y[i : i + 11])
        again.partial_fit(X[i : i + 11], y[i : i + 11])
    assert_same(model, again)
    assert (model.predict_proba(X) == again.predict_proba(X)).all()
    assert (model.predict(X) == again.predict(X)).all()
    one, two = model.sample(20), again.sample(20)
    assert one[1].tolist() == two[1].tolist()
    assert np.array_equal(one[0], two[0])
    assert_same(again, through(again))


def test_a_fit_that_looked_ahead_continues_bit_for_bit():
    X = make_table("binary", 90)
    model = CRPMixture(columns_of("binary"), resampling="lookahead", n_islands=2, random_state=0)
    model.fit(X[:60])
    again = through(model)
    assert_same(model, again)
    assert_same(model.partial_fit(X[60:]), again.partial_fit(X[60:]))


def test_a_mixture_continues_bit_for_bit_with_its_labels():
    X = make_table("mixed", 60)
    model = CRPMixture(columns_of("mixed"), n_particles=4, n_islands=2, random_state=0).fit(X)
    again = through(model)
    assert_same(model, again)
    assert (again.labels_ == model.labels_).all()
    assert (again.score_samples(X) == model.score_samples(X)).all()
    assert (again.predict(X) == model.predict(X)).all()
    assert again.prototypes().equals(model.prototypes())
    assert (again.n_groups_posterior_ == model.n_groups_posterior_).all()
    assert_same(model.partial_fit(X), again.partial_fit(X))
    assert_same(model.fit(X), again.fit(X))


def test_a_bounded_model_continues_bit_for_bit():
    X = make_table("mixed", 60)
    model = CRPMixture(
        columns_of("mixed"), max_groups=2, n_particles=3, n_islands=2, random_state=0
    )
    model.partial_fit(X[:30])
    again = through(model)
    assert_same(model.partial_fit(X[30:]), again.partial_fit(X[30:]))
    assert model.log_evidence_ == again.log_evidence_


@pytest.mark.parametrize(
    "parameters",
    [
        {"columns": {0: "real", "x1": "binary"}},
        {"columns": UserDict({0: "real", 1: "real"})},
        {"columns": "real", "prior": {"x0": (0, 1, 2, 3.5), "real": [0.5, 1, 1, 1]}},
        {"columns": "real", "prior": {"x0": np.array([0.0, 1, 2, 3]), "x1": "reference"}},
        {"columns": "binary", "prior": {"binary": 0.7}},
        {"alpha": np.float32(0.5), "n_particles": np.int64(3), "max_groups": np.int16(4)},
        {"random_state": np.int64(7)},
        {"random_state": 2**100},
        {"random_state": None},
    ],
    ids=str,
)
def test_parameters_survive(parameters):
    X = np.array([[0.0, 1], [1, 0], [1, 1]])
    model = CRPMixture(**({"n_particles": 2, "n_islands": 2, "random_state": 0} | parameters)).fit(
        X
    )
    again = through(model)
    for name, value in model.get_params().items():
        value = dict(value) if isinstance(value, UserDict) else value
        np.testing.assert_equal(getattr(again, name), value)
    if parameters.get("random_state", 0) is not None:
        assert_same(clone(model).fit(X), clone(again).fit(X))  # they work again, too


def test_a_generator_survives_where_it_is():
    X = make_table("real", 20)
    model = CRPMixture("real", n_particles=2, n_islands=1, random_state=np.random.default_rng(5))
    model.fit(X)
    again = through(model)
    assert again.random_state is not model.random_state
    assert_same(model.fit(X), again.fit(X))


def test_names_and_values_of_any_kind_survive():
    frame = pd.DataFrame(
        {
            "größe ☃": [1.5, 2.5, None],
            "": ["é", "b\0", "b"],
            "huge": [2**70, -(2**63), 2**64 - 1],
            "flag": pd.array([True, None, False], dtype="boolean"),
            "bytes": [b"\xff", b"", None],
            "either": [1.5, "1.5", True],
        }
    )
    labels = ["☃", "b\0", "b"]
    model = AClassClassifier(columns={"huge": "categorical"}, n_particles=2, random_state=0)
    model.partial_fit(frame, labels)
    again = through(model)
    assert_same(model, again)
    assert again.feature_names_in_.tolist() == list(frame.columns)
    assert again.classes_.tolist() == model.classes_.tolist()
    assert (again.predict_proba(frame) == model.predict_proba(frame)).all()
    assert again.columns_ == model.columns_
    a, b = again.sample(9), model.sample(9)
    assert a[0].equals(b[0])


@pytest.mark.parametrize("labels", [[True, False, True], [2**64 - 1, 2**63, 0], [2**80, -1, -1]])
def test_labels_of_any_kind_survive(labels):
    X = [[0.0], [1], [1]]
    model = AClassClassifier("binary", n_particles=2, random_state=0).fit(X, labels)
    again = through(model)
    assert again.classes_.tolist() == model.classes_.tolist() == sorted(set(labels))
    assert again.classes_.dtype == model.classes_.dtype


def test_paths_and_files(tmp_path):
    model = CRPMixture("binary", n_particles=2, n_islands=1, random_state=0).fit([[0], [1]])
    for path in (tmp_path / "a.model", str(tmp_path / "b.model")):
        save(model, path)
        assert_same(load(path), model)
    assert Path(tmp_path / "a.model").read_bytes() == saved(model)
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "none")


def test_what_cannot_be_saved_is_refused_before_the_file_is_touched(tmp_path):
    path = tmp_path / "model"
    path.write_bytes(b"old")
    X = [[0], [1]]
    small = {"columns": "binary", "n_particles": 2, "n_islands": 1}
    unfitted = CRPMixture(**small)
    odd_state = CRPMixture(**small, random_state=np.random.RandomState(0)).fit(X)
    odd_value = CRPMixture("categorical", n_particles=2, n_islands=1).fit([[("a", 1)], [("b", 2)]])
    odd_parameter = CRPMixture(**small).fit(X).set_params(alpha=-1)
    for model, error, words in (
        (unfitted, ValueError, "fit it before"),
        (3, TypeError, "AClassClassifier, .*, CRPImputer, CRPMixture, .*; got int"),
        (odd_state, TypeError, "use an int or a Generator"),
        (odd_value, TypeError, "'x0'.*tuple"),
        (odd_parameter, ValueError, "alpha"),
    ):
        with pytest.raises(error, match=words):
            save(model, path)
    assert path.read_bytes() == b"old"


# --- files that are not what they should be -----------------------------------------------------


@pytest.fixture(scope="module")
def streams():
    """A saved classifier of each way of resampling, in the middle of a stream."""
    X, y = make_table("mixed", 60), make_labels(60)
    return {
        how: saved(
            AClassClassifier(
                columns_of("mixed"), resampling=how, n_particles=4, n_islands=2, random_state=0
            ).partial_fit(X, y)
        )
        for how in ("optimal", "multinomial")
    }


def test_an_edit_that_changes_nothing_is_read(streams):
    assert load(edited(streams["optimal"], lambda tree: None)).classes_.tolist() == list("abmz")


def test_damaged_files_are_refused(streams):
    data = streams["optimal"]
    rng = np.random.default_rng(0)
    for at in rng.integers(0, len(data), 60):
        broken = bytearray(data)
        broken[at] ^= 0xFF
        try:
            model = load(io.BytesIO(bytes(broken)))
        except ArtifactError:
            pass
        else:  # a byte of the zip file that nobody reads
            assert_same(model, load(io.BytesIO(data)))
    for size in (0, 1, 100, len(data) // 2, len(data) - 1):
        with pytest.raises(ArtifactError):
            load(io.BytesIO(data[:size]))
    with pytest.raises(ArtifactError, match="not"):
        load(io.BytesIO(b"this is no model"))


def other_kind(tree):
    return "Nothing"


EDITS = {
    "another kind": (other_kind, "'Nothing', which this infinimix does not know"),
    "a newer tree": (put("version", 3), "newer"),
    "an older tree": (put("version", 1), "fit it again"),
    "a version in words": (put("version", "two"), None),
    "no version": (lambda tree: tree.pop("version") and None, None),
    "no bank": (put("bank", None), None),
    "no schema": (lambda tree: tree.pop("schema") and None, None),
    "an unknown parameter": (put("parameters", "speed", 3), "speed"),
    "a wrong parameter": (put("parameters", "alpha", -1.0), "alpha"),
    "a wrong seed": (put("parameters", "random_state", "x"), "random_state"),
    "more categories than counted": (
        put("schema", "categories", 0, lambda v: [*v, *range(100, 10_000)]),
        "columns",
    ),
    "fewer categories than counted": (put("schema", "categories", 0, lambda v: v[:-1]), "columns"),
    "a category twice": (put("schema", "categories", 0, lambda v: [*v[:-1], v[0]]), "columns"),
    "one more list of categories": (put("schema", "categories", lambda v: [*v, [1]]), "columns"),
    "another kind of column": (put("schema", "columns", 0, ["x0", "real"]), "columns"),
    "an unknown kind of column": (put("schema", "columns", 0, ["x0", "floaty"]), "columns"),
    "a name twice": (put("schema", "columns", 0, ["x1", "binary"]), "columns"),
    "columns in another order": (put("schema", "columns", lambda v: v[::-1]), "columns"),
    "one more column": (put("schema", "columns", lambda v: [*v, ["x9", "real"]]), "columns"),
    "no columns": (put("schema", "columns", []), "columns"),
    "one source fewer": (put("schema", "sources", lambda v: v[:-1]), "columns"),
    "counts of categories": (put("bank", "category_counts", lambda v: v + 1), None),
    "one label more": (put("labels", lambda v: [*v, "new"]), "labels"),
    "one label fewer": (put("labels", lambda v: v[:-1]), "labels"),
    "a label twice": (put("labels", lambda v: [*v[:-1], v[0]]), "labels"),
    "a hole as a label": (put("labels", lambda v: [*v[:-1], None]), "NaN"),
    "no labels": (put("labels", None), "labels"),
    "no islands at all": (put("bank", "islands", []), "islands"),
    "an island fewer": (put("bank", "islands", lambda v: v[:-1]), "islands"),
    "a class fewer": (put("bank", "islands", 0, "filters", lambda v: v[:-1]), "same classes"),
    "classes in another order": (put("bank", "islands", 0, "filters", lambda v: v[::-1]), "rows"),
    "no generator of an island": (put("bank", "islands", 0, "rng", 3), "generator"),
    "an alpha of nothing": (put("bank", "islands", 0, "alpha", 0.0), "hyper-parameters"),
    "an alpha beyond all": (put("bank", "islands", 0, "alpha", np.inf), "hyper-parameters"),
    "an alpha of its own": (put("bank", "islands", 0, "alpha", 2.0), "alpha"),
    "no dials": (put("bank", "islands", 0, "dials", {}), "hyper-parameters"),
    "hyper-parameters beyond the grid": (
        put("bank", "islands", 0, "dials", "binary", lambda v: v + 7),
        "hyper-parameters",
    ),
    "hyper-parameters of other columns": (
        put("bank", "islands", 0, "dials", "binary", lambda v: v[:, :-1]),
        "hyper-parameters",
    ),
    "no calibration": (put("calibration", None), "no complete"),
    "a power of nothing": (put("calibration", lambda v: (0.0, v[1])), "power"),
    "a power that is no number": (put("calibration", lambda v: (np.nan, v[1])), "power"),
    "no islands": (put("bank", "settings", "n_islands", 0), "n_islands"),
    "an unknown resampling": (put("bank", "settings", "resampling", "x"), "resampling"),
    "a bound of nothing": (put("bank", "settings", "max_groups", 0), "max_groups"),
    "a prior of other columns": (put("bank", "settings", "prior", {"zz": 1.0}), "zz"),
    "islands beyond memory": (put("bank", "settings", "n_islands", 10**12), "islands"),
    "categories beyond memory": (
        put("bank", "category_counts", lambda v: np.full(1, 10**12)),
        "columns are not those",
    ),
    "particles beyond memory": (put("bank", "settings", "n_particles", 10**15), None),
    "no pool": (put("bank", "pool", []), None),
    "labels_ of no rows": (put("rows", "x"), "labels_"),
}


@pytest.mark.parametrize("name", EDITS)
def test_a_whole_archive_with_wrong_content_is_refused(streams, name):
    edit, words = EDITS[name]
    with pytest.raises(ArtifactError, match=words):
        load(edited(streams["optimal"], edit))


def every_filter(change):
    def edit(tree):
        for island in tree["bank"]["islands"]:
            for part in island["filters"]:
                change(part)

    return edit


def fill(name, value, row=None):
    def change(part):
        part[name][... if row is None else row] = value

    return every_filter(change)


def replace(name, make):
    return every_filter(lambda part: part.__setitem__(name, make(part[name])))


FILTERS = {
    "groups beyond the slots": fill("groups", 10**6),
    "groups before the slots": fill("groups", -1),
    "an order that is none": fill("slots", 0, row=1),
    "places that are none": fill("slots", 0, row=2),
    "marks of a row half done": fill("slots", 1, row=4),
    "more live slots than slots": fill("tally", 10**6, row=1),
    "no live slot": fill("tally", 0, row=1),
    "more particles than room": fill("tally", 10**6, row=2),
    "no particle": fill("tally", 0, row=2),
    "wider than the room": fill("tally", 10**6, row=3),
    "more uniforms used than drawn": fill("tally", 10**9, row=4),
    "fewer rows than none": fill("tally", -1, row=0),
    "no copies": fill("crowd", 0, row=0),
    "too many copies": fill("crowd", 10**6, row=0),
    "groups of no size": fill("crowd", 0, row=1),
    "groups of any size": fill("crowd", 10**6, row=1),
    "weights that are no numbers": fill("logw", np.nan),
    "masses that are no numbers": fill("mass", np.nan),
    "a short tally": replace("tally", lambda v: v[:-1]),
    "few uniforms": replace("u", lambda v: v[:2]),
    "few groups": replace("groups", lambda v: v[:1]),
    "few weights": replace("logw", lambda v: v[:1]),
    "few slots": replace("slots", lambda v: v[:, :4]),
    "other numbers": replace("groups", lambda v: v.astype(np.int32)),
    "another shape": replace("mass", lambda v: v.ravel()),
    "no statistics": replace("stats", lambda v: []),
    "few statistics": replace("stats", lambda v: [a[:1] for a in v]),
    "other statistics": replace("stats", lambda v: [a.astype(np.float32) for a in v]),
    "no generator": replace("rng", lambda v: 3),
}


def hold_dead_slots(part):
    """Let particles hold slots that are not live: freeing them runs off the front."""
    part["slots"][0] = 1
    n = part["groups"].size
    part["groups"].flat = np.arange(n) % (part["slots"].shape[1] - 1) + 1


CONTRADICTIONS = {  # found by fuzzing with bounds checks on; some write outside of arrays
    "uniforms below 0": fill("u", -1e9),
    "uniforms above 1": fill("u", 1e9),
    "uniforms that are no numbers": fill("u", np.nan),
    "references that are not counted": fill("slots", 1, row=0),
    "no references": fill("slots", 0, row=0),
    "groups that are not live": every_filter(hold_dead_slots),
    "live slots that nobody holds": every_filter(
        lambda part: part["tally"].__setitem__(1, part["slots"].shape[1])
    ),
    "groups without rows": fill("mass", 0.0, row=0),
    "groups of negative size": fill("mass", -1.0, row=0),
    "particles without groups": fill("crowd", 1, row=1),
    "rows beyond those in the groups": fill("tally", 2**62, row=0),
    "statistics that are no numbers": replace("stats", lambda v: [a * np.nan for a in v]),
    "statistics below zero": replace("stats", lambda v: [a * 0 - 5 for a in v]),
    "one array too many": replace("stats", lambda v: [*v, np.zeros(3)]),
    "a pool that is no number": put("bank", "pool", lambda v: [a * np.nan for a in v]),
    "no sampler": put("bank", "sampler", 3),
    "fewer rows than none": put("bank", "n_rows", -5),
}


@pytest.mark.parametrize("how", ["optimal", "multinomial"])
@pytest.mark.parametrize("name", FILTERS)
def test_arrays_that_would_lead_a_kernel_astray_are_refused(streams, name, how):
    with pytest.raises(ArtifactError, match="no complete AClassClassifier"):
        load(edited(streams[how], FILTERS[name]))


@pytest.mark.parametrize("how", ["optimal", "multinomial"])
@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_arrays_that_contradict_each_other_are_refused(streams, name, how):
    with pytest.raises(ArtifactError, match="no complete AClassClassifier"):
        load(edited(streams[how], CONTRADICTIONS[name]))


def test_a_file_of_another_kind_is_refused():
    file = saved(CRPMixture(effort="fast", random_state=0).fit([[0.1], [0.2], [5.0]]))
    assert type(load(io.BytesIO(file), CRPMixture)) is CRPMixture
    assert type(load(io.BytesIO(file), kind=object)) is CRPMixture
    with pytest.raises(ArtifactError, match="of class CRPMixture, not AClassClassifier"):
        load(io.BytesIO(file), AClassClassifier)
