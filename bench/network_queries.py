"""Answers of networks with known tables against pgmpy's variable elimination, on BIF files.

    INFINIMIX_DATA=... python -m bench network_queries

Every file at hand is asked random questions: one variable, or two together, given up to three
others, and with a variable set from outside (in pgmpy, evidence in the network without the edges
into it). Rows of tables are made to sum to one first, as the files round them. Questions that would
need a table of more than `MOST` cells are counted and left out, for both libraries alike.
"""

from __future__ import annotations

import os
import time
import warnings
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from bench.report import Grid, Line, Section
from infinimix.networks import BayesNet, read_network
from infinimix.networks.answers import elimination

QUESTIONS = 20
MOST = 2_000_000  # cells of the largest table on the way
BAR = 1e-9


def folder() -> Path:
    """Where the networks are."""
    return Path(os.environ.get("INFINIMIX_DATA", "/nowhere")) / "bayesian_networks"


def normalised(net: BayesNet) -> BayesNet:
    """Return the network with rows of tables that sum to one."""
    return replace(net, tables=tuple(t / t.sum(axis=-1, keepdims=True) for t in net.tables))


class Questions:
    """Random questions to one network, answered by both libraries."""

    def __init__(self, net: BayesNet, seed: int) -> None:
        self.net, self.rng = net, np.random.default_rng(seed)
        self.theirs = net.to_pgmpy()
        self.worst, self.asked, self.skipped, self.set = 0.0, 0, 0, 0
        self.seconds = [0.0, 0.0]

    def draw(self, k: int) -> tuple[list[str], dict[str, str], dict[str, str]]:
        """Return targets, what is given (possible, as it comes from a row) and what is set."""
        net, n = self.net, len(self.net.names)
        picked = self.rng.permutation(n)[:6].tolist()
        n_targets, n_do = 1 + k % 2, int(k % 3 == 2 and n > 3)
        targets, rest = picked[:n_targets], picked[n_targets:]
        do = {net.names[v]: str(self.rng.choice(net.states[v])) for v in rest[:n_do]}
        (row,) = net.sample(1, self.rng, do=do)
        held = rest[n_do:][: int(self.rng.integers(4))]
        given = {net.names[v]: net.states[v][row[v]] for v in held}
        return [net.names[v] for v in targets], given, do

    def ask(self, k: int) -> None:
        """Ask one question."""
        targets, given, do = self.draw(k)
        if self.width(targets, given, do) > MOST:
            self.skipped += 1
            return
        start = time.process_time()
        ours = self.net.query(targets, given, do)
        middle = time.process_time()
        theirs = self.ask_pgmpy(targets, given, do)
        self.seconds[0] += middle - start
        self.seconds[1] += time.process_time() - middle
        self.worst = max(self.worst, float(np.abs(ours - theirs).max()))
        self.asked += 1
        self.set += bool(do)

    def ask_pgmpy(
        self, targets: list[str], given: dict[str, str], do: dict[str, str]
    ) -> np.ndarray:
        """Return pgmpy's answer, with the axes and states in our order."""
        from pgmpy.inference import VariableElimination

        model: Any = self.theirs.do(list(do)) if do else self.theirs
        found = VariableElimination(model).query(
            targets, evidence={**given, **do}, show_progress=False
        )
        axes = [found.variables.index(t) for t in targets]
        p = np.transpose(found.values, axes)
        for axis, t in enumerate(targets):
            order = [
                found.state_names[t].index(s) for s in self.net.states[self.net.names.index(t)]
            ]
            p = np.take(p, order, axis=axis)
        return np.asarray(p)

    def width(self, targets: list[str], given: dict[str, str], do: dict[str, str]) -> float:
        """Return the cells of the largest table on the way, from shapes alone."""
        net = self.net
        at = {net.names.index(t) for t in targets}
        seen = {net.names.index(v): 0 for v in given}
        factors = elimination._needed(net._factors(do), {*at, *seen})
        cards = net.cards
        pool = [frozenset(v for v in names if v not in seen) for names, _ in factors]
        rest, most = {v for names in pool for v in names} - at, 1.0
        while rest:
            joined = {v: frozenset().union(*(f for f in pool if v in f)) for v in rest}
            size = {
                v: float(np.prod(cards[list(held)].astype(float))) for v, held in joined.items()
            }
            v = min(rest, key=lambda v: (size[v], v))
            most = max(most, size[v])
            pool = [f for f in pool if v not in f] + [joined[v] - {v}]
            rest.discard(v)
        left = frozenset().union(*pool) if pool else frozenset()
        return max(most, float(np.prod(cards[list(left)].astype(float))) if left else 1.0)


def ask_file(path: Path) -> tuple[str, int, Questions]:
    """Ask one file all questions."""
    net = normalised(read_network(path))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        questions = Questions(net, 0)
        for k in range(QUESTIONS):
            questions.ask(k)
    return path.name.removesuffix(".bif.gz"), len(net.names), questions


def run(quick: bool = False) -> Section:
    section = Section("Queries in networks with known tables")
    if not folder().exists() or find_spec("pgmpy") is None:
        section.notes.append("skipped: it needs INFINIMIX_DATA with bayesian_networks, and pgmpy")
        return section
    paths = sorted(folder().glob("*.bif.gz"))
    found = [ask_file(path) for path in (paths[:3] if quick else paths)]
    rows = [
        [
            name,
            f"{n}",
            f"{q.asked}",
            f"{q.skipped}",
            f"{q.worst:.0e}",
            *(f"{s:.2f}" for s in q.seconds),
        ]
        for name, n, q in found
    ]
    headings = ["file", "nodes", "asked", "too wide", "largest difference", "CPU s", "pgmpy, CPU s"]
    section.grids.append(Grid(f"{QUESTIONS} questions to each file", headings, rows))
    worst, asked, done = (
        max(q.worst for _, _, q in found), sum(q.asked for _, _, q in found),
        sum(q.set for _, _, q in found),
    )  # fmt: skip
    section.notes.append(f"{asked} questions in all, {done} with a variable set from outside")
    section.lines.append(
        Line(
            "largest difference from pgmpy", f"{worst:.0e}", bar=f"<= {BAR:.0e}", meets=worst <= BAR
        )
    )
    return section
