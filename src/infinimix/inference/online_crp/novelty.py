"""Is a row of a class that nobody has named yet? A logistic answer, learned online.

The CRP says log P(new) / P(old) = log alpha + log p(x | anything) - log sum_c m_c p(x | c). With a
symmetric base measure for "anything" that is negligible for every row; with the running
distribution of all rows (group 0) it is not, and the best signal of all is how unsure the
calibrated classifier is. So the log odds are log(alpha / (n + alpha)) plus a weighted sum of five
signals:

    1;  the log of the number of equally probable classes with this entropy;  the log density under
    group 0, less that under the classes (its own log, as it may be hundreds of nats);  the share of
    the row that no row has had before;  the share that the most probable class has never had

whose weights start at START and follow the gradient of the log-loss (AdaGrad): the truth, whether
the label was new, comes with every label.

The paper's own term (equations 4 and 7) has the base measure for "anything", and learns nothing:
`published_probability`.
"""

import numpy as np

from infinimix.kernels.compile import part
from infinimix.kernels.elementary import exp, log

ONE, DOUBT, DENSITY, UNKNOWN, UNSEEN = range(5)
START = np.array([0.0, 0.7, 0.2, 2.0, 2.0])
STEP = 0.05
FAR = 10.0  # nats: a signal beyond is no stronger
LIMIT = 30.0  # of the log odds: a probability is never quite 0 or 1
FINITE = 700.0  # of log odds that may be any: their exponential is still a number


@part
def bounded(x):
    """Return a signal that is not too strong."""
    return min(max(x, -FAR), FAR)


@part
def squashed(x):
    """Return a signal of any size on a scale of logs, near zero as it is."""
    return log(1.0 + x) if x > 0.0 else -log(1.0 - x)


@part
def new_class_probability(weights, signal, alpha, rows):
    """Return the probability that a row's class is new."""
    odds = log(alpha / (rows + alpha))
    for j in range(signal.shape[0]):
        odds += weights[0, j] * signal[j]
    return 1.0 / (1.0 + exp(-min(max(odds, -LIMIT), LIMIT)))


@part
def published_probability(alpha, base, density):
    """Return alpha p(x | G0) as a share of itself and sum_c m_c relax_c p(x | c).

    `base` is log p(x | G0), `density` the log of the sum.
    """
    odds = log(alpha) + base - density
    return 1.0 / (1.0 + exp(-min(max(odds, -FINITE), FINITE)))


@part
def learn_novelty(weights, signal, probability, is_new):
    """Move the weights after the label has come; weights[1] are squared gradients."""
    wrong = probability - (1.0 if is_new else 0.0)
    for j in range(signal.shape[0]):
        g = wrong * signal[j]
        weights[1, j] += g * g
        weights[0, j] -= STEP * g / np.sqrt(weights[1, j] + 1e-2)
