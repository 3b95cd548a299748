"""A slow Online CRP in plain Python: dicts of counts, one formula after the other.

Rows are dicts from words to counts. Only the constants are the library's: they are choices, and
not what is to be proved.
"""

from math import exp, log, log1p, sqrt

import numpy as np
from scipy.special import expit, gammaln, logsumexp

from infinimix.inference.online_crp.learner import CAP
from infinimix.inference.online_crp.novelty import FAR, LIMIT, START
from infinimix.inference.online_crp.novelty import STEP as NOVELTY_STEP
from infinimix.inference.online_crp.refinement import BIAS, FLOOR, LEAST
from infinimix.inference.online_crp.step import FIXED_SHARE, PACE, UNSURE

NEW = object()
GRID = np.exp(np.linspace(log(1e-3), log(1e3), 60))


class Group:
    """Counts of words, and the two scores."""

    def __init__(self):
        self.n = {}

    def add(self, row, w):
        for word, x in row.items():
            self.n[word] = max(self.n.get(word, 0.0) + w * x, 0.0)

    def reinforced(self, row, prior, known):
        total, length = prior * known + sum(self.n.values()), sum(row.values())
        if not row:
            return 0.0
        score = -(gammaln(total + length) - gammaln(total))
        for word, x in row.items():
            a = prior + self.n.get(word, 0.0)
            score += gammaln(a + x) - gammaln(a)
        return score

    def mean(self, row, prior, known):
        total = prior * known + sum(self.n.values())
        return sum(x * log((prior + self.n.get(w, 0.0)) / total) for w, x in row.items())


class Correction:
    """b of each word, and the bias, of one class in one replica; AdaGrad."""

    def __init__(self):
        self.b, self.squares, self.bias, self.bias_squares = {}, {}, 0.0, 0.0

    def of(self, row):
        return self.bias + sum(x * self.b.get(word, 0.0) for word, x in row.items())

    def learn(self, row, wrong, step):
        self.bias_squares += wrong**2
        self.bias -= BIAS * step * wrong / sqrt(1.0 + self.bias_squares)
        for word, x in row.items():
            g = wrong * x
            self.squares[word] = self.squares.get(word, 0.0) + g**2
            self.b[word] = self.b.get(word, 0.0) - step * g / sqrt(self.squares[word] + FLOOR)


class Replica:
    """One way to correct, with its temperature and its weight."""

    def __init__(self, negative, step, share):
        self.negative, self.step, self.share = negative, step, share
        self.log_beta, self.squares = 0.0, 0.0
        self.groups, self.corrections = {}, {}


class SlowOnlineCRP:
    """Predict, then learn, row by row; parameters as those of OnlineCRPClassifier, made plain."""

    def __init__(
        self, alpha=1.0, alpha_rule="dynamic", regret=(0.01, 0.01, CAP), positive=1.0,
        settings=((1.0, 0.0),), prior=0.5, rule=(False, 0.0, False), calibrate=True,
        open_world=False,
    ):  # fmt: skip
        self.alpha, self.alpha_rule, self.regret = alpha, alpha_rule, regret
        self.positive, self.prior, self.rule = positive, prior, rule
        self.calibrate, self.open_world = calibrate, open_world
        self.replicas = [Replica(*setting, 1.0 / len(settings)) for setting in settings]
        self.everyone = Group()
        self.rows_with, self.rows = {}, 0
        self.held, self.f, self.e = {}, {}, {}
        self.log_alpha = np.zeros(len(GRID))
        self.novelty, self.novelty_squares = np.array(START, float), np.zeros(5)

    # --- what is thought of a row ----------------------------------------------------------------

    def weigh(self, row):
        """Return the row as it is learned, its known part as it is scored, the unknown share."""
        logs, power, unit = self.rule
        x = {}
        for word, count in row.items():
            rare = max(log((self.rows + 2) / (self.rows_with.get(word, 0) + 1)), 0.0)
            x[word] = (log1p(count) if logs else count) * rare**power
        known = {word: v for word, v in x.items() if word in self.rows_with}
        squares, squares_known = (sum(v * v for v in part.values()) for part in (x, known))
        unknown = 1.0 - squares_known / squares if squares > 0.0 else 0.0
        if unit:
            x = {word: v / sqrt(squares) for word, v in x.items()}
            known = {word: v / sqrt(squares_known) for word, v in known.items()}
        return x, known, unknown

    def score(self, group, row):
        exact = self.rule == (False, 0.0, False)
        return (group.reinforced if exact else group.mean)(row, self.prior, len(self.rows_with))

    def think(self, row):
        self.whole, self.shown, unknown = self.weigh(row)
        self.scores, self.p, logs = [], [], []
        for replica in self.replicas:
            scores = {c: self.score(replica.groups[c], self.shown) for c in self.held}
            weight = {
                c: log(self.held[c]) + self.relax(c) + exp(replica.log_beta) * scores[c]
                + (replica.corrections[c].of(self.shown) if self.refines else 0.0)
                for c in self.held
            }  # fmt: skip
            total = logsumexp(list(weight.values())) if weight else -np.inf
            self.scores.append(scores)
            self.p.append({c: exp(weight[c] - total) for c in weight})
            logs.append(total)
        shares = [replica.share for replica in self.replicas]
        self.mean = {
            c: sum(s * p[c] for s, p in zip(shares, self.p, strict=True)) for c in self.held
        }
        self.best = max(self.mean, key=self.mean.get) if self.mean else None
        self.new = self.chance_of_new(logs[0], unknown)
        return self.mean, self.new

    @property
    def refines(self):
        return any(replica.step > 0.0 for replica in self.replicas)

    def relax(self, c):
        up, down, cap = self.regret
        return min(max(self.f[c] * log1p(up) + self.e[c] * log1p(-down), -cap), cap)

    def chance_of_new(self, log_classes, unknown):
        if self.best is None:
            return 1.0
        entropy = -sum(p * log(p) for p in self.mean.values() if p > 0.0)
        doubt = log(max(exp(entropy) - 1.0, 1e-9))
        beta = exp(self.replicas[0].log_beta)
        density = beta * self.score(self.everyone, self.shown) - log_classes + log(self.rows + 1)
        density = np.sign(density) * log1p(abs(density))
        held = self.replicas[0].groups[self.best].n
        squares = {word: x * x for word, x in self.whole.items()}
        strange = sum(s for word, s in squares.items() if held.get(word, 0.0) == 0.0)
        strange = strange / sum(squares.values()) if squares else 0.0
        self.signal = np.array([1.0, np.clip(doubt, -FAR, FAR), density, unknown, strange])
        odds = log(self.alpha / (self.rows + self.alpha)) + self.novelty @ self.signal
        return float(expit(np.clip(odds, -LIMIT, LIMIT)))

    @property
    def looks_new(self):
        return self.best is None or self.new > (1.0 - self.new) * self.mean[self.best]

    def predict(self):
        """Return the prediction for the row that was thought about last."""
        if self.best is None or (self.open_world and self.looks_new):
            return NEW
        return self.best

    # --- what its label teaches ------------------------------------------------------------------

    def learn(self, row, y, z=None):
        """Learn a row; z is what was predicted for it, if not just now."""
        self.think(row)
        z = self.predict() if z is None else z
        is_new = y not in self.held
        if not is_new:
            self.learn_shares(y)
            self.learn_corrections(y)
        if self.best is not None:
            self.learn_novelty(is_new)
        self.learn_alpha(is_new)
        self.seat(y, z)
        for word in row:
            self.rows_with[word] = self.rows_with.get(word, 0) + 1
        self.everyone.add(self.whole, 1.0)
        self.rows += 1

    def learn_shares(self, y):
        said = max(self.mean[y], UNSURE)
        for replica, p, s in zip(self.replicas, self.p, self.scores, strict=True):
            replica.share *= max(p[y], UNSURE) / said
            if self.calibrate:
                slope = sum(p[c] * (s[c] - s[y]) for c in p) * exp(replica.log_beta)
                replica.squares += slope**2
                replica.log_beta -= PACE * slope / sqrt(replica.squares + 1e-8)
        total, size = sum(r.share for r in self.replicas), len(self.replicas)
        for replica in self.replicas:
            replica.share = (1.0 - FIXED_SHARE) * replica.share / total + FIXED_SHARE / size

    def learn_corrections(self, y):
        for replica, p in zip(self.replicas, self.p, strict=True):
            for c in p:
                wrong = p[c] - (c == y)
                if replica.step > 0.0 and abs(wrong) > LEAST:
                    replica.corrections[c].learn(self.whole, wrong, replica.step)

    def learn_novelty(self, is_new):
        g = (self.new - is_new) * self.signal
        self.novelty_squares += g**2
        self.novelty -= NOVELTY_STEP * g / np.sqrt(self.novelty_squares + 1e-2)

    def learn_alpha(self, is_new):
        if self.alpha_rule == "dynamic" and self.looks_new != is_new:
            self.alpha = min(max(self.alpha * exp(0.1 if is_new else -0.1), 1e-3), 1e3)
        elif self.alpha_rule == "posterior":
            self.log_alpha += is_new * np.log(GRID) - np.log(self.rows + GRID)
            weight = np.exp(self.log_alpha - logsumexp(self.log_alpha))
            self.alpha = float(weight @ GRID)

    def seat(self, y, z):
        if y not in self.held:
            self.held[y] = self.f[y] = self.e[y] = 0
            for replica in self.replicas:
                replica.groups[y], replica.corrections[y] = Group(), Correction()
        for replica in self.replicas:
            replica.groups[y].add(self.whole, 1.0 if z == y else self.positive)
            if z not in (y, NEW):
                w = min(replica.negative, 0.5 * self.held[z])
                replica.groups[z].add(self.whole, -w)
        if z != y:
            self.f[y] += 1
            if z is not NEW:
                self.e[z] += 1
        self.held[y] += 1
