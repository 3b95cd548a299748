"""The one door to scikit-learn's base classes and checks, which opens in half the time.

`sklearn.base` imports all of pandas, `scipy.stats` and `scipy.special` for a function or two that
no model of infinimix calls, and by a `from numpy import *` the tests and the Fortran of NumPy. That
was more than half of `from infinimix import AClassClassifier`. While it is imported here, these are
promises: whoever uses one gets the library itself, loaded then. They are promises to scikit-learn
and SciPy only. Everybody else imports the libraries as ever, and if scikit-learn was loaded before,
nothing is done at all.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

PROMISED = ("numpy.f2py", "numpy.testing", "pandas", "scipy.special", "scipy.stats")


class Promise(ModuleType):
    """Stands for a library until an attribute of it is wanted."""

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(self.__name__) is self:
            sys.modules.pop(self.__name__, None)  # or the import below would find the promise
        return getattr(import_module(self.__name__), name)


@contextmanager
def promised(*names: str) -> Iterator[None]:
    """Let imports of these libraries find promises, unless they are loaded or not installed."""
    promises = [Promise(name) for name in names if name not in sys.modules and find_spec(name)]
    for promise in promises:
        for names_of, name in _entries(promise):
            names_of[name] = promise
    try:
        yield
    finally:
        for promise in promises:
            for names_of, name in _entries(promise):
                if names_of.get(name) is promise:
                    del names_of[name]


def _entries(module: ModuleType) -> list[tuple[dict[str, Any], str]]:
    """Return where Python looks for a module: in the list of all, and in its package."""
    package, _, name = module.__name__.rpartition(".")
    inside = [(vars(sys.modules[package]), name)] if package else []
    return [(sys.modules, module.__name__), *inside]


with promised(*(() if "sklearn" in sys.modules else PROMISED)):
    from sklearn import get_config
    from sklearn.base import (
        BaseEstimator,
        ClassifierMixin,
        ClusterMixin,
        DensityMixin,
        MetaEstimatorMixin,
        OneToOneFeatureMixin,
        RegressorMixin,
        TransformerMixin,
        clone,
    )
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.utils.validation import (
        _check_feature_names,
        _get_feature_names,
        check_array,
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
    "RegressorMixin",
    "TransformerMixin",
    "_check_feature_names",
    "_get_feature_names",
    "check_array",
    "check_consistent_length",
    "check_is_fitted",
    "clone",
    "column_or_1d",
    "get_config",
    "validate_data",
]
