"""What one group is: conjugate families, one file each, and products of them."""

from infinimix.families.bernoulli import BetaBernoulli
from infinimix.families.categorical import DirichletCategorical
from infinimix.families.gaussian import NormalInverseWishart
from infinimix.families.normal import NormalInverseChiSquared
from infinimix.families.poisson import GammaPoisson
from infinimix.families.spiked import SpikedNormal

__all__ = [
    "BetaBernoulli",
    "DirichletCategorical",
    "GammaPoisson",
    "NormalInverseChiSquared",
    "NormalInverseWishart",
    "SpikedNormal",
]
