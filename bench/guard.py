"""`python -m bench guard`: is anything slower than what was recorded?

Each measure (`bench.guard_measures`) is compared with `bench/recorded.json`. "Share" is how much
of the recorded figure is left, for a speed now / recorded, for a cost recorded / now; less than
80% fails, and so does a measure that is not recorded, or a record that nothing measures.

Ratios against peers depend on the processor: one and the same code loses a third against
scikit-learn from one to the next. So there is a record for each processor that was used. On a new
one each measure is compared with the least demanding record, until `--record` adds its own.

`--record` measures three times and writes the medians for this processor, with commit and date. It
belongs into a commit of its own that says why the figures have changed.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

from bench import sources

RECORDED = Path(__file__).with_name("recorded.json")
LEAST = 0.8
RECORDING_RUNS = 3


class Verdict(NamedTuple):
    """One measure beside its record; None where there is none."""

    name: str
    recorded: float | None
    now: float | None
    cost: bool = False

    @property
    def share(self) -> float:
        """How much is left of what was recorded; 0 without one of the two."""
        if self.recorded is None or self.now is None:
            return 0.0
        better, worse = (self.recorded, self.now) if self.cost else (self.now, self.recorded)
        return better / worse if worse else 1.0

    @property
    def passes(self) -> bool:
        return self.share >= LEAST

    @property
    def word(self) -> str:
        if self.recorded is None:
            return "not recorded"
        if self.now is None:
            return "not measured"
        return "yes" if self.passes else "SLOWER" if not self.cost else "MORE"


def compare(
    recorded: Mapping[str, float], now: Mapping[str, float], costs: Sequence[str] = ()
) -> list[Verdict]:
    """All that is recorded or measured; `costs` are the names where less is better."""
    return [
        Verdict(name, recorded.get(name), now.get(name), name in costs)
        for name in dict.fromkeys([*now, *recorded])
    ]


def measure(quick: bool, console: Console) -> tuple[dict[str, float], list[str]]:
    """Take all measures in turn; return them, and which of them are costs."""
    from bench.guard_measures import COSTS, SPEEDS

    def take(function: Callable[[bool], float]) -> float:
        start = _cpu()
        value = function(quick)
        seconds = _cpu() - start
        console.print(f"  {function.__name__}: {value:.3g} ({seconds:.1f} CPU s)", highlight=False)
        return value

    found = {function.__name__: take(function) for function in (*SPEEDS, *COSTS)}
    return found, [function.__name__ for function in COSTS]


def show(verdicts: Sequence[Verdict], console: Console) -> None:
    """Print recorded, now and share."""
    table = Table(title="Speeds and costs against bench/recorded.json", title_justify="left")
    for heading in ("measure", "recorded", "now", "share", "passes?"):
        table.add_column(heading, justify="left" if heading == "measure" else "right")
    for verdict in verdicts:
        name = f"{verdict.name} (less is better)" if verdict.cost else verdict.name
        share = f"{verdict.share:.0%}" if verdict.share else ""
        color = "green" if verdict.passes else "red"
        table.add_row(
            name, _figure(verdict.recorded), _figure(verdict.now), share,
            f"[{color}]{verdict.word}[/{color}]",
        )  # fmt: skip
    console.print(table)


def processor() -> str:
    """The name by which this processor calls itself."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def record(file: Path, console: Console) -> None:
    """Write the medians of several runs, for this processor."""
    runs = [measure(False, console)[0] for _ in range(RECORDING_RUNS)]
    medians = {name: float(f"{np.median([run[name] for run in runs]):.3g}") for name in runs[0]}
    stamp = {"commit": sources.commit(), "date": sources.today()}
    records = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    records[processor()] = stamp | {"measures": medians}
    file.write_text(json.dumps(records, indent=1) + "\n", encoding="utf-8")
    console.print(f"Wrote {file.name}: commit it with the reason why the figures have changed")


def find_record(file: Path, costs: Sequence[str]) -> tuple[dict[str, float], str]:
    """What was recorded on this processor, or the least of all; and where that was."""
    records: dict[str, dict[str, Any]] = json.loads(file.read_text(encoding="utf-8"))
    if processor() in records:
        own = records[processor()]
        return own["measures"], f"at {own['commit']}, {own['date']}, on {processor()}"
    found: dict[str, list[float]] = {}
    for record in records.values():
        for name, value in record["measures"].items():
            found.setdefault(name, []).append(value)
    least = {name: (max if name in costs else min)(values) for name, values in found.items()}
    return least, f"on {len(records)} other processors, the least of each"


def main(arguments: Sequence[str]) -> int:
    """Measure and compare: 1 if anything is below 80% of what was recorded."""
    parser = argparse.ArgumentParser(prog="python -m bench guard", description=__doc__)
    parser.add_argument("--record", action="store_true", help="write what is measured now")
    parser.add_argument(
        "--quick", action="store_true", help="tiny sizes, compared with nothing: does it run?"
    )
    parser.add_argument("--recorded", type=Path, default=RECORDED, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    console, start = Console(width=100), time.perf_counter()
    if options.record:
        record(options.recorded, console)
        return 0
    now, costs = measure(options.quick, console)
    if options.quick:
        return 0
    recorded, where = find_record(options.recorded, costs)
    verdicts = compare(recorded, now, costs)
    show(verdicts, console)
    worst = min(verdicts, key=lambda verdict: verdict.share)
    console.print(
        f"Recorded {where}; {time.perf_counter() - start:.0f} s; "
        f"the least share is {worst.share:.0%}, of {worst.name}; at least {LEAST:.0%} passes",
        soft_wrap=True,  # a processor's name may be long
    )
    return 0 if all(verdict.passes for verdict in verdicts) else 1


def _cpu() -> float:
    """CPU seconds of this process and of those that it has started."""
    return sum(os.times()[:4])


def _figure(x: float | None) -> str:
    return "" if x is None else f"{x:.3g}"
