"""The one door to scikit-learn's base classes and checks, which opens in half the time.

`sklearn.base` imports all of pandas, `scipy.stats` and `scipy.special` for a function or two that
no model of infinimix calls; that was more than half of `from infinimix import AClassClassifier`.
While it is imported here, they are promises: who uses one gets the library itself, loaded then.
They are promises to scikit-learn only. Everybody else imports the libraries as ever, and if
scikit-learn or a library was loaded before, nothing is done at all.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

PROMISED = ("scipy.special", "scipy.stats", "pandas")


class Promise(ModuleType):
    """Stands for a library until an attribute of it is wanted."""

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]  # or the import below would find the promise
        return getattr(import_module(self.__name__), name)


@contextmanager
def promised(*names: str) -> Iterator[None]:
    """Let imports of these libraries find promises, unless they are loaded or not installed."""
    promises = {n: Promise(n) for n in names if n not in sys.modules and find_spec(n)}
    sys.modules.update(promises)
    try:
        yield
    finally:
        for name, promise in promises.items():
            if sys.modules.get(name) is promise:
                del sys.modules[name]


with promised(*(() if "sklearn" in sys.modules else PROMISED)):
    from sklearn import get_config
    from sklearn.base import (
        BaseEstimator,
        ClassifierMixin,
        ClusterMixin,
        DensityMixin,
        MetaEstimatorMixin,
        OneToOneFeatureMixin,
        TransformerMixin,
        clone,
    )
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.utils.validation import (
        _check_feature_names,
        _get_feature_names,
        check_consistent_length,
        check_is_fitted,
        column_or_1d,
        validate_data,
    )

__all__ = [
    "BaseEstimator",
    "ClassifierMixin",
    "ClusterMixin",
    "ConvergenceWarning",
    "DensityMixin",
    "MetaEstimatorMixin",
    "OneToOneFeatureMixin",
    "TransformerMixin",
    "_check_feature_names",
    "_get_feature_names",
    "check_consistent_length",
    "check_is_fitted",
    "clone",
    "column_or_1d",
    "get_config",
    "validate_data",
]
