"""Draws of chains as ArviZ takes them; ArviZ is imported when it is asked for, and not before.

ArviZ 0.x takes groups of variables as arguments and returns an `InferenceData`; 1.x takes one dict
of groups and returns a `DataTree` of xarray. Both have `.posterior` and `.sample_stats`.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from inspect import signature
from typing import Any

import numpy as np

Variables = Mapping[str, np.ndarray]  # (chains, draws, ...)


def to_inference_data(
    posterior: Variables,
    sample_stats: Variables | None = None,
    dims: Mapping[str, Sequence[str]] | None = None,
    coords: Mapping[str, Sequence[Any]] | None = None,
) -> Any:
    """Return variables of some chains, (chains, draws, ...), in ArviZ's form."""
    arviz = _import_arviz()
    groups: dict[str, dict[str, np.ndarray]] = {"posterior": dict(posterior)}
    if sample_stats:
        groups["sample_stats"] = dict(sample_stats)
    named = {
        "dims": {name: list(axes) for name, axes in (dims or {}).items()},
        "coords": {name: list(values) for name, values in (coords or {}).items()},
    }
    if "posterior" in signature(arviz.from_dict).parameters:  # before 1.0
        return arviz.from_dict(**groups, **named)
    return arviz.from_dict(groups, **named)


def _import_arviz() -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # 0.23 tells everybody of 1.0
            import arviz
    except ImportError as error:
        raise ImportError(
            "to_arviz needs ArviZ, which is not installed: pip install 'infinimix[arviz]'"
        ) from error
    return arviz


def even_chains(values: np.ndarray, chain: np.ndarray) -> np.ndarray:
    """Return draws (S, ...) of several chains as (chains, draws, ...): the last of each, as many.

    Chains that ran for some seconds have kept different numbers of states.
    """
    parts = [values[chain == k] for k in range(int(chain.max()) + 1)]
    length = min(map(len, parts))
    return np.stack([part[len(part) - length :] for part in parts])
