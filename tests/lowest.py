"""Install the lowest versions that `pyproject.toml` allows into a new environment, and use them.

`make lowest PYTHON=python3.10` runs it: a bound that is too low fails here, not at a user's. With
`newest` as the third argument, the newest versions are installed instead: whether a Python works.
Extras are checked too where the index has a wheel for this Python; they may need more of others.
"""

import re
import subprocess
import sys
from pathlib import Path

try:
    import tomllib
except ImportError:  # Python 3.10
    tomllib = None

ROOT = Path(__file__).resolve().parents[1]
EXTRAS = ("river", "networks", "arviz", "files")
CHECK = """
import importlib, sys
import pandas as pd
import infinimix
for name in infinimix.__all__:
    getattr(infinimix, name)
X = pd.DataFrame({"size": [3.1, None, 8.2, 7.9] * 5, "colour": ["red", "red", "blue", None] * 5,
                  "day": pd.date_range("2024-01-01", periods=20)})
y = ["ant", "ant", "bee", "bee"] * 5
model = infinimix.AClassClassifier(effort="fast", random_state=0).fit(X, y)
assert model.predict(X).shape == (20,)
assert infinimix.CRPImputer(effort="fast", random_state=0).fit(X).transform(X)["size"].notna().all()
if "river" in sys.argv:
    from infinimix.streaming import RiverClassifier
    stream = RiverClassifier(infinimix.OnlineCRPClassifier("auto", random_state=0))
    for k in range(6):
        stream.learn_one({"a": float(k % 2)}, k % 2)
    assert stream.predict_one({"a": 1.0}) == 1
if "arviz" in sys.argv:
    mixture = infinimix.CRPMixture(n_islands=2, n_particles=8, sweeps=16, random_state=0)
    assert mixture.fit(X[["size"]]).to_arviz().posterior["n_groups"].shape == (2, 8)
import numba, numpy, scipy, sklearn, narwhals
print("works with Python", sys.version.split()[0], "numpy", numpy.__version__, "scipy",
      scipy.__version__, "scikit-learn", sklearn.__version__, "numba", numba.__version__,
      "pandas", pd.__version__, "narwhals", narwhals.__version__, *sys.argv[1:])
"""


def lower_bounds(requirements):
    """Return `name==bound` of requirements `name>=bound`, their markers kept.

    >>> lower_bounds(["numpy>=2.0", "tomli>=2.0; python_version < '3.11'", "infinimix[river]"])
    ['numpy==2.0', "tomli==2.0; python_version < '3.11'"]
    """
    found = [re.match(r"([\w.-]+)>=([\w.]+)[^;]*(;.*)?$", r) for r in requirements]
    return [f"{m[1]}=={m[2]}{m[3] or ''}" for m in found if m]


def read_requirements(extra=None):
    """Return the requirements of the package, or of an extra, from `pyproject.toml`."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    if tomllib is None:
        import tomli

        project = tomli.loads(text)["project"]
    else:
        project = tomllib.loads(text)["project"]
    return project["dependencies"] if extra is None else project["optional-dependencies"][extra]


def main(python, folder, newest=False):
    """Make the environment in a folder, and run the check there."""
    folder = Path(folder).absolute()  # the check runs inside it
    subprocess.run([python, "-m", "venv", str(folder)], check=True)
    inside = str(folder / "bin" / "python")
    wanted = lower_bounds(read_requirements()) if not newest else []
    install = [inside, "-m", "pip", "install", "-q", "--only-binary", ":all:"]
    subprocess.run([*install, "hatchling"], check=True)
    subprocess.run([*install[:5], "--no-build-isolation", str(ROOT), *wanted], check=True)
    there = []
    for extra in EXTRAS:
        bounds = read_requirements(extra) if newest else lower_bounds(read_requirements(extra))
        if subprocess.run([*install, *bounds]).returncode == 0:
            there.append(extra)
    subprocess.run([inside, "-c", CHECK, *there], check=True, cwd=folder)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], newest="newest" in sys.argv[3:])
