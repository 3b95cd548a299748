"""What a type checker says of scripts of users: right ones pass, wrong ones fail where they are so.

mypy reads the package as it reads an installed one: what it thinks of the inside is not shown.
One run reads all scripts, as most of its time goes into NumPy and infinimix. Of other libraries it
reads stubs alone: the sources of what their sources import would take as long again.
"""

import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import infinimix
from infinimix import networks, streaming

pytest.importorskip("mypy", reason="mypy is not installed")

SOUND = """
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from infinimix import AClassClassifier, BlockmodelBayesNet, CRPMixture, CRPRegressor, load, save
from infinimix import CRPImputer, DPMeans, OnlineCRPClassifier, Text
from infinimix.networks import BayesNet, read_network
from infinimix.streaming import DurableLearner, RiverClassifier, prequential, read_stream

Array = NDArray[Any]  # below NumPy 2.3, strict checkers want the type of the cells
rows, labels = [[0.1, 1.0], [5.0, 0.0]], ["ant", "bee"]
model: AClassClassifier = AClassClassifier(n_particles=4, random_state=0).fit(rows, labels)
proba: Array = model.predict_proba(rows)
answer: Array = model.predict(rows)
one: dict[str, float] = model.predict_proba_one({"x0": 1.0})
save(model, "model.imx")
again: AClassClassifier = load("model.imx", AClassClassifier)
other = load("model.imx")
if isinstance(other, CRPMixture):
    density: Array = other.score_samples(rows)
mixture = CRPMixture(columns={"size": "count"}, alpha=1.0, random_state=np.random.default_rng(0))
drawn = mixture.fit(rows).sample(3, random_state=1)
groups = mixture.prototypes()
mean: Array = CRPRegressor().fit(rows, [1.0, 2.0]).predict(rows)
both: tuple[Array, Array] = CRPRegressor().fit(rows, [1.0, 2.0]).predict(rows, True)
text = OnlineCRPClassifier(Text(), open_world=True).partial_fit(["a goal"], ["sport"])
network = BlockmodelBayesNet(n_iter=100, beta="learn").fit(rows)
answers: Mapping[str, float] = network.query("x0", {"x1": 1.0})
truth: BayesNet = read_network("alarm.bif")
settings: dict[str, object] = model.set_params(alpha=1.0).get_params()
accuracy: float = model.set_fit_request(sample_weight=True).score(rows, labels)
found: Array = mixture.fit_predict(rows)
filled = CRPImputer().set_output(transform="pandas").fit_transform(rows)
names: Array = CRPImputer().fit(rows).get_feature_names_out()
means: Array = DPMeans().fit(rows).cluster_means_
river: RiverClassifier = RiverClassifier(AClassClassifier()).clone()
river.learn_one({"size": 3.0}, "ant")
regressions: tuple[Array, ...] = network.gaussian_network().coefficients
"""

WRONG = """
from infinimix import AClassClassifier, CRPMixture, OnlineCRPClassifier, load, save
from infinimix import AClasClassifier  # wrong
from infinimix.streaming import DurableLerner  # wrong
from infinimix.networks import BlockmodelBayesNet

AClassClassifier(n_particle=4)  # wrong
AClassClassifier(n_particles="many")  # wrong
AClassClassifier(random_state="0")  # wrong
CRPMixture(columns=3)  # wrong
OnlineCRPClassifier(half_life="long")  # wrong
BlockmodelBayesNet().query(target=3)  # wrong
BlockmodelBayesNet().fit_for([[0.0]], second=3)  # wrong
load("a.imx", "CRPMixture")  # wrong
save("a.imx", CRPMixture())  # wrong
total: int = CRPMixture().score([[0.0]])  # wrong
CRPMixture().sample(n_sample=3)  # wrong
CRPMixture().sample(n_samples=3)
AClassClassifier().fit([[0.0]], ["a"]).predict_probas([[0.0]])  # wrong
AClassClassifier().set_parameters(alpha=1.0)  # wrong
CRPMixture().fit([[0.0]]).n_group_  # wrong
BlockmodelBayesNet().fit([[0.0]]).edge_marginal_  # wrong
BlockmodelBayesNet().fit([[0.0]], sample_weight=[1.0])  # wrong
"""

PUBLIC = {
    "infinimix": infinimix.__all__,
    "infinimix.networks": networks.__all__,
    "infinimix.streaming": streaming.__all__,
}


def misspelt():
    """Return a script that asks every public class for a method that it has not."""
    lines = []
    for module, names in PUBLIC.items():
        lines.append(f"import {module}")
        for name in names:
            if isinstance(getattr(import_module(module), name), type):
                lines.append(f"{module}.{name}.fitt  # wrong")
    return "\n".join(lines)


SCRIPTS = {"sound": SOUND, "wrong": WRONG, "misspelt": misspelt()}


@pytest.fixture(scope="module")
def said(tmp_path_factory, pytestconfig):
    """Return what mypy says of each script, by name and line.

    What it knows of files that have not changed is kept where pytest keeps such things.
    """
    folder = tmp_path_factory.mktemp("scripts")
    for name, text in SCRIPTS.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    (folder / "mypy.ini").write_text(
        "[mypy]\nstrict = True\nfollow_imports = skip\nignore_missing_imports = True\n"
        "[mypy-numpy.*]\nfollow_imports = normal\n"
        "[mypy-infinimix.*]\nfollow_imports = normal\nignore_errors = True\n",
        encoding="utf-8",
    )
    source = str(Path(infinimix.__file__).parents[1])
    kept, known = getattr(pytestconfig, "cache", None), os.devnull
    if kept is not None:  # one for each process, which do not wait for each other
        known = str(kept.mkdir(f"mypy-{os.environ.get('PYTEST_XDIST_WORKER', 'alone')}"))
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file=mypy.ini", "--cache-dir", known]
        + [f"{name}.py" for name in SCRIPTS],
        cwd=folder, env={**os.environ, "MYPYPATH": source}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode in (0, 1), done.stdout + done.stderr
    found: dict[str, dict[int, str]] = {f"{name}.py": {} for name in SCRIPTS}
    for line in done.stdout.splitlines():
        if match := re.match(r"(\w+\.py):(\d+): (error: .*)", line):
            found[match[1]].setdefault(int(match[2]), match[3])
    return found


def test_a_right_script_passes(said):
    assert said["sound.py"] == {}


@pytest.mark.parametrize("name", ["wrong", "misspelt"])
def test_a_wrong_script_fails_where_it_is_wrong(said, name):
    lines = enumerate(SCRIPTS[name].splitlines(), 1)
    marked = {n for n, line in lines if line.endswith("# wrong")}
    assert len(marked) > 10
    assert set(said[f"{name}.py"]) == marked, said[f"{name}.py"]
