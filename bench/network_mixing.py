"""Networks of 27 to 179 variables: how far four chains agree, and edges beside those of peers.

    INFINIMIX_DATA=... python -m bench network_mixing
    INFINIMIX_DATA=... INFINIMIX_BENCH_CACHE=FILE python -m bench.network_mixing hepar2

1,000 rows, the default prior, chains that start apart; gaps are differences of edge probabilities
between chains. Each peer learns from the same rows in a process of its own and has the CPU time
of our fit: sumu's six coupled chains, with two equivalent sample sizes; of the others, networks of
bootstrap samples, as many as are ready by then and `BOOTSTRAPS` at the most. One that has no
network yet may go on to `LONGER` times that; the slow ones learn the first draw only. CPCS with 179
variables has no bar but for memory: how far chains are apart. The second form measures one network
and keeps it for a run of the first.
"""

from __future__ import annotations

import importlib.util
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from bench import kept, network_peers
from bench.limited import last_answer
from bench.network_files import folder
from bench.networks import judge
from bench.report import Grid, Line, Section
from infinimix import BlockmodelBayesNet
from infinimix.networks import BayesNet, read_network

ROWS, SWEEPS, DRAWS = 1_000, 1_000, 2
BARS = {"insurance": 120, "alarm": 120, "hepar2": 300}  # CPU seconds
LARGEST, FEW = "cpcs179", 20  # sweeps
LONGER = 2
CANDIDATES = 10  # parents of a variable, of sumu
SUMU = {"sumu, BDeu 1": 1, "sumu, BDeu 10": 10}  # equivalent sample sizes
SLOW = {"pgmpy", "causal-learn", "causal-learn, PC"}
CPU = 3600  # seconds at most of our own fits


def read(name: str) -> BayesNet:
    """A network of the folder."""
    kind = "json" if name.startswith("cpcs") else "bif"
    return read_network(folder() / f"{name}.{kind}.gz")


def ours(name: str, seed: int, sweeps: int) -> Iterator[Any]:
    """Edge probabilities, and their gaps between chains."""
    X = read(name).sample(ROWS, random_state=seed)
    model = BlockmodelBayesNet(columns="categorical", n_iter=sweeps, random_state=0).fit(X)
    yield model.edge_marginals_, model.edge_gap_


def peer(name: str, seed: int, who: str, seconds: float) -> Iterator[Any]:
    """Edge probabilities of a peer, and of how many networks: again whenever there is one more."""
    X = read(name).sample(ROWS, random_state=seed)
    if who in SUMU:
        yield network_peers.sumu(
            X, seed, most=CANDIDATES, ess=SUMU[who], seconds=seconds
        ), None  # fmt: skip
        return
    one, rng, start = network_peers.ONES[who][1], np.random.default_rng(seed), time.process_time()
    total, n = np.zeros((X.shape[1],) * 2), 0
    while n < network_peers.BOOTSTRAPS[who] and time.process_time() - start < seconds:
        total += one(X[rng.integers(len(X), size=len(X))])
        n += 1
        yield total / n, n


def measure(name: str, seed: int, sweeps: int, known: dict[str, Any]) -> dict[str, Any]:
    """One draw of rows: our fit, then all peers with the CPU time that it took."""
    key = f"network_mixing/{name}/{seed}/{sweeps}"
    found: dict[str, Any] = known.setdefault(key, {})
    true = read(name).adjacency
    if "infinimix" not in found:
        fit = last_answer(__name__, "ours", CPU, name, seed, sweeps)
        assert fit is not None
        P, gaps = fit.value
        apart = gaps[~np.eye(len(P), dtype=bool)]
        found["infinimix"] = {
            "aupr": judge(true, P)[1], "seconds": fit.seconds, "memory": fit.memory,
            "share": float((apart <= 0.1).mean()), "gap": float(apart.max()),
        }  # fmt: skip
        kept.write(kept.place(), known)
    seconds = found["infinimix"]["seconds"]
    for who in [] if name == LARGEST else _peers(seed):
        if who not in found:
            limit = LONGER * seconds
            got = last_answer(
                __name__, "peer", limit, name, seed, who, seconds, within=1.05 * seconds
            )
            found[who] = {"limit": limit} if got is None else {
                "aupr": judge(true, got.value[0])[1], "networks": got.value[1],
                "seconds": got.seconds,
            }  # fmt: skip
            kept.write(kept.place(), known)
    return found


def compare(section: Section, title: str, bar: int, found: dict[str, Any]) -> list[list[str]]:
    """The bars of one draw of rows, and a row for each method."""
    ours = found["infinimix"]
    share, gap, seconds, aupr = (ours[k] for k in ("share", "gap", "seconds", "aupr"))
    section.lines.append(
        Line(
            f"{title}: share of gaps up to .1, largest gap, CPU s",
            f"{share:.4f}, {gap:.2f}, {seconds:.0f}",
            bar=f">= .99, <= .25, <= {bar}",
            meets=bool(share >= 0.99 and gap <= 0.25 and seconds <= bar),
        )
    )
    best = max((found[who]["aupr"] for who in SUMU if "aupr" in found.get(who, {})), default=None)
    if best is not None:
        section.lines.append(
            Line(
                f"{title}: AUPR, against the best run of sumu",
                f"{aupr:.3f}",
                f"{best:.3f}",
                f"{aupr / best:.2f}",
                "> 1",
                bool(aupr > best),
            )
        )
    section.figures[title] = found
    return [[title, who, *_cells(figures)] for who, figures in found.items()]


def _cells(figures: dict[str, Any]) -> list[str]:
    """AUPR, networks, CPU seconds and largest gap of one method."""
    if "aupr" not in figures:
        return ["none", "0", f"> {figures['limit']:.0f}", ""]
    n, gap = figures.get("networks"), figures.get("gap")
    return [
        f"{figures['aupr']:.3f}", "" if n is None else f"{n}", f"{figures['seconds']:.0f}",
        "" if gap is None else f"{gap:.2f}",
    ]  # fmt: skip


def large(section: Section, known: dict[str, Any]) -> None:
    """CPCS with 179 variables, after few sweeps."""
    ours = measure(LARGEST, 0, FEW, known)["infinimix"]
    section.lines.append(
        Line(
            f"{LARGEST}, {FEW} sweeps: peak GB of the process",
            f"{ours['memory']:.1f}",
            bar="<= 2",
            meets=ours["memory"] <= 2.0,
        )
    )
    section.notes.append(
        f"{LARGEST} after {FEW} sweeps: largest gap {ours['gap']:.2f}, {ours['share']:.1%} of gaps "
        f"up to .1, AUPR {ours['aupr']:.3f}, {ours['seconds']:.0f} CPU s"
    )


def run(quick: bool = False) -> Section:
    section = Section(f"Networks of 27 to 179 variables, {ROWS:,} rows, {SWEEPS:,} sweeps")
    if not folder().exists():
        section.notes.append("skipped: INFINIMIX_DATA has no bayesian_networks")
        return section
    known: dict[str, Any] = {} if quick else kept.read(kept.place())
    rows: list[list[str]] = []
    for name in ("insurance",) if quick else tuple(BARS):
        for seed in range(1 if quick else DRAWS):
            found = measure(name, seed, 5 if quick else SWEEPS, known)
            rows += compare(section, f"{name}, draw {seed}", BARS[name], found)
    if not quick:
        large(section, known)
    headings = ["rows", "who", "AUPR", "networks", "CPU s", "largest gap"]
    section.grids.append(Grid("Edges at the CPU time of our fit", headings, rows))
    return section


def _peers(seed: int) -> list[str]:
    """Which peers are installed; the slow ones for the first draw only."""
    has = [*SUMU] if importlib.util.find_spec("sumu") is not None else []
    return has + [
        who for who, (module, _) in network_peers.ONES.items()
        if importlib.util.find_spec(module) is not None and (seed == 0 or who not in SLOW)
    ]  # fmt: skip


if __name__ == "__main__":
    for asked in sys.argv[1:]:
        for draw in range(1 if asked == LARGEST else DRAWS):
            measure(asked, draw, FEW if asked == LARGEST else SWEEPS, kept.read(kept.place()))
