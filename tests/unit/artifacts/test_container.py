"""Sizes: what is deflated, what a reader may be made to allocate, and who lies about it."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from infinimix import artifacts
from infinimix.artifacts import ArtifactError, container


@pytest.fixture
def data(dumps: Any) -> bytes:
    result = dumps(np.arange(6.0))
    assert isinstance(result, bytes)
    return result


def refuse(data: bytes, match: str) -> None:
    with pytest.raises(ArtifactError, match=match):
        artifacts.read(io.BytesIO(data))


def test_only_what_shrinks_is_deflated(dumps: Any) -> None:
    rng = np.random.default_rng(0)
    tree = [rng.random(10_000), rng.integers(0, 50, 10_000), np.zeros(10_000), np.zeros(0)]
    with zipfile.ZipFile(io.BytesIO(dumps(tree))) as archive:
        deflated = [info.compress_type == zipfile.ZIP_DEFLATED for info in archive.infolist()]
    assert deflated == [False, False, False, True, True, False]


@pytest.mark.parametrize("n", [200, 2000, 20_000, 200_000])
def test_the_sample_judges_as_the_whole_would(n: int) -> None:
    rng = np.random.default_rng(0)
    dense, half = rng.bytes(n), rng.bytes(n // 3) + bytes(n - n // 3)
    assert not container.Member("dense", (dense,)).shrinks()
    assert container.Member("half", (half,)).shrinks() == (n >= container.WORTHWHILE)


def test_bombs_are_refused_before_they_are_inflated(
    data: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as bomb, zipfile.ZipFile(io.BytesIO(data)) as honest:
        bomb.writestr("header.json", honest.read("header.json"))
        bomb.writestr("tree.json", honest.read("tree.json"))
        bomb.writestr("arrays/0.npy", bytes(1 << 20), compress_type=zipfile.ZIP_DEFLATED)
    assert file.tell() < 1 << 14
    refuse(file.getvalue(), "npy format")
    monkeypatch.setattr(container, "DEFLATE_BUDGET", 1 << 16)
    refuse(file.getvalue(), "much smaller file.*max_unpacked")


def test_whoever_reads_may_set_another_bound(data: bytes, dumps: Any, assert_same: Any) -> None:
    tree = {"zeros": np.zeros(50_000)}
    packed = dumps(tree)
    assert len(packed) < 10_000
    with pytest.raises(ArtifactError, match="max_unpacked=100000"):
        artifacts.read(io.BytesIO(packed), max_unpacked=100_000)
    assert_same(tree, artifacts.read(io.BytesIO(packed), max_unpacked=500_000)[1])


def test_the_writer_stays_within_the_readers_budget(
    monkeypatch: pytest.MonkeyPatch, dumps: Any, loads: Any, assert_same: Any
) -> None:
    monkeypatch.setattr(container, "DEFLATE_BUDGET", 100_000)
    monkeypatch.setattr(container, "TEXT_BUDGET", 1000)
    tree = {"words": ["same"] * 1000, "arrays": [np.zeros(10_000) + i for i in range(3)]}
    result = dumps(tree)
    assert_same(tree, loads(result))
    assert 160_000 < len(result) < 240_000


@pytest.mark.parametrize("field", ["compress_size", "file_size", "compress_type", "flag_bits"])
def test_lies_in_the_directory_are_refused(
    field: str, data: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    listing: Callable[[zipfile.ZipFile], list[zipfile.ZipInfo]] = zipfile.ZipFile.infolist
    lies = {"compress_size": 1 << 40, "file_size": 1 << 40, "compress_type": 14, "flag_bits": 1}

    def lie(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
        setattr(archive.getinfo("tree.json"), field, lies[field])
        return listing(archive)

    monkeypatch.setattr(zipfile.ZipFile, "infolist", lie)
    refuse(data, "damaged")


def test_members_of_any_size_fit(
    monkeypatch: pytest.MonkeyPatch, dumps: Any, loads: Any, assert_same: Any
) -> None:
    monkeypatch.setattr(container, "ZIP64_FROM", 100)
    tree = [np.arange(6.0), np.zeros(1000)]
    assert_same(tree, loads(dumps(tree)))
