"""Encodings by their bytes, and compressed files by their names."""

import io

import pytest

from infinimix.streaming import read_stream
from infinimix.streaming.compression import BROKEN, SUFFIXES, bare_name, suffix_of, unzipped, zipped
from infinimix.streaming.encodings import UnknownEncoding, find_encoding, find_marked, named

TEXT = "größe,art\n1,Käfer\n2,Fête\n3,naïve\n"
CODECS = ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252", "latin-1"]


@pytest.mark.parametrize("codec", CODECS)
def test_text_goes_to_bytes_and_back(codec):
    data = TEXT.encode(codec)
    found = find_encoding(data)
    assert found.decode(data) == TEXT
    assert found.encode(TEXT) == data  # with the mark, if there was one
    assert named(codec, data).decode(data) == TEXT


@pytest.mark.parametrize(
    "data",
    [
        "пчела,1\n".encode("cp1251"), "ミツバチ,1\nアリ,2\n".encode("shift_jis"),
        bytes(range(256)) * 8, b"a\xff\x00",
    ],
)  # fmt: skip
def test_other_bytes_are_not_guessed(data):
    with pytest.raises(UnknownEncoding, match="is not UTF-8: line . has the byte 0x"):
        find_encoding(data)


def test_a_stream_is_utf_8_unless_its_first_bytes_say_otherwise(tmp_path):
    path = tmp_path / "a.csv"
    for codec in CODECS[:5]:
        path.write_bytes(TEXT.encode(codec))
        ((_, labels),) = read_stream(path, "art")
        assert labels == ["Käfer", "Fête", "naïve"]
    path.write_bytes(TEXT.encode("cp1252"))
    with pytest.raises(ValueError, match="not UTF-8"):
        list(read_stream(path, "art"))
    ((_, labels),) = read_stream(path, "art", encoding="cp1252")
    assert labels[0] == "Käfer"
    assert find_marked(b"") is None
    with pytest.raises(LookupError):
        list(read_stream(path, "art", encoding="utf9"))


@pytest.mark.parametrize("end", SUFFIXES)
def test_compressed_files_come_back_and_damage_is_noticed(end):
    if end == ".zst":
        pytest.importorskip("zstandard")
    data = TEXT.encode() * 5000
    packed = zipped(data, f"a.csv{end}")
    assert packed == zipped(data, f"a.CSV{end.upper()}")  # no time of day in it
    assert unzipped(io.BytesIO(packed), f"a{end}").read() == data
    assert unzipped(io.BytesIO(packed + packed), f"a{end}").read() == data + data
    assert (suffix_of(f"a{end}"), bare_name(f"a.csv{end}")) == (end, "a.csv")
    for bad in (packed[:-9], packed[: len(packed) // 2], b"nonsense" * 5):
        with pytest.raises(BROKEN):
            unzipped(io.BytesIO(bad), f"a{end}").read()


def test_a_stream_of_a_damaged_file_says_on_which_line(tmp_path):
    path = tmp_path / "a.csv.xz"
    path.write_bytes(zipped(TEXT.encode() * 20_000, path.name)[:-100])
    with pytest.raises(ValueError, match="damaged or ends early"):
        list(read_stream(path, "art"))
