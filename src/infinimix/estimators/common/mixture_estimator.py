"""`MixtureEstimator`: models of table rows by CRP mixtures, one for each class or one for all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from infinimix import execution
from infinimix.estimators.common.effort import resolve_effort
from infinimix.estimators.common.parameters import seed_sequence
from infinimix.estimators.common.state import MixtureState, layout_of
from infinimix.estimators.common.table_estimator import TableEstimator, in_natural_units
from infinimix.estimators.common.weights import WHOLE_ROWS, repeat_only
from infinimix.families.given import resolve_prior
from infinimix.inference.ensemble.bank import Bank, Settings
from infinimix.tables import EncodedTable, Schema


class Labelled(NamedTuple):
    """The classes of some rows, for a bank."""

    codes: np.ndarray  # -1 without label
    n_classes: int
    n_known: int | None = None  # before any row of a stream; None if every row has a label


class Learned(NamedTuple):
    """What a whole table has taught, not yet part of a model."""

    table: EncodedTable
    codes: np.ndarray  # of the classes of its rows
    bank: Bank
    held_out: np.ndarray  # rows that were scored before they were learned, if that was asked for
    log_density: np.ndarray  # of these in each class
    is_sample: bool = False  # is the table but a sample of the rows, those that could be held out?


class MixtureEstimator(TableEstimator):
    """A model of table rows by CRP mixtures; subclasses say what a class is."""

    alpha: Any
    effort: str
    n_particles: int | None
    n_islands: int | None
    resampling: str
    max_groups: int | None
    sweeps: int | None
    window: int
    n_jobs: int | None
    verbose: bool
    gamma: float = 1.0  # as if every class had so many rows more
    n_label_particles: int = 1  # ways to label the rows of a stream that have no label

    _state: MixtureState | None = None

    @property
    def _bank(self) -> Bank:
        return self._fitted().bank

    @property
    def log_evidence_(self) -> float:
        """Log of an unbiased estimate of the probability of all rows, given labels if they have."""
        return float(self._fitted().log_evidence)

    def _rows(self, X: Any) -> EncodedTable:
        """Encode rows to answer questions about them."""
        check_whole(self._bank)
        return self._encode(X)

    def _counted(self, X: Any, sample_weight: Any) -> Any:
        """Return each row as often as its count says; other weights are refused."""
        (rows,) = repeat_only(type(self).__name__, WHOLE_ROWS, sample_weight, X)
        return rows

    def _settings(self, schema: Schema, streams: bool) -> Settings:
        prior = ("spread" if streams else "learn") if is_auto(self.prior) else self.prior
        effort = resolve_effort(self)
        return Settings(
            self.alpha if self.alpha == "learn" else float(self.alpha),
            _resolve_prior(prior, schema),
            effort.n_particles, effort.n_islands, self.resampling,
            self.max_groups and int(self.max_groups), effort.sweeps, int(self.window),
            float(self.gamma), int(self.n_label_particles),
        )  # fmt: skip

    def _new_seed(self, schema: Schema, streams: bool) -> np.random.SeedSequence:
        """Return the root of all draws; a generator is left as it is if settings are wrong."""
        self._settings(schema, streams)
        return seed_sequence(self.random_state)

    def _new_bank(self, schema: Schema, seed: np.random.SeedSequence, streams: bool) -> Bank:
        return Bank(self._settings(schema, streams), layout_of(schema), seed)

    def _execute(
        self,
        task: Callable[[Any], Any],
        payloads: Sequence[Any],
        done: Callable[[], None] | None = None,
    ) -> list[Any]:
        return execution.map(task, payloads, n_jobs=self.n_jobs, done=done)

    def _run(self, learn: Callable[..., Any], *data: Any) -> Any:
        """Let a bank learn, with a progress bar if that is asked for."""
        if not self.verbose:
            return learn(*data, self._execute)
        from infinimix.estimators.common.progress import with_progress  # slow: it loads rich

        with with_progress(self._execute) as execute:
            return learn(*data, execute)

    def _run_reading(self, read: Callable[..., Any], *data: Any) -> Any:
        """Let partitions be read, with a progress bar if that is asked for."""
        if not self.verbose:
            return read(self._execute, *data)
        from infinimix.estimators.common.progress import PARTITIONS, with_progress

        with with_progress(self._execute, PARTITIONS) as execute:
            return read(execute, *data)

    def _learn_table(
        self,
        table: EncodedTable,
        codes: np.ndarray,
        n_classes: int,
        seed: np.random.SeedSequence,
        settings: Settings | None = None,
        **options: Any,
    ) -> Learned:
        """Let a new bank learn a whole table; the model itself is not touched."""
        own = settings or self._settings(table.schema, streams=False)
        bank = Bank(own, layout_of(table.schema), seed)
        checked = self._run(partial(bank.fit, **options), table.blocks, codes, n_classes)
        return Learned(table, codes, bank, *checked)

    def _learn_stream(self, bank: Bank, table: EncodedTable, labelled: Labelled) -> None:
        """Let a bank learn the rows of a stream, in place.

        It stays marked as torn: whoever calls takes the mark away when the state of the model
        fits the bank again.
        """
        check_whole(bank)
        bank.torn = True
        while bank.n_classes < labelled.n_classes:
            bank.add_class()
        novel, n_known = table.novel, labelled.n_known
        where = list(zip(novel.rows.tolist(), novel.columns.tolist(), strict=True)) if novel else ()
        learn = bank.learn if n_known is None else partial(bank.learn, n_known=n_known)
        self._run(learn, table.blocks, labelled.codes, where)
        bank.torn = True

    # --- One class ------------------------------------------------------------------------------

    def _learn_whole(self, X: Any, sample_weight: Any, **options: Any) -> Learned:
        """Let a new bank learn a whole table, each row as often as its count says."""
        table = with_novel(self._read(self._counted(X, sample_weight)))
        seed = self._new_seed(table.schema, streams=False)
        return self._learn_table(table, *one_class(table), seed, **options)

    def _learn_rows(self, X: Any, sample_weight: Any) -> MixtureState:
        """Learn more rows, in their order and as often as counts say; return the state then."""
        X, state = self._counted(X, sample_weight), self._state
        table = self._read(X, stream=True) if state is None else self._encode(X, learn=True)
        bank, slopes = (state.bank, state.log_slopes) if state else (None, 0.0)
        if bank is None:
            seed = self._new_seed(table.schema, streams=True)
            bank = self._new_bank(table.schema, seed, streams=True)
        schema, slopes = table.schema.extended(table.novel), add_log_slopes(slopes, table)
        self._learn_stream(bank, table, Labelled(*one_class(table)))
        after = MixtureState(schema, bank, slopes)
        bank.torn = False
        return after

    def _log_densities(self, X: Any) -> np.ndarray:
        """Return the log predictive density of each row, over all islands and particles."""
        table = self._rows(X)
        return in_natural_units(self._bank.log_densities(table.blocks)[:, 0], table)


def one_class(table: EncodedTable) -> tuple[np.ndarray, int]:
    """Return the codes of rows that are all of one class, and the number of classes."""
    return np.zeros(table.n_rows, np.int64), 1


def is_auto(prior: Any) -> bool:
    """Is it left to us what the base measure is?"""
    return isinstance(prior, str) and prior == "auto"


def check_whole(bank: Bank) -> None:
    """Raise RuntimeError if a call failed halfway, so that rows are learned only in part."""
    if bank.torn:
        raise RuntimeError(
            "A call of partial_fit was interrupted, so that its rows are learned only in part. "
            "Fit the model again, or load it from where it was saved."
        )


def with_novel(table: EncodedTable) -> EncodedTable:
    """Return a table whose schema knows the categories that were new to it."""
    if not table.novel:
        return table
    return EncodedTable(table.schema.extended(table.novel), table.blocks)


def add_log_slopes(total: float, table: EncodedTable) -> float:
    """Return the sum of log slopes with more rows in it, added one by one, however they come."""
    if table.schema.transforms:
        for row in table.schema.log_slopes(table.blocks).tolist():
            total += row
    return total


def _resolve_prior(prior: Any, schema: Schema) -> Any:
    """Return what each column and each indicator has; indicators have what their kind has."""
    found = resolve_prior(prior, schema.kinds(), schema.gaussian_blocks)
    if isinstance(found, str) or not schema.indicated:
        return found
    by_kind = "binary" in prior and "binary" not in schema.names
    given = {"binary": prior["binary"]} if by_kind else {}
    return found | resolve_prior(given, dict.fromkeys(schema.indicator_names, "binary"))
