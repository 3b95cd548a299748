"""Algorithm 1: the parameters that are drawn follow the Dirichlet posterior of their class."""

import os

import numpy as np
import pytest
from scipy import stats

from infinimix import OnlineCRPClassifier
from infinimix.families.words import UNDRAWN

DRAWS = 600 if "INFINIMIX_SEEDS" in os.environ else 125  # alarms are as rare with fewer
ALARM = 1e-5  # probability that a test fails although all is right, for each seed
PRIOR = 0.7

X = [{"a": 2, "b": 1}, {"c": 3}, {"a": 1, "c": 1}, {"b": 2, "d": 1}, {"a": 4}, {"d": 1, "c": 1}]
y = ["u", "v", "u", "v", "u", "v"]
SAID = ["u", "v", "v", "u", "u", "u"]  # three mistakes, whatever was drawn


def counts(said):
    """Return what each class holds of each word, clipped when written."""
    held, rows = {"u": np.zeros(4), "v": np.zeros(4)}, {"u": 0, "v": 0}
    for row, label, z in zip(X, y, said, strict=True):
        x = np.array([row.get(word, 0) for word in "abcd"], float)
        held[label] += x
        if z != label:
            held[z] = np.maximum(held[z] - min(1.0, 0.5 * rows[z]) * x, 0.0)
        rows[label] += 1
    return held


def draw(seed, said, then, **parameters):
    """Return the parameters of the classes' words in many models of the same rows."""
    found = {"u": [], "v": []}
    for k in range(DRAWS):
        model = OnlineCRPClassifier(
            weighting="counts", prior=PRIOR, refine=0.0, negative=1.0, open_world=True,
            random_state=seed * DRAWS + k, **({"algorithm": "sampled"} | parameters),
        )  # fmt: skip
        for i in range(0, 6, 2):
            model.partial_fit(X[i : i + 2], y[i : i + 2], predicted=said[i : i + 2])
        then(model)
        theta, total = model._state.learner.model.stats.t, model._state.learner.model.stats.total
        words = [model._state.source.vocabulary.known[word] for word in "abcd"]
        assert (theta[words] > UNDRAWN)[:, : 1 + model._state.learner.n_classes].all()
        for label in model._state.roster.codes:
            slot = 1 + model._state.roster.codes[label]
            assert np.exp(theta[words, slot]).sum() == pytest.approx(total[slot], rel=1e-5)
            found[label].append(np.exp(theta[words, slot]) / total[slot])
    return {label: np.array(own) for label, own in found.items()}


def p_values(theta, n):
    """Return those of all words and pairs of words: sums of a Dirichlet's parts are Betas."""
    a = PRIOR + n
    parts = [[w] for w in range(4)] + [[0, 1], [0, 2], [1, 2]]
    for part in parts:
        law = stats.beta(a[part].sum(), np.delete(a, part).sum())
        yield stats.kstest(theta[:, part].sum(axis=1), law.cdf).pvalue


def assert_posterior(found, held):
    """Fourteen tests in all, so each has its part of the alarm."""
    for label, n in held.items():
        assert min(p_values(found[label], n)) > ALARM / 14


@pytest.mark.parametrize("said", [y, SAID], ids=["right", "corrected"])
def test_parameters_are_drawn_from_the_posterior(seed, said):
    assert_posterior(draw(seed, said, lambda model: None), counts(said))


def test_they_are_where_all_words_are_drawn_anew(seed):
    assert_posterior(draw(seed, SAID, lambda model: None, algorithm="redrawn"), counts(SAID))


def test_all_words_of_a_row_s_classes_are_drawn_anew_as_published():
    """Equation by equation: theta of z and of y, and of no other class."""
    drawn = {}
    for algorithm in ("sampled", "redrawn"):
        model = OnlineCRPClassifier.as_published(algorithm=algorithm, random_state=0)
        model.partial_fit([*X, {"e": 1}], [*y, "w"], predicted=[*y, "w"])
        learner, codes = model._state.learner, model._state.roster.codes
        before = learner.model.stats.t.copy()
        model.partial_fit([{"a": 1}], ["u"], predicted=["v"])
        changed = (learner.model.stats.t != before)[: len(model._state.source.vocabulary)]
        drawn[algorithm] = {c: int(changed[:, 1 + k].sum()) for c, k in codes.items()}
    assert drawn == {"sampled": {"u": 1, "v": 1, "w": 0}, "redrawn": {"u": 5, "v": 5, "w": 0}}


def test_they_are_after_forgetting(seed):
    held = {label: np.zeros(4) for label in "uv"}
    for i, (row, label) in enumerate(zip(X, y, strict=True)):
        held[label] += np.array([row.get(word, 0) for word in "abcd"]) * 2.0 ** (i - 6)
    assert_posterior(draw(seed, y, lambda model: None, half_life=1.0), held)


def test_they_are_after_two_classes_became_one(seed):
    def join(model):
        codes = model._state.roster.codes
        model._state.learner.join(codes["v"], codes["u"])
        model._state.remove(codes["v"])

    both = sum(counts(y).values())
    found = draw(seed, y, join)
    assert min(p_values(found["u"], both)) > ALARM / 7
