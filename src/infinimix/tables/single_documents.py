"""Single documents of a stream, read into arrays that are used again.

A stream hands over one document, learns it or asks about it, and hands over the next.
`read_documents` would spend its time there on choosing a way and on making arrays. Strings are cut,
words looked up and counts added up by the same functions as there, and a document that takes a
closer look (another type, a word that is no string, a count that is none) is left to it.

Hidden here: a reader serves one caller at a time. Threads take different readers (`take_reader`),
and put them back (`take_back`) when the document is done with.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from infinimix.tables.bags import convert_counts
from infinimix.tables.counts import run_tidy
from infinimix.tables.documents import number_unknown, number_words
from infinimix.tables.text import Text
from infinimix.tables.vocabulary import Vocabulary
from infinimix.tables.word_index import WordRoom

__all__ = ["DocumentReader", "take_back", "take_reader"]

Ints = NDArray[np.int64]
SMALLEST = 256  # words of a document that there is room for at first


class DocumentReader:
    """Reads single documents by a vocabulary, as `read_documents` does where it learns.

    Attributes
    ----------
    indptr, indices, data : arrays
        The latest document, as in `Documents` but with room for more words behind it; the next
        one overwrites it.
    novel : list of strings
        Its words without column.
    n_columns : int
        The number of columns, with the novel ones.
    held : anything
        What a caller has made of the arrays; None when these are other ones.
    """

    def __init__(self) -> None:
        self.indptr, self._starts = np.zeros(2, np.int64), np.zeros(2, np.int64)
        self.novel: list[str] = []
        self.held: Any = None
        self.n_columns, self._unknown = 0, np.zeros(1)
        self._room = WordRoom(1, 0)
        self._reserve(SMALLEST)

    def _reserve(self, size: int) -> None:
        self.indices, self.data = np.zeros(size, np.int32), np.zeros(size)
        self._ones, self.held = np.ones(size), None

    @property
    def n_words(self) -> int:
        """How many different words the latest document has."""
        return int(self.indptr[1])

    def read(self, document: Any, vocabulary: Vocabulary, text: Text) -> bool:
        """Read a document; False leaves it to `read_documents`."""
        if text.hash_bits is not None or not vocabulary.known:
            return False
        words, counts, kind = document, None, type(document)
        if kind is str:
            if text.compiled:
                return self._cut(document, vocabulary, text)
            words = text.tokens(document)
        elif kind is dict:
            counts = convert_counts([*document.values()])
            if counts is None:
                return False
        elif kind is not list or {*map(type, document)} != {str}:
            return False
        if len(words) > len(self.data):
            self._reserve(2 * len(words))
        return self._place(
            words, self._ones[: len(words)] if counts is None else counts, vocabulary
        )

    def _cut(self, document: str, vocabulary: Vocabulary, text: Text) -> bool:
        """Read a text in compiled code, as `read_documents` does."""
        room, size = self._room, len(vocabulary.words)
        unknown = vocabulary.index.cut_one(document, text, room)
        n_words = int(room.starts[1])
        if n_words > len(self.data):
            self._reserve(2 * n_words)
        self.novel = number_unknown(room.columns[:n_words], unknown, size)
        self.n_columns = size + len(self.novel)
        return self._tidy(room.starts, room.columns, self._ones)

    def _tidy(self, starts: Ints, columns: Ints, counts: NDArray[np.float64]) -> bool:
        room = self.indptr, self.indices, self.data, self._unknown
        return run_tidy(starts, columns, counts, *room, False) < 0

    def _place(self, words: Any, counts: NDArray[np.float64], vocabulary: Vocabulary) -> bool:
        try:
            columns, unknown = vocabulary.find(words)
        except TypeError:  # a word is no string
            return False
        size = len(vocabulary.words)
        self.novel = number_words(words, counts, columns, size) if unknown else []
        self.n_columns, self._starts[1] = size + len(self.novel), len(columns)
        return self._tidy(self._starts, columns, counts)

    def blur(self) -> None:
        """Let all words without a column share the next one, as answers take them."""
        if self.novel:
            known, end = self.n_columns - len(self.novel), self.indptr[1]
            self.indices[end - len(self.novel) : end] = known  # the highest are the last
            self.n_columns = known + 1


_READERS: list[DocumentReader] = []


def take_reader() -> DocumentReader:
    """A reader that nobody uses now."""
    try:
        return _READERS.pop()
    except IndexError:
        return DocumentReader()


def take_back(reader: DocumentReader) -> None:
    """Let others use a reader."""
    _READERS.append(reader)
