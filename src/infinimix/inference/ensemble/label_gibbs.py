"""Gibbs over labels and groups: rows without labels in one CRP mixture for each class.

    P(y, z, x) = P(y) prod_c CRP(groups of c; alpha) prod_groups evidence(rows of the group)

with P(y) Dirichlet-multinomial: each class has the pseudo-count gamma. A row without label may join
any group of any class, one with a label those of its class:

    weight(group g of class c) = (m_c + gamma) / (m_c + alpha) * n_g * p(x | g)
    weight(new group in c)     = (m_c + gamma) / (m_c + alpha) * alpha * p(x | empty)

with m_c and n_g counted without the row. One row at a time never takes a whole group to another
class, so after each sweep every group that has no labelled row draws its class anew: of n rows,
class c has the weight rise(m_c + gamma, n) / rise(m_c + alpha, n), with m_c without the group.

With `all_named` the prior is that, given that every group has a labelled row: rows without label
open no group, and the last labelled row of a group stays as long as others are in it.

As in `gibbs`, the group without the row is made in a spare slot, and a row that stays leaves its
group as it was. Slot 0 is the empty group.
"""

import numpy as np

from infinimix.families.product import engine, refresh_all
from infinimix.families.seam import add, copy, count, empty, map_arrays, refresh, score
from infinimix.inference.ensemble.hyperparameters import draw_hyperparameters
from infinimix.inference.partition.filter import doubled
from infinimix.kernels.compile import part
from infinimix.kernels.draws import invert
from infinimix.kernels.elementary import exp
from infinimix.partitions.crp import draw_alpha

BURN, KEPT = 10, 20  # sweeps before the labels are looked at, and while they are
TURNS = 10  # sweeps between two draws of the base measure
FAR = -700.0  # nats: what is farther away weighs as much, which is nothing
MASS, OWNER, ORDER, PLACE, NAMED = range(5)  # rows of `slots`; NAMED counts labelled rows


@engine("score", "count", "refresh", "copy")
def visit(family, stats, X, rows, j, codes, z, slots, class_rows, live, hyper, rng):
    """Let the rows from the j-th on choose group and class; return the first not done.

    `live` has the number of slots in use; rows with z = 0 are in no group yet. `hyper` is alpha,
    gamma, and alpha again for rows without label: 0 if every group is to have a label.
    """
    logp, factor = np.empty(slots.shape[1]), np.empty(class_rows.shape[0])
    w = np.empty(slots.shape[1] + class_rows.shape[0])
    while j < rows.shape[0] and live[0] + 2 <= slots.shape[1]:
        i = rows[j]
        own, spare = z[i], slots[ORDER, live[0]]
        named = int(codes[i] >= 0)
        j += 1
        if hyper[2] == 0.0 and named and slots[NAMED, own] == 1 and slots[MASS, own] > 1:
            continue  # without this row the group would have no label
        if own > 0:
            take_out(family, stats, X, i, own, spare, slots, class_rows)
        held = slots[ORDER, : live[0]]
        for s in held:
            logp[s] = 0.0
        score(family, stats, X, i, held, logp)
        weigh_classes(codes[i], hyper, class_rows, factor)
        total = weigh(held, logp, factor, hyper[0] if named else hyper[2], slots, w)
        groups = held.shape[0] - 1
        k = invert(w, groups + factor.shape[0], total * rng.random())
        chosen = held[k + 1] if k < groups else 0
        if own > 0:
            slots[ORDER, slots[PLACE, own]] = own
            if chosen == spare:  # it stays: nothing has changed
                class_rows[slots[OWNER, own]] += 1
                continue
            leave(family, stats, own, spare, named, slots, live)
        if chosen == 0:
            chosen = slots[ORDER, live[0]]
            live[0] += 1
            copy(family, stats, 0, chosen)
            slots[MASS, chosen], slots[OWNER, chosen], slots[NAMED, chosen] = 0, k - groups, 0
        add(family, stats, chosen, X, i, 1.0)
        slots[MASS, chosen] += 1
        slots[NAMED, chosen] += named
        class_rows[slots[OWNER, chosen]] += 1
        z[i] = chosen
    return j


@part
def take_out(family, stats, X, i, own, spare, slots, class_rows):
    """Let a spare slot, with the group of row i but for that row, stand in the group's place."""
    copy(family, stats, own, spare)
    count(family, stats, spare, X, i, -1.0)
    refresh(family, stats, spare)
    slots[MASS, spare], slots[OWNER, spare] = slots[MASS, own] - 1, slots[OWNER, own]
    slots[ORDER, slots[PLACE, own]] = spare
    class_rows[slots[OWNER, own]] -= 1


@part
def weigh_classes(code, hyper, class_rows, factor):
    """Fill in the weight of each class that a row may belong to: its own, or any if it has none."""
    alpha, gamma = hyper[0], hyper[1]
    for c in range(factor.shape[0]):
        open_to = code < 0 or code == c
        factor[c] = (class_rows[c] + gamma) / (class_rows[c] + alpha) if open_to else 0.0


@part
def weigh(held, logp, factor, opens, slots, w):
    """Fill in the weight of each group, then of a new one in each class; return the total."""
    top = logp[0] if opens > 0.0 else -np.inf
    for s in held[1:]:
        if slots[MASS, s] > 0 and factor[slots[OWNER, s]] > 0.0:
            top = max(top, logp[s])
    total, groups = 0.0, held.shape[0] - 1
    for k in range(groups):
        s = held[k + 1]
        w[k] = factor[slots[OWNER, s]] * slots[MASS, s] * exp(max(logp[s] - top, FAR))
        total += w[k]
    for c in range(factor.shape[0]):
        w[groups + c] = factor[c] * opens * exp(max(logp[0] - top, FAR))
        total += w[groups + c]
    return total


@part
def leave(family, stats, own, spare, named, slots, live):
    """Let a group be what the spare slot holds, and free its slot if no row is left."""
    copy(family, stats, spare, own)
    refresh(family, stats, own)
    slots[MASS, own] = slots[MASS, spare]
    slots[NAMED, own] -= named
    if slots[MASS, own] == 0:
        live[0] -= 1
        at, last = slots[PLACE, own], slots[ORDER, live[0]]
        slots[ORDER, at], slots[PLACE, last] = last, at
        slots[ORDER, live[0]], slots[PLACE, own] = own, live[0]


class LabelState:
    """One state of labels and groups for all rows of a table."""

    def __init__(self, family, alpha, gamma, X, codes, n_classes, rng, all_named=False):
        self.family, self.alpha, self.gamma, self.rng = family, alpha, gamma, rng
        self.X, self.codes, self.n_classes = X, codes, n_classes
        self.stats, self.slots = empty(family, 64), np.zeros((5, 64), np.int64)
        self.all_named = all_named
        self.slots[ORDER] = self.slots[PLACE] = np.arange(64)
        self.live, self.class_rows = np.ones(1, np.int64), np.zeros(n_classes, np.int64)
        self.z = np.zeros(len(codes), np.int64)
        self.known = np.flatnonzero(codes >= 0)
        self.free = np.flatnonzero(codes < 0)
        self._visit(rng.permutation(self.known))  # first, so that all classes have groups
        self._visit(rng.permutation(self.free))

    def _visit(self, rows):
        j = 0
        while True:
            hyper = np.array([self.alpha, self.gamma, 0.0 if self.all_named else self.alpha])
            j = visit(
                self.family, self.stats, self.X, rows, j, self.codes, self.z, self.slots,
                self.class_rows, self.live, hyper, self.rng,
            )  # fmt: skip
            if j == len(rows):
                return
            self._make_room()

    def _make_room(self):
        size = self.slots.shape[1]
        self.stats = map_arrays(doubled, self.stats)
        self.slots = np.pad(self.slots, ((0, 0), (0, size)))
        self.slots[ORDER, size:] = self.slots[PLACE, size:] = np.arange(size, 2 * size)
        refresh_all(self.family, self.stats, 2 * size)

    @property
    def held(self):
        """Return the slots that have rows."""
        return self.slots[ORDER, 1 : self.live[0]].copy()

    @property
    def labels(self):
        """Return the class of every row."""
        return self.slots[OWNER, self.z]

    def sweep(self):
        """Let every row choose again, then every group without labels."""
        self._visit(np.concatenate([self.known, self.free]))
        return self._relabel()

    def _relabel(self):
        """Draw the class of each group without labels; return the probabilities, by slot."""
        from scipy.special import gammaln  # slow to load, and most fits need none

        table = np.zeros((self.slots.shape[1], self.n_classes))
        labelled = np.bincount(self.z[self.known], minlength=len(table))
        every = np.arange(self.n_classes)
        for s in self.held:
            if labelled[s]:
                table[s, self.slots[OWNER, s]] = 1.0
                continue
            n = self.slots[MASS, s]
            self.class_rows[self.slots[OWNER, s]] -= n
            m = self.class_rows
            log_w = gammaln(m + self.gamma + n) - gammaln(m + self.gamma)
            log_w -= gammaln(m + self.alpha + n) - gammaln(m + self.alpha)
            w = np.exp(log_w - log_w.max())
            table[s] = w / w.sum()
            self.slots[OWNER, s] = c = int(self.rng.choice(every, p=table[s]))
            self.class_rows[c] += n
        return table

    def find_hyper(self, base, positions, learns_alpha):
        """Draw alpha and the base measure, given the groups; return new grid positions."""
        held = self.held
        if learns_alpha:
            sizes = np.bincount(self.slots[OWNER, held], minlength=self.n_classes)
            self.alpha = draw_alpha(self.rng, self.alpha, sizes, self.class_rows)
        if base.learns:
            positions, _ = draw_hyperparameters(self.rng, base, positions, [(self.stats, held)])
            self.family = base.families(positions)
            refresh_all(self.family, self.stats, self.slots.shape[1])
        return positions

    def run(self, base, positions, learns_alpha, burn=BURN, kept=KEPT):
        """Sweep; return the mean probabilities of the classes of each row, (n, classes)."""
        proba = np.zeros((len(self.z), self.n_classes))
        for turn in range(burn + kept):
            if turn % TURNS == 0:
                positions = self.find_hyper(base, positions, learns_alpha)
            table = self.sweep()
            if turn >= burn:
                proba += table[self.z]
        return proba / kept
