"""`save` and `load` of the online classifier: the same bits after, whatever the file says."""

import io

import numpy as np
import pytest

from infinimix import NEW_CLASS, OnlineCRPClassifier, Text, load
from infinimix.artifacts import ArtifactError
from tests.unit.estimators.online_streams import hide, make_stream, make_texts, new_model
from tests.unit.estimators.online_streams import online_state as state_of
from tests.unit.estimators.states import differences
from tests.unit.estimators.tables import KINDS
from tests.unit.saved_models import edited, put, saved

ROWS = 100


def through(model):
    return load(io.BytesIO(saved(model)))


def assert_same(a, b):
    assert differences(state_of(a), state_of(b)) == []


TEXTS = {
    "plain": {},
    "as published": OnlineCRPClassifier.as_published(random_state=0).get_params(),
    "posterior": {"alpha_rule": "posterior", "refine": 0.0, "weighting": "log"},
    "sampled": {"algorithm": "sampled", "decision": "sample"},
    "as published, drawn": OnlineCRPClassifier.as_published(
        random_state=0, algorithm="redrawn", alpha_rule="posterior-published"
    ).get_params(),
    "sampled and faded": {"algorithm": "sampled", "half_life": 20.0, "max_features": 25},
    "drawn decisions": {"decision": "sample", "open_world": True},
    "faded": {"half_life": 13.0, "max_classes": 2},
    "few words": {"max_features": 15, "weighting": "counts"},
    "hashed": {"columns": Text(hash_bits=5, stop_words=["w1"])},
    "open": {"open_world": True, "alpha": 50.0},
}


@pytest.mark.parametrize("name", TEXTS)
def test_text_continues_bit_for_bit(name):
    X, y = make_texts(ROWS, seed=3)
    parameters = {"random_state": 0} | TEXTS[name]
    y = hide(y, 0.3) if parameters.get("open_world") else y
    check_resume(OnlineCRPClassifier(**parameters), X, y)


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"half_life": 9.0, "open_world": True, "alpha": 20.0},
        {"new_class": "published", "open_world": True, "alpha_rule": "posterior-published"},
        {"algorithm": "redrawn", "open_world": True, "half_life": 30.0, "max_classes": 2},
    ],
)
@pytest.mark.parametrize("kind", sorted(KINDS))
def test_tables_continue_bit_for_bit(kind, more):
    X, y, columns = make_stream(kind, ROWS)
    y = hide(y, 0.3) if more else y
    check_resume(new_model(columns, **more), X, y)


def check_resume(model, X, y):
    rng = np.random.default_rng(len(repr(model)))
    first, second = np.sort(rng.choice(np.arange(5, ROWS - 5), 2, replace=False))
    model.partial_fit(X[:first], y[:first])
    again = through(model)
    assert_same(model, again)
    for start, end in ((first, second), (second, ROWS)):
        one, two = (m.forecast(X[start:end], y[start:end]) for m in (model, again))
        assert all(map(_equal, one, two))
        assert_same(model, again)
        assert np.array_equal(model.predict_proba(X), again.predict_proba(X))
        assert np.array_equal(model.new_class_proba(X), again.new_class_proba(X))
        assert (model.predict(X) == again.predict(X)).all()  # where that is drawn, too
        again = through(again)
    assert repr(model.provisional_classes()) == repr(again.provisional_classes())
    assert repr(model.get_params()) == repr(again.get_params())
    assert_same(model.fit(X, y), again.fit(X, y))


def _equal(a, b):
    return a.tolist() == b.tolist() or np.array_equal(a, b, equal_nan=True)


def test_provisional_classes_survive_and_can_be_named():
    X, y = make_texts(60)
    model = new_model(open_world=True).fit(X, y)
    model.partial_fit([{"oboe": 3.0, "harp": 1.0}, {"oboe": 2.0}], [None, None])
    again = through(model)
    assert again.provisional_classes() == model.provisional_classes() != []
    for m in (model, again):
        m.name_class(1, "music")
    assert_same(model, again)
    assert again.predict([{"oboe": 1.0}]).tolist() == ["music"]


def test_a_model_that_has_only_heard_of_its_classes_survives():
    model = new_model().partial_fit([{}], ["b"], classes=["a", "c"])
    again = through(model)
    assert again.classes_.tolist() == ["a", "b", "c"]
    assert_same(model, again)
    assert new_model().__sklearn_is_fitted__() is False
    with pytest.raises(ValueError, match="fit it before saving"):
        saved(new_model())


def test_features_survive():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"u": [1, 0], "v": [0, 2]})
    again = through(new_model().fit(frame, [True, False]))
    assert again.feature_names_in_.tolist() == ["u", "v"]
    assert again.n_features_in_ == 2
    assert again.classes_.tolist() == [False, True]
    with pytest.raises(ValueError, match="feature names"):
        again.predict(frame.rename(columns={"u": "w"}))


def test_an_interrupted_model_is_not_saved():
    model = new_model().fit(["a b"], ["x"])
    model._state.torn = True
    for ask in (saved, lambda m: m.predict(["aa"]), lambda m: m.partial_fit(["aa"], ["x"])):
        with pytest.raises(RuntimeError, match="interrupted"):
            ask(model)


def test_files_of_before_the_published_terms_load_with_defaults(files):
    """Those had no `new_class`, ten numbers of the course and three generators."""

    def older(tree):
        del tree["parameters"]["new_class"]
        learner = tree["learner"]
        del learner["settings"]["new_class"]
        learner["course"] = learner["course"][:10]
        learner["rngs"] = learner["rngs"][:3]

    for data in files.values():
        model, again = load(io.BytesIO(data)), load(edited(data, older))
        assert again.new_class == "learned"
        assert_same(model, again)


# --- files that are not what they should be -----------------------------------------------------


@pytest.fixture(scope="module")
def files():
    """Saved models in the middle of a stream."""
    X, y = make_texts(60)
    text = new_model(open_world=True).fit(X, y)
    text.partial_fit([{"oboe": 3.0}], [None])
    drawn = new_model(algorithm="sampled", decision="sample").fit(X, y)
    X, y, columns = make_stream("mixed", 60)
    table = new_model(columns).fit(X, y)
    drawn_table = new_model(columns, algorithm="redrawn").fit(X, y)
    return {
        "text": saved(text),
        "sampled": saved(drawn),
        "table": saved(table),
        "drawn table": saved(drawn_table),
    }


def learner(*path):
    return put("learner", *path)


def filled(value, where=...):
    def fill(array):
        array = array.copy()
        array[where] = value
        return array

    return fill


ANY = {
    "no learner": put("learner", None),
    "no members": put("members", []),
    "one member fewer": put("members", lambda v: v[:-1]),
    "a label twice": put("members", lambda v: [v[0], *v[:-1]]),
    "a hole as a label": put("members", lambda v: [{"label": None}, *v[1:]]),
    "a number among labels": put("members", lambda v: [{"label": 3}, *v[1:]]),
    "a member that is none": put("members", lambda v: [{}, *v[1:]]),
    "features without number": put("feature_names", ["u"]),
    "a wrong parameter": put("parameters", "alpha", -1.0),
    "an unknown parameter": put("parameters", "speed", 1),
    "no settings": learner("settings", {}),
    "an alpha of nothing": learner("settings", "alpha", 0.0),
    "an alpha of words": learner("settings", "alpha", "x"),
    "an unknown rule": learner("settings", "alpha_rule", "x"),
    "a regret of one": learner("settings", "regret", (0.1, 1.0, 3.0)),
    "a negative weight": learner("settings", "positive", -1.0),
    "steps of others": learner("settings", "steps", (0.25,)),
    "no replicas": learner("settings", lambda v: v | {"steps": (), "negatives": ()}),
    "more replicas than arrays": learner(
        "settings", lambda v: v | {"steps": (0.25,) * 3, "negatives": (0.0,) * 3}
    ),
    "a half-life of nothing": learner("settings", "half_life", 0.0),
    "no generators": learner("rngs", []),
    "a generator that is none": learner("rngs", [1, 2, 3]),
    "classes of other rows": learner("classes", lambda v: v[:-1]),
    "one class fewer": learner("classes", lambda v: v[:, :-1]),
    "classes of negative size": learner("classes", filled(-1.0)),
    "classes that are no numbers": learner("classes", filled(np.nan)),
    "classes of whole numbers": learner("classes", lambda v: v.astype(np.int64)),
    "classes half named": learner("classes", filled(0.5, 4)),
    "nobody named": learner("classes", filled(0.0, 4)),
    "classes of the future": learner("classes", filled(1e9, 3)),
    "classes as a list": learner("classes", lambda v: v.tolist()),
    "a short course": learner("course", lambda v: v[:-1]),
    "an unknown rule in the course": learner("course", filled(7.0, 6)),
    "half a row": learner("course", filled(7.5, 9)),
    "rows before the first": learner("course", filled(-1.0, 9)),
    "more rows than can be": learner("course", filled(1e300, 9)),
    "an alpha below zero": learner("course", filled(-1.0, 0)),
    "replicas of no weight": learner("replicas", filled(0.0, 4)),
    "replicas of others": learner("replicas", lambda v: v[:, :1]),
    "replicas with another step": learner("replicas", filled(9.0, 1)),
    "a short grid": learner("log_alpha_weight", lambda v: v[:-1]),
    "novelty without gradients": learner("novelty", lambda v: v[:1]),
    "negative squares of novelty": learner("novelty", filled(-1.0, 1)),
    "biases of fewer slots": learner("bias", lambda v: v[:, :-1]),
    "negative squares of biases": learner("bias", filled(-1.0)),
    "no corrections": learner("corrections", []),
    "corrections of fewer features": learner("corrections", lambda v: [a[:-1] for a in v]),
    "corrections of fewer slots": learner("corrections", lambda v: [a[:, :-1] for a in v]),
    "corrections that are none": learner("corrections", lambda v: [filled(np.inf)(a) for a in v]),
    "negative squares": learner("corrections", lambda v: [filled(-1.0)(a) for a in v]),
}
TEXT = {
    "no text": put("text", {"lower": 3}),
    "no words": put("vocabulary", {"words": []}),
    "fewer words": put("vocabulary", "words", lambda v: v[:-1]),
    "a word twice": put("vocabulary", "words", lambda v: [*v[:-1], v[0]]),
    "numbers as words": put("vocabulary", "words", lambda v: list(range(len(v)))),
    "columns as text": put("vocabulary", {"columns": "x"}),
    "fewer columns by hashing": put("text", "hash_bits", 1),
    "a provisional number of the future": put("next_number", 1),
    "a provisional number of words": put("next_number", "x"),
    "examples that are none": put("members", -1, "examples", [3]),
    "an unknown form": learner("form", 9),
    "a form of words": learner("form", "x"),
    "a weighting that is none": learner("rule", filled(2.0)),
    "a short weighting": learner("rule", lambda v: v[:2]),
    "a pseudo-count of nothing": learner("prior", 0.0),
    "a pseudo-count of words": learner("prior", "x"),
    "a bound of nothing": learner("max_features", 0),
    "rows below zero": learner("rows", -1.0),
    "frequencies of fewer words": learner("frequencies", lambda v: v[:-1]),
    "frequencies of other fields": learner("frequencies", lambda v: v[:, :-1]),
    "frequencies of more words": learner("frequencies", lambda v: np.concatenate([v, v])),
    "frequencies below zero": learner("frequencies", filled(-1.0)),
    "counts of fewer words": learner("n", lambda v: v[:-1]),
    "counts of fewer slots": learner("n", lambda v: v[:, :-1]),
    "counts below zero": learner("n", filled(-1.0)),
    "counts of small floats": learner("n", lambda v: v.astype(np.float32)),
    "counts that are no numbers": learner("n", filled(np.nan)),
    "logs of fewer words": learner("t", lambda v: v[:-1]),
    "logs that are no numbers": learner("t", filled(-np.inf)),
    "totals of fewer slots": learner("total", lambda v: v[:-1]),
    "totals below zero": learner("total", filled(-1.0)),
}
COUNTED = {
    "logs of other counts": learner("t", filled(0.1)),
    "totals that do not add up": learner("total", filled(5e5)),
}
SAMPLED = {"parameters beyond all": learner("t", filled(1e4))}
TABLE = {
    "no schema": put("schema", None),
    "another kind of column": put("schema", "columns", 0, ["x0", "real"]),
    "more categories than counted": put("schema", "categories", 0, lambda v: [*v, 77]),
    "fewer categories than counted": put("schema", "categories", 0, lambda v: v[:-1]),
    "more categories": learner("category_counts", lambda v: v + 1),
    "fewer categories than none": learner("category_counts", lambda v: -v),
    "no prior": learner("prior", None),
    "a prior of other columns": learner("prior", {"zz": 1.0}),
    "no pool": learner("pool", []),
    "a pool below zero": learner("pool", 0, filled(-1.0)),
    "a pool of more groups": learner("pool", 0, lambda v: np.concatenate([v, v])),
    "no statistics": learner("n", []),
    "statistics of fewer slots": learner("n", 0, lambda v: v[:-1]),
    "statistics below zero": learner("n", 1, filled(-1.0)),
    "statistics that are no numbers": learner("n", 2, filled(np.nan)),
    "names of other blocks": learner("names", lambda v: dict(list(v.items())[:1])),
}
DRAWN = {
    "parameters of fewer slots": learner("drawn", 0, 0, lambda v: v[:-1]),
    "parameters that are no numbers": learner("drawn", 1, 0, filled(np.nan)),
    "parameters of fewer blocks": learner("drawn", lambda v: v[:-1]),
}
WRONG = [
    *[(file, name, ANY[name]) for file in ("text", "table") for name in ANY],
    *[(file, name, TEXT[name]) for file in ("text", "sampled") for name in TEXT],
    *[("text", name, edit) for name, edit in COUNTED.items()],
    *[("sampled", name, edit) for name, edit in SAMPLED.items()],
    *[(file, name, TABLE[name]) for file in ("table", "drawn table") for name in TABLE],
    *[("drawn table", name, edit) for name, edit in DRAWN.items()],
]


@pytest.mark.parametrize(("file", "name", "edit"), WRONG, ids=[f"{f}: {n}" for f, n, _ in WRONG])
def test_wrong_content_is_refused(files, file, name, edit):
    if name in ("examples that are none", "a provisional number of the future"):
        file = "text"  # the only one with provisional classes
    with pytest.raises(ArtifactError):
        load(edited(files[file], edit))


@pytest.mark.parametrize("file", ["text", "sampled", "table", "drawn table"])
def test_an_edit_that_changes_nothing_is_read(files, file):
    model = load(edited(files[file], lambda tree: None))
    answers = model.predict(["w1 oboe"] if "table" not in file else make_stream("mixed", 3)[0])
    assert all(answer is NEW_CLASS or answer in model.classes_ for answer in answers)


@pytest.mark.parametrize("file", ["text", "table"])
def test_damaged_files_are_refused(files, file):
    data, whole = files[file], load(io.BytesIO(files[file]))
    for place in np.random.default_rng(0).integers(0, len(data), 40):
        broken = bytearray(data)
        broken[place] ^= 0xFF
        try:
            model = load(io.BytesIO(bytes(broken)))
        except ArtifactError:
            continue
        assert_same(model, whole)  # a byte of the zip file that nobody reads
