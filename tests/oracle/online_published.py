"""The Online CRP in plain Python, equation by equation as the paper of 2014 prints them.

Written from the paper, beside `online.py`, which is written from our extensions of it. Choices
where the paper is silent, as the library's: alpha moves by a tenth and stays on [1e-3, 1e3];
the prior of log alpha is uniform; counts are clipped at zero when written; a row wrongly taken for
new has no table to correct; words have a pseudo-count from the row on that has them first.
"""

from math import exp, inf, lgamma, log, pi, sqrt

NEW = object()
GRID = [exp(log(1e-3) + j * (log(1e3) - log(1e-3)) / 59) for j in range(60)]


def rising(a, x):
    """Return log of Gamma(a + x) / Gamma(a)."""
    return lgamma(a + x) - lgamma(a)


class Words:
    """Multinomial words with a symmetric Dirichlet base measure; a row is a dict of counts."""

    def __init__(self, prior):
        self.prior, self.known = prior, set()

    def log_h(self, row, points):
        """Return the log of the integral of H(x, theta) over theta given the points of a table."""
        row = {word: x for word, x in row.items() if word in self.known}
        total = self.prior * len(self.known) + sum(points.values())
        if not row:
            return 0.0
        score = -rising(total, sum(row.values()))
        return score + sum(rising(self.prior + points.get(word, 0.0), x) for word, x in row.items())

    def join(self, points, row, weight, m):
        """Let weight * x join the points of a table."""
        for word, x in row.items():
            points[word] = max(points.get(word, 0.0) + weight * x, 0.0)

    def see(self, row):
        """Know the words of a row from now on."""
        self.known |= set(row)


class Bits:
    """Bernoulli cells with Beta(1/2, 1/2) base measures; a row is a tuple of 0 and 1."""

    def log_h(self, row, points):
        total = 0.0
        for d, x in enumerate(row):
            n = [points.get((d, 0), 0.0), points.get((d, 1), 0.0)]
            total += log((0.5 + n[x]) / (1.0 + sum(n)))
        return total

    def join(self, points, row, weight, m):
        """Let weight * x join; of a table at most half is taken away."""
        weight = max(weight, -0.5 * m)
        for cell in enumerate(row):
            points[cell] = max(points.get(cell, 0.0) + weight, 0.0)

    def see(self, row):
        pass

    def draw(self, points, width, rng):
        """Draw the chance of a one in each cell from its Beta posterior, by two gammas."""
        gammas = [
            [rng.standard_gamma(0.5 + points.get((d, x), 0.0)) for d in range(width)]
            for x in (0, 1)
        ]
        return [one / (zero + one) for zero, one in zip(*gammas, strict=True)]

    def log_likelihood(self, row, theta):
        return sum(log(p if x else 1.0 - p) for x, p in zip(row, theta, strict=True))


class Numbers:
    """Normal cells, mean ~ N(m, var / kappa), var ~ Inv-chi^2(nu, s2); a row is a tuple.

    Points are (weight, x) pairs. A pseudo point of weight -w takes as much of the sums away, no
    spread falls below zero, and one that weighs more than what stays only thins the others.
    """

    def __init__(self, m, kappa, nu, s2):
        self.m, self.kappa, self.nu, self.s2 = m, kappa, nu, s2

    def posterior(self, n, mean, spread):
        kappa, nu = self.kappa + n, self.nu + n
        gap = mean - self.m
        squares = self.nu * self.s2 + spread + self.kappa * n / kappa * gap * gap
        return self.m + n / kappa * gap, kappa, nu, squares

    def log_h(self, row, points):
        total = 0.0
        for d, x in enumerate(row):
            place, kappa, nu, squares = self.posterior(*points.get(d, (0.0, 0.0, 0.0)))
            width = squares * (kappa + 1) / kappa
            total += lgamma((nu + 1) / 2) - lgamma(nu / 2) - 0.5 * log(pi * width)
            total -= (nu + 1) / 2 * log(1 + (x - place) ** 2 / width)
        return total

    def join(self, points, row, weight, m):
        weight = max(weight, -0.5 * m)
        for d, x in enumerate(row):
            n, mean, spread = points.get(d, (0.0, 0.0, 0.0))
            left = n + weight
            if left <= 1e-9:
                points[d] = (0.0, 0.0, 0.0)
            elif left < -weight:
                points[d] = (left, mean, spread * left / n)
            else:
                centre = mean + weight * (x - mean) / left
                points[d] = (left, centre, max(spread + weight * (x - mean) * (x - centre), 0.0))

    def see(self, row):
        pass

    def draw(self, points, width, rng):
        """Draw the variance of each cell, then the mean of each."""
        found = [self.posterior(*points.get(d, (0.0, 0.0, 0.0))) for d in range(width)]
        variance = [c / (2.0 * rng.standard_gamma(nu / 2)) for _, _, nu, c in found]
        return [
            (place + sqrt(v / kappa) * rng.standard_normal(), v)
            for (place, kappa, _, _), v in zip(found, variance, strict=True)
        ]

    def log_likelihood(self, row, theta):
        return sum(
            -0.5 * log(2 * pi * v) - (x - mean) ** 2 / (2 * v)
            for x, (mean, v) in zip(row, theta, strict=True)
        )


class PublishedOnlineCRP:
    """Algorithm 2 with both rules for alpha; tables are named by their labels."""

    def __init__(self, data, alpha=1.0, alpha_rule="dynamic", regret=(0.01, 0.01), b=1.0):
        self.data, self.alpha, self.alpha_rule, self.b = data, alpha, alpha_rule, b
        self.g1, self.g2 = regret
        self.points, self.m, self.f, self.e = {}, {}, {}, {}
        self.i = 1
        self.log_posterior = [0.0] * len(GRID)

    def g(self, j):
        """Equation 3."""
        return (1 + self.g1) ** self.f[j] * (1 - self.g2) ** self.e[j]

    def posterior(self, row):
        """Equation 7: the probabilities of all tables, and last of a new one."""
        n = self.i - 1 + self.alpha
        logs = {
            j: log(self.g(j) * self.m[j] / n) + self.data.log_h(row, self.points[j]) for j in self.m
        }
        logs[NEW] = log(self.alpha / n) + self.data.log_h(row, {})
        top = max(logs.values())
        total = sum(exp(v - top) for v in logs.values())
        return {j: exp(v - top) / total for j, v in logs.items()}

    def predict(self, row):
        """The most likely of the k + 1 tables."""
        p = self.posterior(row)
        return max(p, key=p.get)

    def learn(self, row, y, z=None, u=None):
        """Lines 10 to 20, where z was predicted; u in [0, 1) draws alpha by equation 8."""
        z = self.predict(row) if z is None else z
        is_new = y not in self.m
        if self.alpha_rule == "dynamic":
            self.move_alpha(z is NEW, is_new)
        else:
            self.draw_alpha(is_new, u)
        if is_new:
            self.points[y], self.m[y], self.f[y], self.e[y] = {}, 0, 0, 0
        if z == y or (z is NEW and is_new):
            self.data.join(self.points[y], row, 1.0, self.m[y])
            self.m[y] += 1
        else:
            self.data.join(self.points[y], row, self.b, self.m[y])
            if z is not NEW:
                self.data.join(self.points[z], row, -self.b, self.m[z])
                self.e[z] += 1
            self.m[y] += 1
            self.f[y] += 1
        self.data.see(row)
        self.i += 1

    def move_alpha(self, predicted_new, is_new):
        """Appendix B."""
        if predicted_new and not is_new:
            self.alpha *= exp(-0.1)
        if is_new and not predicted_new:
            self.alpha *= exp(0.1)
        self.alpha = min(max(self.alpha, 1e-3), 1e3)

    def draw_alpha(self, is_new, u):
        """Appendix A: one more factor of equation 9, then a draw from equation 8."""
        seats = sum(self.g(j) * self.m[j] for j in self.m)
        for k, alpha in enumerate(GRID):
            self.log_posterior[k] += (log(alpha) if is_new else 0.0) - log(alpha + seats)
        top = max(self.log_posterior)
        weight = [exp(v - top) for v in self.log_posterior]
        below, self.alpha = 0.0, inf
        for alpha, w in zip(GRID, weight, strict=True):
            below += w / sum(weight)
            if u < below:
                self.alpha = alpha
                return
        self.alpha = GRID[-1]


class DrawnOnlineCRP(PublishedOnlineCRP):
    """Algorithm 1: tables are scored by parameters, drawn anew after each of their points."""

    def __init__(self, data, rng, **options):
        super().__init__(data, **options)
        self.rng, self.theta = rng, {}

    def posterior(self, row):
        """Line 9, equation 4: H(x, theta_j) of old tables, the integral over G0 of a new one."""
        n = self.i - 1 + self.alpha
        logs = {
            j: log(self.g(j) * self.m[j] / n) + self.data.log_likelihood(row, self.theta[j])
            for j in self.m
        }
        logs[NEW] = log(self.alpha / n) + self.data.log_h(row, {})
        top = max(logs.values())
        total = sum(exp(v - top) for v in logs.values())
        return {j: exp(v - top) / total for j, v in logs.items()}

    def learn(self, row, y, z=None, u=None):
        """Lines 10 to 20: after the points, a new theta_z where z was wrong, and a new theta_y."""
        z = self.predict(row) if z is None else z
        super().learn(row, y, z, u)
        for j in (z, y) if z is not NEW and z != y else (y,):
            self.theta[j] = self.data.draw(self.points[j], len(row), self.rng)
