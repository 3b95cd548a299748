"""Dates: which strings are some, what they say, and that every form of a table says the same."""

import datetime as dt
import itertools
import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

from infinimix.tables import Schema, encode, read_schema
from infinimix.tables.dates import ORDERS, find_order, part_of, read_moment

FORMATS = {  # of strptime, which is the oracle
    "ymd": ["%Y-%m-%d", "%Y/%m/%d", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M", "%d %b %Y", "%B %d, %Y"],
    "dmy": ["%d.%m.%Y", "%d/%m/%Y", "%d-%m-%Y", "%d.%m.%y", "%d/%m/%Y %H:%M"],
    "mdy": ["%m/%d/%Y", "%m-%d-%Y", "%m/%d/%y", "%m/%d/%Y %I:%M %p"],
}
MOMENTS = [dt.datetime(2024, 12, 31, 23, 5), dt.datetime(1999, 1, 13), dt.datetime(2000, 2, 29, 12)]


@pytest.mark.parametrize(("order", "form"), [(o, f) for o, fs in FORMATS.items() for f in fs])
def test_strings_are_read_as_strptime_reads_them(order, form):
    texts = [moment.strftime(form) for moment in MOMENTS]
    truth = [dt.datetime.strptime(text, form) for text in texts]
    assert find_order(texts) == order
    for text, moment in zip(texts, truth, strict=True):
        found = read_moment(text, order)
        assert found.day == moment.toordinal()
        assert found.hour == pytest.approx(moment.hour + moment.minute / 60)


def test_parts_are_those_of_the_calendar():
    start = dt.date(2023, 12, 1).toordinal()
    for day in range(start, start + 400):
        date = dt.date.fromordinal(day)
        moment = read_moment(date, "ymd")
        assert part_of(moment, "year", 0) == date.year
        assert part_of(moment, "month", 0) == date.month
        assert part_of(moment, "weekday", 0) == date.strftime("%A")
        assert part_of(moment, "days", start) == day - start


@pytest.mark.parametrize(
    "text",
    ["", "x", "2024", "20241231", "2024-13-01", "31.02.2024", "1.2", "1.2.3", "1-2-03", "25:00",
     "2024-01-01 25:00", "1/2/2024 13:00 PM", "192.168.10.10", "12:60", "May", "5 Foo 2024"],
)  # fmt: skip
def test_what_is_no_date(text):
    assert find_order([text]) is None


def test_the_order_is_that_in_which_every_cell_is_a_date():
    """By enumeration: an order is found if it is the only one, or makes no difference."""
    cells = ["1/2/2024", "3/3/2023", "13/1/2024", "1/13/2024", "4/5/2022"]
    for n in (1, 2, 3):
        for some in itertools.combinations(cells, n):
            readings = {o: [read_moment(text, o) for text in some] for o in ("dmy", "mdy")}
            fits = {o: tuple(r) for o, r in readings.items() if None not in r}
            if not fits:
                expected = None
            elif len(set(fits.values())) > 1:
                expected = "open"
            else:
                expected = next(iter(fits))
            assert find_order(some) == expected
            if expected == "open":
                assert {find_order(some, o) for o in ("dmy", "mdy")} == {"dmy", "mdy"}


DAYS = ["2024-01-05 10:30", "2024-02-29 11:00", "2023-12-31 23:45", None, "2022-07-01 00:00"]
STAMPS = [None if day is None else dt.datetime.fromisoformat(day) for day in DAYS]
SIZES = [1.5, 2.5, None, 4.5, 0.5]
PARTS = ["when year", "when month", "when weekday", "when hour", "when days"]
TABLES = {
    "pandas": pd.DataFrame({"when": pd.to_datetime(pd.Series(STAMPS)), "size": SIZES}),
    "pandas objects": pd.DataFrame({"when": pd.Series(STAMPS, dtype=object), "size": SIZES}),
    "pandas strings": pd.DataFrame({"when": DAYS, "size": SIZES}),
    "pandas with a zone": pd.DataFrame(
        {"when": pd.to_datetime(pd.Series(STAMPS)).dt.tz_localize("Asia/Tokyo"), "size": SIZES}
    ),
    "polars": pl.DataFrame({"when": STAMPS, "size": SIZES}),
    "polars strings": pl.DataFrame({"when": DAYS, "size": SIZES}),
    "dicts": [{"when": w, "size": s} for w, s in zip(STAMPS, SIZES, strict=True)],
    "german": [
        {"when": w and w.strftime("%d.%m.%Y %H:%M"), "size": s}
        for w, s in zip(STAMPS, SIZES, strict=True)
    ],
}


@pytest.mark.parametrize("form", TABLES)
def test_every_form_of_a_table_says_the_same(form):
    X = TABLES[form]
    schema = read_schema(X)
    assert (schema.inputs, list(schema.names)) == (("when", "size"), [*PARTS, "size"])
    encoded = encode(schema, X, learn=True)
    found = schema.extended(encoded.novel).decode(encoded.blocks)
    assert found["when month"].tolist()[:3] == [1, 2, 12]
    assert found["when weekday"].tolist() == ["Friday", "Thursday", "Sunday", None, "Friday"]
    np.testing.assert_allclose(found["when hour"], [10.5, 11.0, 23.75, np.nan, 0.0])
    np.testing.assert_allclose(found["when days"], [553, 608, 548, np.nan, 0])
    kinds = schema.kinds()
    assert [kinds[name] for name in PARTS[1:]] == ["categorical", "categorical", "real", "real"]


def test_lists_and_arrays_have_dates_too():
    X = np.array(STAMPS, dtype="datetime64[ns]")[:, None]
    names = [name.replace("when", "x0") for name in PARTS]
    for rows in (X, X.astype("datetime64[s]"), [[day] for day in DAYS]):
        schema = read_schema(rows)
        assert list(schema.names) == names
        assert encode(schema, rows, learn=True).n_rows == 5


def test_times_and_durations():
    rows = pd.DataFrame(
        {"at": ["12:30", "1:15 PM", None], "took": pd.to_timedelta([6, 12, 18], "h")}
    )
    schema = read_schema(rows)
    found = schema.decode(encode(schema, rows, learn=True).blocks)
    np.testing.assert_allclose(found["at hour"], [12.5, 13.25, np.nan])
    np.testing.assert_allclose(found["took days"], [0.25, 0.5, 0.75])


def test_only_parts_that_vary_are_columns():
    def parts(*days):
        (date,) = read_schema([{"d": day} for day in days]).dates
        return date.parts

    assert parts("2024-01-01", "2024-01-08") == ("days",)
    assert parts("2024-01-01", "2024-01-02") == ("weekday", "days")
    assert parts("2024-01-01 08:00", "2024-01-01 09:00") == ("hour",)
    assert parts("2024-01-01", "2025-02-04") == ("year", "month", "weekday", "days")
    assert parts("2024-01-01") == ("year", "month", "weekday", "days")  # a stream begins


def test_a_schema_with_dates_goes_to_json_and_back_and_reads_later_tables():
    X = TABLES["german"]
    schema = read_schema(X)
    again = Schema.from_json(json.loads(json.dumps(schema.to_json())))
    assert again == schema
    later = [{"when": "01.01.2030"}, {"size": 2.0}]
    found = again.decode(encode(again, later, learn=False).blocks)
    assert (
        found["when days"].tolist()[0] == dt.date(2030, 1, 1).toordinal() - schema.dates[0].origin
    )
    assert np.isnan(found["when days"][1])
    with pytest.raises(
        ValueError, match="'when' holds dates or times but has the value 'x' in row 1"
    ):
        encode(schema, [{"when": None}, {"when": "x"}], learn=False)
    with pytest.raises(ValueError, match="unknown: 'wen'"):
        encode(schema, [{"wen": None}], learn=False)
    part = X[1:3]  # read as the whole was, though fewer parts vary
    assert read_schema(part, schema.requests_by_input()).names == schema.names


def test_a_table_may_hold_the_parts():
    X = TABLES["dicts"]
    schema = read_schema(X)
    encoded = encode(schema, X, learn=True)
    schema = schema.extended(encoded.novel)
    parts = pd.DataFrame(schema.decode(encoded.blocks))
    again = encode(schema, parts, learn=False)
    for a, b in zip(encoded.blocks, again.blocks, strict=True):
        np.testing.assert_array_equal(a, b)


def test_an_open_order_is_said_and_may_be_given():
    X = pd.DataFrame({"when": ["1/2/2024", "3/4/2023"]})
    with pytest.warns(UserWarning, match=r"'when'.*day and month could change places.*date:dmy"):
        assert read_schema(X).kinds() == {"when": "categorical"}
    for order, month in (("dmy", 2), ("mdy", 1)):
        schema = read_schema(X, {"when": f"date:{order}"})
        encoded = encode(schema, X, learn=True)
        months = schema.extended(encoded.novel).decode(encoded.blocks)["when month"]
        assert months.tolist()[0] == month
    with pytest.raises(ValueError, match="day and month could change places"):
        read_schema(X, {"when": "date"})
    assert read_schema(X, {"when": "categorical"}).dates == ()


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"when": "date:abc"}, "'date:abc' is not a kind of dates"),
        ({"when": "date:ymd:eon"}, "not a kind of dates"),
        ({"wen": "date"}, "columns names 'wen', which is not a column of X"),
        ({"size": "date"}, "'size' holds dates or times but has the value"),
    ],
)
def test_wrong_requests_are_refused(columns, words):
    with pytest.raises(ValueError, match=words):
        read_schema(TABLES["pandas strings"], columns)


def test_names_of_parts_are_nobody_elses():
    schema = read_schema([{"d": "2024-01-01", "d days": 1.5}, {"d": "2024-01-02", "d days": 2.5}])
    assert schema.names == ("d weekday_", "d days_", "d days")
    assert ORDERS == ("ymd", "dmy", "mdy")
