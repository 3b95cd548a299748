"""Classifiers and models that grow with the data."""

from typing import Any

__version__ = "0.1.0"

_HOMES = {
    "AClassClassifier": "infinimix.estimators",
    "BlockmodelBayesNet": "infinimix.networks",
    "CRPImputer": "infinimix.estimators",
    "CRPMixture": "infinimix.estimators",
    "DPMeans": "infinimix.maxmargin.dpmeans",
    "DPMeansSVC": "infinimix.maxmargin.svc",
    "FiniteMixtureClassifier": "infinimix.estimators.finite_mixture",
    "GibbsInfiniteSVC": "infinimix.maxmargin.isvm",
    "HybridClassifier": "infinimix.estimators.hybrid",
    "MaxMarginDPMeans": "infinimix.maxmargin.m2dpm",
    "MaxMarginDPMeansCV": "infinimix.maxmargin.search",
    "NEW_CLASS": "infinimix.estimators.forecast",
    "OnlineCRPClassifier": "infinimix.estimators.online_crp",
    "Text": "infinimix.tables",
    "load": "infinimix.estimators.storage",
    "save": "infinimix.estimators.storage",
}
__all__ = [
    "NEW_CLASS",
    "AClassClassifier",
    "BlockmodelBayesNet",
    "CRPImputer",
    "CRPMixture",
    "DPMeans",
    "DPMeansSVC",
    "FiniteMixtureClassifier",
    "GibbsInfiniteSVC",
    "HybridClassifier",
    "MaxMarginDPMeans",
    "MaxMarginDPMeansCV",
    "OnlineCRPClassifier",
    "Text",
    "load",
    "save",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is used: the command line starts without numba."""
    if name not in _HOMES:
        raise AttributeError(f"module 'infinimix' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
