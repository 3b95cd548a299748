"""From tables and options to the network that `infinimix network` learns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from infinimix.cli.bundles import ColumnOptions
from infinimix.cli.errors import CommandError
from infinimix.cli.network_knowledge import read_edges, read_roles, read_set_cells, read_set_files
from infinimix.cli.tasks import TaskTable, read_rows

if TYPE_CHECKING:
    pass

KINDS = ("directed", "undirected", "dynamic")
PRIORS = ("blockmodel", "ordered", "sparse", "uniform")
LIKELIHOODS = ("auto", "discrete", "gaussian", "mixed")
EFFECTS = ("any", "signed")


@dataclass(frozen=True)
class Wanted:
    """What kind of network is asked for, and options that only some kinds have."""

    kind: str
    prior: str
    bdeu: bool = False
    groups: str | None = None
    interventions: tuple[str, ...] = ()
    bif: bool = False
    roles: bool = False
    likelihood: str = "auto"
    effects: str = "any"
    impute: bool = False

    def check(self, n_files: int) -> None:
        """Refuse options that do not go together, before anything is read."""
        for name, known in (
            ("kind", KINDS), ("prior", PRIORS), ("likelihood", LIKELIHOODS), ("effects", EFFECTS),
        ):  # fmt: skip
            if getattr(self, name) not in known:
                raise CommandError(
                    f"--{name}: there is no {getattr(self, name)!r}; it is one of {_or(known)}."
                )
        for wrong, what in (*self._of_several(n_files > 1), *self._of_kind()):
            if wrong:
                raise CommandError(f"{what}.")

    def _of_several(self, several: bool) -> Iterator[tuple[bool, str]]:
        """Yield what several files cannot have."""
        if several:
            yield self.kind != "directed", "--kind: several files have directed networks"
            yield self.prior != "blockmodel", "--prior: several files have the block prior"
            yield self.bif, "--bif writes one network, and several files have one each"
            yield self.effects == "signed", "--effects signed is for one file"
            yield self.impute, "--impute is for one file"

    def _of_kind(self) -> Iterator[tuple[bool, str]]:
        """Yield what kinds of networks cannot have."""
        directed, roles = self.kind == "directed", self.prior not in ("sparse", "uniform")
        yield not directed and self.prior == "ordered", "--prior ordered is for directed networks"
        yield not directed and self.bif, "--bif is for directed networks"
        yield not directed and self.bdeu, "--bdeu is for directed networks"
        mixed = self.likelihood == "mixed"
        yield not directed and mixed, "--likelihood mixed is for directed networks"
        signed = self.effects == "signed"
        yield not directed and signed, "--effects signed is for directed networks"
        yield (
            signed and self.prior == "ordered",
            "--effects signed needs another --prior, such as blockmodel",
        )
        yield signed and self.bdeu, "--effects signed: leave --bdeu out"
        numbers = self.likelihood in ("gaussian", "mixed")
        yield signed and numbers, "--effects signed is for columns with a low and a high value"
        timeless = self.groups is not None and self.kind != "dynamic"
        yield timeless, "--groups names the sequences of --kind dynamic; add that"
        mutual = bool(self.interventions) and self.kind == "undirected"
        yield mutual, "--interventions is for edges with a direction; use another --kind"
        yield self.roles and not roles, f"--role: --prior {self.prior} has no roles"


def _or(words: Sequence[str]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}"


class Learner:
    """Tables, and what is known of their networks."""

    def __init__(self, wanted: Wanted, paths: Sequence[Path], options: ColumnOptions) -> None:
        self.wanted, self.reading = wanted, options.reading
        names = [path.stem for path in paths]
        if len(set(names)) < len(names):
            raise CommandError("two of the files have one name; tables are told apart by them.")
        self.tables: dict[str, TaskTable] = {
            name: without_empty(read_rows("network", path, options, groups=wanted.groups))
            for name, path in zip(names, paths, strict=True)
        }
        self.known: dict[str, Any] = {}

    @property
    def first(self) -> TaskTable:
        """The table; the first of several."""
        return next(iter(self.tables.values()))

    def constant(self) -> dict[str | None, list[str]]:
        """Return the columns with a single value by table, None if there is only one."""
        several = len(self.tables) > 1
        return {
            name if several else None: [info.name for info in rows.infos if info.distinct == 1]
            for name, rows in self.tables.items()
        }

    def know(
        self,
        require: Sequence[str] | None,
        forbid: Sequence[str] | None,
        role: Sequence[str] | None,
    ) -> None:
        """Take what is said of edges and roles."""
        columns = {name: list(rows.X.columns) for name, rows in self.tables.items()}
        said: dict[str, dict[str, Any]] = {
            "required": {**read_edges(require, "--require", columns)},
            "forbidden": {**read_edges(forbid, "--forbid", columns)},
            "known_roles": {**read_roles(role, columns)},
        }
        several = len(self.tables) > 1
        for name, found in said.items():
            if found:
                self.known[name] = found if several else next(iter(found.values()))

    def given(self) -> dict[str, Any]:
        """Return what `fit` takes beside the tables."""
        found: dict[str, Any] = {}
        wanted, rows = self.wanted, self.first
        if wanted.groups is not None:
            found["sequences"] = sequences_of(rows, wanted.groups)
        columns = {name: list(own.X.columns) for name, own in self.tables.items()}
        masks = {}
        for name, path in read_set_files(wanted.interventions, columns).items():
            n_rows = self.tables[name].table.n_rows
            masks[name] = read_set_cells(path, self.reading, columns[name], n_rows)
        if masks:
            several = len(self.tables) > 1
            found["interventions"] = masks if several else next(iter(masks.values()))
        return found

    def model(self, settings: dict[str, Any]) -> Any:
        """Return a model of these tables, not fitted yet."""
        from infinimix import networks  # numba: slow to load, so after the tables are read

        wanted = self.wanted
        if len(self.tables) > 1:
            columns = {name: rows.columns for name, rows in self.tables.items()}
            return networks.NetworkFranchise(
                bdeu=wanted.bdeu, columns=columns, likelihood=wanted.likelihood, **settings,
                **self.known,
            )  # fmt: skip
        settings = {
            **settings, **self.known, "columns": self.first.columns, "prior": wanted.prior,
            "likelihood": wanted.likelihood,
        }  # fmt: skip
        if wanted.kind == "directed":
            if wanted.effects == "signed":
                settings |= {"effects": "signed", "n_bins": 2}
            return networks.BlockmodelBayesNet(bdeu=wanted.bdeu, **settings)
        if wanted.kind == "undirected":
            return networks.BlockmodelMarkovNet(**settings)
        return networks.BlockmodelDynamicNet(**settings)

    def fit(self, model: Any, seconds: float | None, given: dict[str, Any]) -> Any:
        """Learn the tables."""
        several = len(self.tables) > 1
        X = {name: rows.X for name, rows in self.tables.items()} if several else self.first.X
        return model.fit(X, **given) if seconds is None else model.fit_for(X, seconds, **given)

    def impute(self, model: Any, path: Path, given: dict[str, Any]) -> None:
        """Write the table with its missing cells filled."""
        from infinimix.cli.filling import fill, write_filled

        rows, sequences = self.first, given.get("sequences")
        done = model.impute(rows.X) if sequences is None else model.impute(rows.X, sequences)
        write_filled(rows.table, fill(rows.table, rows.X, done)[0], path)

    def save(self, model: Any, path: Path) -> None:
        """Save a model of these tables."""
        if len(self.tables) == 1:
            self.first.save(model, path)
            return
        from infinimix import save

        save(model, path)


def without_empty(rows: TaskTable) -> TaskTable:
    """Return a table without the columns that have no values; a note has told of them."""
    kept = [info for info in rows.infos if info.distinct]
    names = [info.name for info in kept]
    if len(kept) == len(rows.infos):
        return rows
    if not kept:
        raise CommandError(f"{rows.table.source.name}: no column has a value to learn from.")
    empty = [name for name in rows.X.columns if name not in names]
    asked = replace(rows.asked, drop=[*rows.asked.drop, *empty])
    return replace(rows, X=rows.X[names], columns=asked.within(names), infos=kept, asked=asked)


def sequences_of(rows: TaskTable, groups: str) -> list[Any]:
    """Return the sequence of each row."""
    cells = list(rows.table.columns[groups])
    for row, cell in enumerate(cells):
        if cell is None or cell != cell:
            raise CommandError(
                f"--groups: row {row + 1} has no {groups!r}; every row belongs to a sequence."
            )
    return cells


def check_bif(infos: Any, likelihood: str) -> None:
    """Say before the work that a network of numbers has no tables."""
    from infinimix.tables.column import record_of

    kinds = [info.kind for info in infos if not info.kind.startswith("date:")]
    if likelihood == "mixed" and not all(record_of(kind).discrete for kind in kinds):
        raise CommandError(
            "--bif: the format has tables of categories only, and --likelihood mixed keeps "
            "numbers; leave one of them out."
        )
    if len(kinds) == len(infos) and not any(record_of(kind).discrete for kind in kinds):
        raise CommandError(
            "--bif: the format has tables of categories only, and all columns are numbers; leave "
            "it out, or make categories of them first."
        )
