"""Words in the bytes of texts, cut and looked up by compiled code, with no string for each.

Nine of ten words of a stream are known already: to find the column of one, its bytes are enough.
`WordIndex` is a hash table (open addressing) from the bytes of words to their columns. It says the
same as the dict of a vocabulary; only words that it does not find become strings. Hashes start
from a number of the process, so that nobody can prepare words that collide; answers do not depend
on it.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from infinimix.kernels.held import hold
from infinimix.tables.word_slots import SHORTEST, KnownWords, cut_texts, find_all, run, take_in

__all__ = ["Cut", "WordIndex", "WordRoom"]

Bytes = NDArray[np.uint8]
Ints = NDArray[np.int64]

SEED = int.from_bytes(os.urandom(8), "little")
AS_IT_IS = np.arange(256, dtype=np.uint8)  # a fold that changes nothing


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
        letters, offsets = np.empty(1 << 10, np.uint8), np.zeros(1 << 7, np.int64)
        self._keep(KnownWords(letters, offsets, np.full(1 << 8, -1, np.int64)))
        self.extend(words)

    def _keep(self, known: KnownWords) -> None:
        self._known, self._held = known, hold(known)

    def copy(self) -> WordIndex:
        """An index of the same words that grows by itself."""
        found = WordIndex(seed=int(self._seed))
        found.size = self.size
        letters, offsets, slots = self._known
        found._keep(KnownWords(letters.copy(), offsets.copy(), slots.copy()))
        return found

    def extend(self, words: Sequence[str]) -> None:
        """Take in new words, which get the next columns."""
        if not words:
            return
        parts = [word.encode("utf-8", "surrogatepass") for word in words]
        added, lengths = b"".join(parts), np.array([*map(len, parts)], np.int64)
        unplaced, size = self.size, self.size + len(parts)
        letters, offsets, slots = self._known
        letters = _room(letters, int(offsets[self.size]) + len(added))
        offsets = _room(offsets, size + 1)
        if 2 * size > len(slots):  # at most half of them are taken: searches stay short
            slots = np.full(1 << (4 * size).bit_length(), -1, np.int64)
            unplaced = 0
        if letters is not self._known.letters or offsets is not self._known.offsets or not unplaced:
            self._keep(KnownWords(letters, offsets, slots))
        source = np.frombuffer(added, np.uint8), lengths
        run(take_in, *source, self._held, self.size, unplaced, self._seed)
        self.size = size

    def find(self, words: Collection[str]) -> tuple[Ints, int] | None:
        """The column of each word, -1 where it has none, and how many these are.

        None if a word has a character that stands between words here. Raises TypeError if one is
        no string.
        """
        text = "\0".join(words).encode("utf-8", "surrogatepass")
        room: Ints = np.empty((3, len(words)), np.int64)
        if not len(words):
            return room[0], 0
        letters = np.frombuffer(text, np.uint8)
        unknown = run(find_all, letters, self._held, AS_IT_IS, self._seed, room)
        return None if unknown < 0 else (room[0], unknown)

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
        unknown = self._cut_letters(letters, text, room)
        return Cut(room.columns[: room.starts[-1]], room.starts, unknown)

    def cut_one(self, document: str, text: Any, room: WordRoom) -> list[str]:
        """Cut one text in a room for one; return its unknown words."""
        letters = _plain(document, text)
        room.reserve(len(letters))
        room.ends[0] = len(letters)
        return self._cut_letters(letters, text, room)

    def _cut_letters(self, letters: bytes, text: Any, room: WordRoom) -> list[str]:
        source = np.frombuffer(letters, np.uint8), room.ends, text.fold_array
        found = room.columns, room.starts, room.spans
        n = run(cut_texts, *source, self._held, self._seed, *found)
        return _words_of(letters, room.spans[: 2 * n].tolist(), text.fold) if n else []


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
