"""Answers of a `CRPMixture`: rows are in groups."""

from __future__ import annotations

from typing import Any

from infinimix.estimators.answers.explanation import Explanation, evidence_for_group, place_row
from infinimix.estimators.answers.imputing import ask, impute_values
from infinimix.estimators.answers.questions import TableAnswers


class MixtureAnswers(TableAnswers):
    """Answers of a `CRPMixture`."""

    def impute(self, X: Any, return_std: bool = False) -> Any:
        """Return the table with its missing cells filled, given the other cells of each row.

        Real cells and counts get their mean, binary and categorical ones their most probable
        value; the table keeps its form, and its observed cells. `CRPImputer` does the same in a
        pipeline, and draws.

        Parameters
        ----------
        X : table
            The rows.
        return_std : bool
            Return a second table as well, of how far each filled cell may be off: the
            standard deviation of a number, the probability that another value is wrong; 0
            where the cell is observed.

        Examples
        --------
        >>> from infinimix import CRPMixture
        >>> rows = [[0, 1.0], [0, 1.2], [0, 0.8], [1, 5.0], [1, 5.2], [1, 4.8]] * 5
        >>> table, std = CRPMixture(random_state=0).fit(rows).impute([[1, None]], return_std=True)
        >>> table.round(0).tolist()
        [[1.0, 5.0]]
        """
        blocks = self._fitted_rows(X)
        table, spread = impute_values(self._mixture(), ask(self._schema, X, blocks))
        return (table, spread) if return_std else table

    def explain(self, x: Any) -> Explanation:
        """Return why a row is in its group: which groups it may be in, and what columns say.

        The evidence of a column is log p(its cell | the group) - log p(its cell | all groups),
        in nats, for the most probable group of the particle that `predict` speaks of: positive
        if the cell is more common in the group than elsewhere. A missing cell has none.

        Parameters
        ----------
        x : one row
            A dict, a list of cells, a pandas Series, or a table of one row.

        Returns
        -------
        Explanation
            Prints itself; has `groups`, `columns`, `new_group` and `to_frame()`.

        Examples
        --------
        >>> from infinimix import CRPMixture
        >>> rows = [{"legs": 6, "size": s} for s in (1.0, 1.1, 1.2)]
        >>> rows += [{"legs": 8, "size": s} for s in (7.0, 7.1, 7.2)]
        >>> why = CRPMixture(random_state=0).fit(rows * 5).explain({"legs": 8, "size": 7.3})
        >>> bool(why.probability > 0.9)
        True
        >>> bool((why.to_frame()["evidence"] > 0).all())
        True
        """
        X, row = self._row_to_explain(x)
        groups, new = place_row(self._bank, self._schema, 0, row)
        group, p = int(groups.index[0]), float(groups["probability"].iloc[0])
        evidence = evidence_for_group(self._bank, self._schema, group, row)
        summary = (
            f"Group {group} with probability {p:.3g}, of {groups['rows'].iloc[0]} rows; "
            f"a group of its own with probability {new:.3g}."
        )
        return self._explanation(group, p, summary, X, (evidence, groups, new))
