"""docs/benchmarks.md, as far as it is made from runs.

What a run printed stands between two comments, and the prose around them is left alone:

    <!-- bench: training, sources 0123456789ab -->

    | what | ours | peer | ...

    *Run of commit 60b8e0b, 2026-11-15.*

    <!-- end -->

The first comment has the fingerprint of the sources that the run measured. Where today's sources
have another, the last line must say so; `mark` writes that, and a test looks for it. A block
may be a part of a benchmark, "tables/chosen", when it was put together by hand from several runs:
then nothing replaces it but a person.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from bench.catalogue import BENCHMARKS
from bench.report import Section, to_markdown
from bench.sources import ROOT, fingerprint

PAGE = ROOT / "docs" / "benchmarks.md"
OLDER = "The code it measures has changed since."
BLOCK = re.compile(
    r"<!-- bench: (?P<name>[a-z_]+(?:/[a-z_]+)?), sources (?P<sources>[0-9a-f]{12}) -->\n\n"
    r"(?P<body>(?:(?!<!-- ).*\n)*?)\n"
    r"\*Run of commit (?P<commit>[0-9a-f]{7,}), (?P<date>\d{4}-\d\d-\d\d)\."
    rf"(?P<older> {re.escape(OLDER)})?\*\n\n<!-- end -->"
)
MARKER = re.compile(r"^<!-- (bench|end)\b.*$", re.MULTILINE)
TABLE = re.compile(r"^\|.*\|\n\|[ :|-]+\|$", re.MULTILINE)


class Block(NamedTuple):
    """What a run printed, and when; `older` if it says that the code has changed since."""

    name: str
    sources: str
    commit: str
    date: str
    older: bool
    body: str

    @property
    def benchmark(self) -> str:
        return self.name.partition("/")[0]

    def fresh(self, today: Callable[[tuple[str, ...]], str] = fingerprint) -> bool:
        """Is the code that was measured the code of today? A page asks for each room once."""
        return self.sources == today(BENCHMARKS[self.benchmark].measures)

    def __str__(self) -> str:
        older = f" {OLDER}" if self.older else ""
        return (
            f"<!-- bench: {self.name}, sources {self.sources} -->\n\n"
            f"{self.body}\n\n*Run of commit {self.commit}, {self.date}.{older}*\n\n<!-- end -->"
        )


def blocks(text: str) -> list[Block]:
    """All blocks of a page, in order."""
    return [_block(found) for found in BLOCK.finditer(text)]


def _block(found: re.Match[str]) -> Block:
    name, sources, body, commit, date, older = found.groups()
    return Block(name, sources, commit, date, older is not None, body.rstrip("\n"))


def of_run(name: str, section: Section, commit: str, date: str) -> Block:
    """The block of a benchmark that has just run."""
    sources = fingerprint(BENCHMARKS[name].measures)
    return Block(name, sources, commit, date, False, to_markdown([section]).strip())


def replace(text: str, new: Block) -> str:
    """Put a block where the one of this name was."""
    if new.name not in {block.name for block in blocks(text)}:
        raise LookupError(no_place([new.name]))
    return BLOCK.sub(lambda found: str(new) if found["name"] == new.name else found[0], text)


def mark(text: str) -> str:
    """Let each block say whether the code that it measures has changed since."""
    today = cache(fingerprint)

    def say(found: re.Match[str]) -> str:
        block = _block(found)
        return str(block._replace(older=not block.fresh(today)))

    return BLOCK.sub(say, text)


def no_place(names: list[str]) -> str:
    """What to tell someone whose benchmarks have no block to write to."""
    example = Block(names[0], "0" * 12, "0" * 7, "2000-01-01", True, "")
    return f"{PAGE.name} has no block for {', '.join(names)}; where it shall stand, put\n{example}"


def complaints(text: str) -> list[str]:
    """What is wrong with the blocks of a page: half a block, a name, an age not told."""
    found, today = blocks(text), cache(fingerprint)
    wrong = []
    if len(MARKER.findall(text)) != 2 * len(found):
        wrong.append("a comment `bench:` or `end` that is no part of a block")
    for block in found:
        if block.benchmark not in BENCHMARKS:
            wrong.append(f"{block.name}: no benchmark of this name")
        elif block.fresh(today) == block.older:
            wrong.append(f"{block.name}: run `python -m bench --mark`, or the benchmark anew")
    twice = sorted({b.name for b in found if sum(b.name == other.name for other in found) > 1})
    return wrong + [f"{name}: stands there twice" for name in twice]


def outside(text: str) -> list[str]:
    """Headings of tables that stand in no block."""
    return [table.splitlines()[0] for table in TABLE.findall(BLOCK.sub("", text))]
