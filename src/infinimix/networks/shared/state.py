"""What a fit of several networks has found: a model of each, and the roles that they share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from infinimix.networks.answers.tree_checks import check_shared_roles
from infinimix.networks.learning.posterior import Draws

if TYPE_CHECKING:
    from infinimix.networks.bayes_net import BlockmodelBayesNet
    from infinimix.networks.franchise import NetworkFranchise


@dataclass(frozen=True)
class FranchiseState:
    """What a fit has found: a fitted model of each table, and the roles of all variables."""

    networks: dict[Any, BlockmodelBayesNet]
    classes: np.ndarray  # (S, V): the roles of all variables in the kept states
    log_joint: np.ndarray  # (S,) of all networks together
    co_class_marginals: np.ndarray
    roles: np.ndarray
    template: dict[str, np.ndarray]
    chains: list[Any] | None = field(default=None, repr=False)  # in this process alone

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"chains": None}

    @property
    def gap(self) -> tuple[Any, float]:
        """The table with the largest gap between chains on some edge, and this gap."""
        gaps = {name: float(model.edge_gap_.max()) for name, model in self.networks.items()}
        name = max(gaps, key=lambda k: gaps[k])
        return name, gaps[name]

    def roles_of(self, g: int) -> np.ndarray:
        """Return the shared roles of the variables of the network at place g."""
        sizes = np.cumsum([0, *(len(model.roles_) for model in self.networks.values())])
        return self.roles[sizes[g] : sizes[g + 1]]

    @property
    def draws(self) -> list[Draws]:
        """The kept states of each network."""
        return [model._fitted.draws for model in self.networks.values()]

    def to_tree(self) -> dict[str, Any]:
        """Return arrays and plain values."""
        return {
            "tables": list(self.networks),
            "networks": [model._fitted.to_tree() for model in self.networks.values()],
            "classes": self.classes,
            "log_joint": self.log_joint,
            "co_class_marginals": self.co_class_marginals,
            "roles": self.roles,
            "template": dict(self.template),
        }

    @classmethod
    def from_tree(cls, tree: dict[str, Any], model: NetworkFranchise) -> FranchiseState:
        """Return the state that `to_tree` wrote; ValueError if its parts do not fit together."""
        members = model._new_members(tree["tables"])
        for member, own in zip(members.values(), tree["networks"], strict=True):
            member._check_parameters()
            member._state = member.State.from_tree(own, member)
            member._knowledge(member._state.names)  # what is said of columns must still hold
        names = ("classes", "log_joint", "co_class_marginals", "roles", "template")
        state = cls(members, *(tree[name] for name in names))
        check_shared_roles(state, len(tree["tables"]))
        return state
