"""Models by name, and recipes whose kinds do not depend on which rows are there."""

import pytest

import infinimix
from infinimix.cli.errors import CommandError
from infinimix.cli.kinds import ColumnInfo
from infinimix.cli.learning import MODELS, Recipe, available, check_effort, find_class, make

INFOS = [
    ColumnInfo(name, kind, 3, 0, "", "")
    for name, kind in [("a", "gaussian"), ("b", "gaussian"), ("c", "binary"), ("d", "real:log")]
]


def test_models_are_those_of_the_library():
    for name in available():
        assert find_class(name) is getattr(infinimix, MODELS[name])
    with pytest.raises(CommandError, match="there is no 'forest'; choose one of aclass"):
        find_class("forest")


def test_a_model_that_is_not_there_yet_is_told(monkeypatch):
    monkeypatch.setitem(MODELS, "later", "LaterClassifier")
    assert "later" not in available()
    with pytest.raises(CommandError, match="has no later yet; choose one of aclass"):
        find_class("later")


def test_models_get_the_options_they_have():
    model = make(infinimix.MaxMarginDPMeans, random_state=3, n_jobs=2, effort="fast")
    assert model.random_state == 3
    with pytest.raises(CommandError, match="--effort: 'huge'"):
        check_effort("huge")


@pytest.mark.parametrize(
    ("columns", "settled"),
    [
        ("text", "text"),
        ("auto", {"a": "gaussian", "b": "gaussian", "c": "binary", "d": "real:log"}),
        (
            {("a", "b"): "gaussian", "d": "real:log"},
            {("a", "b"): "gaussian", "c": "binary", "d": "real:log"},
        ),
    ],
)
def test_kinds_of_parts_are_those_of_the_whole(columns, settled):
    assert Recipe("aclass", INFOS, columns).with_kinds().columns == settled
