"""The rows that a classifier found hardest, each with the reason.

Hard is a row whose true label was given little probability. The reason comes from the model that
predicted the row without having learned it: `explain` compares the predicted class with the
true one, column by column.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from infinimix.evaluation.abilities import Explaining, able
from infinimix.evaluation.predictions import Predictions
from infinimix.reports import page, pieces
from infinimix.reports.images import Image
from infinimix.reports.markup import draw
from infinimix.reports.prototypes import kinds_of, show_cell
from infinimix.tables.missing import is_missing
from infinimix.tables.rows import is_pandas, pick

MOST_HARD = 6
MOST_REASONS = 4
MOST_CHANCES = 3
MOST_LETTERS = 200  # of a row that is a text


def show_hardest(predictions: Predictions, image: Image | None) -> Iterator[str]:
    """Yield the section: cards of the hardest rows, hardest first."""
    order = np.argsort(predictions.p_true, kind="stable")[:MOST_HARD]
    yield page.paragraph(
        "The rows whose true label got the least probability, each predicted by a model that had "
        "not learned it. Rows are counted from 1, in the order of the file."
    )
    if image is None and all(able(model, Explaining) for model in predictions.models):
        yield page.paragraph(
            "The evidence of a column, in nats, is what its cell adds to the log odds of the "
            "predicted class against the true one; for a row that was right, of its class against "
            "the next."
        )
    yield draw("pieces.html", "hard_rows", [_card(predictions, int(i), image) for i in order])


def _card(predictions: Predictions, i: int, image: Image | None) -> list[str]:
    p = predictions.proba[i]
    ranked = np.argsort(-p, kind="stable")
    true, predicted = int(predictions.y[i]), int(ranked[0])
    names = [pieces.as_name(label) for label in predictions.labels]
    right = predicted == true
    verdict = names[true] if right else f"{names[true]} predicted as {names[predicted]}"
    shown = list(dict.fromkeys([*ranked[: MOST_CHANCES - 1].tolist(), true]))
    return [
        page.paragraph(f"Row {predictions.places[i] + 1:,}", "note"),
        page.verdict(right, verdict),
        page.chances([(names[c], float(p[c])) for c in shown], names[true]),
        _why(predictions, i, predicted, true, ranked, image),
    ]


def _why(
    predictions: Predictions,
    i: int,
    predicted: int,
    true: int,
    ranked: np.ndarray,
    image: Image | None,
) -> str:
    model = predictions.models[predictions.model_of[i]]
    row = pick(predictions.rows, np.array([i]))
    if image is not None and is_pandas(row):
        cells = {str(name): value for name, value in row.iloc[0].items()}
        holes = sum(is_missing(value) for value in cells.values())
        alt = f"Row {predictions.places[i] + 1} as an image, {holes} of {len(cells)} cells missing"
        return image.draw({n: None if is_missing(v) else v for n, v in cells.items()}, alt)
    if isinstance(row[0] if isinstance(row, list) else None, str):
        return page.paragraph(pieces.short(row[0], MOST_LETTERS))
    if not able(model, Explaining):
        return page.paragraph("This kind of model gives no reasons.", "note")
    against = int(ranked[1]) if predicted == true else true
    known = set(np.asarray(model.classes_).tolist())
    labels = predictions.labels
    if labels[against] not in known:
        return page.paragraph("Its training rows had no row of the true class.", "note")
    why = model.explain(row, labels[predicted], labels[against])
    return _reasons(why, pieces.as_name(labels[predicted]), kinds_of(model))


def _reasons(why: Any, predicted: str, kinds: Mapping[str, str]) -> str:
    frame = why.to_frame()
    rows = [
        (
            pieces.short(str(name)), show_cell(line["value"], kinds.get(str(name), ""), 18),
            f"{line['evidence']:+.2f}".replace("-", "−"),
        )
        for name, line in frame.head(MOST_REASONS).iterrows()
    ]  # fmt: skip
    holes = sum(is_missing(value) for value in frame["value"])
    caption = f"For {predicted} (+) or against (−)"
    if holes:
        caption += f"; {pieces.plural(holes, 'cell')} missing"
    return pieces.plain_table(caption, ["column", "cell", "evidence"], rows, "reasons")
