"""Every kind of damage and malice ends in ArtifactError, and runs nothing."""

from __future__ import annotations

import io
import json
import pickle
import zipfile
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from infinimix import artifacts
from infinimix.artifacts import ArtifactError

TREE = {"a": np.arange(6.0).reshape(2, 3), "b": [1, (2, float("nan"))], "z": np.zeros(500)}

Members = dict[str, bytes]


@pytest.fixture
def data(dumps: Any) -> bytes:
    result = dumps(TREE)
    assert isinstance(result, bytes)
    return result


def unpack(data: bytes) -> Members:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def repack(members: Members) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


def forge(data: bytes, **changes: bytes) -> bytes:
    """Archive with members (tree, array0) replaced and digests that fit, as a forger would."""
    members = unpack(data)
    names = {"tree": "tree.json", "array0": "arrays/0.npy"}
    members |= {names[key]: value for key, value in changes.items()}
    header = json.loads(members["header.json"])
    header["sha256"] = {name: sha256(members[name]).hexdigest() for name in header["sha256"]}
    return repack(members | {"header.json": json.dumps(header).encode()})


def with_header(data: bytes, **changes: Any) -> bytes:
    members = unpack(data)
    header = json.loads(members["header.json"]) | changes
    return repack(members | {"header.json": json.dumps(header).encode()})


def refuse(data: bytes, match: str) -> None:
    with pytest.raises(ArtifactError, match=match):
        artifacts.read(io.BytesIO(data))


@pytest.mark.parametrize("flip", [0x01, 0x08, 0x80, 0xFF])
def test_no_flipped_byte_changes_the_tree(flip: int, data: bytes, assert_same: Any) -> None:
    refused = 0
    for position in range(len(data)):
        bad = bytearray(data)
        bad[position] ^= flip
        try:
            tree = artifacts.read(io.BytesIO(bytes(bad)))[1]
        except ArtifactError:
            refused += 1
        else:
            assert_same(TREE, tree)
    assert refused > len(data) / 2


def test_damage_in_a_file_on_disk_is_reported_with_its_path(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.imx"
    messages = []
    for position in range(data.index(b"PK\x01\x02"), len(data)):
        path.write_bytes(data[:position] + bytes([data[position] ^ 0xFF]) + data[position + 1 :])
        try:
            artifacts.read(path)
        except ArtifactError as error:
            messages.append(str(error))
    assert len(messages) > 100
    assert all(message.startswith(f"cannot read {path}: ") for message in messages)


def test_no_truncated_file_is_read(data: bytes) -> None:
    for length in range(len(data)):
        with pytest.raises(ArtifactError):
            artifacts.read(io.BytesIO(data[:length]))


NOT_OURS = {
    "empty": (b"", "empty"),
    "text": (b"hello, world", "not an infinimix artifact"),
    "pickle": (pickle.dumps([1]), "looks like a pickle"),
    "zip": (repack({"x": b"1"}), "no artifact"),
    "magic": (repack({"header.json": b'{"magic": "other"}'}), "not an infinimix artifact"),
    "list": (repack({"header.json": b"[]"}), "not an infinimix artifact"),
    "json": (repack({"header.json": b"{"}), "header.json is damaged"),
}


@pytest.mark.parametrize(("content", "message"), NOT_OURS.values(), ids=NOT_OURS)
def test_other_files_are_told_apart(content: bytes, message: str) -> None:
    refuse(content, message)


def test_members_missing_or_extra_are_refused(data: bytes) -> None:
    members = unpack(data)
    refuse(repack(members | {"evil.py": b"1"}), "evil.py")
    members.pop("arrays/1.npy")
    refuse(repack(members), "missing.*arrays/1.npy")
    refuse(with_header(data, sha256={"../../etc/passwd": "0"}), "list of members")
    refuse(with_header(data, sha256={}), "list of members")


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_members_of_the_same_name_are_refused(data: bytes) -> None:
    file = io.BytesIO(data)
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr("tree.json", b"{}")
    refuse(file.getvalue(), "members")


def test_a_changed_member_with_a_good_crc_is_refused(data: bytes) -> None:
    refuse(repack(unpack(data) | {"tree.json": b'{"shared":[],"tree":1}'}), "SHA-256")


TREES = {
    "unknown tag": (b'{"$evil": 1}', r"unknown tag '\$evil'"),
    "two tags": (b'{"$int": "0x1", "$str": ""}', "unknown tag"),
    "array out of range": (b'[{"$array": 9}]', r"tree\[0\].*entry 9 of 2"),
    "array from the end": (b'{"a": {"$array": -1}}', r"tree\['a'\].*entry -1"),
    "array by name": (b'{"$array": "0"}', "expected int"),
    "array by bool": (b'{"$array": true}', "expected int"),
    "nan": (b"NaN", "NaN is not JSON"),
    "infinity": (b"[-Infinity]", "not JSON"),
    "long integer": (b"1" * 5000, "damaged"),
    "not ascii": ('"é"'.encode(), "damaged"),
    "deep": (b"[" * 100_000 + b"]" * 100_000, "damaged"),
    "rather deep": (b"[" * 150 + b"]" * 150, "100 deep"),
    "tuple": (b'{"$tuple": 3}', "expected list"),
    "dict": (b'{"$dict": [[1, 2]]}', "expected str"),
    "pairs": (b'{"$dict": [[1]]}', "damaged"),
    "int": (b'{"$int": "import"}', "damaged"),
    "float": (b'{"$float": "00"}', "damaged"),
    "base64": (b'{"$bytes": "???"}', "damaged"),
    "object scalar": (b'{"$np.scalar": ["|O8", "0000000000000000"]}', "not the dtype"),
    "short scalar": (b'{"$np.scalar": ["<f8", "00"]}', "1 bytes"),
    "odd scalar": (b'{"$np.scalar": ["<f7", "00"]}', "damaged"),
    "shared": (b'{"$shared": 0}', "entry 0 of 0"),
    "generator": (b'{"$generator": {"state": 1, "seed": null}}', "generator is damaged"),
    "tag of lists": (b'{"$tuple": {"$shared": 0}}', "expected list"),
    "seed": (b'{"$seed": []}', "seed sequence is damaged"),
}


@pytest.mark.parametrize(("tree", "message"), TREES.values(), ids=TREES)
def test_forged_trees_are_refused(tree: bytes, message: str, data: bytes) -> None:
    refuse(forge(data, tree=b'{"shared":[],"tree":' + tree + b"}"), message)


@pytest.mark.parametrize("document", [b"[]", b'{"tree":1}', b'{"shared":1,"tree":1}', b""])
def test_forged_documents_are_refused(document: bytes, data: bytes) -> None:
    refuse(forge(data, tree=document), "tree.json is damaged")


def test_only_generators_are_shared(data: bytes) -> None:
    refuse(forge(data, tree=b'{"shared":[[1]],"tree":{"$shared":0}}'), "a shared list")


class Evil:
    """Creates a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return open, (str(self.path), "w")


def test_pickles_in_an_archive_are_never_run(data: bytes, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    array = np.empty(1, object)
    array[0] = Evil(victim)
    file = io.BytesIO()
    np.save(file, array, allow_pickle=True)
    refuse(forge(data, array0=file.getvalue()), "never loaded")
    refuse(forge(data, array0=pickle.dumps(Evil(victim))), "npy format")
    refuse(forge(data, tree=pickle.dumps(Evil(victim))), "damaged")
    refuse(pickle.dumps(Evil(victim)), "pickle")
    assert not victim.exists()


def npy(header: str, content: bytes = b"") -> bytes:
    return np.lib.format.magic(1, 0) + len(header).to_bytes(2, "little") + header.encode() + content


ARRAYS = {
    "huge": npy("{'descr':'<f8','fortran_order':False,'shape':(1000000000000,)}", b"12345678"),
    "overflow": npy("{'descr':'<f8','fortran_order':False,'shape':(0, 99999999999999999999)}"),
    "negative": npy("{'descr':'<f8','fortran_order':False,'shape':(-1, -1)}", b"12345678"),
    "deep": npy("(" * 9000),
    "long": npy(" " * 20_000),
    "code": npy("__import__('os').abort()"),
    "list": npy("[]"),
    "keys": npy("{}"),
    "dtype": npy("{'descr':'<q99','fortran_order':False,'shape':()}"),
    "object": npy("{'descr':[('a','O')],'fortran_order':False,'shape':()}", b"12345678"),
    "short": npy("{'descr':'<f8','fortran_order':False,'shape':()}", b"1234567"),
    "trailing": npy("{'descr':'<f8','fortran_order':False,'shape':()}", b"123456789"),
    "version": b"\x93NUMPY\x02\x00" + b"\x00" * 8,
    "nothing": b"",
}


@pytest.mark.parametrize("content", ARRAYS.values(), ids=ARRAYS)
def test_forged_arrays_are_refused(content: bytes, data: bytes) -> None:
    refuse(forge(data, array0=content), "arrays/0.npy is damaged")


def test_a_newer_format_says_what_to_do(data: bytes) -> None:
    newer = with_header(data, format_version=2, library_version="9.1", sha256="changed since")
    refuse(newer, "written by infinimix 9.1 in format 2; .* up to format 1: upgrade infinimix")


@pytest.mark.parametrize("version", [0, -1, True, "1", None, 1.0])
def test_a_version_that_is_none_is_refused(version: Any, data: bytes) -> None:
    refuse(with_header(data, format_version=version), "header.json is damaged")


@pytest.mark.parametrize("key", ["kind", "library_version"])
def test_header_fields_must_be_text(key: str, data: bytes) -> None:
    refuse(with_header(data, **{key: 3}), f"header.json is damaged .{key}")
