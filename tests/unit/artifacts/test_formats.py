"""Files of every format ever released must stay readable; one of each is kept in ``data``."""

from __future__ import annotations

import io
import math
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from infinimix import artifacts
from infinimix.artifacts import ArtifactError, formats

DATA = Path(__file__).parent / "data"


def format_1() -> dict[str, Any]:
    """The tree in ``data/format-1.imx``: every tag of format 1 at least once."""
    rng = np.random.default_rng(2024)
    rng.integers(0, 9, 3, dtype=np.uint32)
    return {
        "plain": [None, True, -1, 0.1, "text", b"bytes"],
        "exact": (2**100, math.nan, -math.inf, -0.0, "\ud83d\ude00"),
        "$key": {},
        "arrays": [np.arange(6.0).reshape(2, 3), np.zeros(2000, bool), np.array(["a", "bc"])],
        "scalars": [
            np.float32(0.1),
            np.str_("label"),
            np.bytes_(b"b"),
            np.datetime64("2020-01-01"),
        ],
        "record": np.array([(1, 2.0)], [("a", "<i4"), ("b", "<f8")])[0],
        "rng": rng,
        "seed": np.random.SeedSequence(7, spawn_key=(1,)),
    }


def test_files_of_format_1_stay_readable(assert_same: Any, dumps: Any) -> None:
    kind, tree, header = artifacts.read(DATA / "format-1.imx")
    expected = format_1()
    assert (kind, header["format_version"], header["library_version"]) == ("thing", 1, "0.1.0")
    rng, seed = tree.pop("rng"), tree.pop("seed")
    assert rng.random() == expected.pop("rng").random()
    assert seed.generate_state(4).tolist() == expected.pop("seed").generate_state(4).tolist()
    assert_same(expected, tree)


def test_format_1_is_still_written_the_same(dumps: Any) -> None:
    """The digests, not the bytes of the file: these depend on the version of zlib."""
    header = artifacts.read(DATA / "format-1.imx")[2]
    assert artifacts.read(io.BytesIO(dumps(format_1())))[2] == header


def test_the_clock_and_the_system_leave_no_trace(dumps: Any) -> None:
    with zipfile.ZipFile(io.BytesIO(dumps([np.arange(3)]))) as archive:
        infos = archive.infolist()
    assert [info.filename for info in infos] == ["header.json", "tree.json", "arrays/0.npy"]
    assert {info.date_time for info in infos} == {(1980, 1, 1, 0, 0, 0)}
    assert {(info.create_system, info.external_attr >> 16) for info in infos} == {(3, 0o644)}


def test_a_current_tree_is_not_touched_by_upgrades(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(formats.UPGRADES, formats.FORMAT_VERSION, lambda kind, tree: 1 / 0)
    assert formats.upgrade("thing", "tree", formats.FORMAT_VERSION) == "tree"


def test_older_formats_are_lifted_step_by_step(monkeypatch: pytest.MonkeyPatch, dumps: Any) -> None:
    data = dumps({"b": 1})
    monkeypatch.setattr(formats, "FORMAT_VERSION", 3)
    with pytest.raises(ArtifactError, match="format 1, which this infinimix no longer reads"):
        artifacts.read(io.BytesIO(data))
    monkeypatch.setitem(formats.UPGRADES, 1, lambda kind, tree: [kind, "one", tree["b"]])
    monkeypatch.setitem(formats.UPGRADES, 2, lambda kind, tree: [*tree, "two"])
    kind, tree, header = artifacts.read(io.BytesIO(data))
    assert tree == ["thing", "one", 1, "two"]
    assert (kind, header["format_version"]) == ("thing", 1)
