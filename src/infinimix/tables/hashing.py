"""Words to numbers by a hash that is the same in every process and on every machine.

The words are joined and hashed in one compiled pass over their UTF-8 bytes: FNV-1a of 32 bits,
and then a mixing step, since the lowest bits of FNV alone are uneven. Python's own hash of
strings changes from one process to the next.
"""

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from infinimix.kernels.compile import kernel

__all__ = ["hash_words"]

#: Between words in the joined bytes; a word that contains it is hashed alone.
SEPARATOR = 0


@kernel
def _hash_joined(text: NDArray[np.uint8], mask: int, separator: int, out: NDArray[np.int64]) -> int:
    """Hash what stands between separators, and return how many there were.

    All products stay below 2**63, so that interpreted code agrees without unsigned numbers.
    """
    h = 2166136261
    n = 0
    for k in range(text.size + 1):
        if k < text.size and text[k] != separator:
            h = ((h ^ int(text[k])) * 16777619) & 0xFFFFFFFF
            continue
        h = ((h ^ (h >> 16)) * 0x45D9F3B) & 0xFFFFFFFF
        h = ((h ^ (h >> 16)) * 0x45D9F3B) & 0xFFFFFFFF
        if n < out.size:
            out[n] = (h ^ (h >> 16)) & mask
        n += 1
        h = 2166136261
    return n


def hash_words(words: Collection[str], bits: int) -> NDArray[np.int64]:
    """A number below ``2**bits`` for each word.

    Examples
    --------
    >>> from infinimix.tables.hashing import hash_words
    >>> hash_words(["apple", "pear", "apple"], 18).tolist()
    [38959, 147596, 38959]
    """
    out, mask = np.empty(len(words), np.int64), (1 << bits) - 1
    if len(words) and _hash_joined(_bytes("\0".join(words)), mask, SEPARATOR, out) != len(words):
        for k, word in enumerate(words):
            _hash_joined(_bytes(word), mask, -1, out[k : k + 1])
    return out


def _bytes(text: str) -> NDArray[np.uint8]:
    # Every string of Python has bytes this way, half a surrogate pair too.
    return np.frombuffer(text.encode("utf-8", "surrogatepass"), np.uint8)
