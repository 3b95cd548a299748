"""Roles that appear and die when several networks share them (Chinese restaurant franchise).

Role k has a weight w_k for all networks, and those that no node has yet share the rest w. Given
these, the roles of one network have P(z) = prod_k Gamma(c w_k + m_k) / Gamma(c w_k) up to a
constant, so that c w_k are pseudo-members, and c w is the weight of a new role (`alpha`).
With concentration s of all roles the weights have, before any node is seen, the density

    w^(s - 1) prod_k s / w_k

over those that are in use. A role that appears takes a share of the rest, Beta(1, s), and one that
dies gives its share back: with P(z_i = new) = c w this is a draw from the joint of z_i and the
weights. Roles below `n_roles` are those of other networks; they do not die here. Without
a franchise s is 0 and nothing happens.
"""

from infinimix.kernels.compile import kernel
from infinimix.kernels.elementary import exp, log
from infinimix.networks.engine.hyper import ALPHA, STICKS

LEAST = 1e-100


@kernel
def open_role(prior, state, k, rng):
    """Let the empty class k, if it is new, break off its share; return the log of the share."""
    hyper = prior.hyper
    if hyper[STICKS] == 0.0 or k < prior.n_roles or state.m[k] > 0:
        return 0.0
    rest = hyper[ALPHA]
    hyper[ALPHA] = max(rest * exp(max(log(1.0 - rng.random()) / hyper[STICKS], -600.0)), LEAST)
    prior.pseudo_members[k] = max(rest - hyper[ALPHA], LEAST)
    return log(prior.pseudo_members[k] / rest)


@kernel
def close_role(prior, state, k):
    """Let class k, if it is own and empty now, give its share back; return the log of the share."""
    hyper = prior.hyper
    if hyper[STICKS] == 0.0 or k < prior.n_roles or state.m[k] > 0:
        return 0.0
    share = prior.pseudo_members[k]
    hyper[ALPHA] += share
    prior.pseudo_members[k] = 0.0
    return log(share / hyper[ALPHA])
