"""Versioned, safe archives of arrays and plain Python values.

An artifact is one zip file: ``header.json`` (what it is, who wrote it, the
SHA-256 of everything else), ``tree.json`` (the structure) and one ``.npy`` file
per array. Reading it builds arrays, numbers, text, containers and NumPy's own
random generators, and can build nothing else: there is no pickle and no code
in it, so a file from a stranger may be wrong but cannot run. The digests guard
against accidents; they do not prove who wrote a file.

The room knows arrays and plain values only. What a model puts in its tree, and
how it rebuilds itself from it, is the model's business.

Examples
--------
>>> import io
>>> import numpy as np
>>> from infinimix import artifacts
>>> file = io.BytesIO()
>>> tree = {"counts": np.array([3, 1]), "shape": (2,), "rng": np.random.default_rng(0)}
>>> artifacts.write(file, "example", tree, library_version="0.1.0")
>>> _ = file.seek(0)
>>> kind, again, header = artifacts.read(file, kind="example")
>>> again["counts"], again["shape"], header["format_version"]
(array([3, 1]), (2,), 1)
>>> bool(again["rng"].random() == tree["rng"].random())
True
"""

from typing import TYPE_CHECKING

from infinimix.artifacts.errors import ArtifactError
from infinimix.later import late_names

if TYPE_CHECKING:
    from infinimix.artifacts.archive import read, write
    from infinimix.artifacts.formats import FORMAT_VERSION

__all__ = ["FORMAT_VERSION", "ArtifactError", "read", "write"]

if not TYPE_CHECKING:  # else a misspelt name would be Any
    __getattr__ = late_names(__name__, {
        ".archive": ("read", "write"), ".formats": ("FORMAT_VERSION",),
    })  # fmt: skip
