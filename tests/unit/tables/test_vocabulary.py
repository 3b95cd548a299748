"""Vocabularies of words and of numbers: growing, shrinking, copies."""

import copy
import json
import pickle

import numpy as np
import pytest

from infinimix.tables.vocabulary import Vocabulary


def test_kinds_come_from_the_first_words():
    vocabulary = Vocabulary()
    assert (vocabulary.kind, len(vocabulary)) == (None, 0)
    vocabulary.extend([])
    vocabulary.extend(np.empty(0, np.int64))
    assert vocabulary.kind is None
    assert Vocabulary(["a"]).kind == "words"
    assert Vocabulary(np.array([4])).kind == "columns"
    assert repr(Vocabulary(["a"])) == "Vocabulary of 1 words"


def test_words_get_the_next_columns():
    vocabulary = Vocabulary(["b"])
    vocabulary.extend(["c", "a"])
    assert vocabulary.words == ["b", "c", "a"]
    assert vocabulary.known == {"b": 0, "c": 1, "a": 2}


def test_numbers_get_the_next_columns():
    vocabulary = Vocabulary()
    for number in (5, 0, 9, 1):
        vocabulary.extend(np.array([number]))
    assert vocabulary.words == [5, 0, 9, 1]
    assert vocabulary.table[:10].tolist() == [1, 3, -1, -1, -1, 0, -1, -1, -1, 2]
    assert (vocabulary.table[10:] == -1).all()


@pytest.mark.parametrize("words", [["a", "b", "c", "d"], np.array([3, 0, 2, 7])])
def test_keep_numbers_anew_and_leaves_the_first_as_it_was(words):
    vocabulary = Vocabulary(words)
    kept = vocabulary.keep(np.array([3, 1]))
    assert kept.words == [words[3], words[1]]
    assert vocabulary == Vocabulary(words)
    kept.extend([words[0]])
    assert kept.words == [words[3], words[1], words[0]]
    assert vocabulary.keep([]) == Vocabulary()
    for columns in ([4], [-1]):
        with pytest.raises(IndexError, match="from 0 to 3"):
            vocabulary.keep(columns)
    with pytest.raises(ValueError, match="twice"):
        vocabulary.keep([0, 0])


@pytest.mark.parametrize(
    ("first", "novel"),
    [
        (["a"], ["a"]),
        (["a"], ["b", "b"]),
        (["a"], np.array([1])),
        ([3], [3]),
        ([3], [4, 4]),
        ([3], [-1]),
        ([3], ["a"]),
    ],
)
def test_wrong_extensions_change_nothing(first, novel):
    vocabulary = Vocabulary(first)
    table = vocabulary.table.copy()
    with pytest.raises(ValueError):
        vocabulary.extend(novel)
    assert vocabulary == Vocabulary(first)
    assert vocabulary.known == Vocabulary(first).known
    assert np.array_equal(vocabulary.table, table)


@pytest.mark.parametrize("words", [[], ["a", "\udcff", ""], np.array([3, 0])])
def test_copies_and_states(words):
    vocabulary = Vocabulary(words)
    state = vocabulary.state()
    if "words" in state:
        state = json.loads(json.dumps(state))
    for again in (
        Vocabulary.from_state(state),
        pickle.loads(pickle.dumps(vocabulary)),
        copy.deepcopy(vocabulary),
    ):
        assert again == vocabulary
        again.extend(["new"] if again.kind != "columns" else [8])
        assert len(again) == len(vocabulary) + 1


@pytest.mark.parametrize(
    "state",
    [
        {"words": "ab"},
        {"words": ["a", 1]},
        {"words": ["a", "a"]},
        {"columns": [1, 2]},
        {"columns": np.array([1.5])},
        {"columns": np.array([1, 1])},
        {"columns": np.array([-1])},
    ],
)
def test_damaged_states_are_refused(state):
    with pytest.raises(ValueError):
        Vocabulary.from_state(state)


def test_columns_beyond_what_a_table_can_hold_are_refused_before_it_is_made():
    vocabulary = Vocabulary(np.array([3, 1]))
    for make in (vocabulary.extend, lambda numbers: Vocabulary.from_state({"columns": numbers})):
        with pytest.raises(ValueError, match="column 1000000000000 is beyond"):
            make(np.array([2, 10**12]))
    assert vocabulary.words == [3, 1]


def test_a_copy_finds_its_own_words():
    vocabulary = Vocabulary(["red", "fish"])
    assert vocabulary.find(["fish", "pond"])[0].tolist() == [1, -1]
    other = copy.deepcopy(vocabulary)
    other.extend(["pond"])
    assert other.find(["fish", "pond"])[0].tolist() == [1, 2]
    assert vocabulary.find(["fish", "pond"])[0].tolist() == [1, -1]
