"""EM for finite mixtures of any families, over rows with and without labels.

Paper: Kontkanen, Myllymaki, Silander and Tirri, "Batch classifications with discrete finite
mixtures". The weights w_jk of its equation (3) are `respond`, the expected statistics and the new
parameters are `maximise`. A row is a tuple of blocks as everywhere; a label is one more categorical
cell, which may be missing like any other, so rows to classify are simply rows of the table. (The
paper adds the expected class of a row without label to the counts, which slows EM down and leaves
its fixed points where they are: the expectation is the very estimate that it is added to.)

Components may be owned by classes instead: then a label says which components a row may be in.

Each restart is a mixture of its own; all of them stand side by side in one table of slots, restart
after restart, so that a step costs few calls. `estimate_point` makes point estimates of the counts,
and says which prior an estimate is most probable under: the log likelihood plus the log of that
prior never falls from step to step (for the families that have an estimate).

Many rows are worked on in shards (`shards`), so that memory is bounded and workers can share them.
"""

from typing import NamedTuple

import numpy as np

from infinimix.execution import Placed
from infinimix.families.product import evidence_all
from infinimix.families.seam import FLOOR, estimate_point, freedom, score_rows
from infinimix.inference.finite import shards
from infinimix.inference.finite.shards import WeightedRows, rows_of, sharing  # noqa: F401 - what EM is given
from infinimix.kernels.compile import kernel
from infinimix.kernels.elementary import exp, log
from infinimix.kernels.logs import logsumexp

MOST_STEPS = 200
FARTHEST = 700.0  # nats below the best component of a row: beyond that nothing is left
TOLERANCE = 1e-4  # nats a row: EM stops when no restart has gained more in a step


class EMModel(NamedTuple):
    """What EM is to find."""

    family: tuple  # of the blocks of X
    n_restarts: int
    n_components: int  # of each restart
    owners: np.ndarray | None  # (components,) their classes, if they are owned
    mode: bool  # estimates are modes, not means


class EMState(NamedTuple):
    """R mixtures of K components."""

    stats: tuple  # of R * K slots
    rows: np.ndarray  # (R, K) expected number of rows
    log_share: np.ndarray  # (R, K) log of the mixing weights
    log_prior: np.ndarray  # (R,) of the parameters


class StepInfo(NamedTuple):
    """Likelihoods and priors of the mixtures that a step started from."""

    log_posterior: np.ndarray  # (R,) of the observed rows, and the prior of the parameters
    log_likelihood: np.ndarray  # (R,)


def init(rng, model, data):
    """Start from few rows: every component has one, and a little of all.

    Components that are owned share the labelled rows of their class; those that get none start
    from a row without label.
    """
    with sharing(data) as rows:
        pieces = _share_starts(rng, model, rows)
        return estimate(
            model, rows.collect(model.family, start_shard, pieces, rows.same(model, rows.n_rows))
        )


def _share_starts(rng, model, rows):
    """Return for each shard which of its rows components start from, wherever it is."""
    if rows.codes is not None:
        starts = draw_starts((rng, model, rows.n_rows, rows.codes))
        return [starts[:, a:b] for a, b in rows.spans]
    codes = () if model.owners is None else tuple(rows.place(_take_codes, rows.parts))
    (starts,) = rows.place(_draw_starts_there, [(rng, model, rows.n_rows, codes)])
    return rows.place(_take_starts, [(starts, *span) for span in rows.spans])


def draw_starts(task):
    """Return the component that starts from a row, -1 if none does, for each restart and row."""
    rng, model, n, codes = task
    K, owners = model.n_components, model.owners
    starts = np.full((model.n_restarts, n), -1, np.min_scalar_type(-K))
    for start in starts:
        order = rng.permutation(n)
        if owners is None:
            start[order[:K]] = np.arange(min(K, n))
            continue
        idle = np.ones(K, bool)
        for c in np.unique(owners):
            mine, own = order[codes[order] == c], np.flatnonzero(owners == c)
            start[mine] = own[np.arange(len(mine)) % len(own)]
            idle[own[: len(mine)]] = False
        left = np.flatnonzero(idle)
        free = order[codes[order] < 0][: len(left)]
        start[free] = left[: len(free)]
    return starts


def _take_codes(part):
    return rows_of(part).codes


def _draw_starts_there(task):
    *known, codes = task
    return draw_starts((*known, np.concatenate([one.value for one in codes]) if codes else None))


def _take_starts(task):
    starts, a, b = task
    return starts.value[:, a:b].copy()


def start_shard(task):
    """Return the statistics of a shard when components start."""
    part, starts, (model, n) = task
    data, starts = rows_of(part), starts.value if isinstance(starts, Placed) else starts
    shape = len(data.codes), model.n_restarts, model.n_components
    weight = np.full(shape, 0.1 / max(n, 1))
    r, i = np.nonzero(starts >= 0)
    weight[i, r, starts[r, i]] += 1.0
    return shards.expected(model.family, data, weight)


def step(model, data, state):
    """Go from estimates to weights of the rows, and from these to estimates."""
    with sharing(data) as rows:
        found = expect(model, rows, state)
    return estimate(model, found), _info(state, found)


def expect(model, rows, state):
    """Return the expected statistics of all shards under these estimates."""
    return rows.collect(model.family, expect_shard, rows.same(model, state))


def expect_shard(task):
    """Return the expected statistics of a shard."""
    part, (model, state) = task
    data = rows_of(part)
    weight, info = respond(model, data, state)
    return shards.expected(model.family, data, weight, info.log_likelihood)


def _info(state, found):
    return StepInfo(found.log_likelihood + state.log_prior, found.log_likelihood)


def respond(model, data, state):
    """Return the responsibility of each component for each row, (n, R, K), and likelihoods."""
    joint = log_joint(model.family, data.X, state)
    if model.owners is not None:
        barred = (data.codes[:, None] >= 0) & (data.codes[:, None] != model.owners)
        joint = np.where(barred[:, None, :], -np.inf, joint)
    log_likelihood = np.zeros(model.n_restarts)
    share_out(joint, data.weight, log_likelihood)
    return joint, StepInfo(log_likelihood + state.log_prior, log_likelihood)


@kernel
def share_out(joint, weight, log_likelihood):
    """Turn the log joint density of each row into its weights, and add up the likelihoods."""
    n, R, K = joint.shape
    for i in range(n):
        for r in range(R):
            row = joint[i, r]
            top, total = -np.inf, 0.0
            for k in range(K):
                top = max(top, row[k])
            for k in range(K):
                row[k] = exp(row[k] - top) if row[k] > top - FARTHEST else 0.0
                total += row[k]
            for k in range(K):
                row[k] *= weight[i] / total
            log_likelihood[r] += weight[i] * (top + log(total))


def maximise(model, data, weight):
    """Return the estimates given these responsibilities: the M step."""
    return estimate(model, shards.expected(model.family, data, weight))


def estimate(model, found):
    """Return the estimates given expected statistics, which become those of the estimates."""
    stats, rows = found.stats, found.rows
    log_prior = estimate_point(model.family, stats, model.mode).reshape(rows.shape).sum(axis=1)
    log_share, more = share(rows, model.mode)
    return EMState(stats, rows, log_share, log_prior + more)


def share(rows, mode):
    """Return the log of the mixing weights under Dirichlet(1), and of the prior behind them."""
    pseudo = FLOOR if mode else 1.0
    log_share = np.log(rows + pseudo)
    log_share -= logsumexp(log_share, axis=1, keepdims=True)
    return log_share, pseudo * log_share.sum(axis=1)


def log_joint(family, X, state):
    """Return the log of the share of each component times its density, (n, R, K)."""
    R, K = state.rows.shape
    out = np.zeros((len(X[0]), R * K))
    score_rows(family, state.stats, np.arange(R * K), X, out)
    out = out.reshape(-1, R, K)
    out += state.log_share
    return out


def climb(model, data, state, most_steps=MOST_STEPS):
    """Iterate until no restart gains more; return the mixtures and all log posteriors."""
    trace = []
    with sharing(data) as rows:
        least = TOLERANCE * max(rows.total, 1.0)
        for _ in range(most_steps):
            found = expect(model, rows, state)
            trace.append(_info(state, found).log_posterior)
            if len(trace) > 1 and np.abs(trace[-1] - trace[-2]).max() <= least:
                break
            state = estimate(model, found)
    return state, np.array(trace).reshape(-1, model.n_restarts)


def cheeseman_stutz(model, data, state):
    """Return an estimate of the log evidence of each mixture (Cheeseman and Stutz 1996).

    It is the evidence of the expected statistics, as if they had been counted, times the ratio
    of the likelihood of the rows to that of these statistics, which is the entropy of the weights.
    """
    from scipy.special import gammaln  # slow to load, and most fits need none

    with sharing(data) as parts:
        stats, rows, entropy = parts.collect(model.family, complete_shard, parts.same(model, state))
    R, K = rows.shape
    complete = evidence_all(model.family, stats, R * K).reshape(R, K).sum(axis=1)
    complete += gammaln(K) - gammaln(K + rows.sum(axis=1)) + gammaln(1.0 + rows).sum(axis=1)
    return complete - entropy


def complete_shard(task):
    """Return the expected statistics of a shard, and the entropy of its weights."""
    from scipy.special import xlogy

    part, (model, state) = task
    data = rows_of(part)
    weight, _ = respond(model, data, state)
    share_of_row = weight / np.maximum(data.weight, 1e-300)[:, None, None]
    entropy = xlogy(weight, share_of_row).sum(axis=(0, 2))
    return shards.expected(model.family, data, weight, entropy)


def bic(model, data, state):
    """Return the log likelihood less half of log n for each parameter."""
    with sharing(data) as rows:
        log_likelihood = expect(model, rows, state).log_likelihood
    parameters = model.n_components * (freedom(model.family) + 1) - 1
    return log_likelihood - 0.5 * parameters * np.log(max(rows.total, 1.0))
