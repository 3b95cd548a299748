"""What chains tell: lines in a log, a bar on a terminal, and nothing left behind."""

import io
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from infinimix import BlockmodelBayesNet
from infinimix.networks.learning.bars import ChainsBar
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


class Terminal(io.StringIO):
    def isatty(self):
        return True


def on_terminal(monkeypatch):
    """No fixture, as pytest takes standard error back after those."""
    monkeypatch.setattr(sys, "stderr", made := Terminal())
    return made


def test_a_terminal_gets_a_bar(monkeypatch):
    terminal = on_terminal(monkeypatch)
    progress = Progress(2, 20)
    with progress:
        progress.teller(0)(NEWS)
        assert progress.bar.tasks[0].completed == 20
        assert progress.bar.tasks[0].total == 40
        progress.teller(1)(NEWS)
    assert progress.bar is None
    assert "infinimix: chain" not in terminal.getvalue()


def test_a_burn_in_moves_the_bar_and_has_no_gaps(capsys):
    progress = Progress(2, 20, 10)
    quiet = {"sweeps": 0, "log_joint": np.nan, "edges": np.zeros((2, 2)), "burn_in": 4}
    progress.teller(0)(quiet)
    assert capsys.readouterr().err == "infinimix: chain 1, burn-in, sweep 4 of 10\n"
    progress.teller(1)({**NEWS, "burn_in": 10})
    assert capsys.readouterr().err.endswith("largest gap between chains -\n")
    moved = []
    progress.bar = SimpleNamespace(show=lambda done, text: moved.append(done))
    progress.teller(0)({**quiet, "burn_in": 6})
    assert moved == [6 + 30]


def test_the_time_that_is_left_is_told_once_it_is_known(monkeypatch):
    on_terminal(monkeypatch)
    with Progress(1, 100, 10) as progress:
        (task,), left = progress.bar.tasks, progress.bar.columns[2]
        task.start_time -= 20.0
        assert left.render(task).plain == ""
        progress.bar.show(11, "")
        assert left.render(task).plain == "0:03:00 left"


def test_chains_that_cannot_tell_move_the_bar_when_they_end(monkeypatch):
    on_terminal(monkeypatch)
    for end, expected in (("burned in", [12, 12]), ("ended", [76, 140])):
        with Progress(2, 60, 10, end, burned=[6, 6]) as progress:
            moved = []
            for _ in range(2):
                progress.count_ended()
                moved.append(progress.bar.tasks[0].completed)
        assert moved == expected


def test_the_bar_follows_the_clock_where_time_decides(monkeypatch):
    on_terminal(monkeypatch)
    with Progress(1, 100, seconds=10.0) as progress:
        (task,), left = progress.bar.tasks, progress.bar.columns[2]
        task.start_time -= 4.0
        progress.teller(0)({**NEWS, "sweeps": 1})
        progress.bar.get_renderables()
        progress.bar.refresh()
        assert (round(task.completed), task.total) == (4, 10.0)
        assert left.render(task).plain == "0:00:06 left"
        task.start_time -= 40.0
        progress.bar.refresh()
        assert (task.completed, left.render(task).plain) == (10.0, "0:00:00 left")


@pytest.mark.filterwarnings("ignore:Chains disagree")
def test_chains_that_burn_in_together_have_one_bar(monkeypatch):
    """The second goes on where the first has ended, and with its clock."""
    on_terminal(monkeypatch)
    seen, start = [], ChainsBar.start

    def started(bar):
        seen.append((bar.tasks[0].start_time, bar.tasks[0].completed, bar.tasks[0].total))
        start(bar)

    monkeypatch.setattr(ChainsBar, "start", started)
    X = np.random.default_rng(0).integers(2, size=(20, 14))
    model = BlockmodelBayesNet(
        prior="sparse", n_iter=10, burn_in=60, n_chains=2, verbose=True, random_state=0
    ).fit(X)
    (first, none, total), (second, done, again) = seen
    assert (first, none, total) == (second, 0, again)
    assert 0 < done < total == 140
    model.run(n_iter=10)
    assert seen[2][0] > first


@pytest.mark.parametrize("width", [4, 14])
def test_chains_tell_of_their_burn_in(width, monkeypatch):
    """Fourteen columns are learned by chains that burn in together first."""
    told = []
    monkeypatch.setattr(
        Progress, "teller", lambda self, k: lambda news: told.append((k, self.burn_in, news))
    )
    X = np.random.default_rng(0).integers(2, size=(20, width))
    BlockmodelBayesNet(
        prior="sparse", n_iter=10, burn_in=60, n_chains=1, n_temperatures=1, verbose=True,
        random_state=0,
    ).fit(X)  # fmt: skip
    burned = [news["burn_in"] for _, _, news in told if news["sweeps"] == 0]
    assert len(burned) > 5
    assert burned == sorted(burned)
    assert burned[-1] == 60
    assert {whole for _, whole, _ in told} == {60}
    assert told[-1][2]["sweeps"] == 10
