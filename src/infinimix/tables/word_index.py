"""Words in the bytes of texts, cut and looked up by compiled code, with no string for each.

Nine of ten words of a stream are known already: to find the column of one, its bytes are enough.
`WordIndex` is a hash table (open addressing) from the bytes of words to their columns. It says the
same as the dict of a vocabulary; only words that it does not find become strings. Hashes start
from a number of the process, so that nobody can prepare words that collide; answers do not depend
on it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from infinimix.kernels.compile import entry, kernel

__all__ = ["Cut", "WordIndex", "WordRoom"]

Bytes = NDArray[np.uint8]
Ints = NDArray[np.int64]

BLANK = ord(" ")  # what every character outside words becomes
SHORTEST = 2  # characters of a word
PRIME = np.uint64(0x100000001B3)  # of the hash by Fowler, Noll and Vo
SEED = int.from_bytes(os.urandom(8), "little")
HALF = np.uint64(32)
TAG = np.int64(0x7FFFFFFF)
_CUT: Any = None  # the machine code of `_cut`, whose arguments are always of one type


class Cut(NamedTuple):
    """Texts as columns: those of text i are ``columns[starts[i]:starts[i + 1]]``.

    Attributes
    ----------
    columns : int64 array
        -1 for words that are not in the index.
    starts : int64 array
        Where each text begins, and the end.
    unknown : list of str
        The words that are not in the index, as often as they occur, in their order.
    """

    columns: Ints
    starts: Ints
    unknown: list[str]


class WordRoom:
    """Arrays for the words of texts.

    Attributes
    ----------
    ends, starts, columns, spans : int64 arrays
        Where texts end; where their words begin, and the end; the columns of words; where those
        without column begin and end.
    """

    def __init__(self, n_texts: int, n_letters: int) -> None:
        self.ends, self.starts = np.zeros(n_texts, np.int64), np.zeros(n_texts + 1, np.int64)
        self.columns = self.spans = np.empty(0, np.int64)
        self.reserve(n_letters)

    def reserve(self, n_letters: int) -> None:
        """Have place for the words that so many characters can be; a blank follows each."""
        most = (n_letters + len(self.ends)) // (SHORTEST + 1)
        if most > len(self.columns):
            self.columns, self.spans = np.empty(most, np.int64), np.empty(2 * most, np.int64)


@kernel
def _slot(h: Any, slots: Ints) -> Any:
    """Where the search for a word begins."""
    return np.int64((h ^ (h >> HALF)) & np.uint64(slots.size - 1))


@kernel
def _tag(h: Any) -> Any:
    """31 bits of the hash that stand in the slot, above the column."""
    return np.int64(h >> HALF) & TAG


@kernel
def _insert(
    letters: Bytes, offsets: Ints, first: int, last: int, slots: Ints, seed: np.uint64
) -> None:
    """Give words `first` to `last` a slot each; there is one empty for every one of them."""
    for column in range(first, last):
        h = seed
        for k in range(offsets[column], offsets[column + 1]):
            h = (h ^ np.uint64(letters[k])) * PRIME
        s = _slot(h, slots)
        while slots[s] >= 0:
            s = (s + 1) & (slots.size - 1)
        slots[s] = (_tag(h) << 32) | column


@kernel
def _same(
    text: Bytes, begin: int, end: int, fold: Bytes, letters: Bytes, first: int, last: int
) -> bool:
    """Whether a stretch of text is this word."""
    if end - begin != last - first:
        return False
    k = 0
    while k < end - begin and letters[first + k] == fold[text[begin + k]]:
        k += 1
    return k == end - begin


@kernel
def _find(
    h: Any, text: Bytes, begin: int, end: int, fold: Bytes, letters: Bytes, offsets: Ints,
    slots: Ints,
) -> int:  # fmt: skip
    """Return the column of a word, or -1."""
    s, tag = _slot(h, slots), _tag(h)
    while slots[s] >= 0:
        if slots[s] >> 32 == tag:
            column = slots[s] & 0xFFFFFFFF
            if _same(text, begin, end, fold, letters, offsets[column], offsets[column + 1]):
                return column
        s = (s + 1) & (slots.size - 1)
    return -1


@kernel
def _cut(
    text: Bytes, ends: Ints, fold: Bytes, letters: Bytes, offsets: Ints, slots: Ints,
    seed: np.uint64, columns: Ints, starts: Ints, spans: Ints,
) -> int:  # fmt: skip
    """Fill `columns`, `starts` and the `spans` of unknown words; return how many these are."""
    n = unknown = k = 0
    for i in range(ends.size):
        starts[i] = n
        while k < ends[i]:
            begin, h = k, seed
            while k < ends[i]:
                c = fold[text[k]]
                if c == BLANK:
                    break
                h = (h ^ np.uint64(c)) * PRIME
                k += 1
            if k - begin >= SHORTEST:
                columns[n] = _find(h, text, begin, k, fold, letters, offsets, slots)
                if columns[n] < 0:
                    spans[2 * unknown], spans[2 * unknown + 1] = begin, k
                    unknown += 1
                n += 1
            k += 1 if k < ends[i] else 0  # the blank
    starts[ends.size] = n
    return unknown


class WordIndex:
    """The columns of words by their bytes: column i has the i-th word.

    Parameters
    ----------
    words : sequence of strings
        Different ones.
    seed : int
        Where hashes start.

    Examples
    --------
    >>> from infinimix.tables.text import Text
    >>> from infinimix.tables.word_index import WordIndex
    >>> index = WordIndex(["red", "fish"])
    >>> found = index.cut(["Red fish", "a blue fish"], Text())
    >>> found.columns.tolist(), found.starts.tolist(), found.unknown
    ([0, 1, -1, 1], [0, 2, 4], ['blue'])
    """

    def __init__(self, words: Sequence[str] = (), seed: int = SEED) -> None:
        self.size, self._seed = 0, np.uint64(seed)
        self._letters: np.ndarray = np.empty(1 << 10, np.uint8)
        self._offsets: np.ndarray = np.zeros(1 << 7, np.int64)
        self._slots = np.full(1 << 8, -1, np.int64)
        self.extend(words)

    def extend(self, words: Sequence[str]) -> None:
        """Take in new words, which get the next columns."""
        if not words:
            return
        parts = [word.encode("utf-8", "surrogatepass") for word in words]
        first, size = self.size, self.size + len(parts)
        self._offsets = _room(self._offsets, size + 1)
        np.cumsum(list(map(len, parts)), out=self._offsets[first + 1 : size + 1])
        self._offsets[first + 1 : size + 1] += self._offsets[first]
        begin, end = self._offsets[first], self._offsets[size]
        self._letters = _room(self._letters, int(end))
        self._letters[begin:end] = np.frombuffer(b"".join(parts), np.uint8)
        if 2 * size > len(self._slots):  # at most half of them are taken: searches stay short
            self._slots = np.full(1 << (4 * size).bit_length(), -1, np.int64)
            first = 0
        _insert(self._letters, self._offsets, first, size, self._slots, self._seed)
        self.size = size

    def cut(self, documents: Sequence[str], text: Any) -> Cut:
        """Cut texts into words and find their columns.

        `text` says how, and is ``text.compiled``; a text that is not of ASCII characters alone is
        cut by its pattern first.
        """
        whole = "".join(documents)
        lengths = list(map(len, documents))
        if whole.isascii():
            letters = whole.encode()
        else:
            parts = [_plain(document, text) for document in documents]
            letters, lengths = b"".join(parts), list(map(len, parts))
        room = WordRoom(len(lengths), len(letters))
        np.cumsum(lengths, out=room.ends)
        unknown = self._run(letters, text, room)
        return Cut(room.columns[: room.starts[-1]], room.starts, unknown)

    def cut_one(self, document: str, text: Any, room: WordRoom) -> list[str]:
        """Cut one text in a room for one; return its unknown words."""
        letters = _plain(document, text)
        room.reserve(len(letters))
        room.ends[0] = len(letters)
        return self._run(letters, text, room)

    def _run(self, letters: bytes, text: Any, room: WordRoom) -> list[str]:
        known = self._letters, self._offsets, self._slots, self._seed
        source = np.frombuffer(letters, np.uint8), room.ends, text.fold_array
        n = _run_cut(*source, *known, room.columns, room.starts, room.spans)
        return _words_of(letters, room.spans[: 2 * n].tolist(), text.fold) if n else []


def _run_cut(*args: Any) -> int:
    """Run the loop, past the look at its arguments, which takes as long as a document does."""
    global _CUT
    if _CUT is None:
        _CUT = entry(_cut, *args)
    found: int = _CUT(*args)
    return found


def _plain(document: str, text: Any) -> bytes:
    """Return a text in which words stand between blanks, as bytes."""
    if document.isascii():
        return document.encode()
    return " ".join(text.tokens(document)).encode()


def _words_of(letters: bytes, spans: list[int], fold: bytes) -> list[str]:
    pairs = zip(spans[::2], spans[1::2], strict=True)
    return [letters[begin:end].translate(fold).decode() for begin, end in pairs]


def _room(array: NDArray[Any], size: int) -> NDArray[Any]:
    """Return an array of at least this size that begins with this one; at least doubled."""
    if size <= len(array):
        return array
    wider = np.zeros(max(size, 2 * len(array)), array.dtype)
    wider[: len(array)] = array
    return wider
