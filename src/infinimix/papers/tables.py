"""The figures of an experiment as text: the paper's, ours as published and by default."""

from __future__ import annotations

from infinimix.papers.experiment import Comparison, Estimate, Outcome

HEAD = ("", "paper", "as published", "by default", "published - paper")


def rows(outcome: Outcome) -> list[tuple[str, ...]]:
    """Return the lines of the table below `HEAD`."""
    return [_row(line) for line in outcome.lines]


def _row(line: Comparison) -> tuple[str, ...]:
    difference = line.difference
    return (
        line.name,
        "-" if line.paper is None else digits(line.paper),
        show(line.published),
        show(line.default),
        "-" if difference is None else f"{difference:+.3g}",
    )


def show(estimate: Estimate | None) -> str:
    """Return a mean with its standard error.

    >>> show(Estimate(12.345, 0.51, 10)), show(Estimate(12.345, float("nan"), 1)), show(None)
    ('12.3 ± 0.51', '12.3', '-')
    """
    if estimate is None:
        return "-"
    text = digits(estimate.mean)
    return text if estimate.error != estimate.error else f"{text} ± {estimate.error:.2g}"


def digits(value: float) -> str:
    """Return a figure in three digits or more, never in powers of ten below a million."""
    size = abs(value)
    if size >= 1000:
        return f"{value:,.0f}"
    return f"{value:.1f}" if size >= 10 else f"{value:.3g}"
