"""`TableEstimator`: what all models of table rows share: columns, their names, and encoding.

Everything is checked and encoded before anything is changed, so a failed call leaves the model as
it was: what it has learned is one object, `_state`, which `fit` assigns last.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from infinimix import execution
from infinimix.estimators.common.fitted import (
    accept_tables,
    check_fitted,
    check_names,
    feature_names,
)
from infinimix.estimators.common.parameters import check_parameters
from infinimix.estimators.common.state import TableState
from infinimix.scikit import BaseEstimator
from infinimix.tables import EncodedTable, Schema, encode, read_schema
from infinimix.tables.packed import PackedTable
from infinimix.tables.partition_sources import open_partitions
from infinimix.tables.partitioned import PartitionedTable, is_in_partitions


class TableEstimator(BaseEstimator):
    """A model of table rows; subclasses say what it learns."""

    columns: Any
    prior: Any
    random_state: Any

    _state: TableState | None = None

    def __sklearn_is_fitted__(self) -> bool:
        return self._state is not None

    def __sklearn_tags__(self) -> Any:
        return accept_tables(super().__sklearn_tags__(), missing=True)

    @property
    def _schema(self) -> Schema:
        return self._fitted().schema

    def _fitted(self) -> Any:
        """Return the state; raise NotFittedError if nothing was learned."""
        if self._state is None:
            check_fitted(self)
        return self._state

    @property
    def n_features_in_(self) -> int:
        """The number of columns."""
        return len(self._schema.inputs)

    @property
    def feature_names_in_(self) -> np.ndarray:
        """The names of the columns, if the table had names."""
        schema = self._schema
        return feature_names(schema.inputs if schema.named else None)

    @property
    def columns_(self) -> dict[str, str]:
        """The kind of each column, and its transform, as decided at the first call."""
        return self._schema.requests()

    @property
    def blocks_(self) -> tuple[tuple[str, ...], ...]:
        """The names of the columns of each gaussian block."""
        return self._schema.gaussian_blocks

    def _read(
        self,
        X: Any,
        spikes: bool = False,
        stream: bool = False,
        chosen: Mapping[str, str] = MappingProxyType({}),
    ) -> EncodedTable:
        """Decide what the columns are, and encode the first table, or the first of a stream.

        `chosen` are kinds of columns that the "auto" rule does not decide.
        """
        check_parameters(self)
        if is_in_partitions(X):
            X = self._gather(open_partitions(X))
        natural = given_in_numbers(self.prior)
        schema = read_schema(X, self.columns, natural, spikes, stream, chosen=chosen)
        return encode(schema, X, learn=True, who=type(self).__name__)

    def _gather(self, table: PartitionedTable) -> PackedTable:
        """Gather the partitions of a table."""
        packed: PackedTable = self._run_reading(table.gather)
        return packed

    def _execute(
        self,
        task: Callable[[Any], Any],
        payloads: Sequence[Any],
        done: Callable[[], None] | None = None,
    ) -> list[Any]:
        """Run tasks where the executor in charge does."""
        return execution.map(task, payloads, done=done)

    def _run_reading(self, read: Callable[..., Any], *data: Any) -> Any:
        """Let partitions be read."""
        return read(self._execute, *data)

    def _encode(self, X: Any, learn: bool = False) -> EncodedTable:
        """Encode a later table by the columns of the first."""
        schema = self._schema
        check_names(self, X, schema, learn)
        return encode(schema, X, learn, who=type(self).__name__)

    def _check_names(self, X: Any) -> None:
        """Check the names of a later table."""
        check_names(self, X, self._schema)


def in_natural_units(log_density: np.ndarray, table: EncodedTable) -> np.ndarray:
    """Return the log densities of encoded rows as those of the rows themselves."""
    if not table.schema.transforms:
        return log_density
    return log_density + table.schema.log_slopes(table.blocks)


def given_in_numbers(prior: Any) -> list[Any]:
    """Return the columns and kinds whose prior is in natural units, so they must stay in them."""
    pairs = prior.items() if isinstance(prior, Mapping) else ()
    return [key for key, value in pairs if not isinstance(value, str)]
