import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from infinimix import AClassClassifier, CRPMixture
from infinimix.families.seam import draw
from infinimix.inference.partition.assignments import best_particle
from infinimix.tables import encode

SMALL = {"n_particles": 4, "n_islands": 2, "random_state": 0}
rng = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {
        "b": np.tile([0, 1, 1, 0, 1, 0], 5),
        "c": list("xyzxyz") * 5,
        "r": rng.normal(size=30) + np.tile([0, 9, 0, 0, 9, 0], 5),
    }
)
FRAME.loc[3, "r"] = np.nan


@pytest.fixture(scope="module")
def mixture():
    return CRPMixture(**SMALL).fit(FRAME)


@pytest.fixture(scope="module")
def classifier():
    return AClassClassifier(**SMALL).fit(FRAME, ["p", "q"] * 15)


def test_samples_look_like_the_table(mixture):
    drawn = mixture.sample(200)
    assert list(drawn.columns) == ["b", "c", "r"]
    assert len(drawn) == 200
    assert set(drawn["b"]) == {0, 1}
    assert set(drawn["c"]) <= {"x", "y", "z"}
    assert np.isfinite(drawn["r"]).all()
    assert not drawn.isna().any().any()


def test_samples_of_nameless_columns_are_arrays():
    numbers = CRPMixture(**SMALL).fit(FRAME[["b", "r"]].to_numpy()).sample(5)
    assert numbers.shape == (5, 2)
    assert numbers.dtype == np.float64
    anything = CRPMixture(**SMALL).fit(FRAME.to_numpy(dtype=object)).sample(5, given={"x1": "y"})
    assert anything.shape == (5, 3)
    assert anything[:, 1].tolist() == ["y"] * 5


def test_samples_of_a_classifier_come_with_labels(classifier):
    drawn, labels = classifier.sample(50)
    assert drawn.shape == (50, 3)
    assert set(labels) == {"p", "q"}


def test_one_row_is_the_default_and_no_row_is_allowed(mixture, classifier):
    assert mixture.sample().shape == (1, 3)
    assert mixture.sample(0).shape == (0, 3)
    assert classifier.sample(0)[1].shape == (0,)
    assert mixture.sample(np.int64(2)).shape == (2, 3)


@pytest.mark.parametrize("n", [-1, 2.5, "3", None, True, (2, 2)])
def test_a_wrong_number_of_rows_is_refused(mixture, n):
    with pytest.raises(ValueError, match="n, the number of rows"):
        mixture.sample(n)


def test_successive_samples_differ_and_follow_the_seed():
    one, two = (CRPMixture(**SMALL).fit(FRAME) for _ in range(2))
    first, second = one.sample(4), one.sample(4)
    assert not first.equals(second)
    assert first.equals(two.sample(4))
    assert second.equals(two.sample(4))


def test_sampling_does_not_disturb_learning():
    one, two = (CRPMixture(**SMALL).partial_fit(FRAME) for _ in range(2))
    one.sample(10)
    one.partial_fit(FRAME)
    two.partial_fit(FRAME)
    assert (one.score_samples(FRAME) == two.score_samples(FRAME)).all()


def test_given_cells_are_kept(mixture, classifier):
    drawn = mixture.sample(30, given={"c": "y", "r": 9.25})
    assert set(drawn["c"]) == {"y"}
    assert set(drawn["r"]) == {9.25}
    assert (drawn["b"] == 1).mean() > 0.8  # the rest follows from them
    by_position = mixture.sample(5, given={0: 1, np.int64(2): 1.5})
    assert set(by_position["b"]) == {1}
    assert set(by_position["r"]) == {1.5}
    drawn, _ = classifier.sample(5, given={"b": False})
    assert set(drawn["b"]) == {0}


def test_numbers_as_names_are_names():
    frame = pd.DataFrame({1: [0.5, 1.5, 2.5], 0: ["x", "y", "x"]})
    drawn = CRPMixture(**SMALL).fit(frame).sample(3, given={0: "y", 1: 9.0})
    assert drawn.tolist() == [[9.0, "y"]] * 3


@pytest.mark.parametrize("given", [None, {}, {"c": None}, {"c": float("nan"), "r": pd.NA}])
def test_nothing_given_is_nothing_fixed(mixture, given):
    assert set(mixture.sample(60, given=given)["c"]) == {"x", "y", "z"}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"zz": 1}, "'zz'.*not a column.*'b', 'c', 'r'"),
        ({7: 1}, "7.*not a column"),
        ({-1: 1}, "-1.*not a column"),
        ({True: 1}, "True.*not a column"),
        ({"c": "w"}, "'c'.*'w'.*never seen.*'x', 'y', 'z'"),
        ({"b": 2}, "'b' is binary.*2"),
        ({"r": np.inf}, "'r' has an infinite value"),
        ({"r": "many"}, "'r' is real.*'many'"),
    ],
)
def test_what_cannot_be_given_is_named(mixture, given, words):
    with pytest.raises(ValueError, match=words):
        mixture.sample(2, given=given)
    with pytest.raises(TypeError, match="given must map columns to values"):
        mixture.sample(2, given=list(given))


def test_an_impossible_distance_still_gives_a_row(mixture):
    assert mixture.sample(3, given={"r": 1e149})["r"].tolist() == [1e149] * 3


def test_prototypes_are_the_groups_of_the_best_particle(mixture):
    table = mixture.prototypes()
    assert table.index.name == "group"
    assert list(table.columns) == ["weight", "rows", "b", "c", "r"]
    assert len(table) == mixture.n_groups_
    assert table["rows"].tolist() == np.bincount(mixture.labels_).tolist()
    assert table["rows"].is_monotonic_decreasing
    assert np.isclose(table["weight"].sum(), 1)
    assert table["b"].between(0, 1).all()
    assert set(table["c"]) <= {"x", "y", "z"}


def test_prototypes_of_a_class(classifier):
    for label, n in zip(classifier.classes_, classifier.n_groups_, strict=True):
        table = classifier.prototypes(label)
        assert len(table) == n
        assert table["rows"].sum() == 15
    for unknown in ("zz", 0, None, []):
        with pytest.raises(ValueError, match=r"none of the classes \['p', 'q'\]"):
            classifier.prototypes(unknown)


def test_prototypes_of_a_class_without_rows_are_none(classifier):
    late = AClassClassifier(**SMALL).partial_fit(FRAME, ["p"] * 30, classes=["p", "z"])
    assert len(late.prototypes("z")) == 0


def test_prototypes_lose_no_column_whatever_its_name():
    names = ["weight", "rows", "weight (column)", "group"]
    values = [[0.5, 1.5], [2.5, 3.5], [4.5, 5.5], [6.5, 7.5]]
    frame = pd.DataFrame(dict(zip(names, values, strict=True)))
    table = CRPMixture(**SMALL, columns="real").fit(frame).prototypes()
    assert len(set(table.columns)) == len(table.columns) == 6
    assert {"weight", "rows", "weight (column)", "rows (column)", "group"} < set(table.columns)
    assert (table["rows"] > 0).all()
    assert table["weight (column)"].between(4, 6).all()


def test_columns_of_which_nothing_is_known_stay_missing():
    table = [{"a": None, "b": 1.5}, {"a": None, "b": 2.5}]
    model = CRPMixture(**SMALL).fit(table)
    assert model.sample(3)["a"].isna().all()
    assert model.prototypes()["a"].isna().all()


def test_huge_categories_come_back_exactly():
    values = [2**64 - 1, 2**63 + 1, 5]
    for table in (np.array(values, dtype=np.uint64)[:, None], [[v] for v in values]):
        model = CRPMixture(**SMALL, columns="categorical").fit(table)
        assert set(model.sample(60).ravel().tolist()) == set(values)


def test_a_seed_repeats_rows_and_leaves_the_stream_of_the_model_alone(mixture, classifier):
    one, two = mixture.sample(20, random_state=3), mixture.sample(n=20, random_state=3)
    assert one.equals(two)
    assert not one.equals(mixture.sample(n_samples=20, random_state=4))
    (X, y), (again, labels) = (classifier.sample(9, random_state=5) for _ in range(2))
    assert X.equals(again)
    assert (y == labels).all()
    before = CRPMixture(**SMALL).fit(FRAME)
    before.sample(5, random_state=0)
    assert before.sample(5).equals(CRPMixture(**SMALL).fit(FRAME).sample(5))


# --- probabilities, weights, moments of groups; agreement of islands ------------------------------


def two_groups():
    rng = np.random.default_rng(2)
    low = np.arange(60) < 40
    size = np.where(low, rng.normal(0.0, 1.0, 60), rng.normal(30.0, 3.0, 60))
    word = np.where(low, "u", np.where(rng.random(60) < 0.2, "u", "v"))
    return pd.DataFrame({"size": size, "word": word}), low


def test_probabilities_of_groups_are_bayes_rule():
    X, _ = two_groups()
    model = CRPMixture(n_islands=1, n_particles=1, alpha=1.0, random_state=0).fit(X)
    proba = model.group_proba(X)
    assert proba.shape == (60, model.n_groups_)
    assert np.array_equal(model.predict_proba(X), proba)
    assert np.allclose(proba.sum(axis=1), 1.0)
    assert (proba.argmax(axis=1) == model.predict(X)).all()
    why = model.explain(X.iloc[45])
    old = why.groups["probability"] / (1.0 - why.new_group)
    assert old.to_numpy() == pytest.approx(proba[45, why.groups.index])
    assert model.weights_.sum() == pytest.approx(1.0)
    assert (model.weights_ == model.prototypes()["weight"]).all()
    assert model.weights_ == pytest.approx(np.bincount(model.labels_) / 60)


def test_sparse_rows_have_probabilities_of_groups_by_one_name_only():
    """With sparse rows and predict_proba, scikit-learn's checks ask for four classes."""
    X = sparse.csr_matrix(np.random.default_rng(0).poisson(1.0, (30, 3)).astype(float))
    model = CRPMixture(effort="fast", random_state=0).fit(X)
    assert np.allclose(model.group_proba(X).sum(axis=1), 1.0)
    with pytest.raises(TypeError, match="no sparse matrix; group_proba takes it"):
        model.predict_proba(X)


def test_means_and_spreads_are_those_of_draws_from_the_group():
    """Five standard errors of 20,000 draws: a false alarm has a probability below 1e-5."""
    X, _ = two_groups()
    model = CRPMixture(random_state=0).fit(X)
    means, spreads = model.means_, model.spreads_
    assert list(means.columns) == list(spreads.columns) == ["size", "word"]
    f, held = best_particle(model._bank, 0)
    n, rng, schema = 20_000, np.random.default_rng(5), model._schema
    blank = encode(schema, [{}] * n, learn=False).blocks
    large = np.flatnonzero(model.weights_ * 60 >= 10)
    assert len(large) >= 2
    for group in large:
        drawn = schema.decode(draw(f.family, f.stats, np.full(n, held[group]), blank, rng))
        spread = spreads["size"][group]
        assert abs(drawn["size"].mean() - means["size"][group]) < 5 * spread / np.sqrt(n)
        assert spread == pytest.approx(drawn["size"].std(), rel=0.05)
        other = (drawn["word"] != means["word"][group]).mean()
        assert spreads["word"][group] == pytest.approx(other, abs=0.018)
    assert means["size"].to_numpy() == pytest.approx(model.prototypes()["size"].to_numpy())


def test_islands_are_apart_by_what_each_says_alone(classifier):
    X, _ = two_groups()
    model = CRPMixture(n_islands=3, n_particles=2, random_state=0).fit(X)
    blocks = model._rows(X).blocks
    alone = np.array([f.log_density(blocks) for f in model._bank.classes[0]])
    assert model.island_gap(X) == pytest.approx(np.ptp(alone, axis=0))
    mean = np.logaddexp.reduce(alone, axis=0) - np.log(3)
    assert model._bank.log_densities(blocks)[:, 0] == pytest.approx(mean)
    one = CRPMixture(n_islands=1, n_particles=2, random_state=0).fit(X)
    assert (one.island_gap(X) == 0.0).all()
    gap = classifier.island_gap(FRAME)
    assert gap.shape == (30,)
    assert ((gap >= 0.0) & (gap <= 1.0)).all()
