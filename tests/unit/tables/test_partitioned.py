"""Tables in partitions, of every source: the columns of the whole table, and clear refusals."""

import numpy as np
import pandas as pd
import pytest

from infinimix import (
    AClassClassifier,
    CRPMixture,
    FiniteMixtureClassifier,
    execution,
    read_partitions,
)
from infinimix.tables import partitioned
from infinimix.tables.partitioned import is_in_partitions

pl = pytest.importorskip("polars", reason="Parquet needs polars or PyArrow")

N = 240
rng = np.random.default_rng(0)
Y = rng.integers(3, size=N)
FRAME = pd.DataFrame(
    {
        "bit": rng.integers(2, size=N),
        "size": np.where(rng.random(N) < 0.1, np.nan, rng.normal(size=N) + Y),
        "word": [f"w{i // 100}" for i in range(N)],  # w2 is in the last partition only
        "kind": [f"class {c}" for c in Y],
    }
)
FEW = {"n_islands": 2, "n_particles": 2, "effort": "fast", "random_state": 0}
ROWS = FRAME.drop(columns="kind")


@pytest.fixture(scope="module")
def alone():
    return AClassClassifier(**FEW).fit(ROWS, FRAME["kind"])


@pytest.fixture
def parquet(tmp_path):
    for i in range(3):
        pl.DataFrame(FRAME.iloc[80 * i : 80 * (i + 1)].to_dict("list")).with_columns(
            pl.col("size").fill_nan(None)
        ).write_parquet(tmp_path / f"{i}.parquet")
    return tmp_path


@pytest.fixture
def csv(tmp_path_factory):
    folder = tmp_path_factory.mktemp("csv")
    for i in range(3):
        FRAME.iloc[80 * i : 80 * (i + 1)].to_csv(folder / f"{i}.csv", index=False)
    return str(folder / "*.csv")


def sources(parquet, csv):
    return {
        "parquet": read_partitions(parquet),
        "several files": read_partitions([parquet / f"{i}.parquet" for i in range(3)]),
        "csv": read_partitions(csv),
        "lazy": pl.scan_parquet(parquet / "*.parquet"),
    }


def test_a_model_of_partitions_is_that_of_the_whole(alone, parquet, csv, monkeypatch):
    monkeypatch.setattr(partitioned, "CELLS", 200)
    monkeypatch.setattr(partitioned, "LEAST_ROWS", 10)
    expected = alone.predict_proba(ROWS)
    for name, table in sources(parquet, csv).items():
        model = AClassClassifier(**FEW).fit(table, "kind")
        assert model.columns_ == alone.columns_, name
        np.testing.assert_array_equal(model.predict_proba(ROWS), expected, err_msg=name)


@pytest.mark.parametrize("make", [execution.serial, execution.threads])
def test_partitions_are_answered_one_by_one(alone, parquet, make):
    rows = read_partitions(parquet, drop=["kind"])
    with make():
        answers = [*alone.predict_proba(rows)]
        assert [len(part) for part in answers] == [80, 80, 80]
        np.testing.assert_array_equal(np.concatenate(answers), alone.predict_proba(ROWS))
        classes = np.concatenate([*alone.predict(rows)])
    np.testing.assert_array_equal(classes, alone.predict(ROWS))


def test_a_stream_of_partitions(parquet):
    streamed = AClassClassifier("auto", **FEW).partial_fit(read_partitions(parquet), "kind")
    expected = AClassClassifier("auto", **FEW)
    for i in range(0, N, 80):
        expected.partial_fit(ROWS.iloc[i : i + 80], FRAME["kind"].iloc[i : i + 80])
    np.testing.assert_array_equal(streamed.predict_proba(ROWS), expected.predict_proba(ROWS))


def test_labels_of_a_stream_stand_beside_its_rows(parquet):
    """Too many or too few would be found out only after most rows were learned."""
    model = AClassClassifier("auto", **FEW)
    with pytest.raises(ValueError, match="let y be the name of a column, not a list"):
        model.partial_fit(read_partitions(parquet), FRAME["kind"].tolist())
    assert not model.__sklearn_is_fitted__()


def test_a_stream_passes_over_a_partition_without_rows(tmp_path):
    for name, rows in (("a", FRAME[:80]), ("b", FRAME[:0]), ("c", FRAME[80:])):
        rows.to_csv(tmp_path / f"{name}.csv", index=False)
    model = AClassClassifier("auto", **FEW).partial_fit(read_partitions(tmp_path), "kind")
    assert model.class_count_.sum() == N


def test_reading_partitions_shows_how_far_it_is(parquet, capsys):
    AClassClassifier(**FEW, verbose=True).fit(read_partitions(parquet), "kind")
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("infinimix: 3 partitions read in ")
    assert second.startswith("infinimix: 2 islands filtered in ")


def test_other_models_gather_too(parquet):
    model = CRPMixture(**FEW).fit(read_partitions(parquet, drop=["kind"]))
    expected = CRPMixture(**FEW).fit(ROWS)
    np.testing.assert_array_equal(model.score_samples(ROWS), expected.score_samples(ROWS))
    options = {"n_components": 2, "n_init": 1, "random_state": 0}
    mixture = FiniteMixtureClassifier(**options).fit(read_partitions(parquet), "kind")
    expected = FiniteMixtureClassifier(**options).fit(ROWS, FRAME["kind"]).predict_proba(ROWS)
    found = [*mixture.predict_proba(read_partitions(parquet, drop=["kind"]))]
    np.testing.assert_array_equal(np.concatenate(found), expected)


def test_numbers_in_one_file_and_text_in_another_are_text(tmp_path):
    for name, cells in {"a": ["01", "02"], "b": ["03", "x"]}.items():
        text = "\n".join(["code,y", *(f"{cell},{i}" for i, cell in enumerate(cells))])
        (tmp_path / f"{name}.csv").write_text(text, encoding="utf-8")
    table = read_partitions(tmp_path).gather(execution.map)
    assert table.pick(0).values == ["01", "02", "03", "x"]
    assert table.pick(1).values.tolist() == [0, 1, 0, 1]


def test_refusals_name_what_is_wrong(tmp_path, parquet):
    with pytest.raises(FileNotFoundError, match="nothing"):
        read_partitions(tmp_path / "nothing")
    with pytest.raises(ValueError, match="no column 'colour'; it has 'bit'"):
        read_partitions(parquet, drop=["colour"])
    with pytest.raises(ValueError, match="y names the column 'colour'"):
        AClassClassifier(**FEW).fit(read_partitions(parquet), "colour")
    with pytest.raises(ValueError, match="sample_weight is for tables in memory"):
        AClassClassifier(**FEW).fit(read_partitions(parquet), "kind", sample_weight=[1] * N)
    pl.DataFrame({"bit": [1]}).write_parquet(parquet / "9.parquet")
    with pytest.raises(ValueError, match="9.parquet has no column 'size'"):
        read_partitions(parquet)
    (parquet / "9.parquet").write_bytes(b"no parquet at all")
    with pytest.raises(ValueError, match="9.parquet cannot be read as Parquet"):
        read_partitions(parquet)
    (parquet / "9.csv").write_text("bit\n1\n", encoding="utf-8")
    with pytest.raises(ValueError, match="several formats: csv, parquet"):
        read_partitions(parquet)


def test_a_partition_without_rows_is_passed_over(parquet, alone):
    pl.read_parquet(parquet / "0.parquet").clear().write_parquet(parquet / "00.parquet")
    model = AClassClassifier(**FEW).fit(read_partitions(parquet), "kind")
    np.testing.assert_array_equal(model.predict_proba(ROWS), alone.predict_proba(ROWS))


class Greedy:
    name = "part 7"

    def frames(self, text=()):
        raise MemoryError


def test_too_little_memory_names_the_partition():
    with pytest.raises(MemoryError, match="part 7 does not fit into memory"):
        partitioned.PartitionedTable([Greedy()], ["a"]).gather(execution.map)


def test_only_what_is_in_partitions_is_taken_for_that():
    for X in (FRAME, FRAME.to_numpy(), [[1]], pl.DataFrame({"a": [1]}), None, "kind"):
        assert not is_in_partitions(X)
    assert is_in_partitions(pl.LazyFrame({"a": [1]}))


def test_an_array_of_dask(alone):
    da = pytest.importorskip("dask.array", reason="needs infinimix[dask]")
    numbers = ROWS[["bit", "size"]].to_numpy()
    expected = AClassClassifier(**FEW).fit(numbers, Y).predict_proba(numbers)
    X, y = da.from_array(numbers, chunks=(100, 1)), da.from_array(Y, chunks=70)
    model = AClassClassifier(**FEW).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X).compute(), expected)
    assert model.predict_proba(X).shape == (N, 3)
    assert model.predict(X).compute().tolist() == expected.argmax(axis=1).tolist()


def test_a_frame_of_dask(alone):
    pytest.importorskip("pyarrow", reason="needs infinimix[dask]")
    dd = pytest.importorskip("dask.dataframe", reason="needs infinimix[dask]")
    frame = dd.from_pandas(FRAME, npartitions=3)
    for model in (
        AClassClassifier(**FEW).fit(frame, "kind"),
        AClassClassifier(**FEW).fit(frame.drop(columns="kind"), frame["kind"]),
    ):
        found = model.predict_proba(frame.drop(columns="kind"))
        np.testing.assert_array_equal(found.compute(), alone.predict_proba(ROWS))
