"""A fingerprint of sources, so that a figure can tell whether it is of today's code.

Only code counts: docstrings, comments and empty lines are left out. The text is hashed and not
the syntax tree, which is printed differently by different versions of Python. Git is not asked:
an archive of the sources or a shallow clone has no history.
"""

from __future__ import annotations

import ast
import hashlib
import re
import subprocess
from collections.abc import Iterable
from datetime import date
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "infinimix"
#: A string, or a comment from its "#". A tokenizer needs four times as long for the same answer;
#: quotes within the braces of an f-string are others than its own, as Python 3.10 wants them.
STRING_OR_COMMENT = re.compile(
    r"""(?:'''(?:\\.|[^\\])*?'''|\"{3}(?:\\.|[^\\])*?\"{3}"""
    r"""|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*")|(?P<comment>\#[^\n]*)""",
    re.DOTALL,
)
BODIES = ("body", "orelse", "finalbody", "handlers", "cases")  # where statements hold statements


def fingerprint(measures: Iterable[str], package: Path = PACKAGE) -> str:
    """Twelve digits that change with the code of these rooms or files of the package.

    Those with a minus before them are left out.
    """
    measures, digest = list(measures), hashlib.sha256()
    found = {path for room in measures if room[0] != "-" for path in files(package / room)}
    gone = {path for room in measures if room[0] == "-" for path in files(package / room[1:])}
    for path in sorted(found - gone):
        digest.update(path.relative_to(package).as_posix().encode())
        digest.update(code_only(path.read_text(encoding="utf-8")).encode())
    return digest.hexdigest()[:12]


def files(place: Path) -> list[Path]:
    """The sources of a room, or one source."""
    found = [place] if place.is_file() else list(place.rglob("*.py"))
    if not found:
        raise FileNotFoundError(f"{place} is no source; see bench/catalogue.py")
    return found


@cache
def code_only(text: str) -> str:
    """The lines of a source without docstrings, comments and empty lines."""
    lines = STRING_OR_COMMENT.sub(_without_comment, text).splitlines()
    for docstring in _docstrings(ast.parse(text)):
        assert docstring.end_lineno is not None
        for row in range(docstring.lineno, docstring.end_lineno + 1):
            lines[row - 1] = ""
    return "\n".join(stripped for line in lines if (stripped := line.rstrip()))


def _without_comment(found: re.Match[str]) -> str:
    return "" if found["comment"] else found[0]


def _docstrings(node: ast.AST) -> Iterable[ast.stmt]:
    homes = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    if isinstance(node, homes) and ast.get_docstring(node, clean=False) is not None:
        yield node.body[0]
    for field in BODIES:  # not `ast.walk`: no expression holds a docstring
        below = getattr(node, field, ())
        for child in below if isinstance(below, list) else ():
            yield from _docstrings(child)


def commit() -> str:
    """The short hash of the last commit that changed what is measured."""
    return _git("log", "-1", "--abbrev=7", "--format=%h", "--", "src")


def uncommitted() -> list[str]:
    """Changed files of what is measured and of what measures."""
    return _git("status", "--porcelain", "--", "src", "bench").splitlines()


def today() -> str:
    return date.today().isoformat()


def _git(*arguments: str) -> str:
    command = ["git", "-C", str(ROOT), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
