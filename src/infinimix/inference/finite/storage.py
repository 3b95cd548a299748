"""An ensemble of finite mixtures as a tree of plain values and arrays, and back, bit for bit."""

import numpy as np

from infinimix.families import NormalInverseChiSquared, NormalInverseWishart, SpikedNormal
from infinimix.families.priors import blank
from infinimix.families.seam import empty, estimate_point, sound
from infinimix.inference.finite.em import EMState, share
from infinimix.inference.finite.ensemble import Ensemble, class_family


def ensemble_to_tree(ensemble):
    """Return all that an ensemble knows."""
    state = ensemble.state
    return {
        "counts": [own.n for own in state.stats],
        "priors": [family.prior for family in ensemble.family],
        "rows": state.rows,
        "trace": ensemble.trace,
        "scores": [[int(k), float(v)] for k, v in ensemble.scores.items()],
    }


def ensemble_from_tree(tree, plan, layout):
    """Return the ensemble that `ensemble_to_tree` described; refuse what no rows have left."""
    family = tuple(map(_with_prior, blank(layout), tree["priors"]))
    rows, trace = _matrix(tree["rows"], plan.n_restarts), np.asarray(tree["trace"])
    R, K = rows.shape
    owners = np.repeat(np.arange(plan.n_classes), K // plan.n_classes) if plan.owned else None
    if plan.owned and len(owners) != K:
        raise ValueError("its components do not fit its classes")
    whole = family if plan.owned else (*family, class_family(plan))
    stats = empty(whole, R * K)
    for own, saved in zip(stats, tree["counts"], strict=True):
        if saved.shape != own.n.shape or saved.dtype != own.n.dtype:
            raise ValueError(f"statistics of shape {saved.shape}, expected {own.n.shape}")
        own.n[:] = saved
    if not sound(whole, stats):
        raise ValueError("statistics that no rows have")
    log_prior = estimate_point(whole, stats, plan.mode).reshape(R, K).sum(axis=1)
    log_share, more = share(rows, plan.mode)
    if trace.ndim != 2 or trace.shape[1] != R or trace.dtype != np.float64:
        raise ValueError("its trace is not of its restarts")
    scores = {int(k): float(v) for k, v in tree["scores"]}
    state = EMState(stats, rows, log_share, log_prior + more)
    return Ensemble(family, plan, owners, state, trace, scores)


def _with_prior(family, saved):
    prior = np.asarray(saved)
    if prior.shape != family.prior.shape or prior.dtype != np.float64:
        raise ValueError("hyper-parameters of the wrong shape")
    family = family._replace(prior=np.ascontiguousarray(prior))
    if not np.isfinite(prior).all() or not _is_proper(family):
        raise ValueError("hyper-parameters that no rows have")
    return family


def _is_proper(family):
    """Are pseudo-counts positive, and those and the spread of numbers not negative?"""
    if isinstance(family, NormalInverseWishart):
        return bool((family.prior[1:3] >= 0.0).all())  # below them is a matrix
    if isinstance(family, NormalInverseChiSquared | SpikedNormal):
        return bool((family.prior[1:] >= 0.0).all())  # the first is the mean
    return bool((family.prior > 0.0).all())


def _matrix(rows, n_restarts):
    rows = np.asarray(rows)
    sound = (
        rows.ndim == 2
        and rows.dtype == np.float64
        and rows.shape[0] == n_restarts
        and rows.shape[1] > 0
        and bool((np.isfinite(rows) & (rows >= 0.0)).all())
    )
    if not sound:
        raise ValueError("its components have no numbers of rows")
    return np.ascontiguousarray(rows)
