"""Errors in one line, and faults that keep their traceback."""

import errno
import shlex
import warnings

import pytest
import typer

from infinimix.cli.errors import CommandError, guarded, hint, listed, quoted


def told(error, capsys):
    def command():
        raise error

    with pytest.raises(typer.Exit) as stop:
        guarded("fit", command)()
    assert stop.value.exit_code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("infinimix fit: ")
    return line


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (CommandError("do\nthis"), "do this"),
        (ValueError("column 'a' is odd"), "column 'a' is odd"),
        (OSError(errno.ENOSPC, "No space left on device", "x.imx"), "disk is full"),
        (FileNotFoundError(errno.ENOENT, "No such file", "x.csv"), "no file or folder 'x.csv'"),
        (PermissionError(errno.EACCES, "Permission denied", "x.csv"), "no permission for 'x.csv'"),
        (IsADirectoryError(errno.EISDIR, "Is a directory", "x"), "'x' is a folder"),
        (OSError(errno.EIO, "Input/output error", "x"), "Input/output error (x)"),
        (MemoryError(), "too little memory"),
        (ImportError("Parquet files need PyArrow"), "Parquet files need PyArrow"),
    ],
)
def test_foreseen_errors_are_one_line(error, words, capsys):
    assert words in told(error, capsys)


def test_faults_are_not_hidden(monkeypatch):
    def command():
        raise KeyError("a fault")

    with pytest.raises(KeyError):
        guarded("fit", command)()

    def refused():
        raise ValueError("odd")

    monkeypatch.setenv("INFINIMIX_TRACEBACK", "1")
    with pytest.raises(ValueError, match="odd"):
        guarded("fit", refused)()


def test_warnings_are_one_line(capsys):
    def command():
        warnings.warn("two\nlines", UserWarning, stacklevel=1)

    guarded("fit", command)()
    assert capsys.readouterr().err == "infinimix fit: note: two lines\n"


def test_names_in_messages():
    assert listed("abcd", 2) == "'a', 'b' and 2 more"
    assert hint("Clas", ["class", "size"]) == "did you mean 'class'?"
    assert hint("zzz", ["class", "size"]) == "there are 'class', 'size'."


@pytest.mark.parametrize(
    "name", ["id", "column 1", "it's", 'the "best"', "$HOME", "a,b", "back\\slash"]
)
def test_names_are_quoted_so_that_a_shell_reads_them_back(name):
    assert shlex.split(quoted([name])) == ["--drop", name]


def test_names_with_commas_have_an_option_of_their_own():
    assert quoted(["a b", "c,d", "e"]) == '--drop c,d --drop "a b,e"'
