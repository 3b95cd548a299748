"""`infinimix predict`: the classes, or the numbers, of the rows of a file by a saved model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from infinimix.cli import options
from infinimix.cli.bundles import FileOptions
from infinimix.cli.errors import CommandError
from infinimix.cli.partitions_in import are_partitions, predict_files, refuse_options


def predict(
    model: options.Model,
    file: options.TableOrFolder,
    output: options.OutputOrFolder = None,
    proba: Annotated[
        bool, typer.Option("--proba", help="Write the probability of each class too.")
    ] = False,
    batch: Annotated[
        bool, typer.Option("--batch", help="Classify the rows together, if the model can.")
    ] = False,
    cost: Annotated[
        str | None,
        typer.Option(
            "--cost",
            help='Predict by cost: a cost for each class that is missed, "sick=5,healthy=1".',
            metavar="COSTS",
        ),
    ] = None,
    interval: Annotated[
        float | None,
        typer.Option(
            "--interval",
            help="Numbers: write low and high too, which cover such a share of rows, as 0.9.",
            metavar="SHARE",
        ),
    ] = None,
    append: options.Append = False,
    *,
    reads: FileOptions,
    as_json: options.Json = False,
) -> None:
    """Predict the rows of a table."""
    from infinimix.cli.costs import read_costs
    from infinimix.cli.files import read_source
    from infinimix.cli.goals import check_answers
    from infinimix.cli.model_files import load_trained, proba_frame, read_for
    from infinimix.cli.out import mention, print_json
    from infinimix.cli.writing import write_table
    from infinimix.evaluation.abilities import Regressing, able

    if are_partitions(file):
        alone = {"--batch": batch, "--cost": cost, "--interval": interval, "--append": append}
        refuse_options(file, {**alone, "--json without --output": as_json and output is None})
        told = predict_files(load_trained(model), file, output, proba, reads.reading)
        if as_json and output is not None:
            print_json(told)
        elif output is not None:
            mention(f"Wrote {output}: {told['rows']:,} rows in {told['files']:,} files.")
        return
    if output is not None and output.is_dir():
        raise CommandError(f"--output: {str(output)!r} is a folder; name a file.")
    given = None if cost is None else read_costs(cost)
    source = read_source(file, reads.reading)  # before the model, which is slow to load
    trained = load_trained(model)
    check_answers(trained.model, interval, cost)
    table, X = read_for(trained, source, reads.reading)
    if able(trained.model, Regressing) and not (batch or proba):
        from infinimix.cli.regression import answer_numbers

        answers = answer_numbers(trained, X, interval)
    else:
        found = trained.predict(X, batch) if given is None else _by_cost(trained, X, batch, given)
        answers = {"prediction": [_plain(value) for value in found]}
    if proba:
        chances = proba_frame(trained, X, batch)
        answers |= {f"p({label})": chances[label].tolist() for label in chances.columns}
    columns = answer_columns(table, answers, append, output)
    if as_json and output is None:
        cells = zip(*columns.values(), strict=True)
        print_json([dict(zip(columns, row, strict=True)) for row in cells])
        return
    write_table(columns, output, types=table.source.types if append else None)
    if as_json:
        print_json({"rows": table.n_rows, "output": str(output)})
    elif output is not None:
        mention(f"Wrote {output}: {table.n_rows:,} rows.")


def _by_cost(trained: Any, X: Any, batch: bool, given: dict[str, float]) -> list[Any]:
    """Return the classes of least expected cost."""
    import numpy as np

    from infinimix.cli.costs import find_costs
    from infinimix.evaluation.costs import SIDES, decide
    from infinimix.tables.rows import list_labels

    proba, labels = np.asarray(trained.predict_proba(X, batch)), list_labels(trained.model.classes_)
    if set(given) & SIDES and not set(given) & set(map(str, labels)):
        raise CommandError(
            "--cost: a model does not know which class is positive; give a cost to each class "
            f'that is missed, such as "{labels[0]}=5,{labels[-1]}=1".'
        )
    return [labels[k] for k in decide(proba, find_costs(labels, given, None))]


def _plain(value: Any) -> Any:
    return value if isinstance(value, bool | int | float | str) else str(value)


def answer_columns(
    table: Any, answers: dict[str, list[Any]], append: bool, output: Path | None = None
) -> dict[str, list[Any]]:
    """Return answers, behind the columns of the file if asked; names that are taken get a _.

    The columns are as they stand in the file, or with numbers as numbers for a typed format. From
    Parquet to Parquet they keep their types.
    """
    from infinimix.cli.writing import format_of_output, is_typed

    if not append:
        return answers
    source = table.source
    same = source.format == format_of_output(output) == "parquet"
    as_it_stands = same or not is_typed(output)
    columns = dict(zip(source.names, source.cells, strict=True))
    columns = columns if as_it_stands else table.plain_columns()
    for name, values in answers.items():
        while name in columns:
            name += "_"
        columns[name] = values
    return columns
