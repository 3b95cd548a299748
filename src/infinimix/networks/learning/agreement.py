"""`n_iter="auto"`: chains go on until they agree, or until their time is over.

A round is twice as long as the one before, and begins a new record, so that what is summarised at
the end has half of all sweeps before it. How many rounds there are depends on the chains alone,
so that a fit can be repeated to the bit, unless time runs out: then the last round is bounded by
a clock, and counted together with the round before.
"""

from __future__ import annotations

import time
from typing import Any

from infinimix.networks.learning.pooling import share_orders
from infinimix.networks.learning.posterior import edge_gap
from infinimix.networks.learning.progress import run_chains
from infinimix.networks.learning.timing import Budget

AGREED = 0.1  # the largest difference between chains of the probability of an edge
SECONDS = 600.0


def run_as_asked(
    model: Any, chains: list[Any], start: float, seconds: float | None
) -> tuple[list[Any], list[Any]]:
    """Run chains as long as `n_iter` says; return them and their records."""
    if model.n_iter == "auto":
        return run_until_agreed(model, chains, bool(model.verbose), start, seconds)
    return run_chains(model, chains, bool(model.verbose))


def run_until_agreed(
    model: Any, chains: list[Any], shown: bool, start: float, seconds: float | None = None
) -> tuple[list[Any], list[Any]]:
    """Run chains in rounds; return them and their records of the last round.

    What a chain returns counts edges: it is a `Record`, or has one for each of several networks.
    """
    end = start + (SECONDS if seconds is None else seconds)
    before = time.monotonic()
    chains, records = run_chains(model, chains, shown)
    while len(records) > 1 and _largest_gap(records) > AGREED:
        left, took = end - time.monotonic(), time.monotonic() - before
        if left <= 0.0:
            break
        before = time.monotonic()
        lasts = left < 2.0 * took
        _lengthen(chains, Budget(end, len(chains), model.n_jobs) if lasts else None)
        chains, records = run_chains(model, chains, shown)
        if lasts:
            break
    for chain in chains:
        chain.problem.budget = None
    return chains, records


def _largest_gap(found: list[Any]) -> float:
    """Return the largest difference between chains, of any edge of any network."""
    each = zip(*(getattr(own, "records", [own]) for own in found), strict=True)
    return max(float(edge_gap(list(records)).max(initial=0.0)) for records in each)


def _lengthen(chains: list[Any], budget: Budget | None) -> None:
    """Let the next round be twice as long; chains that run by the clock keep their records."""
    sweeps = 2 * chains[0].problem.n_iter
    for chain in chains:
        chain.problem.n_iter, chain.problem.burn_in, chain.problem.budget = sweeps, 0, budget
    if budget is None:
        for chain in chains:
            chain.begin_record()
        share_orders(chains)
