"""A service that has learned a million rows: its memory on the way, and how soon it is back.

Rows come 100 a request with request ids, as fast as they are answered. Then the process is killed
and started again; it is ready when it has read its snapshot and learned the rest of the log.
"""

from __future__ import annotations

import tempfile

from bench.report import Line, Section
from bench.service_load import Server, encode, make_bodies

ROWS, MARKS = 1_000_000, (0.1, 0.5, 1.0)
READY = 3.0  # seconds
FLAT = 1.1  # memory at the end as a multiple of that at a tenth


def run(quick: bool = False) -> Section:
    total, memory, sent = (2000 if quick else ROWS) // 100, {}, 0
    bodies = make_bodies(100)
    with tempfile.TemporaryDirectory(dir=".") as folder:
        server, took = Server("infinimix", folder), 0.0
        for mark in MARKS:
            last = int(total * mark)
            while sent < last:
                n = min(500, last - sent)
                some = [encode(bodies[(sent + k) % len(bodies)], sent + k) for k in range(n)]
                load, seconds = server.load(some, 1e9, most=n)
                assert not load.refused
                sent, took = sent + len(load.latencies), took + seconds
            memory[mark] = server.megabytes
        rows = server.ask("/model")["rows"]
        server.stop(kill=True)
        server = Server("infinimix", folder)
        again, ready = server.ask("/model")["rows"], server.seconds
        server.stop()
    assert rows == again == 100 * sent, (rows, again, sent)
    first, middle, end = memory.values()
    figures = {"megabytes": memory, "rows": rows, "seconds": took}
    section = Section(f"A service that has learned {rows:,} rows")
    section.lines = [
        Line("memory at 10%, MB", f"{first:.0f}", "", "", "", None, figures),
        Line("memory at 50%, MB", f"{middle:.0f}", "", f"{middle / first:.2f}"),
        Line(
            "memory at the end, MB", f"{end:.0f}", "", f"{end / first:.2f}", f"<= {FLAT}",
            end <= FLAT * first,
        ),
        Line("killed, and ready again: s", f"{ready:.2f}", "", "", f"< {READY:.0f}", ready < READY),
        Line("rows/s on the way", f"{rows / took:,.0f}"),
    ]  # fmt: skip
    return section
