"""Is it a sparse matrix? Asked of every table, so SciPy is not loaded to find out that it is not.

A sparse matrix cannot be there before `scipy.sparse` has been imported by whoever made it.
"""

import sys
from typing import Any

__all__ = ["is_sparse", "loaded_type"]


def loaded_type(library: str, name: str) -> type[Any] | tuple[()]:
    """Return a type of a library if that is loaded, else what nothing is an instance of."""
    found: type[Any] | tuple[()] = getattr(sys.modules.get(library), name, ())
    return found


def is_sparse(X: Any) -> bool:
    """Whether `X` is a sparse matrix or array of SciPy."""
    issparse = getattr(sys.modules.get("scipy.sparse"), "issparse", None)
    return issparse is not None and bool(issparse(X))
