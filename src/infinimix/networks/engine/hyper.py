"""Where numbers that change while a chain runs stand in its arrays.

Compiled code gets arrays, as numbers in a tuple cannot change.
"""

# `hyper` of a prior: the concentration of the classes, the Beta prior of edges, whether each is
# learned (0 or 1; gamma itself is in `Data.settings`), and the concentration of shared roles
ALPHA, B1, B2, LEARN_ALPHA, LEARN_BETA, LEARN_GAMMA, STICKS = range(7)

# `hyper` of a record, a column each: alpha, b1, b2 as above, and gamma
RECORDED_GAMMA = 3
RECORDED_BETA = slice(B1, B2 + 1)

# `counters` of a record: sweeps that were counted, and states that were kept
SWEEPS, KEPT = range(2)

# `held` of a prior, and `roles` that are known: what classes have before any node is seen
EDGES, PAIRS, MEMBERS = range(3)
