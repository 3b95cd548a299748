"""Ensembles of finite mixtures that classify: how many components, and what they say of a class.

For each number of components K there are as many restarts of EM (`em`) as asked for, and numbers
are tried upwards until the mean score of the restarts has failed twice to rise. K is the smallest
number whose mean is within one standard error of the best, as restarts of larger mixtures differ in
their scores by more than that. Its restarts answer together: the probabilities of the classes
under each are averaged.
"""

from typing import NamedTuple

import numpy as np

from infinimix.families.categorical import DirichletCategorical
from infinimix.families.seam import score_rows
from infinimix.inference.finite import em
from infinimix.inference.finite.shards import WeightedRows, sharing
from infinimix.kernels.logs import logsumexp

MOST_COMPONENTS = 32  # of a mixture, or of a class that owns them
FALLS = 2  # larger mixtures than the best that are tried in vain
CLASS_PSEUDO = 0.5
ROWS_AT_ONCE = 512


class Plan(NamedTuple):
    """What is asked for."""

    n_components: object  # "auto", "bic", "classes" or a number; of each class if owned
    n_restarts: int
    n_classes: int
    owned: bool
    mode: bool
    most_steps: int = em.MOST_STEPS
    class_pseudo: float = CLASS_PSEUDO  # count of each class in each component


class Ensemble(NamedTuple):
    """Mixtures with the same number of components."""

    family: tuple  # of the columns, without the class
    plan: Plan
    owners: np.ndarray | None  # the class of each component
    state: em.EMState
    trace: np.ndarray  # (steps, restarts) log posteriors on the way
    scores: dict  # mean score of each number of components that was tried
    score: float = 0.0  # mean over the restarts
    error: float = 0.0  # standard error of that

    @property
    def n_components(self):
        """Return the number of components of each mixture."""
        return self.state.rows.shape[1]


def learn(plan, family, X, codes, weight, seed):
    """Return an ensemble for rows, of which some have no label (code -1).

    `seed` is a SeedSequence; the same seed and rows give the same ensemble.
    """
    with sharing(rows_for(plan, X, codes, weight)) as rows:
        return learn_shards(plan, family, rows, seed)


def learn_shards(plan, family, rows, seed):
    """Do the same for rows in shards, as `rows_for` has them."""
    fixed = _fixed_number(plan)
    if fixed is not None:
        return _climb(plan, family, rows, seed, fixed)
    tried, best = {}, 0
    for K in range(1, min(MOST_COMPONENTS, max(rows.n_rows, 1)) + 1):
        tried[K] = _climb(plan, family, rows, seed, K)
        best = K if best == 0 or tried[K].score > tried[best].score else best
        if K - best == FALLS:
            break
    least = tried[best].score - tried[best].error
    chosen = next(found for found in tried.values() if found.score >= least)
    return chosen._replace(scores={K: found.score for K, found in tried.items()})


def _fixed_number(plan):
    if plan.n_components == "classes":
        return 1 if plan.owned else plan.n_classes
    return None if isinstance(plan.n_components, str) else int(plan.n_components)


def _climb(plan, family, rows, seed, K):
    """Run EM from all starts for one number of components."""
    model = model_for(plan, family, K)
    key = (*seed.spawn_key, K)
    rng = np.random.default_rng(np.random.SeedSequence(seed.entropy, spawn_key=key))
    state, trace = em.climb(model, rows, em.init(rng, model, rows), plan.most_steps)
    rate = em.bic if plan.n_components == "bic" else em.cheeseman_stutz
    score, R = rate(model, rows, state), plan.n_restarts
    error = float(score.std(ddof=1)) / np.sqrt(R) if R > 1 else 0.0
    mean = float(score.mean())
    return Ensemble(family, plan, model.owners, state, trace, {K: mean}, mean, error)


def model_for(plan, family, K):
    """Return what EM is to find: K components, of each class if they are owned."""
    if plan.owned:
        owners = np.repeat(np.arange(plan.n_classes), K)
        return em.EMModel(family, plan.n_restarts, len(owners), owners, plan.mode)
    return em.EMModel((*family, class_family(plan)), plan.n_restarts, K, None, plan.mode)


def rows_for(plan, X, codes, weight):
    """Return what EM is given: the class is one more block, unless it owns components."""
    if plan.owned:
        return WeightedRows(X, codes, weight)
    labels = np.ascontiguousarray(codes[:, None], np.int32)
    return WeightedRows((*X, labels), codes, weight)


def class_family(plan):
    """Return the family of the class as a variable."""
    pseudo = np.full(plan.n_classes, plan.class_pseudo)
    return DirichletCategorical(pseudo, np.array([0, plan.n_classes]))


def log_classes(ensemble, X):
    """Return the log density of each row with each class in each mixture, (n, restarts, classes).

    The number of rows at once is bounded, so that memory is.
    """
    n = len(X[0])
    table = _class_table(ensemble)
    out = np.empty((n, table.shape[0], table.shape[2]))
    for i in range(0, n, ROWS_AT_ONCE):
        part = tuple(block[i : i + ROWS_AT_ONCE] for block in X)
        joint = em.log_joint(ensemble.family, part, _without_class(ensemble))
        out[i : i + ROWS_AT_ONCE] = logsumexp(joint[..., None] + table, axis=2)
    return out


def _without_class(ensemble):
    state = ensemble.state
    return state._replace(stats=state.stats[: len(ensemble.family)])


def _class_table(ensemble):
    """Return the log probability of each class in each component, (restarts, K, classes)."""
    (R, K), C = ensemble.state.rows.shape, ensemble.plan.n_classes
    if ensemble.owners is not None:
        own = np.where(ensemble.owners[:, None] == np.arange(C), 0.0, -np.inf)
        return np.broadcast_to(own, (R, K, C))
    out, every = np.zeros((C, R * K)), np.arange(C, dtype=np.int32)[:, None]
    score_rows(class_family(ensemble.plan), ensemble.state.stats[-1], np.arange(R * K), every, out)
    return out.T.reshape(R, K, C)


def class_proba(log_joint):
    """Return the probabilities of the classes, averaged over the mixtures, (n, classes)."""
    log_p = log_joint - logsumexp(log_joint, axis=2, keepdims=True)
    proba = np.exp(log_p).mean(axis=1)
    return proba / proba.sum(axis=1, keepdims=True)
