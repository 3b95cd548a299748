"""Documents in any form to sparse counts: the one door between text and arrays.

`read_documents` never changes the vocabulary. Where it learns, words without column get the next
ones in the order in which they first appear, and are listed; so however rows are cut into calls,
each word has the same column, and each row is the same to the last bit.
"""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from infinimix.tables import errors
from infinimix.tables.bags import Texts, Words, open_documents
from infinimix.tables.counts import find_columns, number_novel, tidy
from infinimix.tables.grids import Grid
from infinimix.tables.hashing import hash_words
from infinimix.tables.text import Text
from infinimix.tables.vocabulary import Novel, Vocabulary

__all__ = ["Documents", "number_unknown", "number_words", "read_documents"]


class Documents(NamedTuple):
    """Sparse counts: row i has ``data[indptr[i]:indptr[i + 1]]`` in the columns `indices` there.

    Attributes
    ----------
    indptr : int64 array
        Where each row begins, and the end.
    indices : int32 array
        Columns of the vocabulary, rising strictly within a row.
    data : float64 array
        Counts, all positive.
    unknown : float64 array
        For each row the summed counts of words that have no column; 0 where they were learned.
    novel : list of strings, or int64 array
        Words for ``vocabulary.extend``, in the order of their columns. With hashing, none.
    n_columns : int
        The number of columns, with the novel ones.
    width : int or None
        The number of columns of a matrix, as the user passed it.
    names : tuple of str, or None
        Their names, if it had some.
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    data: NDArray[np.float64]
    unknown: NDArray[np.float64]
    novel: Novel
    n_columns: int
    width: int | None = None
    names: tuple[str, ...] | None = None

    @property
    def n_rows(self) -> int:
        return len(self.unknown)


def read_documents(
    X: Any,
    vocabulary: Vocabulary,
    text: Text,
    learn: bool,
    *,
    names: Sequence[str] | None = None,
    who: str = "the model",
) -> Documents:
    """Read documents as sparse counts.

    Parameters
    ----------
    X : strings, lists of words, dicts, or a matrix
        One document a row: a list, 1-D array or series of strings, of lists of words, or of dicts
        from words to counts; a data frame with one column of these; a SciPy sparse matrix, 2-D
        array, or data frame of counts, whose columns are the words. Counts are numbers from 0 on,
        also fractions; a count that is NaN or None is no word, a document that is, an empty one.
    vocabulary : Vocabulary
        The words that have a column; not changed, and with ``text.hash_bits`` not looked at.
    text : Text
        How strings become words.
    learn : bool
        With True, words without column get the next ones and are listed in `novel`; keep them
        with ``vocabulary.extend(documents.novel)``. With False they are left out, and `unknown`
        says how many they were. A word that is nowhere counted is not learned.
    names : sequence of str, optional
        Words that are the columns of a matrix without names of its own.
    who : str
        Who expects these words, for error messages.

    Returns
    -------
    Documents

    Raises
    ------
    ValueError, TypeError
        If something is no document, no word or no count, naming the row and the word.

    Examples
    --------
    >>> from infinimix import Text
    >>> from infinimix.tables.documents import read_documents
    >>> from infinimix.tables.vocabulary import Vocabulary
    >>> vocabulary = Vocabulary()
    >>> documents = read_documents(["red red fish", "blue fish"], vocabulary, Text(), learn=True)
    >>> documents.novel, documents.indices.tolist(), documents.data.tolist()
    (['red', 'fish', 'blue'], [0, 1, 1, 2], [2.0, 1.0, 1.0, 1.0])
    >>> vocabulary.extend(documents.novel)
    >>> later = read_documents([{"fish": 3, "bowl": 2}], vocabulary, Text(), learn=False)
    >>> later.indices.tolist(), later.data.tolist(), later.unknown.tolist()
    ([1], [3.0], [2.0])
    """
    bag = open_documents(X, text)
    width, labels = None, None
    novel: Novel
    if isinstance(bag, Texts):
        if vocabulary.known and text.hash_bits is None:
            return _cut_texts(bag.documents, vocabulary, text, learn)
        bag = bag.to_words(text)
    if isinstance(bag, Words):
        columns, novel, n_columns = _place_words(bag, vocabulary, text, learn, who)
    else:
        width, labels = bag.width, bag.names
        bag = _name(bag, names)
        columns, novel, n_columns = _place_columns(bag, vocabulary, text, learn, who)
    indptr, indices, data, unknown, bad = tidy(bag.starts, columns, bag.counts)
    if bad >= 0:
        raise errors.bad_count(_name_of(bag, bad), _row_of(bag, bad), float(bag.counts[bad]))
    return Documents(indptr, indices, data, unknown, novel, n_columns, width, labels)


def _cut_texts(
    documents: Sequence[str], vocabulary: Vocabulary, text: Text, learn: bool
) -> Documents:
    """Read texts in compiled code; only words without column become strings."""
    columns, starts, unknown = vocabulary.index.cut(documents, text)
    size = len(vocabulary)
    novel = number_unknown(columns, unknown, size) if learn else []
    indptr, indices, data, without, _ = tidy(starts, columns, np.ones(len(columns)))
    return Documents(indptr, indices, data, without, novel, size + len(novel))


def number_unknown(columns: NDArray[np.int64], unknown: list[str], start: int) -> list[str]:
    """Number the words that have -1 in `columns` from `start` on; return each once."""
    if not unknown:
        return unknown
    novel: dict[str, int] = {}
    for word in unknown:
        novel.setdefault(word, start + len(novel))
    columns[columns < 0] = [novel[word] for word in unknown]
    return [*novel]


def _row_of(bag: Words | Grid, position: int) -> int:
    return int(np.searchsorted(bag.starts, position, side="right")) - 1


def _name_of(bag: Words | Grid, position: int) -> str:
    if isinstance(bag, Words):
        return str(list(bag.words)[position])
    j = int(bag.indices[position])
    return f"x{j}" if bag.names is None else bag.names[j]


Placed = tuple[NDArray[np.int64], Novel, int]


def _place_words(bag: Words, vocabulary: Vocabulary, text: Text, learn: bool, who: str) -> Placed:
    """The column of each word, the novel words, and the number of columns with them."""
    if text.hash_bits is not None:
        return _hash(bag, text.hash_bits), [], 1 << text.hash_bits
    if vocabulary.kind == "columns":
        raise errors.other_words("columns", who)
    size, novel = len(vocabulary), []
    try:
        columns, unknown = vocabulary.find(bag.words)
    except TypeError:
        raise _first_odd(bag) from None
    if unknown and learn:
        novel = number_words(bag.words, bag.counts, columns, size)
    return columns, novel, size + len(novel)


def _hash(bag: Words, bits: int) -> NDArray[np.int64]:
    try:
        return hash_words(bag.words, bits)
    except TypeError:
        raise _first_odd(bag) from None


def _first_odd(bag: Words) -> TypeError:
    odd = (k for k, word in enumerate(bag.words) if not isinstance(word, str))
    position = next(odd)
    return errors.not_word(_row_of(bag, position), list(bag.words)[position])


def number_words(
    words: Collection[str],
    counts: NDArray[np.float64],
    columns: NDArray[np.int64],
    start: int,
) -> list[str]:
    """Number the words that have -1 in `columns` and are counted, from `start` on; return them."""
    novel: dict[str, int] = {}
    listed = words if isinstance(words, list) else list(words)
    for k in np.flatnonzero(columns < 0).tolist():
        if counts[k] > 0.0:
            word = str.__str__(listed[k])  # NumPy's strings, members of enums: what they say
            columns[k] = novel.setdefault(word, start + len(novel))
    return [*novel]


def _name(grid: Grid, names: Sequence[str] | None) -> Grid:
    if names is None or grid.names is not None:
        return grid
    if len(names) != grid.width:
        raise ValueError(f"X has {grid.width} columns, but there are {len(names)} names for them")
    if len(set(names)) < len(names):
        raise errors.duplicate_names(list(names))
    return grid._replace(names=tuple(map(str, names)))


def _place_columns(grid: Grid, vocabulary: Vocabulary, text: Text, learn: bool, who: str) -> Placed:
    """The same for a matrix, whose columns are looked up once, not cell by cell."""
    table = _table_of(grid, vocabulary, text, who)
    columns, n_novel = find_columns(grid.indices, table, grid.width)
    if text.hash_bits is not None:
        return columns, [], 1 << text.hash_bits
    if not (learn and n_novel):
        return columns, [], len(vocabulary)
    found = number_novel(grid.indices, grid.counts, columns, len(vocabulary), grid.width)
    novel: Novel = found if grid.names is None else [grid.names[j] for j in found.tolist()]
    return columns, novel, len(vocabulary) + len(novel)


def _table_of(grid: Grid, vocabulary: Vocabulary, text: Text, who: str) -> NDArray[np.int64]:
    """The column of the model for each column of the matrix, -1 if it has none."""
    if text.hash_bits is not None:
        if grid.names is not None:
            return hash_words(grid.names, text.hash_bits)
        if grid.width > 1 << text.hash_bits:
            raise ValueError(
                f"X has {grid.width} columns, but hash_bits={text.hash_bits} leaves "
                f"{1 << text.hash_bits}; raise hash_bits, or pass words instead of a matrix"
            )
        return np.arange(grid.width)
    kind = "columns" if grid.names is None else "words"
    if vocabulary.kind not in (None, kind):
        raise errors.other_words(vocabulary.kind, who)
    if grid.names is None:
        return vocabulary.table
    return np.array([vocabulary.known.get(name, -1) for name in grid.names], np.int64)
