"""Which word has which column of the model: a list that grows at its end.

Nothing here is changed by reading documents. Words that a call finds are novel; the caller takes
them in with `extend` once nothing can fail any more. Columns of matrices without names are words
too: their names are their numbers, and an array instead of a dict finds them.
"""

from collections.abc import Collection, Iterable, Sequence
from numbers import Integral
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from infinimix.tables.word_index import WordIndex

__all__ = ["Vocabulary"]

Novel = list[str] | NDArray[np.int64]
MOST_COLUMNS = 1 << 26


class Vocabulary:
    """Words, or numbers of columns, to columns of a model.

    Parameters
    ----------
    words : sequence of strings, or int64 array
        What it begins with. Strings are words; numbers are columns of matrices without names.
        An empty vocabulary becomes what its first words are.

    Attributes
    ----------
    kind : "words", "columns" or None
        What it holds; None as long as it is empty.
    words : list of strings, or of numbers
        The word of each column.

    Examples
    --------
    >>> from infinimix.tables.vocabulary import Vocabulary
    >>> vocabulary = Vocabulary(["red", "green"])
    >>> vocabulary.extend(["blue"])
    >>> len(vocabulary), vocabulary.words
    (3, ['red', 'green', 'blue'])
    >>> vocabulary.keep([2, 0]).words
    ['blue', 'red']
    """

    __slots__ = ("_index", "_table", "known", "words")

    def __init__(self, words: Sequence[Any] | NDArray[np.int64] = ()) -> None:
        self.words: list[Any] = []
        self.known: dict[str, int] = {}
        self._table: np.ndarray = np.empty(0, np.int64)
        self._index: WordIndex | None = None  # made when words are first looked up
        self.extend(words)

    @property
    def kind(self) -> str | None:
        if not self.words:
            return None
        return "words" if self.known else "columns"

    @property
    def table(self) -> NDArray[np.int64]:
        """The column of each number, -1 where it has none; numbers beyond its end have none."""
        return self._table

    @property
    def index(self) -> WordIndex:
        """The same words for compiled code; it grows with the vocabulary."""
        if self._index is None:
            self._index = WordIndex(self.words)
        return self._index

    def __len__(self) -> int:
        return len(self.words)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vocabulary) and self.words == other.words

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Vocabulary of {len(self)} {self.kind or 'words'}"

    def __deepcopy__(self, memo: dict[int, Any]) -> "Vocabulary":
        """A copy in one step: words never change, and one by one they take half a second."""
        found = Vocabulary()
        found.words, found.known = self.words.copy(), self.known.copy()
        found._table = self._table.copy()
        found._index = self._index and self._index.copy()
        return found

    def find(self, words: Collection[str]) -> tuple[NDArray[np.int64], int]:
        """The column of each word, -1 where it has none, and how many these are.

        A string is what it says: those of NumPy and members of enumerations, too. Raises TypeError
        if a word is no string.
        """
        found = self.index.find(words)
        if found is None:
            columns = np.array([self.known.get(str.__str__(w), -1) for w in words], np.int64)
            return columns, int(np.count_nonzero(columns < 0))
        return found

    def extend(self, novel: Sequence[Any] | NDArray[np.int64]) -> None:
        """Take in new words, which get the next columns."""
        if len(novel) == 0:
            return
        if type(novel[0]) is str:  # at once: a stream extends it with nearly every document
            self._extend_words(cast("list[str]", novel))
        elif isinstance(novel, np.ndarray):
            self._extend_numbers(novel.astype(np.int64, casting="same_kind"))
        elif isinstance(novel[0], Integral):
            self._extend_numbers(np.array(novel, np.int64))
        else:
            self._extend_words(novel)

    def _extend_words(self, novel: Sequence[str]) -> None:
        if self.kind == "columns":
            raise ValueError("this vocabulary holds numbers of columns, no words")
        size = len(self.words)
        added = dict(zip(novel, range(size, size + len(novel)), strict=True))
        if len(added) < len(novel) or not self.known.keys().isdisjoint(added):
            raise ValueError("a new word is in the vocabulary already, or twice among the new ones")
        if {*map(type, novel)} != {str}:
            raise TypeError("words of a vocabulary are strings")
        self.known.update(added)
        self.words.extend(novel)
        if self._index is not None:
            self._index.extend(novel)

    def _extend_numbers(self, novel: NDArray[np.int64]) -> None:
        if self.kind == "words":
            raise ValueError("this vocabulary holds words, no numbers of columns")
        if novel.min() < 0:
            raise ValueError("columns are counted from 0")
        if novel.max() >= MOST_COLUMNS:  # a file may say anything, and the table is as long
            raise ValueError(
                f"column {novel.max()} is beyond the {MOST_COLUMNS:,} that a matrix may have; use "
                "fewer, or pass words and Text(hash_bits=...)"
            )
        table = self._room(int(novel.max()) + 1)
        columns, old = np.arange(len(self), len(self) + len(novel)), table[novel]
        table[novel] = columns
        if (old >= 0).any() or (table[novel] != columns).any():
            table[novel] = old
            raise ValueError("a new column is in the vocabulary already, or twice among the new")
        self._table = table
        self.words.extend(novel.tolist())

    def _room(self, size: int) -> NDArray[np.int64]:
        """The table, at least doubled if it is too short: a stream may widen one by one."""
        if size <= len(self._table):
            return self._table
        table = np.full(max(size, 2 * len(self._table)), -1, np.int64)
        table[: len(self._table)] = self._table
        return table

    def keep(self, columns: ArrayLike) -> "Vocabulary":
        """A vocabulary of these columns only, numbered in the order in which they are given.

        A word that is dropped is novel when it comes again.
        """
        asked = np.asarray(columns)
        if asked.size and asked.dtype.kind not in "iu":
            raise TypeError(f"columns to keep must be whole numbers, not {asked.dtype}")
        chosen = asked.ravel().tolist()
        if chosen and not 0 <= min(chosen) <= max(chosen) < len(self):
            raise IndexError(f"columns to keep must be from 0 to {len(self) - 1}")
        return Vocabulary([self.words[column] for column in chosen])

    def state(self) -> dict[str, Any]:
        """The words as an array of numbers or a list of strings, for files."""
        if self.kind == "columns":
            return {"columns": np.array(self.words, np.int64)}
        return {"words": list(self.words)}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> "Vocabulary":
        """The vocabulary that `state` described, checked."""
        words: Iterable[Any]
        if "columns" in state:
            words = state["columns"]
            if not isinstance(words, np.ndarray) or words.ndim != 1 or words.dtype != np.int64:
                raise ValueError("the columns of a vocabulary are not a vector of whole numbers")
            return cls(words)
        words = state["words"]
        if not isinstance(words, list) or not all(type(word) is str for word in words):
            raise ValueError("the words of a vocabulary are not a list of strings")
        return cls(words)
