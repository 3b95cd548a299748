"""What moves work on: rows, prior, caches and room, and the look-up of family scores."""

from typing import NamedTuple

import numpy as np

from infinimix.kernels.compile import kernel, part
from infinimix.networks.engine.blocks import Prior
from infinimix.networks.engine.families import Cache, Data, ParentLayout
from infinimix.networks.engine.graphs import ONE, ZERO
from infinimix.networks.engine.packs import packed
from infinimix.networks.engine.scores import HALF, MIX, keep_score

WIDTH = 7  # so many other nodes' links are drawn again when a node is relocated


@packed
class GraphModel(NamedTuple):
    """All that does not change while a chain runs, and room to work."""

    data: Data
    layout: ParentLayout
    prior: Prior
    cache: Cache
    couples: np.ndarray  # (2, P): the pairs of nodes between which an edge is possible
    weights: np.ndarray  # room for the weights of sets and classes
    tables: np.ndarray  # (K, 68) log priors of numbers of parents in a class; OWN, OWN + 1
    room: np.ndarray  # (11, ...) int64: lists of nodes, bits and counts, as named below
    sheets: np.ndarray  # (11, 2^WIDTH): weights of sets of parents and children (`relocation`)
    codes: np.ndarray  # (3, 2^WIDTH) int64: which links these sets are
    words: np.ndarray  # (2^WIDTH,) uint64: the sets of parents as families


OUT, INTO, PLACES, MARKS, OTHERS, PARENTS, CHILDREN = range(7)
PARENT_COUNT, PARENT_STRIDE, CHILD_COUNT, CHILD_STRIDE = range(7, 11)
OWN = 66  # tables[k, OWN] and [k, OWN + 1]: log eta and log(1 - eta) within class k


@part
def look_up(values, keys, c, mask):
    """Return the slot of a family score; as `find_slot`, from bare arrays."""
    if keys.shape[1] == 0:
        return np.int64(mask)
    last = np.int64(keys.shape[1] - 1)
    h = mask * MIX
    at = np.int64((h ^ (h >> HALF)) & np.uint64(last))
    while keys[c, at] != mask and not np.isnan(values[c, at]):
        at = (at + 1) & last
    return at


@kernel
def score_of(model, c, word):
    """Return the family score of child c with parents `word`."""
    at = look_up(model.cache.values, model.cache.keys, c, word)
    score = model.cache.values[c, at]
    if score != score:
        score = keep_score(model.data, model.layout, model.cache, c, word, at)
    return score


@kernel
def required_parents(model, c):
    """Return the candidates of c that must be parents."""
    word = ZERO
    for k in range(model.layout.cand.shape[1]):
        if model.prior.bonus[model.layout.cand[c, k], c] == np.inf:
            word |= ONE << np.uint64(k)
    return word
