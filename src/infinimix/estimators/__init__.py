"""The public scikit-learn classes."""

from typing import TYPE_CHECKING

from infinimix.later import late_names

if TYPE_CHECKING:
    from infinimix.estimators.aclass.classifier import AClassClassifier
    from infinimix.estimators.mixture.crp_mixture import CRPMixture
    from infinimix.estimators.mixture.imputer import CRPImputer

__all__ = ["AClassClassifier", "CRPImputer", "CRPMixture"]

if not TYPE_CHECKING:  # else a misspelt name would be Any
    __getattr__ = late_names(__name__, {
        ".aclass.classifier": ("AClassClassifier",), ".mixture.crp_mixture": ("CRPMixture",),
        ".mixture.imputer": ("CRPImputer",),
    })  # fmt: skip
