"""Errors read as help: one line, what to do, exit code 2, and nothing half-written."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

import infinimix
from infinimix import artifacts
from tests.endtoend.command_files import insects, refuse, run, write_csv

KIND = ("--target", "kind")
FAST = ("--effort", "fast")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("errors")
    write_csv(folder / "train.csv", insects())
    run("fit", folder / "train.csv", *KIND, *FAST, "-o", folder / "model.imx")
    return folder


@pytest.fixture
def here(folder, tmp_path, monkeypatch):
    """An empty folder to write to."""
    monkeypatch.chdir(tmp_path)
    return folder


def nothing_written():
    return list(Path().iterdir()) == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("insect.csv", *KIND), "there is no file"),
        (("train.csv", "--target", "knid"), "no column 'knid', which --target names; did you mean"),
        (("train.csv", *KIND, "--drop", "colur"), "did you mean 'colour'?"),
        (("train.csv", *KIND, "--real", "colour"), "'colour'"),
        (("train.csv", *KIND, "--model", "forest"), "choose one of aclass"),
        (("train.csv", *KIND, "--effort", "huge"), "'huge' is none of fast"),
        (("train.csv", *KIND, "--format", "xls"), "one of csv, tsv, jsonl, parquet"),
        (("train.csv", *KIND, "--text", "colour"), "add --model online-crp"),
        (("train.csv", *KIND, "--drop", "size,colour"), "no column to learn from"),
        (("train.csv", *KIND, "--columns", "no.toml"), "no file or folder 'no.toml'"),
        (("train.csv", *KIND, "--delimiter", ";;"), "one character"),
    ],
)
def test_fit_refuses(here, change, words):
    assert words in refuse("fit", here / change[0], *change[1:], "-o", "model.imx")
    assert nothing_written()


def test_a_target_with_one_class(here, tmp_path):
    rows = [(size, colour, "ant") for size, colour, _ in insects()]
    write_csv(tmp_path / "one.csv", rows)
    line = refuse("fit", "one.csv", *KIND, "-o", "model.imx")
    assert "one class only, 'ant'" in line
    line = refuse("evaluate", "one.csv", *KIND)
    assert "Is it the right --target?" in line
    assert [p.name for p in tmp_path.iterdir()] == ["one.csv"]


def test_a_target_without_labels(here, tmp_path):
    write_csv(tmp_path / "none.csv", [(size, colour, None) for size, colour, _ in insects()])
    assert "has no labels at all" in refuse("fit", "none.csv", *KIND, "-o", "model.imx")


def test_unknown_and_absent_columns_at_prediction(here, tmp_path):
    model = here / "model.imx"
    write_csv(tmp_path / "more.csv", [(1.0, "red", 3)], ("size", "colour", "legs"))
    assert "'legs'; leave them out with --drop legs" in refuse("predict", model, "more.csv")
    run("predict", model, "more.csv", "--drop", "legs")
    write_csv(tmp_path / "less.csv", [(1.0,)], ("Size",))
    line = refuse("predict", model, "less.csv", "-o", "out.csv")
    assert "lacks 'size', 'colour'" in line
    assert "did you mean 'Size'?" in line
    write_csv(tmp_path / "odd.csv", [("big", "red")], ("size", "colour"))
    assert "line 2: column 'size' holds numbers, but here 'big'" in refuse(
        "predict", model, "odd.csv"
    )
    assert not (tmp_path / "out.csv").exists()


def test_batch_where_the_model_has_none(here, tmp_path):
    model = tmp_path / "m.imx"
    run("fit", here / "train.csv", *KIND, "-m", "m2dpm", "-o", model)
    line = refuse("predict", model, here / "train.csv", "--batch")
    assert "--batch: MaxMarginDPMeans classifies rows one by one only" in line


@pytest.mark.parametrize("command", [("predict", "train.csv"), ("inspect",), ("report",)])
def test_models_that_cannot_be_read(here, tmp_path, command):
    if command == ("report",):
        pytest.importorskip("infinimix.reports.model_page")
    name, *more = command
    more = [here / one for one in more]
    data = (here / "model.imx").read_bytes()
    Path("cut.imx").write_bytes(data[: len(data) // 2])
    Path("text.imx").write_text("size,colour\n")
    half = len(data) // 2
    Path("bits.imx").write_bytes(data[:half] + bytes([data[half] ^ 255]) + data[half + 1 :])
    assert "there is no model 'gone.imx'" in refuse(name, "gone.imx", *more)
    for file in ("cut.imx", "text.imx", "bits.imx"):
        line = refuse(name, file, *more)
        assert file in line or "damaged" in line


def test_a_model_of_a_newer_version(here, tmp_path, monkeypatch):
    kind, tree, _ = artifacts.read(here / "model.imx")
    artifacts.write("tree.imx", kind, {**tree, "version": 99}, library_version="9.0")
    assert "newer infinimix; upgrade" in refuse("inspect", "tree.imx")
    with monkeypatch.context() as later:
        later.setattr("infinimix.artifacts.formats.FORMAT_VERSION", 99)
        artifacts.write("format.imx", kind, tree, library_version="9.0")
    line = refuse("predict", "format.imx", here / "train.csv")
    assert "written by infinimix 9.0" in line
    assert "upgrade infinimix" in line
    artifacts.write("kind.imx", "LaterClassifier", tree, library_version="9.0")
    assert "does not know" in refuse("inspect", "kind.imx")


COMMANDS_THAT_WRITE = [
    ("fit", "train.csv", *KIND, *FAST, "--json", "-o", "out"),
    ("cluster", "train.csv", *FAST, "-o", "out"),
    ("cluster", "train.csv", *FAST, "--save", "out", "-o", "-"),
    ("impute", "train.csv", *FAST, "-o", "out"),
    ("network", "train.csv", "--sweeps", "20", "--chains", "1", "-o", "out"),
    ("network", "train.csv", "--sweeps", "20", "--chains", "1", "--bif", "out"),
    ("network", "train.csv", "--sweeps", "20", "--chains", "1", "--edges", "out"),
    ("stream", "train.csv", *KIND, "-o", "out"),
    ("stream", "train.csv", *KIND, "--curve", "out"),
]


@pytest.mark.parametrize(
    "args", COMMANDS_THAT_WRITE, ids=lambda args: " ".join(args[:1] + args[-2:])
)
def test_a_full_disk(here, monkeypatch, args):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    Path("out").write_text("what was there before")
    monkeypatch.setattr("infinimix.artifacts.files.os.fsync", full)
    name, file, *more = args
    assert "the disk is full" in refuse(name, here / file, *more)
    assert [p.name for p in Path().iterdir()] == ["out"]
    assert Path("out").read_text() == "what was there before"


@pytest.mark.parametrize(
    "args", COMMANDS_THAT_WRITE, ids=lambda args: " ".join(args[:1] + args[-2:])
)
@pytest.mark.parametrize("place", ["no/folder/out", "."])
def test_a_place_that_cannot_be_is_told_before_the_work(here, args, place):
    name, file, *more = args
    more[more.index("out")] = place
    line = refuse(name, here / file, *more)
    assert "folder" in line
    assert nothing_written()


@pytest.mark.parametrize("command", ["cluster", "impute", "network", "evaluate", "stream"])
def test_no_such_file(here, command):
    more = KIND if command in ("evaluate", "stream") else ()
    assert "there is no file" in refuse(command, here / "trian.csv", *more)


def test_what_others_refuse(here, tmp_path):
    train = here / "train.csv"
    assert "add --output FILE" in refuse("impute", train, "--json")
    assert "at most" in refuse("evaluate", train, *KIND, "--folds", "50")
    assert "'kind'" in refuse("stream", train, "-t", "knid")
    for model in ("m2dpm", "finite-mixture"):
        assert "row by row" in refuse("stream", train, *KIND, "--model", model)
    Path("file").touch()
    assert "name a folder" in refuse("stream", train, *KIND, "--folder", "file")
    run("stream", train, *KIND, "--folder", "state", "--seed", "1")
    assert "random_state=1" in refuse("stream", train, *KIND, "--folder", "state", "--seed", "2")
    (tmp_path / "bad.csv").write_text(train.read_text() + "1.0\n")
    assert "line 62: it has 1 cells" in refuse("stream", "bad.csv", *KIND)


def shell(*args, **more):
    return subprocess.run(
        [sys.executable, "-m", "infinimix", *map(str, args)],
        stderr=subprocess.PIPE,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "NO_COLOR": "1"},
        **more,
    )


def test_a_shell_sees_code_2_and_one_line(here):
    done = shell("fit", "no.csv", *KIND, "-o", "model.imx", stdout=subprocess.PIPE)
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert nothing_written()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_standard_output(here):
    with open("/dev/full", "w") as full:
        done = shell("predict", here / "model.imx", here / "train.csv", stdout=full)
    assert done.returncode == 2
    (line,) = (text for text in done.stderr.splitlines() if "compiling" not in text)
    assert "the disk is full" in line


def test_help_imports_nothing_heavy():
    code = (
        "import sys, infinimix.cli as c\n"
        "for name in ['', *c.COMMANDS]:\n"
        "    try: c.app(args=[name, '--help'] if name else ['--help'], prog_name='infinimix')\n"
        "    except SystemExit: pass\n"
        "print(sorted({'numba', 'sklearn', 'scipy', 'numpy', 'pandas'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_all_foreseen_models_are_known_to_the_command():
    from infinimix.cli.learning import MODELS, available

    assert {MODELS[name] for name in available()} <= set(infinimix.__all__)
    assert "aclass" in available()
