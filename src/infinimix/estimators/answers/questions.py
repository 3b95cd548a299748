"""What people ask of a fitted model beside its predictions, for both estimators.

Which cells are missing and what would they be (`impute`), why is a row where it is
(`explain`), what is strange (`anomaly_score`, `cell_anomaly_score`), which rows are alike
(`similarity`) and which columns go together (`dependence`). What differs between the two is in
the estimators themselves.
"""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from infinimix.estimators.answers.anomaly import cell_scores, row_scores, shares_less_strange
from infinimix.estimators.answers.dependence import information_correlations
from infinimix.estimators.answers.explanation import Explanation, one_row, values_of
from infinimix.estimators.answers.filling import Predictive, predictive_of
from infinimix.estimators.answers.similarity import same_group
from infinimix.estimators.answers.writing import numbers_like, to_pandas
from infinimix.estimators.common.mixture_estimator import check_whole
from infinimix.estimators.common.parameters import Seed, generator
from infinimix.kernels.logs import logsumexp
from infinimix.tables import EncodedTable, encode

if TYPE_CHECKING:
    import pandas as pd


class Questions:
    """Questions that `CRPMixture` and `AClassClassifier` answer alike."""

    _bank: Any
    _schema: Any
    _rows: Any

    def _mixture(self) -> Predictive:
        check_whole(self._bank)
        return predictive_of(self._bank, self._log_class_prior())

    def _log_class_prior(self) -> np.ndarray:
        """Return the log probability of each class, in the order of the bank."""
        return np.zeros(1)

    def _log_classes(self, table: EncodedTable) -> np.ndarray:
        """Return the unnormalised log probability of each class of the bank for each row."""
        return self._bank.log_densities(table.blocks) + self._log_class_prior()

    def _class_shares(self, table: EncodedTable) -> np.ndarray:
        """Return the probability of each class, in the order of the bank, given each row."""
        joint = self._log_classes(table)
        return np.exp(joint - logsumexp(joint, axis=1, keepdims=True))

    def anomaly_score(
        self, X: Any, calibrated: bool = False, n_draws: int = 1000, random_state: Seed = 0
    ) -> np.ndarray:
        """Return how strange each row is: higher is stranger.

        Parameters
        ----------
        X : table
            The rows.
        calibrated : bool
            False: minus the log predictive density of the observed cells, in nats; compare rows
            of one table with it, not tables. True: the share of the model's own rows that are
            less strange, from 0 to 1: with 0.99, the model itself would draw such a row once in
            a hundred times. A row with missing cells is compared with drawn rows that miss the
            same cells.
        n_draws, random_state
            Number and seed of the rows drawn to compare with; used if `calibrated`.

        Examples
        --------
        >>> from infinimix import CRPMixture
        >>> model = CRPMixture(random_state=0).fit([[0.0], [0.5], [1.0], [1.5]] * 10)
        >>> near, far = model.anomaly_score([[0.7], [9.0]])
        >>> bool(near < far)
        True
        >>> bool(model.anomaly_score([[9.0]], calibrated=True)[0] > 0.99)
        True
        """
        table, mixture = self._rows(X), self._mixture()
        if not calibrated:
            return row_scores(mixture, table)
        n, rng = _check_draws(n_draws, "n_draws"), generator(random_state)
        return shares_less_strange(mixture, table, n, rng)

    def cell_anomaly_score(self, X: Any) -> Any:
        """Return how strange each cell is beside the other cells of its row, as a table.

        It is -log p(cell | the row's other cells) in nats, NaN where the cell is missing:
        between columns of different units compare with care, as a density has them too.

        Parameters
        ----------
        X : table
            The rows.

        Examples
        --------
        >>> from infinimix import CRPMixture
        >>> rows = [[0, 0.0], [0, 0.1], [0, 0.2], [1, 7.0], [1, 7.1], [1, 7.2]] * 4
        >>> scores = CRPMixture(random_state=0).fit(rows).cell_anomaly_score([[1, 0.1], [0, 0.1]])
        >>> bool(scores[0, 0] > scores[1, 0] + 2)
        True
        """
        scores = cell_scores(self._mixture(), self._rows(X))
        return numbers_like(self._schema, X, scores)

    def island_gap(self, X: Any) -> np.ndarray:
        """Return how far the islands are apart about each row: 0 if they agree.

        Islands are independent replicates of the inference, whose answers are averaged; where they
        differ much, let `n_islands`, `n_particles` or `effort` be larger.

        Parameters
        ----------
        X : table
            The rows.

        Returns
        -------
        array of shape (n_rows,)
            The largest difference between two islands: of a mixture in the log density, in nats;
            of a classifier in the probability of a class, by P(y) p(x | y) without correction.

        Examples
        --------
        >>> from infinimix import CRPMixture
        >>> model = CRPMixture(n_islands=2, random_state=0).fit([[0.0], [0.1], [7.0], [7.1]] * 9)
        >>> model.island_gap([[0.05], [7.0]]).shape
        (2,)
        """
        bank, table = self._bank, self._rows(X)
        check_whole(bank)
        islands = zip(*bank.classes, strict=True)
        logs = np.array([[f.log_density(table.blocks) for f in filters] for filters in islands])
        if logs.shape[1] > 1:
            logs += self._log_class_prior()[:, None]
            logs = np.exp(logs - logsumexp(logs, axis=1, keepdims=True))
        return np.asarray((logs.max(axis=0) - logs.min(axis=0)).max(axis=0))

    def similarity(self, X: Any, Y: Any = None) -> np.ndarray:
        """Return the probability that two rows are in the same group, for all pairs.

        Every row is placed on its own among the groups that the model has learned, as a new
        row would be, also if it was learned itself. A row that opens a group of its own is alone
        there, even beside itself. The probabilities are averaged over particles, by their
        weights, and over islands; in a classifier groups belong to classes.

        Parameters
        ----------
        X, Y : tables
            Rows to compare; those of X with each other if Y is None.

        Returns
        -------
        array of shape (rows of X, rows of Y)

        Examples
        --------
        >>> from infinimix import CRPMixture
        >>> model = CRPMixture(random_state=0).fit([[0.0], [0.1], [0.2], [7.0], [7.1], [7.2]] * 5)
        >>> model.similarity([[0.1], [0.15], [7.0]])[0].round(1).tolist()
        [1.0, 1.0, 0.0]
        """
        one = self._rows(X)
        two = one if Y is None else self._rows(Y)
        shares = self._class_shares(one)
        others = shares if Y is None else self._class_shares(two)
        return same_group(self._bank, one.blocks, two.blocks, shares, others)

    def dependence(self, n: int = 1000, random_state: Seed = 0) -> pd.DataFrame:
        """Return how much each pair of columns says of each other, from 0 to 1.

        It is the information correlation, sqrt((1 - exp(-2 I)) / (1 - exp(-2 H))) with the
        mutual information I and the smaller entropy H of the two columns under the
        predictive mixture (for two real columns H is infinite, and a joint normal has its
        absolute correlation). Pairs of binary and categorical columns are exact; the others are
        averages over rows drawn from the model, off by about 1 / sqrt(n), and small values
        come out as up to .1 with n = 1000.

        Unlike in cross-categorisation models, where columns are dependent as they share a
        view, there is one grouping of rows for all columns here: columns depend on each other as
        far as the groups differ in both.

        Parameters
        ----------
        n : int
            Rows to draw.
        random_state : int, Generator or None
            Seed of these draws.

        Returns
        -------
        DataFrame
            Symmetric, with ones on the diagonal.

        Examples
        --------
        >>> from infinimix import CRPMixture
        >>> rows = [[0, "a", "u"], [1, "b", "u"], [0, "a", "v"], [1, "b", "v"]] * 10
        >>> table = CRPMixture(random_state=0).fit(rows).dependence()
        >>> bool(table.loc["x0", "x1"] > 0.8 > 0.1 > table.loc["x0", "x2"])
        True
        """
        mixture, schema = self._mixture(), self._schema
        rows = _check_draws(n, "n")
        blank = encode(schema, [{}], learn=False)
        found = information_correlations(mixture, blank, rows, generator(random_state))
        frame = to_pandas(found, schema.names)
        frame.index = list(schema.names)
        return frame

    def _explanation(self, answer: Any, p: float, summary: str, X: Any, found: Any) -> Explanation:
        """Put the parts together: `found` is the evidence, the groups and the new group's share."""
        import pandas as pd

        evidence, groups, new = found
        values, names = values_of(self._schema, X), list(self._schema.names)
        skipped = groups.shape[1] - len(names)  # probability, weight, rows
        typical = groups.iloc[0, skipped:].tolist() if len(groups) else [None] * len(names)
        cells = {"value": values, "typical": typical}
        columns = pd.DataFrame(cells, dtype=object).assign(evidence=evidence)
        columns.index = pd.Index(names, name="column")
        return Explanation(answer, p, summary, columns, groups, new)

    def _row_to_explain(self, x: Any) -> tuple[Any, EncodedTable]:
        X = one_row(x)
        row = self._rows(X)
        if row.n_rows != 1:
            raise ValueError(f"explain takes one row; got {row.n_rows}.")
        return X, row


def _check_draws(n: Any, name: str) -> int:
    if not isinstance(n, Integral) or isinstance(n, bool) or int(n) < 1:
        raise ValueError(f"{name}, the number of rows to draw, must be 1 or more; got {n!r}.")
    return int(n)
