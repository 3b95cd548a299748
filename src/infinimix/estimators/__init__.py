"""The public scikit-learn classes."""

from typing import TYPE_CHECKING

from infinimix.later import late_names

if TYPE_CHECKING:
    from infinimix.estimators.aclass import AClassClassifier
    from infinimix.estimators.imputer import CRPImputer
    from infinimix.estimators.mixture import CRPMixture

__all__ = ["AClassClassifier", "CRPImputer", "CRPMixture"]

__getattr__ = late_names(
    __name__,
    {
        "AClassClassifier": "infinimix.estimators.aclass",
        "CRPImputer": "infinimix.estimators.imputer",
        "CRPMixture": "infinimix.estimators.mixture",
    },
)
