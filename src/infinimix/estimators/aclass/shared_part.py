"""The additive shared part: what rows have beside their class, modelled once for all classes.

The AClass paper (section 4) proposes that only an additive component of the features be modelled
given the class, "while the rest is modeled using a single set of parameters shared across all
classes". It gives no equations. Here row i of group g of its class is

    x_i = mu_g + W s_i + e_i,   s_i ~ N(0, I),   e_i ~ N(0, diag(own)),   mu_g ~ N(mean, S / kappa)

so the class part mu_g is a CRP mixture for each class, and the covariance S = W W' + diag(own) of
the shared part is the same in all groups of all classes. W has one column for each direction in
which rows vary whatever their class is. This is a gaussian block whose base measure lets no group
have another covariance (nu = FIRM), so filters, sweeps, holes and files are those of that family.

Given groups of n rows with mean m and scatter A, the log evidence is, without holes,

    - N/2 log |2 pi S| - tr(S^-1 T)/2 + D/2 sum_g log(kappa / (kappa + n)),
    T = sum_g A + kappa n / (kappa + n) (m - mean)(m - mean)'

It is raised in turn in S (factor analysis of T / N), in the mean and in kappa. Groups and S are
found in turn, a few times, from two starts: one group for each class, and the groups that the
classes have without a shared part. The start whose rows have the highest evidence is kept.
With holes, T has the rows of each pair of columns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from infinimix.estimators.answers.filling import is_tied
from infinimix.estimators.common.mixture_estimator import Learned
from infinimix.estimators.common.parameters import check_parameter
from infinimix.families.base_measures import location_and_scale
from infinimix.families.gaussian_priors import has_covariance, n_directions
from infinimix.families.pairwise import CROSS, MEAN, N
from infinimix.families.seam import count_rows, empty
from infinimix.inference.ensemble.agreement import log_evidence_given_labels
from infinimix.inference.ensemble.bank import Bank, Settings
from infinimix.tables import EncodedTable, Schema

FIRM = 1e6  # nu: rows that a group would need for a covariance of its own
LEAST_OWN = 1e-3  # of the variance of a column: what no direction explains
LEAST_KAPPA, MOST_KAPPA = 1e-3, 10.0
STEPS, CLOSE = 100, 1e-7  # of factor analysis in one turn; change of the own variances
TURNS, ALIKE = 20, 1e-4  # between S, the mean and kappa; relative change of these
ROUNDS = 3  # between the groups and S, from each start
PILOTS = 2  # islands by which S is found


class SharedPart(NamedTuple):
    """What all groups of a gaussian block share."""

    kappa: float
    mean: np.ndarray  # (D,)
    own: np.ndarray  # (D,) variances
    loadings: np.ndarray  # (directions, D)

    @property
    def covariance(self) -> np.ndarray:
        """S, the covariance within every group."""
        return np.diag(self.own) + self.loadings.T @ self.loadings

    def entry(self) -> tuple[float, ...]:
        """Return what a base measure takes in place of a word, see `families.gaussian_priors`."""
        numbers = (self.mean, self.own, *self.loadings)
        return (self.kappa, FIRM, *np.concatenate(numbers).tolist())


def analyse_factors(
    C: np.ndarray, directions: int, start: np.ndarray | None = None, steps: int = STEPS
) -> tuple[np.ndarray, np.ndarray]:
    """Return the loadings (directions, D) and own variances of highest likelihood for C.

    For given own variances the best loadings are eigenvectors, for given loadings the own
    variances are what remains of the diagonal. These may start where they were for a similar C.
    """
    scale = np.sqrt(np.diag(C))
    R, own = _positive(C / scale / scale[:, None]), np.full(len(C), 0.5)
    if start is not None:
        own = np.clip(start / scale**2, LEAST_OWN, 1.0)
    for _ in range(steps):
        root = np.sqrt(own)
        values, vectors = np.linalg.eigh(R / root / root[:, None])
        values, vectors = values[::-1][:directions], vectors[:, ::-1][:, :directions]
        W = root[:, None] * vectors * np.sqrt(np.maximum(values - 1.0, 0.0))
        before, own = own, np.maximum(1.0 - (W**2).sum(axis=1), LEAST_OWN)
        if np.abs(own - before).max() <= CLOSE:
            break
    return (W * scale[:, None]).T, own * scale**2


def _positive(R: np.ndarray) -> np.ndarray:
    """Return correlations that contradict each other as such that do not."""
    values, vectors = np.linalg.eigh(R)
    if values[0] >= LEAST_OWN:
        return R
    R = (vectors * np.maximum(values, LEAST_OWN)) @ vectors.T
    root = np.sqrt(np.diag(R))
    return np.asarray(R / root / root[:, None])


def find_shared(groups: np.ndarray, directions: int) -> SharedPart:
    """Return the shared part of highest evidence, given moments of groups (K, 4, D, D)."""
    rows = np.diagonal(groups[:, N], axis1=1, axis2=2)  # (K, D) cells of each column
    means = np.diagonal(groups[:, MEAN], axis1=1, axis2=2)
    kappa = 0.1
    part: SharedPart | None = None
    for _ in range(TURNS):
        weight = kappa * rows / (kappa + rows)
        mean = (weight * means).sum(axis=0) / np.maximum(weight.sum(axis=0), 1e-300)
        start = None if part is None else part.own
        loadings, own = analyse_factors(_covariance(groups, kappa, mean), directions, start)
        before, part = part, SharedPart(kappa, mean, own, loadings)
        if before is not None and _alike(before, part):
            break
        kappa = _find_kappa(groups, rows, part)
    assert part is not None
    return part


def _covariance(groups: np.ndarray, kappa: float, mean: np.ndarray) -> np.ndarray:
    """Return T / N; a column that is constant or empty has a variance all the same."""
    T, rows = scatter(groups, kappa, mean), groups[:, N].sum(axis=0)
    C = T / np.maximum(rows, 1.0)
    np.fill_diagonal(C, location_and_scale(np.diag(rows), mean, np.diag(T))[1])
    return np.asarray(C)


def scatter(groups: np.ndarray, kappa: float, mean: np.ndarray) -> np.ndarray:
    """Return T: the scatter within groups, and that of their means as far as kappa lets it."""
    rows, gap = groups[:, N], groups[:, MEAN] - mean[:, None]
    gap = np.where(rows > 0.0, gap, 0.0)
    between = kappa * rows / (kappa + rows) * gap * gap.swapaxes(1, 2)
    return np.asarray((groups[:, CROSS] + between).sum(axis=0))


def _find_kappa(groups: np.ndarray, rows: np.ndarray, part: SharedPart) -> float:
    """Return the kappa of highest evidence, the rest of the shared part being given."""
    from scipy.optimize import minimize_scalar  # slow to load, and most fits need none

    precision = np.linalg.inv(part.covariance)

    def loss(log_kappa: float) -> float:
        kappa = np.exp(log_kappa)
        square = (precision * scatter(groups, kappa, part.mean)).sum()
        return float(0.5 * square - 0.5 * np.log(kappa / (kappa + rows)).sum())

    bounds = (np.log(LEAST_KAPPA), np.log(MOST_KAPPA))
    return float(np.exp(minimize_scalar(loss, bounds=bounds, method="bounded").x))


def _alike(one: SharedPart, other: SharedPart) -> bool:
    near = abs(one.kappa / other.kappa - 1.0) < ALIKE
    return bool(near and (np.abs(one.own / other.own - 1.0) < ALIKE).all())


# --- Groups and shared part in turn --------------------------------------------------------------


def learn_shared(
    learn: Callable[[EncodedTable, Settings], Learned],
    settings: Settings,
    table: EncodedTable,
    codes: np.ndarray,
    directions: int,
) -> Learned:
    """Learn a table with a shared part in each of its gaussian blocks."""
    pilot = settings._replace(n_islands=min(PILOTS, settings.n_islands), sweeps=0)
    plain = learn(table, pilot)
    best, highest = settings.prior, -np.inf
    for groups in (class_moments(plain.bank, table, codes), bank_moments(plain.bank)):
        for _ in range(ROUNDS):
            parts = {b: find_shared(g, min(directions, g.shape[-1])) for b, g in groups.items()}
            prior = with_shared(plain.bank, parts)
            bank = learn(table, pilot._replace(prior=prior)).bank
            evidence = log_evidence_given_labels(bank)
            if evidence > highest:
                best, highest = prior, evidence
            groups = bank_moments(bank)
    return learn(table, settings._replace(prior=best))


def with_shared(bank: Bank, parts: Mapping[int, SharedPart]) -> dict[str, Any]:
    """Return the prior of a bank, by column, with these shared parts of its blocks."""
    names, prior = list(bank.layout.names.values()), bank.settings.prior
    every = [name for block in names for name in block]
    found = dict.fromkeys(every, prior) if isinstance(prior, str) else dict(prior)
    for b, part in parts.items():
        found |= dict.fromkeys(names[b], part.entry())
    return found


def bank_moments(bank: Bank) -> dict[int, np.ndarray]:
    """Return moments of the groups of each gaussian block, by the heaviest particle of each."""
    found: dict[int, list[np.ndarray]] = {b: [] for b in _tied(bank)}
    for f in bank.filters():
        if f.n_rows:
            slots = f.held(int(np.argmax(f.weights())))
            for b, parts in found.items():
                parts.append(f.stats[b].n[slots])
    return {b: np.concatenate(parts) for b, parts in found.items()}


def class_moments(bank: Bank, table: EncodedTable, codes: np.ndarray) -> dict[int, np.ndarray]:
    """Return the same for one group in each class, of the rows that have labels."""
    known = np.flatnonzero(codes >= 0)
    stats = empty(bank.shape, bank.n_classes)
    weight = np.eye(bank.n_classes)[codes[known]]
    count_rows(bank.shape, stats, weight, table.take(known).blocks)
    return {b: stats[b].n for b in _tied(bank)}


def _tied(bank: Bank) -> list[int]:
    return [b for b, family in enumerate(bank.shape) if is_tied(family)]


# --- What users may ask, and what they are told ---------------------------------------------------


def check_shared(model: Any, schema: Schema) -> None:
    """Raise ValueError if a table cannot have the shared part that a model asks for."""
    if not model.shared_directions:
        return
    asked = f"shared_directions={model.shared_directions}"
    if not schema.gaussian_blocks:
        raise ValueError(
            f"{asked} is for columns of numbers that are modelled jointly; name them, as in "
            "columns='gaussian' or columns={('x', 'y'): 'gaussian'}."
        )
    if model.relevance == "learn":
        raise ValueError(f"{asked} cannot be combined with relevance='learn'; choose one of them.")


def check_stream_shared(model: Any, state: Any) -> None:
    """Raise ValueError if a stream would have to find the shared part of its first rows."""
    check_parameter(model, "shared_directions", model.shared_directions)
    if state is None and model.shared_directions:
        raise ValueError(
            "partial_fit cannot begin with shared_directions above 0, since rows are not kept: "
            "call fit with the first rows, and partial_fit goes on from there."
        )


def loadings_of(bank: Bank, schema: Schema) -> np.ndarray:
    """Return how each column of a table varies along each direction that its blocks share."""
    prior, columns = bank.settings.prior, []
    for names in schema.gaussian_blocks:
        given = "" if isinstance(prior, str) else prior[names[0]]
        if has_covariance(given):
            own = np.zeros((n_directions(given, len(names)), schema.width))
            places = [schema.names.index(name) for name in names]
            own[:, places] = np.reshape(given[2 + 2 * len(names) :], (-1, len(names)))
            columns.append(own)
    return np.concatenate(columns).T if columns else np.zeros((schema.width, 0))
