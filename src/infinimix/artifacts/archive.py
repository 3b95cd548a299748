"""Writing a tree to a file and reading it back: the order of the steps, and of the checks."""

from __future__ import annotations

from typing import Any

from infinimix.artifacts import formats, npy
from infinimix.artifacts.container import WORTHWHILE, Container, HashingStream, Member, pack
from infinimix.artifacts.decoding import decode
from infinimix.artifacts.encoding import encode
from infinimix.artifacts.errors import ArtifactError, damage_in
from infinimix.artifacts.files import Target, name_of, reading, writing


def write(
    path: Target, kind: str, tree: Any, *, library_version: str, worthwhile: int = WORTHWHILE
) -> None:
    """Write ``tree`` to a file, whole or not at all.

    Parameters
    ----------
    path : str, PathLike or binary file object
        A path is replaced atomically: until the new file is complete and on
        disk, the old one stays. To a file object the bytes are just written.
    kind : str
        What the tree stands for, such as the name of a model.
    tree : nest of plain values
        dict with str keys, list, tuple, None, bool, int, float, str, bytes,
        NumPy arrays without objects, NumPy scalars, numpy.random.Generator and
        SeedSequence. It must not change meanwhile.
    library_version : str
        Version of infinimix, for the messages of later readers.
    worthwhile : int
        Bytes of an array from which on it is compressed, where that helps.

    Raises
    ------
    ArtifactError
        If something in the tree cannot be stored; the message names its place,
        and nothing has been written.
    OSError
        As the file system raises it.

    Notes
    -----
    The same tree gives the same bytes, given the same zlib.
    """
    text, arrays = encode(tree)
    members = [Member(formats.TREE, (text,))]
    members += [Member(formats.array_name(i), parts) for i, parts in enumerate(arrays)]
    digests = [member.sha256() for member in members]
    header = formats.to_json(formats.make_header(kind, library_version, digests))
    with writing(path) as file:
        pack(file, [Member(formats.HEADER, (header,)), *members], worthwhile)


def read(
    path: Target, *, kind: str | None = None, max_unpacked: int | None = None
) -> tuple[str, Any, dict[str, Any]]:
    """Read a tree back from a file that ``write`` has written.

    Parameters
    ----------
    path : str, PathLike or binary file object
        A file object is read from where it stands to its end.
    kind : str, optional
        Refuse any other kind.
    max_unpacked : int, optional
        The most bytes that all of it may take once unpacked. By default as many as the file has,
        and 256 MiB more for what is compressed in it.

    Returns
    -------
    kind : str
        What was written as ``kind``.
    tree : nest of plain values
        Equal to the tree written; its arrays are writable and own their memory.
    header : dict
        ``format_version`` and ``library_version`` of the writer, ``kind``, and
        ``sha256``, the digest of each member.

    Raises
    ------
    ArtifactError
        If the file is not an artifact, is damaged in any way, comes from a
        newer format, or holds another kind.
    FileNotFoundError
        If there is no such file.
    """
    with reading(path) as file:
        try:
            header, tree = _read(Container(file, max_unpacked), kind)
        except ArtifactError as error:
            raise ArtifactError(f"cannot read {name_of(path)}: {error}") from error
    return header["kind"], tree, header


def _read(container: Container, kind: str | None) -> tuple[dict[str, Any], Any]:
    header = formats.check_header(_read_text(container, formats.HEADER, None), kind)
    digests = header["sha256"]
    container.check_names(list(digests))
    text = _read_text(container, formats.TREE, digests[formats.TREE])
    arrays = [_read_array(container, name, digests[name]) for name in list(digests)[1:]]
    tree = decode(formats.from_json(text, formats.TREE), arrays)
    tree = formats.upgrade(header["kind"], tree, header["format_version"])
    return {key: value for key, value in header.items() if key != "magic"}, tree


def _read_text(container: Container, name: str, digest: str | None) -> bytes:
    with damage_in(name), container.open(name) as file:
        stream = HashingStream(file)
        data = stream.read(container.size(name))
        # The header's own guard is the CRC-32 of the zip file, checked on its last byte.
        if digest is not None:
            stream.check(digest, name)
    return data


def _read_array(container: Container, name: str, digest: str) -> npy.Array:
    with damage_in(name), container.open(name) as file:
        stream = HashingStream(file)
        array = npy.load(stream, container.size(name))
        stream.check(digest, name)
    return array
