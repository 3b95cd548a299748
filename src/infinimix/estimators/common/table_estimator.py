"""What the table estimators share: columns, names of features, and the bank of mixtures.

Everything is checked and encoded before anything is changed, so a failed call leaves the
model as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from infinimix import execution
from infinimix.estimators.common.effort import resolve_effort
from infinimix.estimators.common.parameters import check_parameters, seed_sequence
from infinimix.families.given import resolve_prior
from infinimix.families.priors import Layout
from infinimix.inference.ensemble.bank import Bank, Settings
from infinimix.scikit import (
    BaseEstimator,
    _check_feature_names,
    _get_feature_names,
    check_is_fitted,
)
from infinimix.tables import Encoded, Schema, encode, read_schema

# Number of rows -> their codes, number of classes, and how many of these are known before any row;
# None if every row of a stream has a label, as then nobody asks.
LabelReader = Callable[[int], tuple[np.ndarray, int, int | None]]


class Fitted(NamedTuple):
    """What a whole table has taught, not yet part of a model."""

    schema: Schema
    bank: Bank
    encoded: Encoded
    codes: np.ndarray  # of the classes of its rows
    checked: np.ndarray  # rows whose densities were asked for
    log_density: np.ndarray  # of these in each class, in their own without themselves


class TableEstimator(BaseEstimator):
    """A model of table rows by CRP mixtures; subclasses say what a class is."""

    columns: Any
    alpha: Any
    prior: Any
    effort: str
    n_particles: int | None
    n_islands: int | None
    resampling: str
    max_groups: int | None
    sweeps: int | None
    window: int
    n_jobs: int | None
    random_state: Any
    verbose: bool

    _schema: Schema
    _bank: Bank
    _log_slopes: float = 0.0  # of all transforms, summed over all learned rows

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_bank")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags

    def _read(self, X: Any, whole: bool = False) -> tuple[Schema, Encoded]:
        """Decide what the columns are, and encode the first table, which may be the whole one."""
        check_parameters(self)
        spikes = whole and self._finds_spikes()
        schema = read_schema(X, self.columns, _given_in_numbers(self.prior), spikes)
        return schema, encode(schema, X, learn=True, who=type(self).__name__)

    def _finds_spikes(self) -> bool:
        """Return whether "auto" looks for common values; a model without classes never does."""
        return False

    def _encode(self, X: Any, learn: bool = False) -> Encoded:
        """Encode a later table by the columns of the first."""
        if type(X) is not np.ndarray or self._schema.named:
            self._check_names(X)
        return encode(self._schema, X, learn, who=type(self).__name__)

    def _check_names(self, X: Any) -> None:
        """Check names as scikit-learn does; those of frames that it cannot read are matched."""
        readable = not hasattr(X, "columns") or _get_feature_names(X) is not None
        if not isinstance(X, list) and (readable or not self._schema.named):
            _check_feature_names(self, X, reset=False)

    def _fitted_rows(self, X: Any) -> tuple[np.ndarray, ...]:
        check_fitted(self)
        check_whole(self._bank)
        return self._encode(X).blocks

    def _name_features(self, X: Any, schema: Schema) -> None:
        """Set what scikit-learn expects every fitted estimator to say of its columns."""
        self.n_features_in_ = schema.width
        self.__dict__.pop("feature_names_in_", None)
        if schema.named:
            self.feature_names_in_ = np.array(schema.names, dtype=object)

    @property
    def columns_(self) -> dict[str, str]:
        """The kind of each column, and its transform, as decided at the first call."""
        check_is_fitted(self)
        return self._schema.requests()

    @property
    def blocks_(self) -> tuple[tuple[str, ...], ...]:
        """The names of the columns of each gaussian block."""
        check_is_fitted(self)
        return self._schema.gaussian_blocks

    def _mark(
        self, X: Any, schema: Schema, encoded: Encoded, codes: Any = None
    ) -> tuple[Schema, Encoded]:
        """Mark holes that are worth it; a model without classes never does."""
        return schema, encoded

    def _thin(self, encoded: Encoded, codes: np.ndarray) -> tuple[Encoded, np.ndarray]:
        """Leave out rows that are not to be learned; a model without classes learns all."""
        return encoded, codes

    def _new_bank(self, schema: Schema, streams: bool) -> Bank:
        layout = Layout(block_names(schema), schema.category_counts)
        prior = ("spread" if streams else "learn") if is_auto(self.prior) else self.prior
        effort = resolve_effort(self)
        settings = Settings(
            self.alpha if self.alpha == "learn" else float(self.alpha),
            _resolve_prior(prior, schema),
            effort.n_particles, effort.n_islands, self.resampling,
            self.max_groups and int(self.max_groups), effort.sweeps, int(self.window),
            float(getattr(self, "gamma", 1.0)), int(getattr(self, "n_label_particles", 1)),
        )  # fmt: skip
        return Bank(settings, layout, seed_sequence(self.random_state))

    def _execute(self, task: Callable[[Any], Any], payloads: Sequence[Any]) -> list[Any]:
        return execution.map(task, payloads, n_jobs=self.n_jobs)

    def _run(self, learn: Callable[..., None], *data: Any) -> None:
        """Let a bank learn, with a progress bar if that is asked for."""
        if self.verbose:
            from infinimix.estimators.common.progress import (
                with_progress,  # costs a start-up its rich
            )

            with with_progress(self._execute) as execute:
                learn(*data, execute)
        else:
            learn(*data, self._execute)

    def _fit_bank(self, X: Any, encode_labels: LabelReader, **wishes: Any) -> Fitted:
        """Learn a whole table, for `_take`; the model itself is not touched yet."""
        schema, encoded = self._read(X, whole=True)
        codes, n_classes, _ = encode_labels(encoded.n_rows)
        schema, encoded = self._mark(X, schema, encoded, codes)
        schema = schema.extended(encoded.novel)
        encoded, codes = self._thin(encoded, codes)
        bank = self._new_bank(schema, streams=False)
        checked: list[Any] = []

        def fit(*data: Any) -> None:
            checked.extend(bank.fit(*data, **wishes))

        self._run(fit, encoded.blocks, codes, n_classes)
        return Fitted(schema, bank, encoded, codes, *checked)

    def _take(self, X: Any, schema: Schema, bank: Bank, encoded: Encoded) -> None:
        """Become the model that learned X first."""
        self._log_slopes = add_log_slopes(0.0, schema, encoded)
        self._schema, self._bank = schema, bank
        self._name_features(X, schema)

    def _in_natural_units(self, log_density: np.ndarray, blocks: Any) -> np.ndarray:
        """Return the log densities of encoded rows as those of the rows themselves."""
        if not self._schema.transforms:
            return log_density
        return log_density + self._schema.log_slopes(blocks)

    def _learn_rows(self, X: Any, encode_labels: LabelReader) -> None:
        """Learn the rows of a stream; the first call decides what the columns are."""
        first = not hasattr(self, "_bank")
        schema, encoded = self._read(X) if first else (self._schema, self._encode(X, learn=True))
        codes, n_classes, n_known = encode_labels(encoded.n_rows)
        if first:
            schema, encoded = self._mark(X, schema, encoded)
        bank = self._new_bank(schema, streams=True) if first else self._bank
        check_whole(bank)
        while bank.n_classes < n_classes:
            bank.add_class()
        novel = encoded.novel
        where = list(zip(novel.rows.tolist(), novel.columns.tolist(), strict=True)) if novel else ()
        learn = bank.learn if n_known is None else partial(bank.learn, n_known=n_known)
        self._run(learn, encoded.blocks, codes, where)
        # Last, so that an interrupted first call leaves no half of a model, and a later one no
        # code of a category that the bank has no room for. The bank itself learns in place, and
        # knows when a later call was interrupted.
        if first:
            self._take(X, schema.extended(novel), bank, encoded)
        else:
            if schema.transforms:
                self._log_slopes = add_log_slopes(self._log_slopes, schema, encoded)
            if novel:
                self._schema = schema.extended(novel)


def is_auto(prior: Any) -> bool:
    """Is it left to us what the base measure is?"""
    return isinstance(prior, str) and prior == "auto"


def check_fitted(model: Any) -> None:
    """Raise scikit-learn's NotFittedError if a model has learned nothing.

    Its own check reads all tags of the model before it looks, which takes longer than a row.
    """
    if not model.__sklearn_is_fitted__():
        check_is_fitted(model)


def check_whole(bank: Bank) -> None:
    """Raise RuntimeError if an interrupt has left the islands of a bank apart."""
    if bank.torn:
        raise RuntimeError(
            "A call of partial_fit was interrupted, and some islands have learned rows that "
            "others have not. Fit the model anew, or load it from where it was saved."
        )


def add_log_slopes(total: float, schema: Schema, encoded: Encoded) -> float:
    """Return the sum of log slopes with more rows in it, added one by one, however they come."""
    if schema.transforms:
        for row in schema.log_slopes(encoded.blocks).tolist():
            total += row
    return total


def _given_in_numbers(prior: Any) -> list[Any]:
    """Return the columns and kinds whose prior is in natural units, so they must stay in them."""
    pairs = prior.items() if isinstance(prior, Mapping) else ()
    return [key for key, value in pairs if not isinstance(value, str)]


def block_names(schema: Schema) -> dict[str, tuple[str, ...]]:
    """Return the names of the columns of each block, in table order; marks are the last ones."""
    names = {
        block: tuple(schema.names[j] for j in schema.positions(block)) for block in schema.blocks
    }
    return names | ({"binary": names["binary"] + schema.mark_names} if schema.marked else {})


def _resolve_prior(prior: Any, schema: Schema) -> Any:
    """Return what each column and each mark has; marks have what their kind has."""
    found = resolve_prior(prior, schema.kinds(), schema.gaussian_blocks)
    if isinstance(found, str) or not schema.marked:
        return found
    by_kind = "binary" in prior and "binary" not in schema.names
    given = {"binary": prior["binary"]} if by_kind else {}
    return found | resolve_prior(given, dict.fromkeys(schema.mark_names, "binary"))
