"""What tables 1 to 7 have in common: tasks, lines beside the paper's, and who beats whom."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from infinimix.papers.experiment import Comparison, Outcome, Results, Size, Task, gather, values_of
from infinimix.papers.online_crp.contestants import FORMS, run_batch, run_online
from infinimix.papers.online_crp.corpora import FOLDS, fold_of, shuffled

OURS = "Online CRP"
MEASURES = ("error", "F1", "seconds")
UNIT = "error rate, clustering F1 and CPU seconds (the paper's: Matlab, 2014)"
Printed = dict[str, tuple[float | None, ...]]  # by contestant: error, F1, seconds
TINY = 120


def new_tasks(
    printed: Printed, corpora: Sequence[str], rows: int, repeats: int
) -> Callable[[Size], list[dict[str, Any]]]:
    """Return the tasks of a table: `rows` documents in the quick form, `repeats` in the full."""

    def tasks(size: Size) -> list[dict[str, Any]]:
        n_rows = {"tiny": TINY, "quick": rows, "full": None}[size]
        return [
            {"data": name, "who": who, "rows": n_rows, "seed": seed}
            for name in corpora
            for seed in range(repeats if size == "full" else 1)
            for who in (*FORMS, *(peer for peer in printed if peer != OURS))
        ]

    return tasks


def run_in_order(task: Task) -> dict[str, Any]:
    """Online: a random order of all documents."""
    return run_online(task["who"], shuffled(task["data"], task["rows"], task["seed"]))


def run_fold(task: Task) -> dict[str, Any]:
    """Batch: one of five folds."""
    assert task["seed"] < FOLDS
    return run_batch(task["who"], *fold_of(task["data"], task["rows"], task["seed"]))


def new_summary(
    printed: Printed, claim: str, notes: Sequence[str] = ()
) -> Callable[[Results], Outcome]:
    """Return what summarises a table; `claim` is what the paper says of it."""

    def summarise(results: Results) -> Outcome:
        corpora = values_of(results, "data")
        lines = [
            line
            for data in corpora
            for line in lines_of(results, printed, data, f"{data}: " if len(corpora) > 1 else "")
        ]
        held = " ".join(_beaten(results, printed, data) for data in corpora)
        return Outcome(lines, f"{claim} {held}", UNIT, list(notes))

    return summarise


def lines_of(results: Results, printed: Printed, data: str, before: str) -> list[Comparison]:
    """Return the lines of one corpus: the Online CRP in two forms, its peers in one."""
    lines = []
    for who, figures in printed.items():
        for measure, paper in zip(MEASURES, figures, strict=True):
            forms = FORMS if who == OURS else (who,)
            found = [gather(results, measure, data=data, who=form) for form in forms]
            lines.append(Comparison(f"{before}{who}, {measure}", paper, *found))
    return lines


def _beaten(results: Results, printed: Printed, data: str) -> str:
    """Say how many peers have a higher error than the Online CRP, in the paper and here."""
    peers = [who for who in printed if who != OURS]
    error = {who: gather(results, "error", data=data, who=who).mean for who in (*FORMS, *peers)}

    def number(own: float, others: list[float]) -> int:
        return sum(own < other for other in others)

    in_paper = number(printed[OURS][0] or 0.0, [printed[who][0] or 0.0 for who in peers])
    here = {form: number(error[form], [error[who] for who in peers]) for form in FORMS}
    best = min(peers, key=error.__getitem__)
    return (
        f"In the paper the Online CRP has a lower error than {in_paper} of {len(peers)} peers; on "
        f"{data} it has a lower error than {here['published']} as published "
        f"({error['published']:.3f}), and than {here['default']} by default "
        f"({error['default']:.3f}). The best peer is {best} ({error[best]:.3f})."
    )
