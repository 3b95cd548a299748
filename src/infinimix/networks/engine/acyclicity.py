"""The probability that a random graph is acyclic, given the sizes of its classes.

Up to five nodes all graphs are enumerated; beyond, a particle filter adds the nodes one by one. For
each pair of nodes a particle draws none, one or the other edge, by the Beta-Bernoulli predictive,
among those that close no cycle, and multiplies its weight by their probability; the mean weights
estimate Z without bias. The seed of a filter comes with the sizes (`constants`).
"""

import numpy as np

from infinimix.kernels.compile import exact, kernel, part
from infinimix.networks.engine.graphs import ZERO, bit, reaches

EXACT = 5
STEP, A = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9)
B = np.uint64(0x94D049BB133111EB)
S30, S27, S31, S11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)


@part
def uniform(seed):
    """Return a number between 0 and 1 and move the seed on (SplitMix64)."""
    seed[0] += STEP
    x = seed[0]
    x = (x ^ (x >> S30)) * A
    x = (x ^ (x >> S27)) * B
    x = x ^ (x >> S31)
    return np.float64(x >> S11) * (1.0 / 9007199254740992.0)


@kernel
def log_acyclic(m, b1, b2, particles, word):
    """Return log Z for class sizes m: exact for a few nodes, else by a particle filter."""
    sizes, N, K = np.empty(m.shape[0], np.int64), 0, 0
    for k in range(m.shape[0]):  # the larger ones first
        if m[k] > 0:
            at = K
            while at > 0 and sizes[at - 1] < m[k]:
                sizes[at] = sizes[at - 1]
                at -= 1
            sizes[at] = m[k]
            N += m[k]
            K += 1
    z, at = np.empty(N, np.int64), 0
    for k in range(K):
        for _ in range(sizes[k]):
            z[at] = k
            at += 1
    if N <= EXACT:
        return np.log(count_graphs(z, K, b1, b2))
    return filter_graphs(z, K, b1, b2, particles, word)


@part
def pair_weights(n, t, a, b, b1, b2):
    """Return the probabilities of neither edge, u -> v alone and v -> u alone; u in a, v in b."""
    first = (b1 + n[a, b]) / (b1 + b2 + t[a, b])
    if a == b:
        after = b1 + b2 + t[a, b] + 1.0
        other = (b1 + n[a, a]) / after
        both = first * (1 - (b1 + n[a, a] + 1) / after)
        return (1 - first) * (1 - other), both, (1 - first) * other
    other = (b1 + n[b, a]) / (b1 + b2 + t[b, a])
    return (1 - first) * (1 - other), first * (1 - other), (1 - first) * other


@kernel
def count_graphs(z, K, b1, b2):
    """Return the sum of the probabilities of all acyclic graphs: a digit of base 3 a pair."""
    N = z.shape[0]
    pa, n, t = np.zeros((N, 1), np.uint64), np.zeros((K, K)), np.zeros((K, K))
    total = 0.0
    codes = 1
    for _ in range(N * (N - 1) // 2):
        codes *= 3
    for code in range(codes):
        for v in range(N):
            pa[v, 0] = ZERO
        for a in range(K):
            for b in range(K):
                n[a, b] = t[a, b] = 0.0
        rest, p = code, 1.0
        for v in range(1, N):
            for u in range(v):
                a, b, digit = z[u], z[v], rest % 3
                rest //= 3
                none, there, back = pair_weights(n, t, a, b, b1, b2)
                t[a, b] += 1
                t[b, a] += 1
                if digit == 0:
                    p *= none
                elif digit == 1:
                    p = 0.0 if reaches(pa, v, u) else p * there
                    pa[v, 0] |= bit(u)
                    n[a, b] += 1
                else:
                    p = 0.0 if reaches(pa, u, v) else p * back
                    pa[u, 0] |= bit(v)
                    n[b, a] += 1
            if p == 0.0:
                break
        total += p
    return total


@exact
def add_up(weight):
    """Return the sum of weights, added one by one."""
    total = 0.0
    for p in range(weight.shape[0]):
        total += weight[p]
    return total


@kernel
def filter_graphs(z, K, b1, b2, particles, word):
    """Return log Z by a particle filter over nodes."""
    N = z.shape[0]
    W = (N + 63) // 64
    pa = np.zeros((particles, N, W), np.uint64)
    n, t = np.zeros((particles, K, K)), np.zeros((K, K))
    weight, seed, total = np.empty(particles), np.empty(1, np.uint64), 0.0
    seed[0] = word
    for p in range(particles):
        weight[p] = 1.0
    for v in range(1, N):
        for u in range(v):
            a, b = z[u], z[v]
            for p in range(particles):
                weight[p] *= add_pair(pa[p], n[p], t, z, u, v, (b1, b2), seed)
            t[a, b] += 1
            t[b, a] += 1
        top, squares = add_up(weight), 0.0
        for p in range(particles):
            squares += weight[p] * weight[p]
        if top * top < 0.5 * particles * squares or v == N - 1:
            total += np.log(top / particles)
            resample(pa, n, weight, top, seed)
    return total


@kernel
def add_pair(pa, n, t, z, u, v, beta, seed):
    """Let one particle draw what is between u and v; return the probability that it is legal."""
    a, b = z[u], z[v]
    none, there, back = pair_weights(n, t, a, b, beta[0], beta[1])
    if reaches(pa, v, u):
        there = 0.0
    if reaches(pa, u, v):
        back = 0.0
    whole = none + there + back
    x = uniform(seed) * whole - none
    if x >= 0.0:
        if x < there:
            pa[v, u >> 6] ^= bit(u)
            n[a, b] += 1
        elif back > 0.0:
            pa[u, v >> 6] ^= bit(v)
            n[b, a] += 1
    return whole


@kernel
def copy_graph(pa, n, k, to_pa, to_n, p):
    """Let particle p be as particle k."""
    for v in range(pa.shape[1]):
        for w in range(pa.shape[2]):
            to_pa[p, v, w] = pa[k, v, w]
    for a in range(n.shape[1]):
        for b in range(n.shape[2]):
            to_n[p, a, b] = n[k, a, b]


@kernel
def resample(pa, n, weight, top, seed):
    """Systematic resampling; all weights become 1."""
    particles = weight.shape[0]
    N, W, K = pa.shape[1], pa.shape[2], n.shape[1]
    old_pa, old_n = np.empty((particles, N, W), np.uint64), np.empty((particles, K, K))
    for p in range(particles):
        copy_graph(pa, n, p, old_pa, old_n, p)
    x, run, k = uniform(seed), weight[0] * particles / top, 0
    for p in range(particles):
        while p + x > run and k < particles - 1:
            k += 1
            run += weight[k] * particles / top
        copy_graph(old_pa, old_n, k, pa, n, p)
    for p in range(particles):
        weight[p] = 1.0
