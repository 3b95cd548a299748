"""Templates become HTML here, by Jinja2 with autoescape: plain text cannot become markup.

A piece of a page is `Markup`; whatever else enters a template is escaped. The templates stand in
the folder `templates`: `page.html` is the skeleton, the others are macros.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

__all__ = ["Markup", "draw", "join", "render"]


@cache
def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("infinimix.reports"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True,
    )  # fmt: skip
    made.filters["g"] = "{:g}".format
    made.policies["json.dumps_kwargs"] = {"separators": (",", ":")}
    return made


def render(template: str, **values: Any) -> str:
    """Return a whole template, filled in."""
    return _environment().get_template(template).render(**values)


def draw(template: str, macro: str, *values: Any) -> Markup:
    """Return what a macro of a template makes of these values."""
    found: Markup = _macros(template)[macro](*values)
    return found


@cache
def _macros(template: str) -> dict[str, Any]:
    return vars(_environment().get_template(template).module)


def join(*pieces: str) -> Markup:
    """Return pieces one after the other."""
    return Markup("\n").join(piece for piece in pieces if piece)
