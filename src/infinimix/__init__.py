"""Classifiers and models that grow with the data."""

from typing import TYPE_CHECKING

from infinimix.later import late_names

if TYPE_CHECKING:
    from infinimix.estimators.aclass.classifier import AClassClassifier
    from infinimix.estimators.finite.classifier import FiniteMixtureClassifier
    from infinimix.estimators.hybrid import HybridClassifier
    from infinimix.estimators.mixture.crp_mixture import CRPMixture
    from infinimix.estimators.mixture.imputer import CRPImputer
    from infinimix.estimators.mixture.regressor import CRPRegressor
    from infinimix.estimators.online.classifier import OnlineCRPClassifier
    from infinimix.estimators.online.forecast import NEW_CLASS
    from infinimix.estimators.persistence import load, save
    from infinimix.maxmargin.dpmeans import DPMeans
    from infinimix.maxmargin.isvm import GibbsInfiniteSVC
    from infinimix.maxmargin.m2dpm import MaxMarginDPMeans
    from infinimix.maxmargin.search import MaxMarginDPMeansCV
    from infinimix.maxmargin.svc import DPMeansSVC
    from infinimix.networks import BlockmodelBayesNet
    from infinimix.tables.partition_sources import read_partitions
    from infinimix.tables.text import Text

__version__ = "0.1.0"

__all__ = [
    "NEW_CLASS", "AClassClassifier", "BlockmodelBayesNet", "CRPImputer", "CRPMixture",
    "CRPRegressor", "DPMeans", "DPMeansSVC", "FiniteMixtureClassifier", "GibbsInfiniteSVC",
    "HybridClassifier", "MaxMarginDPMeans", "MaxMarginDPMeansCV", "OnlineCRPClassifier", "Text",
    "load", "read_partitions", "save",
]  # fmt: skip

if not TYPE_CHECKING:  # else a misspelt name would be Any
    __getattr__ = late_names(__name__, {
        ".estimators": ("AClassClassifier", "CRPImputer", "CRPMixture"),
        ".estimators.finite.classifier": ("FiniteMixtureClassifier",),
        ".estimators.hybrid": ("HybridClassifier",),
        ".estimators.mixture.regressor": ("CRPRegressor",),
        ".estimators.online.classifier": ("OnlineCRPClassifier",),
        ".estimators.online.forecast": ("NEW_CLASS",), ".estimators.persistence": ("load", "save"),
        ".maxmargin.dpmeans": ("DPMeans",), ".maxmargin.isvm": ("GibbsInfiniteSVC",),
        ".maxmargin.m2dpm": ("MaxMarginDPMeans",), ".maxmargin.search": ("MaxMarginDPMeansCV",),
        ".maxmargin.svc": ("DPMeansSVC",), ".networks": ("BlockmodelBayesNet",),
        ".tables": ("Text",), ".tables.partition_sources": ("read_partitions",),
    })  # fmt: skip


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
