"""Classifiers and models that grow with the data."""

from infinimix.later import late_names

__version__ = "0.1.0"

_HOMES = {
    "AClassClassifier": "infinimix.estimators",
    "BlockmodelBayesNet": "infinimix.networks",
    "CRPImputer": "infinimix.estimators",
    "CRPMixture": "infinimix.estimators",
    "CRPRegressor": "infinimix.estimators.mixture.regressor",
    "DPMeans": "infinimix.maxmargin.dpmeans",
    "DPMeansSVC": "infinimix.maxmargin.svc",
    "FiniteMixtureClassifier": "infinimix.estimators.finite.classifier",
    "GibbsInfiniteSVC": "infinimix.maxmargin.isvm",
    "HybridClassifier": "infinimix.estimators.hybrid",
    "MaxMarginDPMeans": "infinimix.maxmargin.m2dpm",
    "MaxMarginDPMeansCV": "infinimix.maxmargin.search",
    "NEW_CLASS": "infinimix.estimators.online.forecast",
    "OnlineCRPClassifier": "infinimix.estimators.online.classifier",
    "Text": "infinimix.tables",
    "load": "infinimix.estimators.persistence",
    "save": "infinimix.estimators.persistence",
}
__all__ = [
    "NEW_CLASS",
    "AClassClassifier",
    "BlockmodelBayesNet",
    "CRPImputer",
    "CRPMixture",
    "CRPRegressor",
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


__getattr__ = late_names(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
