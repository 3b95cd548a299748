"""dpMNL (Shahbaba and Neal 2009) in plain NumPy, a row at a time.

The chain draws its random numbers in the order in which the compiled one does, so both visit the
same states.
"""

import numpy as np
from scipy.special import gammaln, log_softmax, logsumexp

SPARE = 3
KAPPA, NU, VARIANCE = 0.3, 2.0, 0.15  # the empirical base measure of infinimix, standardised


class SlowDPMNL:
    """The classifier; `scale` is the deviation of a logit's prior."""

    def __init__(self, alpha=1.0, scale=2.0, n_iter=80, burn_in=40, n_samples=25, random_state=0):
        self.alpha, self.scale, self.n_iter, self.burn_in = alpha, scale, n_iter, burn_in
        self.n_samples, self.random_state = n_samples, random_state

    def fit(self, X, y):
        """Run the chain, and keep states of its second half."""
        self.rng = np.random.default_rng(self.random_state)
        self.classes_, self.codes = np.unique(y, return_inverse=True)
        self.X, self.X1 = X, np.c_[X, np.ones(len(X))]
        n = len(X)
        self.z = np.zeros(n, np.int64)
        self.n, self.sum = np.array([float(n)]), X.sum(axis=0)[None]
        self.square = (X**2).sum(axis=0)[None]
        self.beta = self._prior(1)
        self.kept = []
        keep = set(np.linspace(self.n_iter - 1, self.burn_in, self.n_samples).astype(int).tolist())
        for sweep in range(self.n_iter):
            for i in self.rng.permutation(n):
                self._move(i)
            for k in range(len(self.n)):
                self._slice(k)
            if sweep in keep:
                self.kept.append((self.n, self.sum, self.square, self.beta.copy()))
        return self

    def _prior(self, count):
        shape = (count, len(self.classes_), self.X1.shape[1])
        return self.scale * self.rng.standard_normal(shape)

    def _change(self, k, i, w):
        n, total, square = self.n.copy(), self.sum.copy(), self.square.copy()
        n[k] += w
        total[k] += w * self.X[i]
        square[k] += w * self.X[i] ** 2
        self.n, self.sum, self.square = n, total, square

    def _move(self, i):
        k = self.z[i]
        self._change(k, i, -1.0)
        spare = self._prior(SPARE)
        if self.n[k] < 0.5:  # its expert stays as one of the spare ones
            spare[0] = self.beta[k]
            rest = np.arange(len(self.n)) != k
            self.n, self.sum, self.square = self.n[rest], self.sum[rest], self.square[rest]
            self.beta = self.beta[rest]
            self.z[self.z > k] -= 1
        K = len(self.n)
        n, total = np.r_[self.n, 0.0], np.vstack([self.sum, 0 * self.X[:1]])
        square = np.vstack([self.square, 0 * self.X[:1]])
        density = log_predictive(self.X[i], n, total, square)
        beta = np.concatenate([self.beta, spare])
        label = log_softmax(beta @ self.X1[i], axis=1)[:, self.codes[i]]
        log_w = np.r_[np.log(self.n) + density[:K], np.full(SPARE, density[K])] + label
        log_w[K:] += np.log(self.alpha / SPARE)
        new = int((log_w + self.rng.gumbel(size=len(log_w))).argmax())
        if new >= K:
            self.n, self.sum, self.square = n, total, square
            self.beta = np.concatenate([self.beta, beta[new : new + 1]])
            new = K
        self.z[i] = new
        self._change(new, i, 1.0)

    def _slice(self, k):
        rows = self.z == k
        X, codes = self.X1[rows], self.codes[rows]

        def log_likelihood(beta):
            logs = log_softmax(X @ beta.T, axis=1)[np.arange(len(codes)), codes]
            return float(logs.sum())

        for _ in range(5):
            other = self._prior(1)[0]
            level = log_likelihood(self.beta[k]) - self.rng.exponential()
            angle = self.rng.uniform(0, 2 * np.pi)
            low, high = angle - 2 * np.pi, angle
            while True:
                beta = self.beta[k] * np.cos(angle) + other * np.sin(angle)
                if log_likelihood(beta) > level:
                    break
                low, high = (angle, high) if angle < 0 else (low, angle)
                angle = self.rng.uniform(low, high)
            self.beta[k] = beta

    def predict_proba(self, X):
        """Return the probability of each class, the mean over the kept states."""
        X1, out = np.c_[X, np.ones(len(X))], np.zeros((len(X), len(self.classes_)))
        for n, total, square, beta in self.kept:
            density = np.array([log_predictive(x, n, total, square) for x in X]) + np.log(n)
            weight = np.exp(density - logsumexp(density, axis=1, keepdims=True))
            p = np.exp(log_softmax(np.einsum("ip,klp->ikl", X1, beta), axis=2))
            out = out + np.einsum("ik,ikl->il", weight, p)
        return out / len(self.kept)


def log_predictive(x, n, total, square):
    """Return the Student density of a row in each cluster, from sums and sums of squares."""
    n = n[:, None]
    mean = total / np.maximum(n, 1.0)
    spread = np.maximum(square - n * mean**2, 0.0)
    kappa, nu = KAPPA + n, NU + n
    place = n / kappa * mean
    width = NU * VARIANCE + spread + KAPPA * n / kappa * mean**2
    width = width * (kappa + 1) / kappa
    out = gammaln((nu + 1) / 2) - gammaln(nu / 2) - 0.5 * np.log(np.pi * width)
    return (out - (nu + 1) / 2 * np.log1p((x - place) ** 2 / width)).sum(axis=1)
