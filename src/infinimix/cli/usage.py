"""What goes wrong around a command: options that are none, and a pipe that nobody reads.

Typer frames usage errors in boxes of several lines, in words of its parsers; here they are one
line, as all other errors of the command.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from inspect import signature
from typing import Any, NoReturn, get_args

import typer
from typer.core import TyperGroup

from infinimix.cli.errors import one_line
from infinimix.cli.places import forget_output

UsageError: Any = typer.BadParameter.__mro__[1]  # of click, or of the copy of it that typer has
CLOSED = 141  # what a shell reports of a program that SIGPIPE ended


class OneLineGroup(TyperGroup):
    """Commands whose usage errors are one line, and which stop quietly at a closed pipe."""

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
        typer.echo(f"{name}: {one_line(word_usage(error, name))}", err=True)
        raise typer.Exit(2) from error


def _stop_quietly(error: BaseException) -> NoReturn:
    for stream in (sys.stdout, sys.stderr):
        forget_output(stream)
    raise typer.Exit(CLOSED) from error


def _name(ctx: Any, group: Any) -> str:
    """Return the command that an error is about; the parser of options does not say it."""
    command = ctx.info_name if ctx is not None and ctx.parent is not None else None
    if ctx is None and group is not None:
        command = group.invoked_subcommand
    return "infinimix" if command is None else f"infinimix {command}"


def word_usage(error: Any, name: str) -> str:
    """Return what is wrong with the words of a command, and what to do."""
    parts, kind = vars(error), type(error).__name__
    advice = f"; see {name} --help."
    parameter = parts.get("param")
    if kind == "NoSuchOption":
        wrong = parts["option_name"]
        known = {name.lstrip("-"): name for name in parts.get("possibilities") or ()}
        close = get_close_matches(wrong.lstrip("-"), known, n=1)  # dashes make all alike
        guess = f"; did you mean {known[close[0]]!r}?" if close else advice
        return f"there is no option {wrong!r}{guess}"
    if parameter is None:
        text = error.format_message()
        return text if "Did you mean" in text else text.rstrip(".") + advice
    flag = _flag(parameter)
    if kind == "MissingParameter":
        return f"{flag} is missing{advice}"
    return f"{flag} {_need(error.ctx, parameter) or ': ' + error.message}{advice}"


def _flag(parameter: Any) -> str:
    """Return how a parameter is spelled: --row, or FILE."""
    long = [name for name in parameter.opts if name.startswith("--")]
    return long[0] if long else str(parameter.metavar or parameter.name).rstrip(".").upper()


def _need(ctx: Any, parameter: Any) -> str | None:
    """Return which numbers an option takes; None if it takes other things."""
    given = signature(ctx.command.callback, eval_str=True).parameters.get(parameter.name)
    kind, *more = get_args(given.annotation) if given is not None else (None,)
    kinds = get_args(kind) or (kind,)
    if int not in kinds and float not in kinds:
        return None
    least, most = more[0].min, more[0].max
    what = "must be a whole number" if int in kinds else "must be a number"
    if least is not None and most is not None:
        return f"{what} from {_plain(least)} to {_plain(most)}"
    if least is not None:
        return f"{what} of at least {_plain(least)}"
    return what if most is None else f"{what} of at most {_plain(most)}"


def _plain(bound: float) -> str:
    return f"{bound:.0f}" if bound == int(bound) else f"{bound:g}"
