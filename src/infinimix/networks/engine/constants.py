"""The constants Z(z) of partitions, each computed once: whole, or from those of few classes.

Z depends on the sizes of the classes alone. Up to WHOLE nodes it is that of `acyclicity`. For many
nodes a particle filter is slow, and its error of about 1 in log Z differs from sizes to sizes: a
landscape in which chains got stuck. There log Z is a sum over classes, pairs and triples of them,

    log K! + sum_a f(m_a) + sum_ab f(m_a, m_b) + c_K sum_abc f(m_a, m_b, m_c)

each f being what log Z of these classes alone has beyond the terms of fewer. So it is log Z for up
to three classes, log K! being the orders in which dense blocks can follow each other; and c_K is
such that log Z is 0 for any number of classes whose graphs hardly ever have cycles. The terms are
smooth: filters estimate them where sizes are powers of two, and between they are linear in the
logarithms of sizes. Terms of pairs and triples hardly change any more above TOP.

A constant is a function of the sizes, b1, b2 and the number of nodes: the seeds of filters come
from these. So it does not matter which chain has computed it, and the hash table, which chains of
all fits share, is a pure cache: a fit is the same to the bit whatever was fitted before or is
fitted beside it. A table for each fit would compute the same constants again, which is half of the
time of a short fit or more. Entries are found by a word of 63 bits that stands for sizes, b1 and
b2; a full table of 2^15 entries gives a constant of other sizes with probability 4e-15 a question.

Threads read and write the table without a lock. An entry is a number and the exclusive or of its
word and the bits of the number (Hyatt and Mann 2002): where the writes of two threads meet, the
entry fits no word, and the number is computed again.
"""

from functools import lru_cache
from math import lgamma
from typing import NamedTuple

import numpy as np

from infinimix.kernels.compile import kernel, part
from infinimix.networks.engine.acyclicity import S11, S31, STEP, A, B, log_acyclic
from infinimix.networks.engine.graphs import ONE, ZERO
from infinimix.networks.engine.hyper import B1, B2
from infinimix.networks.engine.packs import packed

SLOTS = 1 << 15
PROBES = 128  # slots that are looked at before the table counts as full
WHOLE = 32  # nodes, up to which a constant is computed as a whole
TOP, TOP_ALONE = 5, 6  # log2 of the largest size in terms, and in those of one class
FEW = 24  # nodes, up to which terms have ten times as many particles
LOG2 = float(np.log(2.0))
BEND = float(np.log(4.0 / 3.0))  # the term of three classes, if there are no cycles
S33 = np.uint64(33)


@packed
class Constants(NamedTuple):
    """Log constants by the sizes of classes."""

    hashes: np.ndarray  # (N + 2,) uint64: a random word for each size of a class, 0 for none
    checks: np.ndarray  # (SLOTS,) uint64: key ^ bits of the value
    values: np.ndarray  # (SLOTS,) uint64: the bits of log Z; a slot with two zeros is empty
    particles: int

    @classmethod
    def empty(cls, N, particles=None):
        """Return a table without entries."""
        hashes = np.random.default_rng(N).integers(1, 2**63, N + 2).astype(np.uint64)
        hashes[0] = 0
        if particles is None:
            particles = 400 if 16 < N <= WHOLE else 1000
        return cls(hashes, np.zeros(SLOTS, np.uint64), np.zeros(SLOTS, np.uint64), particles)

    def guess_seconds(self):
        """Return about how long a constant takes that is not known yet."""
        N = len(self.hashes) - 2
        return 0.5e-6 * N * N * self.particles if N <= WHOLE else 0.4


@lru_cache(maxsize=16)
def shared_constants(N):
    """Return the table of this process for N nodes."""
    return Constants.empty(N)


@part
def seed_of(key, hyper):
    """Return the seed for a key and for b1 and b2."""
    seed = key ^ (np.uint64(hyper[B1] * 4096.0) * A + np.uint64(hyper[B2] * 4096.0) * B)
    return STEP if seed == ZERO else seed


@part
def word_of(seed, hyper):
    """Return the word by which an entry is found."""
    b1 = np.float64(hyper[B1]).view(np.uint64)  # both are rounded in the seed
    b2 = np.float64(hyper[B2]).view(np.uint64)
    return (seed ^ ((b1 ^ (b2 >> S31) ^ (b2 << S33)) * STEP)) | ONE


@part
def look_up(constants, word):
    """Return the slot of a word, or one that is free, or -1; and whether the word is there."""
    at = np.int64(word >> S11) & (SLOTS - 1)
    for _ in range(PROBES):
        found, check = constants.values[at], constants.checks[at]
        if check ^ found == word:
            return at, True
        if check == ZERO and found == ZERO:
            return at, False
        at = (at + 1) & (SLOTS - 1)
    return -1, False


@part
def put_down(constants, word, value):
    """Remember a value, unless the table is full there."""
    at, known = look_up(constants, word)
    if at >= 0 and not known:
        found = np.float64(value).view(np.uint64)
        constants.values[at] = found
        constants.checks[at] = word ^ found


@kernel
def log_constant(constants, key, m, hyper):
    """Return log Z of a partition with class sizes m, which `key` stands for."""
    seed = seed_of(key, hyper)
    word = word_of(seed, hyper)
    at, known = look_up(constants, word)
    if known:
        return np.uint64(constants.values[at]).view(np.float64)
    if constants.hashes.shape[0] - 2 <= WHOLE:
        value = log_acyclic(m, hyper[B1], hyper[B2], constants.particles, seed)
    else:
        value = expand(constants, m, hyper)
    put_down(constants, word, value)
    return value


@kernel
def log_few(constants, a, b, c, hyper):
    """Return log Z of up to three classes with 2^a, 2^b and 2^c members; -1 for no class."""
    a, b, c = max(a, b, c), max(min(a, b), min(max(a, b), c)), min(a, b, c)
    key = np.uint64(a + 1) * A + np.uint64(b + 1) * B + np.uint64(c + 1) * STEP
    seed = seed_of(key, hyper)
    word = word_of(seed, hyper)
    at, known = look_up(constants, word)
    if known:
        return np.uint64(constants.values[at]).view(np.float64)
    m = np.zeros(3, np.int64)
    for k, e in enumerate((a, b, c)):
        m[k] = 1 << e if e >= 0 else 0
    particles = constants.particles * (10 if m.sum() <= FEW else 1)
    value = log_acyclic(m, hyper[B1], hyper[B2], particles, seed)
    put_down(constants, word, value)
    return value


@part
def of_two(constants, a, b, hyper):
    """Return what log Z of two classes has beyond the terms of one."""
    alone = log_few(constants, a, -1, -1, hyper) + log_few(constants, b, -1, -1, hyper)
    return log_few(constants, a, b, -1, hyper) - LOG2 - alone


@part
def of_three(constants, a, b, c, hyper):
    """Return what log Z of three classes has beyond the terms of one and two."""
    total = log_few(constants, a, b, c, hyper) - np.log(6.0)
    for e in (a, b, c):
        total -= log_few(constants, e, -1, -1, hyper)
    total -= of_two(constants, a, b, hyper) + of_two(constants, a, c, hyper)
    return total - of_two(constants, b, c, hyper)


@part
def log_no_edge(pairs, hyper):
    """Return the log probability that a block has no edge."""
    b1, b2 = hyper[B1], hyper[B2]
    return lgamma(b1 + b2) - lgamma(b2) + lgamma(b2 + pairs) - lgamma(b1 + b2 + pairs)


@part
def place(size, top):
    """Return the power of two at or below a size, and how far it is to the next, 0 at `top`."""
    e = 0
    while e < top and (2 << e) <= size:
        e += 1
    return (e, np.log(size / (1 << e)) / LOG2) if e < top else (top, 0.0)


@kernel
def one_class(constants, size, hyper):
    """Return the term of one class, beyond the last power of two as if it went on like that."""
    e, share = place(size, TOP_ALONE)
    if e == TOP_ALONE:
        e, share = e - 1, np.log(size / (1 << (e - 1))) / LOG2
    low = log_few(constants, e, -1, -1, hyper)
    if share == 0.0:
        return low
    return low + share * (log_few(constants, e + 1, -1, -1, hyper) - low)


@kernel
def two_classes(constants, first, second, hyper):
    """Return the term of two classes; an empty block is the part of it that is not so smooth."""
    (a, u), (b, v) = place(first, TOP), place(second, TOP)
    total = log_no_edge(float(first * second), hyper)
    for i in range(2):
        for j in range(2):
            weight = (u if i else 1.0 - u) * (v if j else 1.0 - v)
            if weight > 0.0:
                empty = log_no_edge(float(1 << (a + i + b + j)), hyper)
                total += weight * (of_two(constants, a + i, b + j, hyper) - empty)
    return total


@kernel
def three_classes(constants, first, second, third, hyper):
    """Return the term of three classes."""
    (a, u), (b, v), (c, w) = place(first, TOP), place(second, TOP), place(third, TOP)
    total = 0.0
    for i in range(2):
        for j in range(2):
            for k in range(2):
                weight = (u if i else 1.0 - u) * (v if j else 1.0 - v) * (w if k else 1.0 - w)
                if weight > 0.0:
                    total += weight * of_three(constants, a + i, b + j, c + k, hyper)
    return total


@part
def damping(K):
    """Return c_K, from 1 at three classes downwards."""
    triples = K * (K - 1) * (K - 2) / 6.0
    return (0.5 * K * (K - 1) * LOG2 - lgamma(K + 1.0)) / (triples * BEND)


@kernel
def expand(constants, m, hyper):
    """Return log Z for class sizes m as a sum over classes, pairs and triples of them."""
    sizes, K = np.empty(m.shape[0], np.int64), 0
    for k in range(m.shape[0]):
        if m[k] > 0:  # sorted, so that sums do not depend on who is in which class
            at = K
            while at > 0 and sizes[at - 1] < m[k]:
                sizes[at] = sizes[at - 1]
                at -= 1
            sizes[at] = m[k]
            K += 1
    total, more = lgamma(K + 1.0), 0.0
    for a in range(K):
        total += one_class(constants, sizes[a], hyper)
        for b in range(a):
            total += two_classes(constants, sizes[a], sizes[b], hyper)
            for c in range(b):
                more += three_classes(constants, sizes[a], sizes[b], sizes[c], hyper)
    return total + damping(K) * more if K > 2 else total
