"""One step of EM beside matrix products of as many operations as it cannot do without.

100,000 rows of 50 columns in 20 components, binary, categorical (4 values) or real, complete and
with a quarter of the cells missing. The products have the shapes of the E step (rows by columns by
components) and of the M step: a pair of them for binary columns, a second pair for x^2 of real
ones, one more pair for which cells are there. For categories, whose rows are sparse in their
indicators, it is one pair with one number a cell, with holes or without.
"""

from __future__ import annotations

import numpy as np

from bench.report import Line, Section
from bench.timing import ratio, take_turns
from infinimix.families.priors import Layout, blank
from infinimix.inference.finite import em

WIDTH, COMPONENTS, BAR = 50, 20, 3
PAIRS = {"binary": (1, 2), "categorical": (1, 1), "real": (2, 3)}  # without holes, and with


def make(kind: str, n: int, share: float) -> tuple[em.EMModel, em.WeightedRows]:
    """A mixture to find, and rows for it."""
    rng = np.random.default_rng(0)
    if kind == "real":
        X = rng.normal(size=(n, WIDTH))
    else:
        values = 2 if kind == "binary" else 4
        X = rng.integers(values, size=(n, WIDTH)).astype(np.int8 if values == 2 else np.int32)
    X[rng.random(X.shape) < share] = np.nan if kind == "real" else -1
    counts = np.full(WIDTH if kind == "categorical" else 0, 4)
    names = {kind: tuple(f"x{d}" for d in range(WIDTH))}
    family = blank(Layout(names, counts))
    data = em.WeightedRows((np.ascontiguousarray(X),), np.full(n, -1), np.ones(n))
    return em.EMModel(family, 1, COMPONENTS, None, False), data


def run(quick: bool = False) -> Section:
    n, rounds = (2_000, 2) if quick else (100_000, 5)
    section = Section(f"One step of EM, {n:,} rows x {WIDTH}, {COMPONENTS} components (seconds)")
    dense = np.random.default_rng(1).normal(size=(n, WIDTH))
    weights, loads = np.ones((n, COMPONENTS)), np.ones((WIDTH, COMPONENTS))
    for kind in ("binary", "categorical", "real"):
        for share in (0.0, 0.25):
            pairs = PAIRS[kind][share > 0]
            model, data = make(kind, n, share)
            state = em.init(np.random.default_rng(2), model, data)
            state = em.step(model, data, state)[0]
            times = take_turns(
                {
                    "step": lambda m=model, d=data, s=state: em.step(m, d, s),
                    "products": lambda p=pairs: [
                        (dense @ loads, weights.T @ dense) for _ in range(p)
                    ],
                },
                rounds,
            )
            r = ratio(times["step"], times["products"])
            what = f"{kind}, {share:.0%} missing"
            ours, peer = f"{times['step'].min():.3f}", f"{times['products'].min():.3f}"
            peer = f"{2 * pairs} products {peer}"
            line = Line(what, ours, peer, str(r), f"<= {BAR}", bool(r.median <= BAR))
            section.lines.append(line)
    return section
