"""Islands: hyper-parameters of their own, sweeps, and the same bits whoever runs them."""

import io

import numpy as np
import pytest

from infinimix import AClassClassifier, CRPMixture, load, save
from infinimix.families.grids import centred
from infinimix.inference.ensemble import island as islands
from infinimix.inference.partition.assignments import best_island, best_particle
from infinimix.inference.partition.soundness import check_population
from tests.unit.estimators.states import differences, state_of
from tests.unit.estimators.tables import columns_of, make_labels, make_table

X, Y = make_table("mixed", 90), make_labels(90)
LEARN = {"alpha": "learn", "prior": "learn"}
SMALL = {"columns": columns_of("mixed"), "n_particles": 4, "n_islands": 3, "random_state": 0}


def classifier(**changes):
    return AClassClassifier(**(SMALL | changes))


def assert_same(a, b):
    assert differences(state_of(a), state_of(b)) == []


def through(model):
    file = io.BytesIO()
    save(model, file)
    return load(io.BytesIO(file.getvalue()))


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_any_number_of_jobs_leaves_the_same_bits(method):
    one = getattr(classifier(sweeps=3, **LEARN), method)(X, Y)
    for n_jobs in (2, 5):
        assert_same(one, getattr(classifier(sweeps=3, n_jobs=n_jobs, **LEARN), method)(X, Y))


@pytest.mark.parametrize("resampling", ["optimal", "systematic"])
@pytest.mark.parametrize(("sweeps", "particles"), [(1, 1), (2, 1), (5, 3), (10, 4)])
def test_the_states_of_the_last_sweeps_are_the_particles(sweeps, particles, resampling):
    model = classifier(sweeps=sweeps, resampling=resampling, **LEARN).fit(X, Y)
    for f in model._bank.filters():
        check_population(f)
        assert f.n_particles == particles
        if resampling == "optimal":
            np.testing.assert_allclose(f.weights(), 1 / particles)
    assert np.isfinite(model.log_evidence_)


def test_hyper_parameters_are_those_of_the_island_everywhere():
    bank = classifier(sweeps=2, **LEARN).fit(X, Y)._bank
    assert len({island.alpha for island in bank.islands}) == 3
    for island in bank.islands:
        assert {f.alpha for f in island.filters} == {island.alpha}
        assert all(f.family is island.family for f in island.filters)
        assert any(positions.any() for positions in island.positions.values())
    fixed = classifier(alpha=0.7, prior="empirical", sweeps=2).fit(X, Y)._bank
    for island in fixed.islands:
        assert island.alpha == 0.7
        assert not any(positions.any() for positions in island.positions.values())


@pytest.mark.parametrize("sweeps", [0, 4])
def test_a_learned_model_is_saved_and_continues_bit_for_bit(sweeps):
    model = classifier(sweeps=sweeps, **LEARN).fit(X[:50], Y[:50])
    again = through(model)
    assert_same(model, again)
    assert model.likelihood_power_ == again.likelihood_power_ != 1.0
    for a in range(50, 90, 20):
        model.partial_fit(X[a : a + 20], Y[a : a + 20])
        again.partial_fit(X[a : a + 20], Y[a : a + 20])
    assert_same(model, again)
    assert model.class_count_.sum() == 90
    assert (model.predict_proba(X) == again.predict_proba(X)).all()
    for f in model._bank.filters():
        check_population(f)


@pytest.mark.parametrize("max_groups", [None, 2])
def test_any_cutting_of_a_stream_learns_the_same(max_groups):
    """Classes and categories come late, so a call may know of them before their rows."""
    whole = classifier(max_groups=max_groups, **LEARN).partial_fit(X[:1], Y[:1])
    pieces, single = through(whole), through(whole)
    whole.partial_fit(X[1:], Y[1:])
    for a in range(1, 90, 7):
        pieces.partial_fit(X[a : min(a + 7, 90)], Y[a : min(a + 7, 90)])
    for a in range(1, 90):
        single.partial_fit(X[a : a + 1], Y[a : a + 1])
    assert_same(whole, pieces)
    assert_same(whole, single)


def test_a_new_category_has_room_before_the_hyper_parameters_move(monkeypatch):
    seen = []

    def turn(rng, base, grid, groups):
        known = int(base.layout.category_counts.sum())
        seen.extend((stats[1].n.shape[1], known) for stats, _ in groups)
        return centred(base.layout), None

    monkeypatch.setattr(islands, "draw_hyperparameters", turn)
    classifier(**LEARN).partial_fit(X, Y)
    assert len({width for width, _ in seen}) > 2
    assert all(width == expected for width, expected in seen)


def test_alpha_is_learned_from_a_stream_whatever_the_base_measure():
    rng = np.random.default_rng(0)
    model = CRPMixture(
        "binary", alpha="learn", prior="reference", n_particles=3, n_islands=2, random_state=0
    )
    model.partial_fit(rng.integers(0, 2, (1, 4)))
    assert [island.alpha for island in model._bank.islands] == [1.0, 1.0]  # no row told of it
    model.partial_fit(rng.integers(0, 2, (30, 4)))
    alphas = [island.alpha for island in model._bank.islands]
    assert 1.0 not in alphas
    assert len(set(alphas)) == 2


def test_learned_alpha_follows_the_number_of_groups():
    rng = np.random.default_rng(0)
    few, many = rng.integers(0, 2, 200), rng.integers(0, 60, 200)
    found = []
    for group in (few, many):
        table = 40.0 * group[:, None] + rng.normal(size=(200, 1)) * 0.1
        prior = {"real": (1200.0, 2e-8, 4.0, 0.1)}
        model = CRPMixture(
            "real", alpha="learn", prior=prior, n_particles=2, n_islands=4, random_state=0
        ).fit(table)
        assert model.n_groups_ == len(set(group.tolist()))
        found.append([island.alpha for island in model._bank.islands])
    assert max(found[0]) < 3.0  # of 2 groups the posterior mean is 0.4
    assert min(found[1]) > 10.0  # of 60 it is 26


@pytest.mark.parametrize("sweeps", [0, 1, 6])
def test_labels_are_the_groups_of_the_best_particle(sweeps):
    table = make_table("binary", 70)
    model = CRPMixture(
        "binary", sweeps=sweeps, n_particles=3, n_islands=3, random_state=0, **LEARN
    ).fit(table)
    f, held = best_particle(model._bank, 0)
    assert model.labels_.max() + 1 == len(held) == model.n_groups_
    for g, slot in enumerate(held):
        rows = table[model.labels_ == g]
        by_hand = [(rows == 0).sum(axis=0), (rows == 1).sum(axis=0)]
        assert (f.stats[0].n[slot] == by_hand).all()


def test_nothing_is_recorded_unless_asked_for():
    assert all(not island.paths for island in classifier(sweeps=2).fit(X, Y)._bank.islands)


@pytest.mark.parametrize("bound", [1, 2])
def test_sweeps_keep_to_the_bound(bound):
    for alpha in (20.0, "learn"):
        model = classifier(alpha=alpha, sweeps=6, max_groups=bound).fit(X, Y)
        for f in model._bank.filters():
            check_population(f)
            assert f.n_groups().max() <= bound
        assert np.isfinite(model.predict_log_proba(X)).all()


def test_the_best_island_is_the_one_with_the_highest_evidence_under_its_own_alpha():
    for seed in range(4):
        bank = classifier(max_groups=2, n_islands=8, random_state=seed, **LEARN).fit(X, Y)._bank
        for c, filters in enumerate(bank.classes):
            assert best_island(bank, c) == np.argmax([f.log_evidence() for f in filters])


def test_sweeps_find_groups_that_one_particle_misses():
    """Three groups of binary rows; a filter of one particle, and then sweeps on it."""
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 3, 150)
    table = rng.random((150, 30)) < np.where(rng.random((3, 30)) < 0.5, 0.85, 0.15)[truth]
    settings = {"n_particles": 1, "n_islands": 4, "random_state": 0, "prior": "reference"}
    right = []
    for sweeps in (0, 10):
        labels = CRPMixture("binary", sweeps=sweeps, **settings).fit(table).labels_
        right.append(((labels[:, None] == labels) == (truth[:, None] == truth)).mean())
    assert right[1] > max(right[0], 0.99)
