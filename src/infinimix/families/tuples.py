"""A plain tuple of families is a product: one family for each block of columns.

Compiled, this is a recursion over the tuple; engines mostly take a product as a table instead
(`product`), which is compiled once for all of them.
"""

import numpy as np

from infinimix.families.seam import (
    column_evidence,
    copy,
    count,
    count_rows,
    draw,
    empty,
    estimate_point,
    fade,
    features,
    fill,
    freedom,
    merge,
    n_features,
    refresh,
    reserve,
    score,
    score_rows,
    score_two,
    sound,
    typical,
    unseen_share,
    widen,
    width,
)

# --- core ---------------------------------------------------------------------------------------


@empty.implement(tuple)
def _(families, slots):
    return tuple(empty(family, slots) for family in families)


@count.implement(tuple)
def _(families, stats, k, X, i, w):
    count(families[0], stats[0], k, X[0], i, w)
    if len(families) > 1:
        count(families[1:], stats[1:], k, X[1:], i, w)


@refresh.implement(tuple)
def _(families, stats, k):
    refresh(families[0], stats[0], k)
    if len(families) > 1:
        refresh(families[1:], stats[1:], k)


@score.implement(tuple)
def _(families, stats, X, i, live, out):
    score(families[0], stats[0], X[0], i, live, out)
    if len(families) > 1:
        score(families[1:], stats[1:], X[1:], i, live, out)


@score_two.implement(tuple)
def _(families, stats, X, i, j, live, out, ahead):
    gain = score_two(families[0], stats[0], X[0], i, j, live, out, ahead)
    if len(families) > 1:
        gain += score_two(families[1:], stats[1:], X[1:], i, j, live, out, ahead)
    return gain


@column_evidence.implement(tuple)
def _(families, stats, k, out):
    column_evidence(families[0], stats[0], k, out)
    if len(families) > 1:
        column_evidence(families[1:], stats[1:], k, out[width(families[0]) :])


@sound.implement(tuple)
def _(families, stats):
    return all(map(sound, families, stats))


@width.implement(tuple)
def _(families):
    if len(families) > 1:
        return width(families[0]) + width(families[1:])
    return width(families[0])


@copy.implement(tuple)
def _(families, stats, source, target):
    copy(families[0], stats[0], source, target)
    if len(families) > 1:
        copy(families[1:], stats[1:], source, target)


@merge.implement(tuple)
def _(families, stats, source, target):
    merge(families[0], stats[0], source, target)
    if len(families) > 1:
        merge(families[1:], stats[1:], source, target)


@score_rows.implement(tuple)
def _(families, stats, live, X, out):
    for family, own, block in zip(families, stats, X, strict=True):
        score_rows(family, own, live, block, out)


# --- answers ------------------------------------------------------------------------------------


@typical.implement(tuple)
def _(families, stats, slots):
    return tuple(typical(family, own, slots) for family, own in zip(families, stats, strict=True))


@draw.implement(tuple)
def _(families, stats, slots, X, rng):
    parts = zip(families, stats, X, strict=True)
    return tuple(draw(family, own, slots, block, rng) for family, own, block in parts)


@fill.implement(tuple)
def _(families, stats, weight, X):
    parts = zip(families, stats, X, strict=True)
    pairs = [fill(family, own, weight, block) for family, own, block in parts]
    return tuple(value for value, _ in pairs), tuple(spread for _, spread in pairs)


# --- EM -----------------------------------------------------------------------------------------


@count_rows.implement(tuple)
def _(families, stats, weight, X):
    for family, own, block in zip(families, stats, X, strict=True):
        count_rows(family, own, weight, block)


@estimate_point.implement(tuple)
def _(families, stats, mode):
    parts = zip(families, stats, strict=True)
    return sum(estimate_point(family, own, mode) for family, own in parts)


@freedom.implement(tuple)
def _(families):
    return sum(map(freedom, families))


# --- streams ------------------------------------------------------------------------------------


@widen.implement(tuple)
def _(families, stats, wider):
    return tuple(map(widen, families, stats, wider))


@reserve.implement(tuple)
def _(families, stats, slots):
    return tuple(reserve(family, own, slots) for family, own in zip(families, stats, strict=True))


@fade.implement(tuple)
def _(families, stats, share):
    for family, own in zip(families, stats, strict=True):
        fade(family, own, share)


@features.implement(tuple)
def _(families, stats, X, i, first, index, value):
    used = features(families[0], stats[0], X[0], i, first, index, value)
    if len(families) > 1:
        first += n_features(families[0])
        used += features(families[1:], stats[1:], X[1:], i, first, index[used:], value[used:])
    return used


@n_features.implement(tuple)
def _(families):
    if len(families) > 1:
        return n_features(families[0]) + n_features(families[1:])
    return n_features(families[0])


@unseen_share.implement(tuple, np.ndarray)
def _(families, stats, k, X, i):
    return 0.0  # the densities say it
