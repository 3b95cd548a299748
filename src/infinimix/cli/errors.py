"""Errors that read as help: one line on standard error, exit code 2, no traceback.

Commands raise `CommandError`; what the library and the system refuse is worded here. Anything else
is a fault of infinimix and keeps its traceback. `INFINIMIX_TRACEBACK=1` shows all of them.
"""

from __future__ import annotations

import difflib
import errno
import os
import re
import shlex
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, NoReturn

import typer
from typer.core import TyperGroup

from infinimix.cli.out import forget_notes, warn

FULL = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC))
OPTIONS = {  # by what the warnings of the library recommend
    "Lower unlabelled_share of this AClassClassifier": "Lower --unlabelled-share",
    "Lower unlabelled_weight of this FiniteMixtureClassifier": "Lower --set unlabelled_weight=1",
    "set bdeu=True": "add --bdeu",
    "Raise s (the weight of the divergence) or lam, or lower c,": (
        "Raise s (the weight of the divergence) or lam, or lower c, with --set s=2 and the like,"
    ),
}
REFUSED = (errno.EACCES, errno.EPERM, errno.EROFS)
UsageError: Any = typer.BadParameter.__mro__[1]  # of click, or of the copy of it that typer has
CLOSED = 141  # what a shell reports of a program that SIGPIPE ended


class CommandError(Exception):
    """Something the user can put right; the message says how."""


def guarded(name: str, command: Callable[..., None]) -> Callable[..., None]:
    """Return the command, made to tell its errors and warnings in one line each."""

    @wraps(command)
    def run(*args: Any, **options: Any) -> None:
        with _telling(name):
            command(*args, **options)

    return run


@contextmanager
def _telling(name: str) -> Iterator[None]:
    forget_notes()
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, category, *_: _show_warning(name, message, category)
        try:
            yield
        except (CommandError, ValueError, TypeError, ImportError, OSError, MemoryError) as error:
            if os.environ.get("INFINIMIX_TRACEBACK") or isinstance(error, BrokenPipeError):
                raise
            refuse(name, _word(error))


def refuse(name: str, reason: str) -> NoReturn:
    """Say in one line why the command stops, and stop."""
    typer.echo(f"infinimix {name}: {one_line(reason)}", err=True)
    raise typer.Exit(2)


def _show_warning(name: str, message: Any, category: type) -> None:
    if issubclass(category, UserWarning):
        warn(name, _in_options(one_line(str(message))))


def _in_options(text: str) -> str:
    """Return what the library says of parameters, said of options of the command."""
    for parameter, option in OPTIONS.items():
        text = text.replace(parameter, option)
    return text


def _word(error: BaseException) -> str:
    if isinstance(error, OSError):
        return _word_system_error(error)
    if isinstance(error, MemoryError):
        return "the computer has too little memory for this; take fewer rows or columns."
    return str(error) or type(error).__name__


def _word_system_error(error: OSError) -> str:
    about = f" ({error.filename})" if error.filename else ""
    if error.errno in FULL:
        why = error.strerror or "no space left"
        return (
            f"the disk is full ({why}){about}; free some space or write elsewhere. Nothing changed."
        )
    if error.errno == errno.ENOENT:
        return f"there is no file or folder {str(error.filename)!r}; check the name."
    if error.errno == errno.EISDIR:
        return f"{str(error.filename)!r} is a folder; name a file."
    if error.errno in REFUSED:
        return f"no permission for {str(error.filename)!r}; choose another place or change it."
    return f"{error.strerror or error}{about}"


class OneLineGroup(TyperGroup):
    """Commands whose usage errors are one line, and which stop quietly at a closed pipe.

    Typer frames usage errors in boxes of several lines, in words of its parsers.
    """

    def make_context(self, info_name: Any, args: Any, parent: Any = None, **extra: Any) -> Any:
        """Read what stands before the command."""
        with _telling_usage():
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: Any) -> Any:
        """Read what stands after the command, and run it."""
        with _telling_usage(ctx):
            done = super().invoke(ctx)
            if sys.stdout is not None:
                sys.stdout.flush()  # or Python finds the pipe closed after all is done
            return done


@contextmanager
def _telling_usage(group: Any = None) -> Iterator[None]:
    try:
        yield
    except BrokenPipeError as error:
        _stop_quietly(error)
    except SystemExit as error:  # Rich makes this of a closed pipe
        if not isinstance(error.__context__, BrokenPipeError):
            raise
        _stop_quietly(error)
    except UsageError as error:
        if type(error).__name__ == "NoArgsIsHelpError":  # the help is its message
            raise
        name = _name(error.ctx, group)
        from infinimix.cli.usage import word_usage

        typer.echo(f"{name}: {one_line(word_usage(error, name))}", err=True)
        raise typer.Exit(2) from error


def _stop_quietly(error: BaseException) -> NoReturn:
    from infinimix.cli.places import forget_output  # which needs this file

    for stream in (sys.stdout, sys.stderr):
        forget_output(stream)
    raise typer.Exit(CLOSED) from error


def _name(ctx: Any, group: Any) -> str:
    """Return the command that an error is about; the parser of options does not say it."""
    command = ctx.info_name if ctx is not None and ctx.parent is not None else None
    if ctx is None and group is not None:
        command = group.invoked_subcommand
    return "infinimix" if command is None else f"infinimix {command}"


def one_line(text: str) -> str:
    """Return the text without its line breaks."""
    return " ".join(text.split())


def listed(names: Iterable[Any], most: int = 8) -> str:
    """Return names for a message, the first of many."""
    names = [str(name) for name in names]
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(map(repr, names[:most])) + more


def quoted(names: Iterable[Any], option: str = "--drop") -> str:
    """Return an option with names of columns, to be pasted into a shell.

    >>> quoted(["column 1", "id"])
    '--drop "column 1,id"'
    >>> quoted(["size, cm", "id"])
    '--drop "size, cm" --drop id'
    """
    texts = [str(name) for name in names]
    plain = [text for text in texts if "," not in text and text == text.strip()]
    parts = [text for text in texts if text not in plain]
    parts += [",".join(plain)] if plain else []
    return " ".join(f"{option} {shell_word(part)}" for part in parts)


def shell_word(text: str) -> str:
    """Return a text as one word of a shell, with double quotes where they are enough."""
    if re.fullmatch(r"[\w.,:=/+%@-]+", text, re.ASCII):
        return text
    return shlex.quote(text) if re.search(r'["$`\\!]', text) else f'"{text}"'


def hint(name: str, names: Iterable[Any]) -> str:
    """Return "; did you mean ...?" if there is a similar name, else what there is."""
    names = [str(known) for known in names]
    lower = {known.lower(): known for known in reversed(names)}
    close = difflib.get_close_matches(name.lower(), lower, n=1, cutoff=0.6)
    if close:
        return f"did you mean {lower[close[0]]!r}?"
    return f"there are {listed(names)}."
