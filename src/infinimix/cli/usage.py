"""The words of usage errors: options that are none, numbers out of range, what is missing.

Loaded only where a command is called in a wrong way, as others need no more than `errors`.
"""

from __future__ import annotations

from difflib import get_close_matches
from inspect import signature
from typing import Any, get_args


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
