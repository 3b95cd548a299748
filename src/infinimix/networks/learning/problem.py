"""What all chains of a fit share: the rows, the prior, and how long to go on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from infinimix.networks.engine.blocks import Known
from infinimix.networks.engine.candidates import ALL, choose_layout
from infinimix.networks.engine.families import (
    BY_CONFIGURATION,
    BY_TABLE,
    NOT_SHARED,
    Data,
    ParentLayout,
)
from infinimix.networks.engine.scores import discrete_data, gaussian_data, mixed_data
from infinimix.networks.learning.columns import NetworkColumns
from infinimix.networks.learning.completion import first_fill
from infinimix.networks.learning.knowledge import Knowledge, bar_numbers, check_room

ORDERED_CANDIDATES = 12
FEW_SIGNED = 3  # parents of a child by default, if effects have signs
FIRST_ROUND = 500  # sweeps with n_iter="auto", before chains are compared for the first time


class LearnedHyper(NamedTuple):
    """Which hyper-parameters are learned."""

    alpha: bool = False
    beta: bool = False
    gamma: bool = False


FIXED = LearnedHyper()


@dataclass
class Problem:
    """What all chains share."""

    X: np.ndarray  # (n, N): codes, or numbers
    missing: np.ndarray  # (n, N) bool
    cards: np.ndarray | None  # None: numbers; where there are both kinds, 0 for numbers
    layout: Any  # a ParentLayout; None while it is not chosen
    prior: str = "blockmodel"
    per_partition: bool = True
    alpha: float = 0.5
    beta: tuple[float, float] = (1.0, 1.0)
    gamma: float = 0.5
    learn: LearnedHyper = FIXED
    shared_by: int = NOT_SHARED
    skip: np.ndarray | None = None
    bonus: np.ndarray | None = None  # [parent, child]
    anchor: np.ndarray | None = None
    roles: np.ndarray | None = None  # (3, L, L)
    order_known: bool = False
    powers: tuple[float, ...] = (1.0,)
    n_iter: int = 2000
    burn_in: int = 1000
    budget: Any = None  # a Budget of seconds, if time is bounded
    keep_all: bool = False  # remember every state, not a part of them
    published: bool = False  # only the moves of the thesis
    signed: bool = False  # effects have signs

    @property
    def known(self) -> Known:
        """What the prior of graphs has from the user."""
        return Known(self.anchor, self.roles, self.bonus)

    @property
    def n_nodes(self) -> int:
        """The number of columns."""
        return int(self.X.shape[1])


def make_data(problem: Problem, X: np.ndarray) -> Data:
    """Return the rows as the kernels read them."""
    if problem.cards is None:
        return gaussian_data(X, problem.skip)
    if not problem.cards.all():
        return mixed_data(X, problem.cards, problem.gamma, problem.shared_by, problem.skip)
    return discrete_data(X, problem.cards, problem.gamma, problem.shared_by, problem.skip)


def make_layout(
    problem: Problem, X: np.ndarray, allowed: np.ndarray, required: np.ndarray, **bounds: int | None
) -> ParentLayout:
    """Return which nodes may be parents of which, from rows X without holes."""
    return choose_layout(make_data(problem, X), allowed, required, **bounds)


def make_problem(
    model: Any, columns: NetworkColumns, codes: np.ndarray, missing: np.ndarray, known: Knowledge,
    seed: np.random.SeedSequence, skip: np.ndarray | None = None,
) -> Problem:  # fmt: skip
    """Return what the parameters of a `BlockmodelBayesNet`, its table and knowledge come to."""
    N, names = codes.shape[1], columns.schema.names
    known = bar_numbers(known, names, columns.cards)
    changing = any(_learned(model)) or bool(missing.any())
    problem = Problem(
        codes, missing, columns.cards, None, per_partition=model.normalise == "partition",
        skip=skip, order_known=model.role_order is not None,
        powers=_choose_powers(model, N, changing),
        keep_all=model.averaging == "best", published=model.moves == "published",
        signed=has_signs(model),
        **read_settings(model, columns, known) | read_gamma(model.gamma, bool(model.bdeu)),
    )  # fmt: skip
    limit = _limit(model, problem.signed)
    required = known.bonus == np.inf
    allowed = required if limit == 0 else known.bonus > -np.inf
    bounds = {"max_parents": limit or (1 if problem.signed else None), "most": None}
    if model.prior == "ordered" and N > ALL and model.moves == "all":
        bounds |= {"most": ORDERED_CANDIDATES, "strong": ORDERED_CANDIDATES}
    filled = first_fill(codes, missing, np.random.default_rng(seed))
    problem.layout = make_layout(problem, filled, allowed, required, **bounds)
    most = min(problem.layout.max_parents, problem.layout.cand.shape[1])
    most = most if limit is None else min(most, limit)
    check_room(names, known.bonus, most, columns.cards)
    return problem


def has_signs(model: Any) -> bool:
    """Have effects signs? Networks that share roles have none."""
    return bool(getattr(model, "effects", "any") == "signed")


def _limit(model: Any, signed: bool) -> int | None:
    """Return the most parents of a node; None if there is no bound."""
    if model.max_parents is None:
        return FEW_SIGNED if signed else None
    return max(int(model.max_parents), 0)


def read_settings(model: Any, columns: NetworkColumns, known: Knowledge) -> dict[str, Any]:
    """Return the prior and the sweeps, which graphs with and without cycles read alike.

    What is learned of alpha, beta and gamma begins at its default.
    """
    learn = _learned(model)
    n_iter = FIRST_ROUND if model.n_iter == "auto" else int(model.n_iter)
    return {
        "prior": model.prior,
        "alpha": 0.5 if learn.alpha else float(model.alpha),
        "beta": (1.0, 1.0) if learn.beta else (float(model.beta[0]), float(model.beta[1])),
        **read_gamma(model.gamma),
        "learn": learn._replace(gamma=learn.gamma and not columns.gaussian),
        "bonus": known.bonus,
        "anchor": known.anchor,
        "roles": known.held,
        "n_iter": n_iter,
        "burn_in": n_iter // 2 if model.burn_in is None else int(model.burn_in),
    }


def _learned(model: Any) -> LearnedHyper:
    given = model.alpha, model.beta, model.gamma
    return LearnedHyper(*(isinstance(v, str) and v == "learn" for v in given))


def read_gamma(gamma: float | str, bdeu: bool = False) -> dict[str, Any]:
    """Return a pseudo-count, and who shares it; what is learned begins at .5."""
    shared_by = BY_TABLE if bdeu else NOT_SHARED
    if isinstance(gamma, str) and gamma == "auto":
        if bdeu:
            return {"gamma": 10.0, "shared_by": shared_by}
        return {"gamma": 1.0, "shared_by": BY_CONFIGURATION}
    return {"gamma": 0.5 if isinstance(gamma, str) else float(gamma), "shared_by": shared_by}


def _choose_powers(model: Any, N: int, changing: bool) -> tuple[float, ...]:
    """Return the powers of the likelihood; one if the likelihood changes on the way."""
    T = model.n_temperatures
    if T is None:
        changing = changing or has_signs(model)
        several = model.prior == "blockmodel" and model.moves == "all" and N <= ALL
        T = 3 if several and not changing else 1
    return ladder(T)


def ladder(n_temperatures: int) -> tuple[float, ...]:
    """Return the powers of the likelihood of tempered copies, from 1 down."""
    return tuple(0.6 ** np.arange(n_temperatures))
