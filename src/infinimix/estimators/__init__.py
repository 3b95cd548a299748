"""The public scikit-learn classes."""

from infinimix.estimators.aclass import AClassClassifier
from infinimix.estimators.imputer import CRPImputer
from infinimix.estimators.mixture import CRPMixture

__all__ = ["AClassClassifier", "CRPImputer", "CRPMixture"]
