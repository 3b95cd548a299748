"""Do rows without labels help? Log-losses of labelled rows, held out, with them and without.

Rows without labels help if the classes are what the table falls into. If it falls into something
else, they teach that instead, and the more of them there are the worse. So labelled rows are held
out in turn, and judged by mixtures that have learned the others with the rows without labels, and
by mixtures that have learned the others alone. Of many rows a sample is judged, in which each row
stands for several.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from infinimix.estimators.common.mixture_estimator import Learned
from infinimix.estimators.common.parameters import child_seed
from infinimix.inference.ensemble.agreement import class_rows
from infinimix.inference.ensemble.bank import Bank
from infinimix.inference.finite import shards
from infinimix.inference.finite.ensemble import Ensemble, Plan, class_proba, log_classes
from infinimix.tables.encoded import Blocks, EncodedTable

FOLDS = 3
LEAST = 6  # labelled rows; fewer tell nothing
RESTARTS = 3
SURE = 2.0  # standard errors beyond which it is said that rows hurt

Learner = Callable[[Plan, Blocks, np.ndarray, np.ndarray | None], Ensemble]
# Numbers of training rows and of rows to judge, with rows without label? -> class probabilities.
Judge = Callable[[np.ndarray, np.ndarray, bool], np.ndarray]


def gains(
    learn: Learner,
    plan: Plan,
    chosen: int,
    blocks: Blocks,
    codes: np.ndarray,
    weight: np.ndarray | None,
    seed: int,
) -> np.ndarray:
    """Return by how much rows without labels lower the log-loss of each labelled row, held out.

    `chosen` is the number of components that was found for all rows; the labelled rows alone
    find their own. Empty if there are too few labels, or too few of a class.
    """
    blocks, codes, weight = thin_judged(blocks, codes, weight)
    fast = plan._replace(n_restarts=min(RESTARTS, plan.n_restarts))
    fixed = fast._replace(n_components=chosen // plan.n_classes if plan.owned else chosen)

    def judge(rows: np.ndarray, held: np.ndarray, with_free: bool) -> np.ndarray:
        own = None if weight is None else weight[rows]
        found = learn(fixed if with_free else fast, take(blocks, rows), codes[rows], own)
        return class_proba(log_classes(found, take(blocks, held)))

    return held_out_gains(judge, codes, plan.n_classes, seed)


class JudgedSample(NamedTuple):
    """Rows that are judged: all, or as many as a shard of EM has."""

    known: np.ndarray  # which of the rows with labels, in their order
    free: np.ndarray  # which of those without
    copies: np.ndarray  # how many rows one of these, and one of those, stands for


def choose_judged(n_known: int, n_free: int) -> JudgedSample:
    """Draw the rows that are judged: of each sort all, or about half of what is judged."""
    most, rng = shards.ROWS, np.random.default_rng(0)
    known = min(n_known, max(most // 2, most - n_free))
    free = min(n_free, most - known)
    pairs = ((n_known, known), (n_free, free))
    labelled, others = (
        np.arange(n) if m == n else np.sort(rng.choice(n, m, replace=False)) for n, m in pairs
    )
    return JudgedSample(labelled, others, np.array([n / max(m, 1) for n, m in pairs]))


def thin_judged(
    blocks: Blocks, codes: np.ndarray, weight: np.ndarray | None
) -> tuple[Blocks, np.ndarray, np.ndarray | None]:
    """Return the rows that are judged, with their codes and weights."""
    if len(codes) <= shards.ROWS:
        return blocks, codes, weight
    known, free = np.flatnonzero(codes >= 0), np.flatnonzero(codes < 0)
    chosen = choose_judged(len(known), len(free))
    rows = np.sort(np.append(known[chosen.known], free[chosen.free]))
    own = np.ones(len(rows)) if weight is None else weight[rows]
    codes = codes[rows]
    return take(blocks, rows), codes, own * chosen.copies[(codes < 0).astype(int)]


def bank_gains(
    learned: Learned, power: float, execute: Callable[..., Any], options: dict[str, Any]
) -> np.ndarray:
    """Return the same for the mixtures of a bank, by small ones of its kind."""
    C, settings = learned.bank.n_classes, learned.bank.settings
    blocks = learned.table.blocks
    small = settings._replace(n_islands=min(4, settings.n_islands), n_particles=1, sweeps=0)

    def judge(rows: np.ndarray, held: np.ndarray, with_free: bool) -> np.ndarray:
        from scipy.special import softmax  # slow to load, and most fits need none

        bank = Bank(small, learned.bank.layout, learned.bank.seed)
        bank.fit(take(blocks, rows), learned.codes[rows], C, execute, **options)
        joint = power * bank.log_densities(take(blocks, held)) + np.log(
            class_rows(bank) + options["gamma"]
        )
        return np.asarray(softmax(joint, axis=1))

    return held_out_gains(judge, learned.codes, C, 0)


def held_out_gains(judge: Judge, codes: np.ndarray, n_classes: int, seed: int) -> np.ndarray:
    """Return by how much rows without labels lower the log-loss of each labelled row, held out."""
    known, free = np.flatnonzero(codes >= 0), np.flatnonzero(codes < 0)
    counts = np.bincount(codes[known], minlength=n_classes)
    if len(known) < LEAST or counts.min() < 2 or n_classes < 2 or len(free) == 0:
        return np.empty(0)
    fold, out = _folds(codes[known], seed), []
    for k in range(FOLDS):
        rest, held = known[fold != k], known[fold == k]
        if len(held) == 0:
            continue
        losses = []
        for rows in (rest, np.append(rest, free)):
            proba = judge(rows, held, rows is not rest)[np.arange(len(held)), codes[held]]
            losses.append(-np.log(np.maximum(proba, 1e-300)))
        out.append(losses[0] - losses[1])
    return np.concatenate(out)


def thin(
    table: EncodedTable,
    codes: np.ndarray,
    weight: np.ndarray | None,
    share: float,
    seed: np.random.SeedSequence,
) -> tuple[EncodedTable, np.ndarray, np.ndarray | None]:
    """Leave out all but a share of the rows without labels, drawn; the others keep their order."""
    free = np.flatnonzero(codes < 0)
    if share == 1 or len(free) == 0:
        return table, codes, weight
    rng = np.random.default_rng(child_seed(seed, 2**32 - 4))
    chosen = rng.permutation(free)[: round(share * len(free))]
    rows = np.sort(np.append(np.flatnonzero(codes >= 0), chosen))
    return table.take(rows), codes[rows], None if weight is None else weight[rows]


def warn_if_they_hurt(gain: np.ndarray, who: str, name: str = "unlabelled_weight") -> None:
    """Warn if rows without labels make held-out labels less probable, by more than chance."""
    if len(gain) < 2:
        return
    mean, error = float(gain.mean()), float(gain.std(ddof=1)) / np.sqrt(len(gain))
    if mean < -SURE * error:
        warnings.warn(
            "Rows without labels seem to hurt: with them, the log-loss of held-out labelled rows "
            f"is {-mean:.2g} higher (standard error {error:.2g}). Lower {name} of this "
            f"{who}; 0 leaves them out.",
            UserWarning,
            stacklevel=3,
        )


def _folds(codes: np.ndarray, seed: int) -> np.ndarray:
    """Deal the rows of each class out to the folds; one of each class always stays behind."""
    rng, fold = np.random.default_rng(seed), np.empty(len(codes), np.int64)
    start = 0
    for c in np.unique(codes):
        own = rng.permutation(np.flatnonzero(codes == c))
        fold[own] = (start + np.arange(len(own))) % FOLDS
        start += len(own)
    return fold


def take(blocks: Blocks, rows: np.ndarray) -> Blocks:
    """Return some rows of a table."""
    return tuple(np.ascontiguousarray(block[rows]) for block in blocks)
