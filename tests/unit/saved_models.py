"""Model files that tests make and change: whole archives, with right digests."""

import io

from infinimix import artifacts, save


def saved(model):
    """Return the bytes of the file of a model."""
    file = io.BytesIO()
    save(model, file)
    return file.getvalue()


def edited(data, edit):
    """Return the same archive after an edit of its tree, which may return another kind."""
    kind, tree, _ = artifacts.read(io.BytesIO(data))
    kind = edit(tree) or kind
    file = io.BytesIO()
    artifacts.write(file, kind, tree, library_version="0.1.0")
    return io.BytesIO(file.getvalue())


def put(*path):
    """Return an edit that puts the last of these at the place that the others name."""

    def edit(tree):
        *way, last, value = path
        for key in way:
            tree = tree[key]
        tree[last] = value(tree[last]) if callable(value) else value

    return edit
