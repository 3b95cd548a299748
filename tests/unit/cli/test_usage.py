"""Usage errors in one line, and pipes that nobody reads."""

import os
import subprocess
import sys

import pytest

from tests.endtoend.command_files import invoke, refuse


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,b\n1,2\n")
    return path


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("--threshold", "2"), "--threshold must be a number from 0 to 1; see infinimix network"),
        (("--sweeps", "0"), "--sweeps must be a whole number of at least 1"),
        (("--sweeps", "many"), "--sweeps must be a whole number of at least 1"),
        (("--seconds", "0"), "--seconds must be a number of at least 0.1"),
        (("--seed", "-1"), "--seed must be a whole number from 0 to 4294967295"),
        (("--jobs", "x"), "--jobs must be a whole number;"),
        (("--thresold", "1"), "no option '--thresold'; did you mean '--threshold'?"),
        (("--bogus",), "no option '--bogus'; see infinimix network --help."),
        (("--threshold",), "--threshold"),
    ],
)
def test_usage_errors_are_one_line(file, args, words):
    assert words in refuse("network", file, *args)


def test_what_is_missing_is_named(file):
    assert "FILE is missing; see infinimix network --help." in refuse("network")
    assert "--target is missing" in refuse("fit", file, "-o", "m.imx")


def test_words_that_are_no_command():
    done = invoke("bogus")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.splitlines() == ["infinimix: No such command 'bogus'; see infinimix --help."]
    assert "Did you mean 'network'" in invoke("netwrk").stderr


@pytest.mark.skipif(os.name != "posix", reason="pipes are other things there")
@pytest.mark.parametrize("args", [("--version",), ("fit", "--help"), ("reproduce",)])
def test_a_closed_pipe_ends_the_command_quietly(args):
    reader, writer = os.pipe()
    os.close(reader)
    try:
        command = [sys.executable, "-m", "infinimix", *args]
        done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, check=False)
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")
