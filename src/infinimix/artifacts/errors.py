"""The one error of this room, and the translation of everything else into it.

The readers of zip, deflate, JSON and npy each fail in their own way on a
damaged file. Callers should not have to know that list, so it is kept here.
"""

from __future__ import annotations

import errno
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager


class ArtifactError(ValueError):
    """A tree that cannot be stored, or a file that cannot be trusted or understood.

    The message says what is wrong, where, and what to do about it.
    """


# RuntimeError covers RecursionError, NotImplementedError and zipfile's answer to
# "encrypted"; ValueError covers JSON and Unicode errors; LookupError missing keys.
_SYMPTOMS = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    RuntimeError,
    ValueError,
    TypeError,
    LookupError,
    ArithmeticError,
    SyntaxError,
)


@contextmanager
def damage_in(part: str) -> Iterator[None]:
    """Turn whatever a parser raises on bad bytes into an ArtifactError about ``part``.

    Real I/O errors pass through, except EINVAL: that is how the operating system
    answers a seek to an offset that damage has made negative.
    """
    try:
        yield
    except ArtifactError:
        raise
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
        raise _damaged(part, error) from error
    except _SYMPTOMS as error:
        raise _damaged(part, error) from error


def _damaged(part: str, error: Exception) -> ArtifactError:
    reason = str(error) or type(error).__name__
    return ArtifactError(f"{part} is damaged ({reason}); restore the file from a good copy")
