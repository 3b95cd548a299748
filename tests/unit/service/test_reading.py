"""Bodies: the forms that are read, the limits, and problems that name the field."""

import json

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from infinimix.service.limits import Limits
from infinimix.service.openapi import write_openapi
from infinimix.service.problems import HttpProblem
from infinimix.service.reading import LINES, WHOLE, RowBatch, read_batch
from infinimix.streaming.requests import LONGEST_ID

LIMITS = Limits(rows=3, columns=3, string=20, name=10, nesting=4)


def read(content, media="application/json", limits=LIMITS):
    body = content if isinstance(content, bytes) else json.dumps(content).encode()
    return read_batch(body, media, limits)


@pytest.mark.parametrize(
    ("content", "batch"),
    [
        ({"x": "a b", "y": "c"}, RowBatch(["a b"], ["c"])),
        (
            {"x": {"size": 1.5, "flag": None}, "id": "r1"},
            RowBatch([{"size": 1.5, "flag": None}], None, "r1"),
        ),
        (
            {"rows": [[1, 2], [3, None]], "labels": [0, None]},
            RowBatch([[1, 2], [3, None]], [0, None]),
        ),
        ([{"x": "a", "y": 1}, {"x": "b"}], RowBatch(["a", "b"], [1, None])),
        ([{"x": "a"}], RowBatch(["a"], None)),
    ],
)
def test_the_forms(content, batch):
    assert read(content) == batch


def test_json_lines():
    body = b'{"x": "a", "y": 1}\n\n{"x": "b", "y": 2}\r\n'
    assert read(body, LINES[0] + "; charset=utf-8") == RowBatch(["a", "b"], [1, 2])


@pytest.mark.parametrize(
    ("content", "status", "field"),
    [
        (b"{", 400, None),
        (b"", 400, None),
        (b'{"x": NaN}', 400, None),
        (b'{"x": "\xff"}', 400, None),
        ("text", 422, None),
        ({}, 422, "x"),
        ({"x": 3}, 422, "x"),
        ({"x": "a", "z": 1}, 422, "z"),
        ({"x": "a", "y": 1.5}, 422, "y"),
        ({"x": "a", "y": "b" * 11}, 413, "y"),
        ({"x": "a", "id": 3}, 422, "id"),
        ({"rows": "a"}, 422, "rows"),
        ({"rows": []}, 422, "rows"),
        ({"rows": ["a"] * 4}, 413, "rows"),
        ({"rows": ["a", {"b": 1}]}, 422, "rows[1]"),
        ({"rows": ["a"], "labels": []}, 422, "labels"),
        ({"rows": ["a"], "labels": [[]]}, 422, "labels[0]"),
        ({"x": {"a": [1]}}, 422, "x.a"),
        ({"x": {"a": "b" * 21}}, 413, "x.a"),
        ({"x": [1, 2, 3, 4]}, 413, "x"),
        ({"x": "a" * 21}, 413, "x"),
        ([], 422, None),
        ([{"y": 1}], 422, "[0].x"),
        ([{"x": "a", "q": 1}], 422, "[0].q"),
        (b"[" * 100_000, 422, None),
    ],
)
def test_what_cannot_be_used_is_named(content, status, field):
    with pytest.raises(HttpProblem) as caught:
        read(content)
    assert (caught.value.status, caught.value.field) == (status, field)
    assert json.loads(caught.value.response().body)["status"] == status


def test_another_media_type_is_refused():
    """So no form of a foreign page can send rows without the browser asking first."""
    with pytest.raises(HttpProblem) as caught:
        read({"x": "a"}, "text/plain")
    assert caught.value.status == 415


def test_brackets_in_texts_are_no_nesting():
    assert read({"x": "[[[[[[{{{{\\"}).X == ["[[[[[[{{{{\\"]


NAMES = st.sampled_from(["x", "y", "rows", "labels", "id", "q"])
LEAVES = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5)
)
JSON = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4),
)


@given(JSON)
def test_any_json_is_read_or_refused(content):
    try:
        body = orjson.dumps(content)
    except TypeError:
        return  # an integer that JSON of 64 bits has not
    try:
        batch = read(body)
    except HttpProblem:
        return
    assert batch.X
    assert batch.y is None or len(batch.y) == len(batch.X)


@given(st.binary(max_size=60), st.sampled_from(["application/json", LINES[0]]))
def test_any_bytes_are_read_or_refused(body, media):
    status = 200
    try:
        read(body, media)
    except HttpProblem as problem:
        status = problem.status
    assert status in (200, 400, 413, 422)


def test_a_request_id_is_as_long_as_the_log_and_the_document_say():
    limits = Limits()
    assert read({"x": "a", "id": "i" * LONGEST_ID}, limits=limits).request_id == "i" * LONGEST_ID
    with pytest.raises(HttpProblem) as told:
        read({"x": "a", "id": "i" * (LONGEST_ID + 1)}, limits=limits)
    assert (told.value.status, told.value.field) == (422, "id")
    schemas = write_openapi(limits, closed=False)["components"]["schemas"]
    assert schemas["Id"]["maxLength"] == LONGEST_ID


@pytest.mark.parametrize("end", WHOLE)
def test_whole_numbers_are_labels_within_the_bounds_of_the_document(end):
    assert read({"x": "a", "y": end}).y == [end]
    with pytest.raises(HttpProblem) as told:
        read({"x": "a", "y": end + (1 if end > 0 else -1)})
    assert (told.value.status, told.value.field) == (422, "y")
