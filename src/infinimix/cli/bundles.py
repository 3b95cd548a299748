"""Options that several commands share come to them as one value: declared once, passed on whole.

A parameter of a command whose type is one of these classes stands for all its fields; `unfolded`
makes of it the options that Typer shows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import wraps
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, get_type_hints

from infinimix.cli import options

if TYPE_CHECKING:
    from infinimix.cli.goals import Goal
    from infinimix.cli.reading import Reading

ORDER = (
    "model", "regression", "bins", "text", "weights", "effort",
    "real", "log", "category", "binary", "count", "gaussian", "columns", "drop", "keep",
    "missing", "format", "delimiter", "encoding", "decimal", "date_order", "sheet",
    "class_weight", "unlabelled_share", "relevance", "set",
)  # fmt: skip


@dataclass(frozen=True)
class FileOptions:
    """How a file is read, and what of it is left out."""

    drop: options.Drop = None
    missing: options.Missing = None
    format: options.Format = None
    delimiter: options.Delimiter = None
    encoding: options.Encoding = None
    decimal: options.Decimal = None
    date_order: options.DateOrder = None
    sheet: options.Sheet = None

    @property
    def reading(self) -> Reading:
        """How to read the file."""
        from infinimix.cli.dates import check_order
        from infinimix.cli.reading import Reading
        from infinimix.cli.tables_in import check_decimal, split_names

        check_decimal(self.decimal)
        check_order(self.date_order)
        return Reading(
            self.format, self.delimiter, self.missing, tuple(split_names(self.drop)),
            self.encoding, self.sheet, self.decimal, self.date_order,
        )  # fmt: skip


@dataclass(frozen=True)
class LearnerOptions:
    """Which model learns, what it predicts, from what rows, and how hard it tries."""

    model: options.ModelName = "aclass"
    regression: options.Regression = None
    bins: options.Bins = None
    text: options.Text = None
    weights: options.Weights = None
    effort: options.Effort = "default"

    @property
    def goal(self) -> Goal:
        """Whether classes or numbers are predicted."""
        from infinimix.cli.goals import Goal

        return Goal(self.regression, self.bins)

    def settings(self, tuning: ModelOptions, seed: int, jobs: int | None) -> dict[str, Any]:
        """Return the parameters of the model."""
        own = {"random_state": seed, "n_jobs": jobs, "effort": self.effort}
        return {**own, **tuning.settings}


@dataclass(frozen=True)
class ModelOptions:
    """What a model is told beside its columns."""

    class_weight: options.ClassWeight = None
    unlabelled_share: options.Share = None
    relevance: options.Relevance = None
    set: options.Set = None

    @property
    def settings(self) -> dict[str, Any]:
        """The parameters that were given."""
        from infinimix.cli.learning import read_assignments

        given = {
            "unlabelled_share": self.unlabelled_share,
            "relevance": self.relevance,
            "class_weight": self.class_weight,
        }
        return {**given, "set": read_assignments(self.set)}


@dataclass(frozen=True)
class KindOptions(FileOptions):
    """The kinds of columns too."""

    real: options.Real = None
    log: options.Log = None
    category: options.Category = None
    binary: options.Binary = None
    count: options.Count = None

    @property
    def kinds(self) -> dict[str, Sequence[str] | None]:
        """The columns that each flag names."""
        return {
            "--real": self.real, "--log": self.log, "--category": self.category,
            "--binary": self.binary, "--count": self.count,
        }  # fmt: skip


@dataclass(frozen=True)
class ColumnOptions(KindOptions):
    """The kinds of columns in a file too."""

    columns: options.Columns = None
    keep: options.Keep = None


@dataclass(frozen=True)
class TableOptions(ColumnOptions):
    """Blocks of correlated columns too."""

    gaussian: options.Gaussian = None

    @property
    def kinds(self) -> dict[str, Sequence[str] | None]:
        """The columns that each flag names."""
        return {**super().kinds, "--gaussian": self.gaussian}


def unfolded(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command whose bundles of options are options of its own."""
    # Not get_type_hints: before Python 3.11 it wraps what has the default None, and hides options.
    parts = signature(command, eval_str=True).parameters
    hints = {name: parameter.annotation for name, parameter in parts.items()}
    bundles: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    if not bundles:
        return command

    @wraps(command)
    def run(**given: Any) -> None:
        made = {
            name: bundle(**{one.name: given.pop(one.name) for one in fields(bundle)})
            for name, bundle in bundles.items()
        }
        command(**given, **made)

    parameters: list[Parameter] = []
    for name, parameter in signature(command).parameters.items():
        if name in bundles:
            parameters += _options_of(bundles[name])
        else:
            parameters.append(
                parameter.replace(annotation=hints[name], kind=Parameter.KEYWORD_ONLY)
            )
    run.__signature__ = signature(command).replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    return run


def _options_of(bundle: Any) -> list[Parameter]:
    hints = get_type_hints(bundle, include_extras=True)
    return [
        Parameter(one.name, Parameter.KEYWORD_ONLY, default=one.default, annotation=hints[one.name])
        for one in sorted(fields(bundle), key=lambda one: ORDER.index(one.name))
    ]
