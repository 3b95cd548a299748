"""What a run leaves behind: figures as JSON, a picture, and one self-contained page."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

from infinimix.papers import tables
from infinimix.papers.experiment import Comparison, Estimate
from infinimix.papers.running import Reproduced
from infinimix.reports import page, pieces
from infinimix.reports.markup import Markup, draw

PAGE, PICTURE, FIGURES = "index.html", "figure.png", "result.json"
INCHES, DPI = (9.0, 5.0), 110


def write(run: Reproduced) -> Path:
    """Write figures, picture and page into the folder of the experiment; return the page."""
    picture = draw_picture(run)
    if picture is not None:
        (run.folder / PICTURE).write_bytes(picture)
    text = json.dumps(figures(run), indent=1, allow_nan=False)
    (run.folder / FIGURES).write_text(text + "\n", encoding="utf-8")
    path = run.folder / PAGE
    page.write_page(path, build(run, picture))
    return path


def draw_picture(run: Reproduced) -> bytes | None:
    """Return the drawing of an experiment as PNG, None if it has none."""
    if run.outcome.draw is None:
        return None
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=INCHES, dpi=DPI, layout="constrained")
    FigureCanvasAgg(figure)
    run.outcome.draw(figure)
    out = BytesIO()
    figure.savefig(out, format="png", metadata={"Software": None})
    return out.getvalue()


def build(run: Reproduced, picture: bytes | None) -> str:
    """Return the page of one experiment."""
    experiment, outcome = run.experiment, run.outcome
    name = f"{experiment.item.capitalize()}: {experiment.title}"
    body = [
        page.header("infinimix reproduce", name, f"{run.paper.title}. {run.paper.source}."),
        page.section("What held", list(_verdict(run)), "verdict"),
    ]
    if picture is not None:
        label = f"{experiment.item} of the paper, drawn again"
        body.append(page.section("The figure", [_image(picture, label)], "figure"))
    caption = f"Figures: {outcome.unit}" if outcome.unit else "Figures"
    table = pieces.plain_table(caption, tables.HEAD, tables.rows(outcome))
    body += [
        page.section("The figures", [table], "figures"),
        page.section("How it was run", list(_provenance(run)), "run"),
    ]
    return page.build_page(f"{name}: infinimix reproduce", body, ["report.css"])


def _verdict(run: Reproduced) -> Iterator[str]:
    yield page.paragraph(run.outcome.verdict)
    if run.experiment.stands_in:
        yield page.paragraph(f"Data: {run.experiment.stands_in}")
    if run.size != "full":
        yield page.paragraph(
            "This is the quick form, with fewer repeats and smaller sizes than the paper's; "
            "--full runs all of them."
        )
    if run.outcome.notes:
        yield page.bullets(run.outcome.notes)


def _provenance(run: Reproduced) -> Iterator[str]:
    rows = [(key.replace("_", " "), _plain(value)) for key, value in run.provenance().items()]
    yield pieces.plain_table("Seeds, versions and time", ["", ""], rows, "plain narrow")


def _plain(value: object) -> str:
    if isinstance(value, list) and len(value) > 4:
        return f"{value[0]} to {value[-1]} ({len(value)})"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _image(picture: bytes, label: str) -> Markup:
    return draw("pictures.html", "embedded", b64encode(picture).decode(), label)


def figures(run: Reproduced) -> dict[str, object]:
    """Return what came out as plain values."""
    return {
        "paper": run.paper.name,
        "item": run.experiment.item,
        "title": run.experiment.title,
        "verdict": run.outcome.verdict,
        "unit": run.outcome.unit,
        "notes": run.outcome.notes,
        "lines": [_line(line) for line in run.outcome.lines],
        "run": run.provenance(),
    }


def _line(line: Comparison) -> dict[str, object]:
    return {
        "name": line.name,
        "paper": line.paper,
        "published": _estimate(line.published),
        "default": _estimate(line.default),
        "difference": line.difference,
    }


def _estimate(estimate: Estimate | None) -> dict[str, object] | None:
    if estimate is None:
        return None
    error = None if estimate.error != estimate.error else estimate.error
    return {"mean": estimate.mean, "standard_error": error, "n": estimate.n}
