"""Answers of an `AClassClassifier`: rows are of classes, and in groups of those."""

from __future__ import annotations

from typing import Any

import numpy as np

from infinimix.estimators.aclass.calibration import Calibration
from infinimix.estimators.answers.explanation import Explanation, evidence_by_orders, place_row
from infinimix.estimators.answers.filling import Blocks
from infinimix.estimators.answers.imputing import ask, impute_values
from infinimix.estimators.answers.questions import TableAnswers
from infinimix.kernels.logs import logsumexp


class ClassAnswers(TableAnswers):
    """Answers of an `AClassClassifier`."""

    _labels: Any
    _log_prior: Any
    _calibration: Calibration

    def _log_class_prior(self) -> np.ndarray:
        log_prior = np.empty(len(self._labels.order))
        log_prior[self._labels.order] = self._log_prior()
        return log_prior

    def _log_classes(self, blocks: Blocks) -> np.ndarray:
        """Return what `predict_log_proba` does, but for a sum, in the order of the bank."""
        return self._calibration.power * self._bank.log_densities(blocks) + self._log_class_prior()

    def _code_of(self, label: Any, name: str) -> int:
        if label not in self._labels.values:
            known = self._labels.classes.tolist()
            raise ValueError(f"{name} is {label!r}, which is none of the classes {known!r}.")
        return int(self._labels.values.index(label))

    def impute(self, X: Any, y: Any = None, return_std: bool = False) -> Any:
        """Return the table with its missing cells filled, as `CRPMixture.impute` does.

        Parameters
        ----------
        X : table
            The rows.
        y : sequence of labels, optional
            The classes of the rows, if they are known; else all classes are weighed by P(y)
            p(x | y), as in `score_samples` and `sample`, without `likelihood_power_`.
        return_std : bool
            Return the table of uncertainties as well.

        Examples
        --------
        >>> from infinimix import AClassClassifier
        >>> rows, labels = [[1.0], [1.2], [0.8], [5.0], [5.2], [4.8]] * 5, [*"aaabbb"] * 5
        >>> model = AClassClassifier(random_state=0).fit(rows, labels)
        >>> model.impute([[None], [None]], y=["a", "b"]).round(0).tolist()
        [[1.0], [5.0]]
        """
        blocks = self._fitted_rows(X)
        codes = None if y is None else self._read_codes(y, len(blocks[0]))
        table, spread = impute_values(self._mixture(), ask(self._schema, X, blocks), codes)
        return (table, spread) if return_std else table

    def _read_codes(self, y: Any, n_rows: int) -> np.ndarray:
        codes, new = self._labels.read(y)
        if new:
            self._code_of(new[0], "a label of y")
        if len(codes) != n_rows:
            raise ValueError(f"X has {n_rows} rows, but y has {len(codes)} labels.")
        return codes

    def explain(self, x: Any, label: Any = None, against: Any = None) -> Explanation:
        """Return why a row is of a class: what columns say, and which groups it may be in.

        The evidence of a column is its share of log P(label | x) - log P(against | x), in nats:
        what its cell adds to these log odds when it is read after some of the others, averaged
        over the orders in which columns may be read (all orders for at most eight observed
        columns, else a fixed choice of some). It sums, exactly, to the log odds minus those
        before the row was seen. Where every class has one group it is the log ratio of naive
        Bayes, times `likelihood_power_`. A missing cell adds nothing, unless its
        column is one of `marked_`.

        Parameters
        ----------
        x : one row
            A dict, a list of cells, a pandas Series, or a table of one row.
        label : a class, optional
            The class to speak for; by default the one that is predicted.
        against : a class, optional
            The class to compare with; by default all others together.

        Returns
        -------
        Explanation
            Prints itself; has `columns`, `groups` (of the class), `new_group`, `to_frame()`.

        Examples
        --------
        >>> from infinimix import AClassClassifier
        >>> rows = [{"legs": 6, "size": s} for s in (1.0, 1.1, 1.2)]
        >>> rows += [{"legs": 8, "size": s} for s in (1.0, 1.1, 1.2)]
        >>> model = AClassClassifier(random_state=0).fit(rows * 5, [*"aaabbb"] * 5)
        >>> why = model.explain({"legs": 8, "size": 1.1})
        >>> why.answer, why.to_frame().index[0]
        ('b', 'legs')
        """
        X, row = self._row_to_explain(x)
        joint = self._log_classes(row)[0]
        c = int(joint.argmax()) if label is None else self._code_of(label, "label")
        rivals = np.delete(np.arange(len(joint)), c)
        if against is not None:
            rivals = np.array([self._code_of(against, "against")])
        if len(rivals) == 0 or rivals[0] == c:
            raise ValueError("explain compares two classes, and here there is only one.")

        def log_odds(blocks: Blocks) -> np.ndarray:
            table = self._log_classes(blocks)
            return table[:, c] - logsumexp(table[:, rivals], axis=1)

        evidence = evidence_by_orders(self._schema, row, log_odds)
        groups, new = place_row(self._bank, self._schema, c, row)
        answer, p = self._labels.array[c], float(np.exp(joint[c] - logsumexp(joint)))
        answer = answer.item() if isinstance(answer, np.generic) else answer
        total, rest = evidence.sum(), "the others" if against is None else f"{against!r}"
        before = float(log_odds(row)[0]) - total
        summary = (
            f"Class {answer!r} with probability {p:.3g}; against {rest} its log odds are "
            f"{before + total:.3g} = {before:.3g} before the row + {total:.3g} from its columns."
        )
        return self._explanation(answer, p, summary, X, (evidence, groups, new))
