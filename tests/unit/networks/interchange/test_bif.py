"""Reading and writing networks."""

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from infinimix.networks import from_bif, read_network, sample_network, to_bif

FOLDER = Path(os.environ.get("INFINIMIX_DATA", "/nowhere")) / "bayesian_networks"


def test_what_is_written_is_read_back():
    net = sample_network((2, 3), cards=3, random_state=0)
    again = from_bif(to_bif(net))
    assert again.names == net.names
    assert again.parents == net.parents
    assert all(np.array_equal(a, b) for a, b in zip(net.tables, again.tables, strict=True))


def test_names_that_look_like_comments_are_read_back_and_quotes_refused():
    text = to_bif(sample_network((1, 1), random_state=0))
    odd = from_bif(text.replace("x0", '"http://a"').replace("{ 0, 1 }", '{ "n//a", "b c" }')
                   .replace("(0)", '("n//a")').replace("(1)", '("b c")'))  # fmt: skip
    again = from_bif(to_bif(odd))
    assert (again.names, again.states) == (("http://a", "x1"), (("n//a", "b c"),) * 2)
    with pytest.raises(ValueError, match="quotation mark"):
        to_bif(replace(odd, names=('say "a"', "x1")))


@pytest.mark.parametrize(
    "text",
    ["", "variable a { type discrete [ 2 ] { x, y }; } probability ( a | b ) { table 1, 0; }",
     "variable a { type discrete [ 2 ] { x, y }; }", "variable a { type continuous; }",
     "variable a { type discrete [ 2 ] { x, y }; } probability ( a ) { table 0.9, 0.9; }"],
)  # fmt: skip
def test_what_is_no_network_is_refused(text, tmp_path):
    file = tmp_path / "net.bif"
    file.write_text(text)
    with pytest.raises(ValueError, match=r"net\.bif is not a network"):
        read_network(file)


@pytest.mark.skipif(not FOLDER.is_dir(), reason="INFINIMIX_DATA has no bayesian_networks")
def test_the_files_of_the_data_folder():
    arcs = {"alarm": 46, "hepar2": 123, "insurance": 52, "munin1": 273, "cpcs54": 108}
    for name, n in arcs.items():
        (path,) = FOLDER.glob(f"{name}.*")
        assert read_network(path).adjacency.sum() == n
    assert len(list(FOLDER.glob("*.bif.gz"))) == 24


def test_samples_follow_the_tables():
    net = sample_network((2, 2), random_state=1)
    X = net.sample(20_000, random_state=0)
    p = net.query("x3")
    # four standard errors: a false alarm in 16,000
    assert abs(X[:, 3].mean() - p[1]) < 4 * np.sqrt(p[0] * p[1] / 20_000) + 1e-9
    assert (net.sample(5, random_state=0, do={"x0": "1"})[:, 0] == 1).all()
    every = np.indices((2,) * 4).reshape(4, -1).T
    assert np.isclose(np.exp(net.log_probability(every)).sum(), 1)


def test_noisy_or_and_dense_templates(monkeypatch):
    monkeypatch.setattr("infinimix.networks.interchange.network.TRIES", 1000)
    net = sample_network((3, 5), [[0, 0.5], [0, 0]], tables="noisy-or", random_state=0)
    assert net.check() is net
    with pytest.raises(ValueError, match="cycles"):
        sample_network((12,), [[0.95]], random_state=0)
