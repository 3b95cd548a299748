"""What the tests of this room share."""

import numpy as np


def partitions(n):
    """All partitions of n things, as label vectors."""
    out = [[0]]
    for _ in range(n - 1):
        out = [[*z, k] for z in out for k in range(max(z) + 2)]
    return [np.array(z) for z in out]


def turned_rules(n, seed, classes=2):
    """Three far clusters of the plane, in each of which other directions tell the classes."""
    rng = np.random.default_rng(seed)
    z = rng.integers(0, 3, n)
    U = rng.normal(size=(n, 2))
    angle = np.array([0.0, 2.0, 4.0])[z][:, None] + 2.0 * np.pi / classes * np.arange(classes)
    y = (U[:, :1] * np.cos(angle) + U[:, 1:] * np.sin(angle)).argmax(axis=1)
    return U + np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]])[z], y, z
