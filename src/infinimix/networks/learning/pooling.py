"""What chains over large graphs share after their burn-in, and after each round of "auto".

Each goes its own way first. Then all choose candidates by the graphs of all of them, and get one
list of orders, to which they may jump (`engine.order_jumps`): from a mode that one chain has found
the others profit as far as its weight is worth it. The list does not change while sweeps count.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from infinimix.networks.learning.layered_chains import LayeredChain
from infinimix.networks.learning.progress import map_chains

MOST_ORDERS = 512  # in the list


def burn_in_together(model: Any, chains: list[Any]) -> list[Any]:
    """Let chains burn in, and share what they have found; others are returned as they are."""
    if not _may_share(chains) or chains[0].problem.burn_in == 0:
        return chains
    shown = bool(model.verbose)
    chains = map_chains(model, chains, LayeredChain.burn_in_alone, shown, "burned in")
    share_orders(chains)
    return chains


def share_orders(chains: list[Any]) -> None:
    """Let all chains jump to the orders that any of them has noted."""
    if not _may_share(chains):
        return
    each = max(MOST_ORDERS // len(chains), 1)
    orders = [_some(chain.layering.noted, each) for chain in chains]
    if any(map(len, orders)):
        listed = np.array([order for own in orders for order in own])
        seen = sum(chain.layering.seen / max(chain.layering.seen.max(), 1.0) for chain in chains)
        for chain in chains:
            chain.layering.share(seen, listed)


def _some(orders: list[np.ndarray], most: int) -> list[np.ndarray]:
    """Return so many of the orders at most, evenly spread."""
    at = np.unique(np.linspace(0, len(orders) - 1, min(most, len(orders))).round().astype(int))
    return [orders[k] for k in at]


def _may_share(chains: list[Any]) -> bool:
    """Are these chains that jump, and that run by sweeps and not by the clock?"""
    return all(isinstance(c, LayeredChain) and c.problem.budget is None for c in chains)
