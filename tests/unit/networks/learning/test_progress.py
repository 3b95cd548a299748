"""What chains tell: lines in a log, a bar on a terminal, and nothing left behind."""

import io
import sys

import numpy as np

from infinimix.networks.learning.progress import Progress

NEWS = {"sweeps": 20, "log_joint": -12.5, "edges": np.zeros((2, 2))}


def tell_all(progress):
    with progress:
        for k in range(2):
            progress.teller(k)({**NEWS, "edges": np.full((2, 2), 0.25 * k)})


def test_a_log_gets_lines(capsys):
    tell_all(Progress(2, 20))
    first, second = capsys.readouterr().err.splitlines()
    assert first.endswith("chain 1, sweep 20 of 20, log joint -12.5, largest gap between chains -")
    assert second.endswith("largest gap between chains 0.25")


def test_a_terminal_gets_a_bar(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    progress = Progress(2, 20)
    with progress:
        progress.teller(0)(NEWS)
        assert progress.bar.tasks[0].completed == 20
        assert progress.bar.tasks[0].total == 40
        progress.teller(1)(NEWS)
    assert progress.bar is None
    assert "infinimix: chain" not in terminal.getvalue()
