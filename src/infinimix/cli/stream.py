"""`infinimix stream`: a model that predicts each row of a stream before it learns it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from infinimix.cli import options
from infinimix.cli.bundles import KindOptions
from infinimix.cli.places import check_file


def stream(
    source: Annotated[Path, typer.Argument(help=options.TABLE, callback=check_file)] = Path("-"),
    target: Annotated[
        str, typer.Option("--target", "-t", help="Column that holds the class.")
    ] = "class",
    model: options.ModelName = "online-crp",
    text: options.Text = None,
    folder: Annotated[
        Path | None,
        typer.Option("--folder", help="Keep the model here, through crashes, and go on from it."),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="The stream starts from its first row: skip those learned."),
    ] = False,
    snapshot_every: Annotated[
        int, typer.Option("--snapshot-every", help="Rows between snapshots.", min=1)
    ] = 10_000,
    output: Annotated[
        Path | None,
        options.to_file("--output", "-o", text="Model to write at the end."),
    ] = None,
    curve: Annotated[
        Path | None,
        options.to_file("--curve", text="Write the error along the stream as CSV."),
    ] = None,
    report: Annotated[
        Path | None, options.to_page("--report", text="Write a page about the run.")
    ] = None,
    window: Annotated[
        int, typer.Option("--window", help="Rows over which the curve is averaged.", min=1)
    ] = 1000,
    batch: Annotated[
        int, typer.Option("--batch", help="Predict so many rows, then learn them.", min=1)
    ] = 1,
    chunk: Annotated[
        int, typer.Option("--chunk", help="Rows to wait for before work begins.", min=1)
    ] = 1000,
    max_rows: Annotated[
        int | None, typer.Option("--max-rows", help="Stop after so many rows.", min=1)
    ] = None,
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Pass over rows that cannot be read or learned.")
    ] = False,
    keep: options.Keep = None,
    *,
    reads: KindOptions,
    seed: options.Seed = 0,
    jobs: options.Jobs = None,
    as_json: options.Json = False,
) -> None:
    """Predict the rows of a stream, then learn them, and keep score."""
    from infinimix.cli.flow import UNLABELLED, Flow, open_learner, run
    from infinimix.cli.out import count, print_json, warn
    from infinimix.cli.places import write_text
    from infinimix.cli.tables_in import split_names

    flow = Flow(
        source, target, text, reads, chunk, skip_bad, split_names(keep),
        unlabelled=model in UNLABELLED,
    )  # fmt: skip
    settings = {"random_state": seed, "n_jobs": jobs}
    learner, before = open_learner(model, flow, settings, folder, snapshot_every)
    try:
        flow.skip, flow.knows = (before, False) if resume else (0, before > 0)
        result = run(learner, flow, window, batch, max_rows)
        if folder is not None and result.rows + result.unlabelled:
            learner.snapshot()  # the next run starts at once
    except KeyboardInterrupt:
        if folder is not None:
            again = "run it again to go on, with --resume if the stream starts from its first row"
            warn("stream", f"stopped; what was learned is in {folder}: {again}.")
        raise
    finally:
        if folder is not None:
            learner.close()
    found = _summary(result, before, folder)
    if output is not None:
        _save(learner, flow, target, output)
    if curve is not None:
        write_text(result.to_frame().to_csv(), curve)
    if report is not None:
        from infinimix.reports.stream_page import write_stream_report

        where = "" if str(source) == "-" else f" of {source.name}"
        title = f"{target}: {count(result.rows, 'row')}{where} as a stream"
        write_stream_report(result, report, title=title)
    if as_json:
        print_json(found)
    else:
        _show(result, found, source, (output, curve, report))


def _summary(result: Any, before: int, folder: Path | None) -> dict[str, Any]:
    found = {"rows_before": before, **result.summary()}
    found["bad"] = [{"line": bad.line, "reason": bad.reason} for bad in result.bad[:20]]
    return found | ({} if folder is None else {"folder": str(folder)})


def _save(learner: Any, flow: Any, target: str, output: Path) -> None:
    from infinimix.cli.learning import Trained
    from infinimix.streaming.durable import DurableLearner

    model = learner.model if isinstance(learner, DurableLearner) else learner
    notes = {"text": flow.text, "columns": flow.names, "target": target, "drop": flow.spare}
    Trained(model, notes).save(output)


def _show(
    result: Any, found: dict[str, Any], source: Path, written: tuple[Path | None, ...]
) -> None:
    from infinimix.cli.flow import draw_error
    from infinimix.cli.out import count, grid, number, percent, show

    speed = result.rows_per_second  # NaN if there was nothing to learn
    rows = [
        ("rows predicted, then learned", f"{result.rows:,}"),
        ("error", percent(result.error)),
        ("error where the class was known", percent(result.error_known)),
        ("log-loss", number(result.log_loss)),
        ("calibration error", percent(result.calibration_error)),
        ("classes met", f"{result.classes:,}"),
        ("rows of classes not met before", f"{result.new_rows:,}"),
        ("rows without label, learned", f"{result.unlabelled:,}"),
        ("rows set aside", f"{result.bad_rows:,}"),
        ("rows a second", f"{speed:,.0f}" if speed == speed else "-"),
    ]
    name = "standard input" if str(source) == "-" else str(source)
    show(grid(f"{name}, every row predicted before it was learned", ("", ""), rows))
    show(f"Error along the stream: {draw_error(result.curve)}")
    if "folder" in found:
        total = count(found["rows_before"] + result.rows + result.unlabelled, "row")
        show(f"Kept in {found['folder']}: {total}; run it again to go on.")
    for path in written:
        if path is not None:
            show(f"Wrote {path}.")
