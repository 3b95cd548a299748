"""Draws the pictures of the documentation again: `python docs/images/draw.py`.

Names of pictures after that draw these alone: `python docs/images/draw.py report demo`. Screenshots
of pages need Chromium; without it they are left as they are. The table of the README is that of the
demo: copy it when the picture changes.
"""

import shutil
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from PIL import Image
from sklearn.datasets import load_iris

from infinimix import AClassClassifier, BlockmodelBayesNet, CRPMixture
from infinimix.networks import sample_network
from infinimix.reports import write_report
from infinimix.reports.demo import run as write_demo

HERE = Path(__file__).parent
COLOURS = ["#1f5fa8", "#c8553d", "#3f8f5f", "#8a5ea8", "#b8892b", "#4aa3a3", "#7a7a7a", "#c07aa0"]


def draw_growth() -> None:
    """Groups that CRPMixture finds as rows come."""
    rng = np.random.default_rng(4)
    centres = np.array([[0, 0], [5, 1], [2, 5], [7, 6], [-3, 6]])
    z = rng.choice(5, 400, p=[0.4, 0.25, 0.2, 0.1, 0.05])
    X = centres[z] + rng.normal(scale=0.8, size=(400, 2))
    figure = Figure(figsize=(9, 3), layout="constrained")
    for axes, n in zip(figure.subplots(1, 3, sharex=True, sharey=True), (15, 60, 400), strict=True):
        model = CRPMixture(random_state=0).fit(X[:n])
        colours = [COLOURS[k % len(COLOURS)] for k in model.labels_]
        axes.scatter(X[:n, 0], X[:n, 1], c=colours, s=14)
        axes.set_title(f"{n} rows: {model.n_groups_} groups", fontsize=10)
        axes.set(xticks=[], yticks=[])
    save(figure, "growth.png")


def draw_missing_cell() -> None:
    """What a missing cell may be, given nothing and given another cell."""
    rng = np.random.default_rng(0)
    heavy = rng.random(400) < 0.4
    coat = np.where(rng.random(400) < 0.9, np.where(heavy, "long", "short"), "curly")
    weight = np.where(heavy, rng.normal(40, 4, 400), rng.normal(12, 3, 400))
    model = CRPMixture(random_state=0).fit(pd.DataFrame({"weight": weight, "coat": coat}))
    figure = Figure(figsize=(9, 2.6), layout="constrained")
    given = ({}, {"coat": "short"}, {"coat": "curly"})
    titles = ("nothing is known", "the coat is short", "the coat is curly")
    panels = figure.subplots(1, 3, sharex=True)
    for axes, cells, title, colour in zip(panels, given, titles, COLOURS, strict=False):
        drawn = model.sample(4000, given=cells)["weight"]
        axes.hist(drawn, bins=np.linspace(0, 60, 50), density=True, color=colour)
        axes.set_title(f"weight if {title}", fontsize=10)
        axes.set(yticks=[])
    save(figure, "missing-cell.png")


def save(figure: Figure, name: str) -> None:
    """Write a picture with few colours, so that it stays small."""
    figure.savefig(HERE / name, dpi=110, facecolor="white")
    shrink(HERE / name)


def shrink(path: Path) -> None:
    Image.open(path).convert("RGB").quantize(64).save(path, optimize=True)


def draw_report() -> None:
    """The top of the report of a classifier."""
    with tempfile.TemporaryDirectory() as folder:
        flowers, y = load_iris(return_X_y=True, as_frame=True)
        flowers.columns = ["sepal_length", "sepal_width", "petal_length", "petal_width"]
        flowers = flowers.mask(np.random.default_rng(0).random(flowers.shape) < 0.15)
        species = np.array(["setosa", "versicolor", "virginica"])[y]
        model = AClassClassifier(random_state=0).fit(flowers, species)
        write_report(model, Path(folder, "report.html"), rows=flowers, target=species)
        shoot(Path(folder, "report.html"), (1100, 1400))


def draw_network() -> None:
    """The top of the report of a network."""
    with tempfile.TemporaryDirectory() as folder:
        names = ["diet", "smoking", "stress", "exercise", "pressure", "cholesterol", "weight"]
        names += ["sleep", "glucose", "heart", "stroke", "diabetes"]
        rows = sample_network((4, 5, 3), random_state=2).sample(70, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            network = BlockmodelBayesNet(n_iter=400, n_chains=2, random_state=0)
            network.fit(pd.DataFrame(np.asarray(rows), columns=names))
        write_report(network, Path(folder, "network.html"))
        shoot(Path(folder, "network.html"), (1100, 1120))


def draw_demo() -> None:
    """The top of the page of the demo."""
    with tempfile.TemporaryDirectory() as folder:
        write_demo(Path(folder, "demo.html"))
        shoot(Path(folder, "demo.html"), (1000, 1632))


def shoot(page: Path, size: tuple[int, int]) -> None:
    """Write what Chromium shows of a page, if there is Chromium."""
    chromium = shutil.which("chromium")
    if not chromium:
        return
    target = HERE / page.with_suffix(".png").name
    flags = "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking"
    shown = [f"--window-size={size[0]},{size[1]}", "--hide-scrollbars", f"--screenshot={target}"]
    command = [chromium, *flags.split(), f"--user-data-dir={page.parent / 'profile'}", *shown]
    subprocess.run([*command, page.as_uri()], check=True, capture_output=True)
    shrink(target)


if __name__ == "__main__":
    drawers = {
        "growth": draw_growth,
        "missing-cell": draw_missing_cell,
        "report": draw_report,
        "network": draw_network,
        "demo": draw_demo,
    }
    for name in sys.argv[1:] or drawers:
        drawers[name]()
