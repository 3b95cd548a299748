"""`DPMeansSVC`: DP-means first, a linear SVM in each cluster afterwards; the paper's baseline."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from infinimix.estimators.common.parameters import Seed, check_parameters, seed_sequence
from infinimix.estimators.common.parted_fits import fit_by_one
from infinimix.estimators.common.parted_rows import is_read_by_workers
from infinimix.maxmargin.descent.algorithm import Iterate, finish
from infinimix.maxmargin.descent.passes import scan
from infinimix.maxmargin.descent.starts import find_penalty
from infinimix.maxmargin.experts.training import (
    fit_experts,
    make_state,
    of_given_rows,
    plain_clusters,
    read_data,
)
from infinimix.maxmargin.gated_experts import GatedExperts
from infinimix.maxmargin.objective.hinges import LossWeights
from infinimix.maxmargin.objective.problem import MarginProblem

STEPS = 60  # of IRLS


class DPMeansSVC(GatedExperts):
    """Clusters by `DPMeans`, blind to labels, and a linear SVM in each.

    `MaxMarginDPMeans` with the labels kept out of the clustering: the limit of a large s. Scale the
    columns first where their units differ.

    Parameters
    ----------
    lam : float or "auto"
        The penalty of a cluster, as in `DPMeans`.
    c, nu, margin, gating, divergence, calibrate, random_state, class_weight
        As in `MaxMarginDPMeans`; an SVM has |eta|^2 / (2 nu^2) + 2c sum (margin - y eta.x)_+.

    Attributes
    ----------
    labels_, cluster_means_, cluster_sizes_, n_clusters_, coef_, intercept_, lam_, label_purity_
        As in `MaxMarginDPMeans`.

    Examples
    --------
    >>> import numpy as np
    >>> from infinimix import DPMeansSVC
    >>> rng = np.random.default_rng(0)
    >>> z = np.arange(200) % 2
    >>> X = rng.normal(size=(200, 2)) + 6 * z[:, None]
    >>> y = np.where((X[:, 0] > 6 * z) == z, "up", "down")
    >>> bool(DPMeansSVC(random_state=0).fit(X, y).score(X, y) > 0.9)
    True
    """

    def __init__(
        self,
        lam: float | str = "auto",
        c: float = 1.0,
        nu: float = 1.0,
        margin: float = 1.0,
        gating: str = "hard",
        divergence: str = "euclidean",
        calibrate: bool = True,
        random_state: Seed = None,
        class_weight: Any = None,
    ) -> None:
        self.lam = lam
        self.c = c
        self.nu = nu
        self.margin = margin
        self.gating = gating
        self.divergence = divergence
        self.calibrate = calibrate
        self.random_state = random_state
        self.class_weight = class_weight

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> DPMeansSVC:
        """Learn a table and its labels.

        Parameters
        ----------
        X, y : table of numbers and labels
            The rows.
        sample_weight : sequence of n_rows numbers, optional
            As in `MaxMarginDPMeans.fit`.
        """
        check_parameters(self)
        if sample_weight is None and is_read_by_workers(X):
            self._state = fit_by_one(self, X, y)
            return self
        data = read_data(self, X, y, sample_weight=sample_weight)
        rng = np.random.default_rng(seed_sequence(self.random_state))
        auto = isinstance(self.lam, str)
        lam = find_penalty(rng, data.rows, data.divergence) if auto else float(self.lam)
        w = LossWeights(lam, 1.0, float(self.c), float(self.nu), float(self.margin))
        problem = MarginProblem(data.rows, data.divergence, w)
        clusters = fit_experts(problem, plain_clusters(rng, data, lam), STEPS)
        blind = MarginProblem(data.rows.without_labels(), data.divergence, w)
        z = scan(blind, clusters.without_experts()).z
        end = finish(problem, Iterate(clusters, z))
        state = make_state(self, data, problem, end, rng)
        self._state = replace(state, z=of_given_rows(state, data.given))
        return self
