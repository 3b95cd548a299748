"""Compiled loops over the bytes of words: a hash table (open addressing) to their columns.

A slot holds 31 bits of a word's hash, to tell most other words apart at once, above its column.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from infinimix.kernels.compile import entry, kernel
from infinimix.kernels.memory import borrowed, foretell

__all__ = ["KnownWords", "cut_texts", "find_all", "run", "take_in"]

Bytes = NDArray[np.uint8]
Ints = NDArray[np.int64]

BLANK = ord(" ")  # what every character outside words becomes
MARK = 0  # stands between words that are looked up together
SHORTEST = 2  # characters of a word
PRIME = np.uint64(0x100000001B3)  # of the hash by Fowler, Noll and Vo
HALF = np.uint64(32)
TAG = np.int64(0x7FFFFFFF)
_MACHINE_CODE: dict[Any, Any] = {}  # of kernels whose arguments are always of one type


class KnownWords(NamedTuple):
    """The words of an index: column i has the bytes from ``offsets[i]`` to ``offsets[i + 1]``."""

    letters: Bytes
    offsets: Ints
    slots: Ints  # of the hash table: a tag and a column, or -1


@kernel
def _slot(h: Any, slots: Ints) -> Any:
    """Where the search for a word begins."""
    return np.int64((h ^ (h >> HALF)) & np.uint64(slots.size - 1))


@kernel
def _tag(h: Any) -> Any:
    """31 bits of the hash that stand in the slot, above the column."""
    return np.int64(h >> HALF) & TAG


@kernel
def take_in(
    added: Bytes, lengths: Ints, known: KnownWords, first: int, unplaced: int, seed: np.uint64
) -> None:
    """Write words behind the first ones, and give a slot to all from `unplaced` on.

    There is room for them, and an empty slot for every one.
    """
    letters, offsets, slots = borrowed(known)
    last = first + lengths.size
    for column in range(first, last):
        offsets[column + 1] = offsets[column] + lengths[column - first]
    for k in range(added.size):
        letters[offsets[first] + k] = added[k]
    for column in range(unplaced, last):
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
def find_all(text: Bytes, known: KnownWords, fold: Bytes, seed: np.uint64, room: Ints) -> int:
    """Fill room[0] with the columns of the words between the marks; return how many have none.

    -1 is returned if there are not as many words as there is room for. A look-up waits for three
    places in the memory, one after the other: each is foretold for all words before it is read.
    """
    letters, offsets, slots = borrowed(known)
    columns, hashes, ends = room[0], room[1], room[2]
    n, h = 0, seed
    for k in range(text.size + 1):
        if k < text.size and text[k] != MARK:
            h = (h ^ np.uint64(text[k])) * PRIME
            continue
        if n == columns.size:
            return -1
        hashes[n], ends[n] = np.int64(h), k
        columns[n] = _slot(h, slots)
        foretell(slots, 0, columns[n], columns[n] + 1)
        n, h = n + 1, seed
    if n < columns.size:
        return -1
    for i in range(n):
        columns[i] = slots[columns[i]]
        if columns[i] >= 0:
            columns[i] &= 0xFFFFFFFF
            foretell(offsets, 0, columns[i], columns[i] + 1)
    for i in range(n):
        if columns[i] >= 0:
            foretell(letters, 0, offsets[columns[i]], offsets[columns[i]] + 1)
    begin = unknown = 0
    for i in range(n):
        h = np.uint64(hashes[i])
        columns[i] = _find(h, text, begin, ends[i], fold, letters, offsets, slots)
        unknown += 1 if columns[i] < 0 else 0
        begin = ends[i] + 1
    return unknown


@kernel
def cut_texts(
    text: Bytes, ends: Ints, fold: Bytes, known: KnownWords, seed: np.uint64,
    columns: Ints, starts: Ints, spans: Ints,
) -> int:  # fmt: skip
    """Fill `columns`, `starts` and the `spans` of unknown words; return how many these are."""
    letters, offsets, slots = borrowed(known)
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


def run(loop: Any, *args: Any) -> int:
    """Run a loop, past the look at its arguments, which takes as long as a document does."""
    machine = _MACHINE_CODE.get(loop)
    if machine is None:
        machine = _MACHINE_CODE[loop] = entry(loop, *args)
    found: int = machine(*args)
    return found
