"""What is loaded when: modules are counted, for seconds differ from machine to machine.

numba, scikit-learn, SciPy, pandas and matplotlib take most of a second each to load. Nothing that
refuses or explains may wait for them, and a fit loads only what it calls.
"""

import gc
import os
import subprocess
import sys
from importlib.metadata import version

import pytest

from infinimix.cli import NAMES
from infinimix.later import uncollected
from tests.endtoend.command_files import insects, write_csv

HEAVY = {"numba", "sklearn", "scipy", "pandas", "narwhals", "matplotlib", "pyarrow", "polars"}


def loaded(code, among):
    """Return which modules a fresh Python has loaded after some lines of code."""
    end = f"\nimport sys\nprint('loaded', *(set({sorted(among)!r}) & sys.modules.keys()))"
    done = subprocess.run(
        [sys.executable, "-c", code + end],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "NO_COLOR": "1"},
    )
    last = done.stdout.splitlines()[-1].split()
    assert last[0] == "loaded"
    return set(last[1:]), done.stderr


REFUSE = """
import sys
import infinimix.cli as c

for args in {commands!r}:
    try: c.app(args=list(args), prog_name="infinimix")
    except SystemExit as end: code = end.code
    else: code = None
    print("loaded", code, *({heavy!r} & sys.modules.keys()))
    print("next", file=sys.stderr, flush=True)
"""


def test_the_package_itself_loads_nothing():
    found, _ = loaded("import infinimix", HEAVY | {"numpy", "typer", "rich"})
    assert found == set()


@pytest.mark.parametrize("room", ["estimators", "streaming", "tables"])
def test_rooms_open_without_what_is_slow(room):
    found, _ = loaded(f"import infinimix.{room}", HEAVY | {"numpy"})
    assert found == set()


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    write_csv(folder / "good.csv", insects())
    write_csv(folder / "one.csv", [(size, colour, "ant") for size, colour, _ in insects()])
    write_csv(folder / "amounts.csv", [(i, "red", i / 7) for i in range(50)])
    (folder / "empty.csv").touch()
    (folder / "header.csv").write_text("size,colour,kind\n")
    (folder / "ragged.csv").write_text("size,colour,kind\n1,red,ant\n2,red\n")
    (folder / "picture.csv").write_bytes(bytes(range(256)) * 20)
    (folder / "bad.jsonl").write_text('{"size": 1}\n[]\n')
    (folder / "cyrillic.csv").write_bytes("size,kind\n1,пчела\n2,муха\n".encode("cp1251"))
    (folder / "open.csv").write_text(
        "size,kind\n" + "".join(f'"{i},234",a\n"9,{i}45",b\n' for i in range(1, 9))
    )
    days = "".join(f"{i}/{i + 1}/2024,{'ab'[i % 2]}\n" for i in range(1, 9))
    (folder / "days.csv").write_text("when,kind\n" + days)
    (folder / "cut.csv.xz").write_bytes(b"no such thing")
    (folder / "bad.xlsx").write_bytes(b"PK no such thing")
    (folder / "old.xls").write_bytes(b"no such thing")
    (folder / "cut.imx").write_bytes(b"PK\x03\x04 not a model")
    return folder


KIND = ("--target", "kind")
REFUSED = [
    ("evaluate", "gone.csv", *KIND),
    ("evaluate", "empty.csv", *KIND),
    ("evaluate", "header.csv", *KIND),
    ("evaluate", "ragged.csv", *KIND),
    ("evaluate", "picture.csv", *KIND),
    ("evaluate", "bad.jsonl", *KIND),
    ("evaluate", "good.csv", "--target", "knid"),
    ("evaluate", "good.csv", *KIND, "--drop", "colur"),
    ("evaluate", "good.csv", *KIND, "--drop", "size,colour"),
    ("evaluate", "good.csv", *KIND, "--model", "forest"),
    ("evaluate", "good.csv", *KIND, "--text", "colour"),
    ("evaluate", "one.csv", *KIND),
    ("evaluate", "amounts.csv", *KIND, "--classes"),
    ("evaluate", "good.csv", *KIND, "--regression"),
    ("evaluate", "good.csv", *KIND, "--bins", "3"),
    ("evaluate", "cyrillic.csv", *KIND),
    ("evaluate", "open.csv", *KIND),
    ("evaluate", "days.csv", *KIND),
    ("evaluate", "good.csv", *KIND, "--encoding", "utf9"),
    ("evaluate", "good.csv", *KIND, "--decimal", ";"),
    ("evaluate", "good.csv", *KIND, "--date-order", "dym"),
    ("evaluate", "good.csv", *KIND, "--keep", "colur"),
    ("cluster", "good.csv", "-o", "out.docx"),
    ("impute", "good.csv", "-o", "out.json"),
    ("impute", "bad.xlsx"),
    ("impute", "old.xls"),
    ("impute", "good.csv", "--sheet", "1"),
    ("stream", "days.csv", *KIND),
    ("stream", "cut.csv.xz", *KIND),
    ("stream", "cyrillic.csv", *KIND),
    ("evaluate", "good.csv", *KIND, "--cost", "fn"),
    ("evaluate", "good.csv", *KIND, "--groups", "nest"),
    ("evaluate", "good.csv", *KIND, "--model", "m2dpm", "--relevance", "learn"),
    ("compare", "ragged.csv", *KIND),
    ("compare", "good.csv", *KIND, "--models", "aclass,forest"),
    ("explain", "cut.imx", "good.csv"),
    ("explain", "cut.imx", "good.csv", "--row", "1000"),
    ("fit", "ragged.csv", *KIND, "-o", "model.imx"),
    ("fit", "good.csv", *KIND, "-o", "m.imx", "-m", "hybrid", "--class-weight", "balanced"),
    ("cluster", "ragged.csv"),
    ("impute", "ragged.csv"),
    ("network", "ragged.csv"),
    ("stream", "header.csv", *KIND),
    ("stream", "good.csv", "--target", "knid"),
    ("predict", "cut.imx", "good.csv"),
    ("predict", "cut.imx", "ragged.csv"),
    ("report", "cut.imx"),
    ("inspect", "cut.imx"),
]


@pytest.fixture(scope="module")
def refusals(files):
    """What one process has loaded and said after each of these commands, one after the other."""
    done = subprocess.run(
        [sys.executable, "-c", REFUSE.format(commands=REFUSED, heavy=HEAVY)],
        capture_output=True,
        text=True,
        check=True,
        cwd=files,
        env={**os.environ, "NO_COLOR": "1"},
    )
    answers = [line.split()[1:] for line in done.stdout.splitlines()]
    said = done.stderr.split("next\n")
    assert len(answers) == len(said) - 1 == len(REFUSED)
    return dict(zip(REFUSED, zip(answers, said, strict=False), strict=True))


@pytest.mark.parametrize("args", REFUSED, ids=" ".join)
def test_what_is_refused_is_refused_before_anything_slow_is_loaded(refusals, args):
    (code, *found), said = refusals[args]
    assert (code, found) == ("2", [])
    (line,) = said.splitlines()
    assert line.startswith(f"infinimix {args[0]}: ")


MAIN = """
import sys
from infinimix.cli import main

sys.argv = ["infinimix", *{args!r}]
try: main()
except SystemExit as end: assert end.code == 2
own = [name for name in sys.modules if name.partition(".")[0] == "infinimix"]
print("own", len(own), *(set({names!r}) & sys.modules.keys()))
"""
MOST_OWN = 45  # modules of infinimix that a refusal may load; 38 to 41 when this was written


@pytest.mark.parametrize("args", [REFUSED[1], REFUSED[6], REFUSED[24], ("stream", *REFUSED[2][1:])])
def test_a_command_that_refuses_loads_no_other_command(files, args):
    names = [f"infinimix.cli.{name.replace('-', '_')}" for name in NAMES]
    done = subprocess.run(
        [sys.executable, "-c", MAIN.format(args=args, names=names)],
        capture_output=True, text=True, check=True, cwd=files, env={**os.environ, "NO_COLOR": "1"},
    )  # fmt: skip
    _, own, *commands = done.stdout.split()
    assert int(own) <= MOST_OWN
    assert commands == [f"infinimix.cli.{args[0]}"]
    assert done.stderr.startswith(f"infinimix {args[0]}: ")


FIT = """
import numpy as np
from infinimix import AClassClassifier
from infinimix.evaluation.intervals import wilson
rng = np.random.default_rng(0)
rows = [{"a": bool(rng.integers(2)), "c": "xyz"[rng.integers(3)], "e": float(rng.normal())}
        for _ in range(40)]
model = AClassClassifier(random_state=0, n_islands=2).fit(rows, rng.integers(2, size=40))
model.predict_proba(rows)
wilson(8, 10)
"""
SPARED = {
    "pandas", "matplotlib", "rich", "typer", "numpy.f2py", "numpy.testing", "scipy.stats",
    "scipy.special", "scipy.optimize", "sklearn.model_selection", "sklearn.metrics",
    "sklearn.pipeline", "sklearn.linear_model", "scipy.linalg", "scipy.sparse.linalg", "joblib",
    "narwhals", "asyncio", "multiprocessing", "sklearn.utils.parallel",
}  # fmt: skip
if tuple(map(int, version("scikit-learn").split(".")[:2])) < (1, 8):  # which loads these itself
    SPARED -= {"scipy.special", "scipy.optimize", "scipy.linalg", "scipy.sparse.linalg"}
COMPILER = {"numba.np.linalg", "numba.np.arraymath"}


@pytest.fixture(scope="module")
def warm_fit():
    """What a fit has loaded and said whose kernels are all on disk."""
    found, said = loaded(FIT, SPARED | COMPILER)
    if found & COMPILER or said:  # something was not on disk yet
        found, said = loaded(FIT, SPARED | COMPILER)
    return found, said


def test_a_fit_loads_only_what_it_calls(warm_fit):
    found, _ = warm_fit
    assert not found & SPARED


def test_machine_code_from_disk_needs_no_compiler(warm_fit):
    found, said = warm_fit
    assert (found & COMPILER, said) == (set(), "")


def test_the_door_to_scikit_learn_leaves_nothing_behind():
    code = (
        "import infinimix.scikit, sys\n"
        "before = {'pandas', 'scipy.stats'} & sys.modules.keys()\n"
        "import pandas, scipy.special, scipy.stats\n"
        "assert not before, before\n"
        "import numpy as np\n"
        "modules = pandas, scipy.stats, scipy.special, np.testing, np.f2py\n"
        "assert all(type(m).__name__ == 'module' for m in modules)\n"
        "np.testing.assert_allclose(scipy.special.expit(0.0), 0.5)\n"
        "from sklearn.impute import SimpleImputer  # whose mode is that of scipy.stats\n"
        "frame = pandas.DataFrame({'a': [1.0, 2.0, 2.0, None]})\n"
        "full = SimpleImputer(strategy='most_frequent').fit_transform(frame)\n"
        "assert full[:, 0].tolist() == [1, 2, 2, 2]\n"
        "import sklearn.linear_model, sklearn.model_selection\n"
        "from sklearn.linear_model import Ridge  # solved by the `cg` of scipy.sparse.linalg\n"
        "ridge = Ridge(solver='sparse_cg').fit(np.eye(4), [0.0, 1.0, 0.0, 1.0])\n"
        "np.testing.assert_allclose(ridge.coef_, [-0.25, 0.25, -0.25, 0.25])\n"
        "from sklearn.ensemble import RandomForestClassifier  # by sklearn.utils.parallel, joblib\n"
        "RandomForestClassifier(4, n_jobs=2).fit(frame.fillna(0.0), [0, 1, 0, 1])\n"
        "import scipy.linalg, sklearn.utils.extmath\n"
        "assert sklearn.utils.extmath.linalg.norm([3.0, 4.0]) == scipy.linalg.norm([3.0, 4.0])\n"
        "assert callable(scipy.sparse.linalg.spsolve) and callable(sklearn.utils.parallel.delayed)"
    )
    loaded(code, set())


def test_a_promise_is_kept_by_whoever_uses_it():
    code = (
        "import sys\n"
        "from infinimix.scikit import Promise, promised\n"
        "with promised({'wave': (), 'no_such_library': (), 'sys': ()}):\n"
        "    import wave\n"
        "    assert type(wave) is Promise and 'no_such_library' not in sys.modules\n"
        "    assert type(sys) is not Promise\n"
        "assert 'wave' not in sys.modules\n"
        "opened = wave.open\n"
        "assert sys.modules['wave'].open is opened\n"
        "with promised({'colorsys': ()}):\n"
        "    from colorsys import rgb_to_hsv\n"
        "    assert sys.modules['colorsys'].rgb_to_hsv is rgb_to_hsv\n"
        "assert 'colorsys' in sys.modules\n"
        "with promised({'timeit': ('timeit',)}):\n"
        "    from timeit import timeit\n"
        "assert 'timeit' not in sys.modules\n"
        "assert timeit('1', number=1) >= 0.0 and 'timeit' in sys.modules\n"
        "import json\n"
        "with promised({'json.tool': ()}):\n"
        "    import json.tool\n"
        "assert 'json.tool' not in sys.modules\n"
        "assert json.tool.main.__module__ == 'json.tool' and 'json.tool' in sys.modules"
    )
    loaded(code, set())


def test_the_garbage_collector_is_left_as_it_was():
    assert gc.isenabled()
    with uncollected(), uncollected():
        assert not gc.isenabled()
    assert gc.isenabled()
    with pytest.raises(ImportError), uncollected():
        raise ImportError
    assert gc.isenabled()
    gc.disable()
    try:
        with uncollected():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
