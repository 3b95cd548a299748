"""What `infinimix demo` does: digits with holes, five classifiers, a table and a page."""

from __future__ import annotations

import platform
import webbrowser
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from numpy.typing import NDArray
from rich import box
from rich.console import Console
from rich.table import Table
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from infinimix import AClassClassifier, __version__
from infinimix.reports import page
from infinimix.reports.comparison import ABOUT, Result, Split, describe, make_peers, measure
from infinimix.reports.pictures import draw_grid

NAME = "infinimix"
SIDE = 8  # pixels of a digit
N_EXAMPLES = 6
CODE = """\
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from infinimix import AClassClassifier

X, y = load_digits(return_X_y=True)
X = np.where(X > 7, 1.0, 0.0)
X[np.random.default_rng({seed}).random(X.shape) < {missing:g}] = np.nan
X_train, X_test, y_train, y_test = train_test_split(
    X, y, test_size=0.3, stratify=y, random_state={seed}
)
model = AClassClassifier(random_state={seed}).fit(X_train, y_train)
print("error", 1 - model.score(X_test, y_test))
print(model.prototypes(3))
"""


def run(
    output: Path,
    seed: int = 0,
    missing: float = 0.3,
    open_browser: bool = False,
    n_jobs: int | None = None,
    quiet: bool = False,
) -> list[Result]:
    """Train, write the page, print the table; return the results, the library's first.

    Parameters
    ----------
    output : Path
        The page to write, in a folder that exists.
    seed : int
        Seed of the missing cells, the split and the models.
    missing : float
        Share of the cells to remove.
    open_browser : bool
        Whether to show the page in a browser at the end.
    n_jobs : int, optional
        Threads of the library's own classifier; the answer does not depend on it.
    quiet : bool
        Whether to print nothing.
    """
    split = load_split(seed, missing)
    own, *peers = compare(split, seed, n_jobs)
    sentences = [*describe(own, peers), describe_prototypes(own.model)]
    page.write_page(output, make_page(split, [own, *peers], sentences, seed, missing))
    if not quiet:
        console = Console(highlight=False)
        console.print(make_table([own, *peers], title_of(missing)))
        console.print("", *sentences, sep="\n")
        console.print(f"\nPictures of the prototypes: {output}", soft_wrap=True, markup=False)
    if open_browser:
        webbrowser.open(output.resolve().as_uri())
    return [own, *peers]


def load_split(seed: int, missing: float) -> Split:
    """Return scikit-learn's digits in black and white, with holes, cut into 70% and 30%."""
    X, y = load_digits(return_X_y=True)
    X = np.where(X > 7, 1.0, 0.0)
    X[np.random.default_rng(seed).random(X.shape) < missing] = np.nan
    return Split(*train_test_split(X, y, test_size=0.3, stratify=y, random_state=seed))


def compare(split: Split, seed: int, n_jobs: int | None = None) -> list[Result]:
    """Train and test all classifiers, the library's first; a terminal shows which is at work."""
    models = {NAME: AClassClassifier(n_jobs=n_jobs, random_state=seed), **make_peers(seed)}
    results = []
    with Console(stderr=True).status("Getting ready") as status:
        # A first call compiles, or loads from disk: that is not training.
        AClassClassifier(n_islands=1, random_state=0).fit(split.X_train, split.y_train)
        for name, model in models.items():
            status.update(f"Training: {name}")
            results.append(measure(name, model, split))
    return results


def describe_prototypes(model: AClassClassifier) -> str:
    """Return a sentence on how many prototypes the classes found."""
    counts = model.n_groups_
    return (
        f"Nobody set the number of prototypes: the classes found {counts.min()} to "
        f"{counts.max()} each, {counts.sum()} in all."
    )


def title_of(missing: float) -> str:
    """Return what the table and the page are about."""
    return (
        f"Digits with {missing:.0%} of the cells missing" if missing else "Digits, no cell missing"
    )


def make_cells(results: Sequence[Result]) -> Iterator[tuple[Result, list[tuple[str, float, bool]]]]:
    """Yield for each result its numbers as text, as a share of the largest, and whether best."""
    columns = {
        "error": [f"{r.error:.1%}" for r in results],
        "log_loss": [f"{r.log_loss:.3f}" for r in results],
        "seconds": [f"{r.seconds:.2f} s" if r.seconds >= 0.01 else "< 0.01 s" for r in results],
    }
    for i, result in enumerate(results):
        cells = []
        for column, texts in columns.items():
            values = [getattr(r, column) for r in results]
            value = values[i]
            cells.append((texts[i], value / max(values), value == min(values)))
        yield result, cells


def make_table(results: Sequence[Result], title: str) -> Table:
    """Return the numbers as a table for the terminal."""
    table = Table(
        title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD,
        caption="* best of its column", caption_justify="left",
    )  # fmt: skip
    table.add_column("classifier", overflow="fold")
    for name in ("error", "log-loss", "training"):
        table.add_column(name, justify="right", overflow="fold")
    for result, cells in make_cells(results):
        texts = (f"[bold green]{text} *[/]" if best else f"{text}  " for text, _, best in cells)
        table.add_row(result.name, *texts, style="bold" if result.name == NAME else "")
    return table


def make_page(
    split: Split, results: Sequence[Result], sentences: Sequence[str], seed: int, missing: float
) -> str:
    """Return the whole page."""
    model = results[0].model
    n_train, n_test = len(split.y_train), len(split.y_test)
    lead = (
        f"{n_train + n_test:,} handwritten digits of {SIDE} by {SIDE} black and white pixels, "
        f"{missing:.0%} of them removed at random. infinimix learned from {n_train:,} of the "
        f"pictures as they are, with missing pixels, and classified the other {n_test}. Four "
        "classifiers of scikit-learn did the same after missing pixels were replaced by the mean "
        "of their column."
        if missing
        else f"{n_train + n_test:,} handwritten digits of {SIDE} by {SIDE} black and white pixels. "
        f"infinimix and four classifiers of scikit-learn learned from {n_train:,} of the pictures "
        f"and classified the other {n_test}."
    )
    return page.build_page(
        f"{title_of(missing)}: infinimix demo",
        [
            page.header("infinimix demo", title_of(missing), lead),
            page.section("Errors and log-loss", show_results(results, sentences)),
            page.section("The prototypes of each class", show_prototypes(model)),
            page.section("Test digits and their predictions", show_examples(model, split, seed)),
            page.section("How this was made", show_making(seed, missing)),
            page.footer(
                f"infinimix {__version__}, scikit-learn {sklearn.__version__}, "
                f"Python {platform.python_version()}."
            ),
        ],
    )


def show_results(results: Sequence[Result], sentences: Sequence[str]) -> Iterator[str]:
    """Yield the table of the page and what it says."""
    yield page.table(
        "Lower is better in every column. Log-loss is minus the log of the probability that the "
        "true class was given, on average: it penalises false confidence.",
        ["classifier", "error", "log-loss", "training"],
        (
            page.row(result.name, (page.cell(*cell) for cell in cells), own=result.name == NAME)
            for result, cells in make_cells(results)
        ),
    )
    yield page.bullets(sentences)


def show_prototypes(model: AClassClassifier) -> Iterator[str]:
    """Yield for each class the pictures of its groups, largest first."""
    yield page.paragraph(
        "A class is a mixture of prototypes, and each prototype gives every pixel a probability of "
        "being on: the more ink, the more probable. The percentage is the share of the class's "
        "training pictures that went to the prototype. Small ones are unusual ways to write a "
        "digit."
    )
    for label, rows in zip(model.classes_, model.class_count_, strict=True):
        table = model.prototypes(label).sort_values("weight", ascending=False)
        note = f"{len(table)} prototypes of {rows} pictures"
        yield page.group(
            str(label), note, [page.row_of_figures(_draw_prototypes(str(label), table))]
        )
    yield page.paragraph(
        "Shown is the most probable grouping that the model holds; its predictions average over "
        "all of them.",
        "note",
    )


def _draw_prototypes(label: str, table: Any) -> Iterator[str]:
    pixels = table.drop(columns=["weight", "rows"]).to_numpy()
    for i, (weight, rows) in enumerate(zip(table["weight"], table["rows"], strict=True)):
        share = page.percent(weight)
        alt = f"Prototype {i + 1} of {len(table)} of the digit {label}, {share} of its pictures"
        picture = draw_grid(pixels[i].reshape(SIDE, SIDE), alt)
        yield page.figure(picture, share, f"{rows} picture{'s' * (rows != 1)}")


def show_examples(model: AClassClassifier, split: Split, seed: int) -> Iterator[str]:
    """Yield test rows with their predictions: some at random, then the worst mistakes."""
    proba = model.predict_proba(split.X_test)
    wrong = np.flatnonzero(model.classes_[proba.argmax(axis=1)] != split.y_test)
    worst = wrong[np.argsort(-proba[wrong].max(axis=1), kind="stable")][:N_EXAMPLES]
    random = np.random.default_rng(seed).choice(len(proba), N_EXAMPLES, replace=False)
    tiles = ((1.0, "on"), (0.0, "off"), (np.nan, "missing"))
    yield page.legend((draw_grid([[value]], name), f"pixel {name}") for value, name in tiles)
    yield page.cards("Taken at random", _draw_cards(model, split, proba, random))
    if len(worst):
        yield page.cards("The mistakes it was surest of", _draw_cards(model, split, proba, worst))


def _draw_cards(
    model: AClassClassifier, split: Split, proba: NDArray[np.float64], which: NDArray[np.intp]
) -> Iterator[str]:
    for i in which:
        true, holes = str(split.y_test[i]), int(np.isnan(split.X_test[i]).sum())
        order = np.argsort(-proba[i])
        labels = [str(model.classes_[c]) for c in order]
        shown = sorted({0, 1, 2, labels.index(true)})[:4]
        chances = page.chances([(labels[k], proba[i, order[k]]) for k in shown], true)
        right = labels[0] == true
        text = true if right else f"{true} taken for {labels[0]}"
        alt = f"A handwritten {true} with {holes} of {SIDE * SIDE} pixels missing"
        yield page.card(draw_grid(split.X_test[i].reshape(SIDE, SIDE), alt), right, text, chances)


def show_making(seed: int, missing: float) -> Iterator[str]:
    """Yield the settings, and code that repeats the run."""
    yield page.paragraph(
        "The digits ship with scikit-learn; a pixel is on if it is greater than 7 of 16. All "
        "classifiers saw the same rows, and have their default settings where nothing else is "
        "said:"
    )
    yield page.bullets(f"{name} {about}" for name, about in ABOUT.items())
    yield page.paragraph(
        "Training is in CPU seconds of this computer, on one thread and without the compilation at "
        "the first start. The same model in Python:"
    )
    yield page.code(CODE.format(seed=seed, missing=missing))
