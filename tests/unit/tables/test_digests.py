"""Digests of partitions: merged in any way, they decide the schema of the whole table."""

import numpy as np
import pandas as pd
import pytest

from infinimix.tables import encode, read_schema
from infinimix.tables.digests import decide_whole, digest, merge, read_schema_of
from infinimix.tables.kinds import Rule
from infinimix.tables.packed import PackedTable
from infinimix.tables.partitioned import pack_frame

N = 400


def columns(rng):
    """Columns of every kind, and some whose kind only all cells together tell."""
    late = np.arange(N) >= N - 3
    return {
        "bit": rng.integers(2, size=N),
        "flag": rng.random(N) < 0.5,
        "holes in bits": np.where(rng.random(N) < 0.2, np.nan, rng.integers(2, size=N)),
        "late two": np.where(late, 2, rng.integers(2, size=N)),
        "late half": np.where(late, 0.5, rng.integers(2, size=N)),
        "late word": ["x" if one else f"w{i % 3}" for i, one in enumerate(late)],
        "few": rng.integers(3, 7, size=N),
        "too few of each": np.where(rng.random(N) < 0.95, np.nan, rng.integers(3, 9, size=N)),
        "many": rng.integers(40, size=N),
        "real": rng.normal(size=N),
        "skewed": np.exp(1.5 * rng.normal(size=N)),
        "spiked": np.where(rng.random(N) < 0.4, 0.0, rng.exponential(size=N)),
        "rounded": np.round(rng.normal(size=N), 1),
        "empty": np.full(N, np.nan),
        "objects": [None if i % 7 == 0 else bool(i % 2) for i in range(N)],
        "first empty": [None if i < N // 2 else f"c{i % 4}" for i in range(N)],
    }


def schema_of_parts(frame, cuts, kinds, rule):
    ends = [*cuts, len(frame)]
    parts = [pack_frame(frame.iloc[a:b]) for a, b in zip([0, *cuts], ends, strict=True) if b > a]
    whole = PackedTable(parts)

    def merged(digests):
        """In pairs, as a tree does."""
        while len(digests) > 1:
            digests = [merge(digests[i : i + 2]) for i in range(0, len(digests), 2)]
        return digests[0]

    found = [merged([digest(part.columns[j]) for part in parts]) for j in range(frame.shape[1])]
    asked = []

    def ask(some):
        asked.extend(one.name for one in some)
        return [decide_whole(whole.pick(one.at), one, rule) for one in some]

    outline = parts[0]._replace(n_rows=len(frame))
    return read_schema_of(outline, found, kinds, rule, ask), asked


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    "kinds", ["auto", {"few": "real", "many": "categorical", "bit": "count", "spiked": "spiked"}]
)
def test_the_schema_is_that_of_the_whole_table(seed, kinds):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(columns(rng))
    first = read_schema(frame, kinds, spikes=True)
    expected = first.extended(encode(first, frame, learn=True).novel)
    cuts = np.sort(rng.integers(1, N, size=rng.integers(1, 6))).tolist()
    found, asked = schema_of_parts(frame, cuts, kinds, Rule(spikes=True))
    assert found == expected
    assert found.to_json() == expected.to_json()
    assert not {"bit", "flag", "holes in bits", "late word", "first empty"} & {*asked}


def test_a_table_with_dates_is_left_to_others():
    frame = pd.DataFrame({"day": pd.date_range("2024-01-01", periods=60), "bit": [0, 1] * 30})
    assert schema_of_parts(frame, [20, 40], "auto", Rule())[0] is None


def test_what_is_wrong_is_said_of_the_whole_column():
    frame = pd.DataFrame({"size": [*range(50), np.inf, *range(50)] * 2})
    with pytest.raises(ValueError, match="row 50"):
        schema_of_parts(frame, [60], "categorical", Rule())
