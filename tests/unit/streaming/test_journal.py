"""The log as bytes: a record is whole or none, and no bytes make its reader fail."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infinimix.streaming import journal
from infinimix.streaming.journal import read_records, seal, unseal
from infinimix.streaming.plain import from_json, to_json

RECORDS = [b'{"row":0}', b'{"text":"[2,7,9,\\"0123456789abcdef\\","}', b"{}"]
LOG = b"".join(seal(i, record) for i, record in enumerate(RECORDS, 1))


def read(folder, data):
    path = folder / "log"
    path.write_bytes(data)
    return [(found.sequence, found.record) for found in read_records(path)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("journal")


def test_a_line_is_whole_or_none():
    line = seal(12, b'{"row":0}')
    assert unseal(line) == (12, b'{"row":0}')
    for at in range(len(line)):
        assert unseal(line[:at]) is None
        for bit in range(8):
            damaged = bytearray(line)
            damaged[at] ^= 1 << bit
            assert unseal(bytes(damaged)) is None


def test_a_line_is_json():
    version, sequence, length, checksum, record = json.loads(seal(3, b'{"row":0}'))
    assert (version, sequence, length, len(checksum), record) == (2, 3, 9, 16, {"row": 0})


def test_damage_to_one_byte_costs_one_record(folder):
    ends = [sum(len(seal(i + 1, r)) for i, r in enumerate(RECORDS[: k + 1])) for k in range(3)]
    for at in range(len(LOG)):
        for bit in range(8):
            damaged = bytearray(LOG)
            damaged[at] ^= 1 << bit
            hit = sum(end <= at for end in ends) + 1
            expected = [(i, r) for i, r in enumerate(RECORDS, 1) if i != hit]
            assert read(folder, bytes(damaged)) == expected


def test_what_stands_between_records_is_passed_over(folder):
    for junk in (b"\0" * 200_000, b"[2,", b'[2,9,99999999,"0123456789abcdef",' * 5000, b"\n\n"):
        assert read(folder, LOG + junk + seal(4, b"{}"))[-1] == (4, b"{}")


def test_a_length_is_believed_only_within_the_file_and_the_limit(folder, monkeypatch):
    asked = []
    monkeypatch.setattr(journal, "LONGEST", 8)
    assert read(folder, LOG) == [(3, b"{}")]  # the others are longer than that

    class Watched:
        def __init__(self, file):
            self.file = file

        def seek(self, at):
            self.file.seek(at)

        def read(self, size):
            asked.append(size)
            return self.file.read(size)

    (folder / "log").write_bytes(b'[2,1,999999999,"0123456789abcdef",')
    with open(folder / "log", "rb") as file:
        assert journal._line_at(Watched(file), 0, 34) is None
    assert max(asked) <= journal.MOST_HEAD


def test_a_record_that_could_not_be_read_again_is_not_written(monkeypatch):
    monkeypatch.setattr(journal, "LONGEST", 8)
    with pytest.raises(ValueError, match="learn fewer rows in one call"):
        seal(1, b"123456789")


pieces = st.one_of(
    st.binary(max_size=60),
    st.sampled_from([LOG, LOG[:-3], b"[2,", b'[2,1,9,"', b'",', b"]\n", b"\n", b"\xff\xfe"]),
    st.builds(seal, st.integers(0, 10**18 - 1), st.binary(max_size=30)),
)


@given(st.lists(pieces, max_size=12).map(b"".join))
def test_no_bytes_make_the_reader_fail(folder, data):
    (folder / "log").write_bytes(data)
    end = 0
    for found in read_records(folder / "log"):
        line = seal(found.sequence, found.record)
        assert data[found.end - len(line) : found.end] == line  # it is really there
        assert found.end - len(line) >= end
        end = found.end


@given(st.lists(pieces, max_size=6).map(b"".join))
def test_no_bytes_make_the_reader_of_the_first_form_fail(folder, data):
    (folder / "log").write_bytes(data)
    with suppress(journal.DurabilityError):
        assert all(isinstance(record, bytes) for record in journal.read_first(folder / "log"))


def test_texts_come_back():
    texts = ["two words", "", "\u00fc\ud800"]
    assert from_json(to_json(texts, ["a", "b", "a"], row=3)) == {
        "row": 3, "X": texts, "y": ["a", "b", "a"],
    }  # fmt: skip
