"""Table 5: the groups of patients that M2DPM finds in the Parkinson's recordings.

The paper prints mean ages and disease stages of five groups, which are not in the data (they come
from a table of Little et al. 2009). Shown here are the groups' own figures: recordings, the share
with the disease, how many subjects have all their recordings in one group, and a few measures.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.preprocessing import StandardScaler

from infinimix import MaxMarginDPMeans
from infinimix.papers.experiment import Comparison, Estimate, Outcome, Results, Size, Task
from infinimix.papers.m2dpm.real import published_weights, recordings

PAPER_GROUPS = 5
ROMAN = ("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X")
MEASURES = ("MDVP:Fo(Hz)", "MDVP:Jitter(%)", "MDVP:Shimmer", "HNR", "PPE")
FORMS = ("published", "default")


def tasks(size: Size) -> list[dict[str, Any]]:
    """Return one task for each form: all recordings are learned, in their order."""
    return [{"form": form} for form in FORMS]


def run(task: Task) -> dict[str, Any]:
    """Return the figures of each group, the largest first."""
    X, y, subjects, names = recordings()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # clusters of one class
        if task["form"] == "published":
            z = published_weights(X, y).fit(X, y).labels_
        else:
            z = MaxMarginDPMeans(random_state=0).fit(StandardScaler().fit_transform(X), y).labels_
    order = np.argsort(-np.bincount(z), kind="stable")
    groups = []
    for k in order[: len(ROMAN)]:
        own = z == k
        figures = {
            name: float(X[own, names.index(name)].mean()) for name in MEASURES if name in names
        }
        share = 100 * float((y[own] == "1").mean())
        groups.append({"recordings": int(own.sum()), "with the disease, %": share} | figures)
    whole = np.mean([len(np.unique(z[subjects == s])) == 1 for s in np.unique(subjects)])
    return {"groups": groups, "number": len(order), "whole": 100 * float(whole)}


def summarise(results: Results) -> Outcome:
    """Lay the groups of both forms side by side."""
    found = {task["form"]: result for task, result in results}

    def both(pick: Any) -> dict[str, Estimate]:
        figures = {form: pick(result) for form, result in found.items()}
        return {form: Estimate.of([f]) for form, f in figures.items() if f is not None}

    lines = [
        Comparison("groups", PAPER_GROUPS, **both(lambda r: r["number"])),
        Comparison("subjects within one group, %", None, **both(lambda r: r["whole"])),
    ]
    most = max(len(result["groups"]) for result in found.values())
    names = list(next(iter(found.values()))["groups"][0])
    for k in range(most):
        for name in names:
            own = both(
                lambda r, k=k, name=name: r["groups"][k][name] if k < len(r["groups"]) else None
            )
            lines.append(Comparison(f"group {ROMAN[k]}: {name}", None, **own))
    sick = [group["with the disease, %"] for group in found["published"]["groups"]]
    verdict = (
        f"The paper finds {PAPER_GROUPS} groups; with its weights we find "
        f"{found['published']['number']} as published, and {found['default']['number']} by "
        f"default. The share with the disease goes from {min(sick):.0f}% to {max(sick):.0f}% over "
        f"the published groups, and {found['published']['whole']:.0f}% of the subjects have all "
        "their recordings in one of them. Ages and stages cannot be compared."
    )
    notes = ["Ages and stages of the paper's table are not in the data; groups are shown as found."]
    return Outcome(lines, verdict, "as named", notes)
