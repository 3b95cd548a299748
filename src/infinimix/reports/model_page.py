"""`write_report`: one page about a fitted model, as its kind asks for."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from infinimix.evaluation.abilities import (
    Classifying,
    Clustering,
    Grouping,
    Networking,
    Regressing,
    SharingRoles,
    able,
)
from infinimix.reports.page import write_page
from infinimix.reports.pieces import Names
from infinimix.reports.shown import Report
from infinimix.scikit import check_is_fitted


def write_report(
    model: Any,
    path: str | os.PathLike[str],
    *,
    rows: Any = None,
    target: Any = None,
    seed: int = 0,
    held_out: bool = False,
    image: tuple[int, int] | bool | None = None,
    title: str | None = None,
    target_name: str | None = None,
    source: str | None = None,
    predictions: Any = None,
) -> Report:
    """Write a self-contained HTML page about a fitted model.

    The page opens offline, in light and dark, on paper and on a phone. What it shows depends on
    the model: a classifier (how well it does, groups, columns, hardest rows), a
    regressor (predicted against true, residuals, coverage, columns), a clustering
    (groups, columns that go together, strange rows) or a network (graph, roles, edges). The model
    is not changed. The file is written whole or not at all.

    Parameters
    ----------
    model : fitted estimator
        `AClassClassifier`, `OnlineCRPClassifier`, `MaxMarginDPMeans` or another classifier with
        `predict_proba`; `CRPRegressor`; `CRPMixture` or `DPMeans`; or `BlockmodelBayesNet`.
    path : str or path
        The page to write, in a folder that exists.
    rows : DataFrame, optional
        The rows that the model was fitted on, or others like them. Without them a page tells
        what was learned, and not how well it does.
    target : sequence of labels, optional
        The label of each row, for classifiers; its number, for regressors. A column of a frame
        gives the page its name.
    seed : int
        Seed of the folds, and of the models that are fitted to them.
    held_out : bool
        The rows are new to the model, so it is evaluated on them as it is. Otherwise models with
        its parameters are cross-validated on the rows.
    image : pair of int or False, optional
        Height and width, if the columns are pixels, row by row. By default only their names
        (such as p0 to p63, or pixel_0_0) tell; False draws no pictures.
    title : str, optional
        What the page is called.
    target_name : str, optional
        What the column of the target is called, if `target` does not say it.
    source : str, optional
        Where the rows are from, such as the name of a file.
    predictions : Predictions, optional
        Of held-out rows, as `infinimix.evaluation.predictions.cross_validate` returns them, if
        they are there already; else the model is evaluated on `rows` and `target`.

    Returns
    -------
    Report
        The page, which a notebook shows inline; `path` is its file.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import pandas as pd
    >>> from infinimix import AClassClassifier
    >>> from infinimix.reports import write_report
    >>> rows = pd.DataFrame({"legs": [6, 8] * 10, "size": [1.0, 2.0, 1.1, None] * 5})
    >>> labels = ["ant", "spider"] * 10
    >>> model = AClassClassifier(effort="fast", random_state=0).fit(rows, labels)
    >>> page = pathlib.Path(tempfile.mkdtemp()) / "report.html"
    >>> report = write_report(model, page, rows=rows, target=labels)
    >>> "How well it does" in page.read_text("utf-8")
    True
    """
    check_is_fitted(model)
    if target is not None and rows is None:
        raise ValueError("target was given without rows: give both.")
    names = Names(title, target_name, source)
    if able(model, SharingRoles):
        from infinimix.reports.franchise_page import franchise_page

        text = franchise_page(model, title)
    elif able(model, Networking):
        from infinimix.reports.network_page import network_page

        text = network_page(model, title)
    elif able(model, Classifying):
        from infinimix.reports.classifier_page import classifier_page

        text = classifier_page(model, rows, target, seed, held_out, image, names, predictions)
    elif able(model, Regressing):
        from infinimix.reports.regression_page import regression_page

        text = regression_page(model, rows, target, seed, held_out, names)
    elif able(model, Grouping) or able(model, Clustering):
        from infinimix.reports.mixture_page import mixture_page

        text = mixture_page(model, rows, image, title)
    else:
        raise TypeError(
            f"There is no report for {type(model).__name__}: it is neither a classifier with "
            "probabilities, nor a regressor, nor a clustering, nor a network."
        )
    write_page(Path(path), text)
    return Report(Path(path), text)
