"""The one door to scikit-learn's base classes and checks, which opens in half the time.

`sklearn.base` imports all of pandas, narwhals, joblib, `scipy.stats`, `scipy.special` and
`scipy.linalg` for a function or two that no model of infinimix calls, and by a `from numpy import
*` the tests and the Fortran of NumPy. That was two thirds of `from infinimix import
AClassClassifier`. While it is imported here, these are promises: whoever uses one gets the library
itself, loaded then. They are promises to scikit-learn and SciPy only. Everybody else imports the
libraries as ever, and if scikit-learn was loaded before, nothing is done at all.

Type checkers read `scikit_types.pyi` instead: scikit-learn has no types, and with bases of type
`Any` no misspelt method would be noticed.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, Any

#: Libraries, and those of their functions that are named at import and called later, if ever.
PROMISED: dict[str, tuple[str, ...]] = {
    "joblib": (),
    "narwhals": (),
    "narwhals.stable": (),
    "narwhals.stable.v2": (),
    "numpy.f2py": (),
    "numpy.testing": (),
    "pandas": (),
    "scipy.linalg": (),
    "scipy.sparse.csgraph": ("laplacian",),
    "scipy.sparse.linalg": ("LinearOperator", "cg"),
    "scipy.special": (),
    "scipy.stats": (),
    "sklearn.utils._show_versions": ("show_versions",),
    "sklearn.utils.parallel": ("_get_threadpool_controller",),
}


class Promise(ModuleType):
    """Stands for a library until an attribute of it is wanted."""

    functions: tuple[str, ...] = ()

    def __getattr__(self, name: str) -> Any:
        if name in self.functions:
            return partial(_call, self.__name__, name)
        if self.functions and name == "__path__":  # `from` asks for it before it asks for a name
            raise AttributeError(name)
        if sys.modules.get(self.__name__) is self:
            sys.modules.pop(self.__name__, None)  # or the import below would find the promise
        return getattr(import_module(self.__name__), name)


def _call(library: str, name: str, *args: Any, **options: Any) -> Any:
    """Call a function of a library, which is loaded then."""
    return getattr(import_module(library), name)(*args, **options)


@contextmanager
def promised(names: Mapping[str, tuple[str, ...]]) -> Iterator[None]:
    """Let imports of these libraries find promises, unless they are loaded or not installed.

    Functions that are named stay promises where somebody has imported them by name.
    """
    promises: list[Promise] = []
    for name, functions in names.items():
        if name not in sys.modules and _is_there(name):
            promise = Promise(name)
            promise.functions = functions
            promises.append(promise)
            for names_of, entry in _entries(promise):
                names_of[entry] = promise
    try:
        yield
    finally:
        for promise in reversed(promises):
            for names_of, entry in _entries(promise):
                is_open = names_of is not sys.modules and "__getattr__" not in names_of
                if is_open:  # a part that was imported is there as a name of its package
                    names_of.setdefault(entry, promise)
                elif names_of.get(entry) is promise:
                    del names_of[entry]


def _is_there(name: str) -> bool:
    """Return whether a library is installed; parts of one that is promised, or asks for them, are.

    To look for a part, its package is loaded.
    """
    package = name.rpartition(".")[0]
    if name.startswith("sklearn.") or type(sys.modules.get(package)) is Promise:
        return True
    return find_spec(name) is not None


def _entries(module: ModuleType) -> list[tuple[dict[str, Any], str]]:
    """Return where Python looks for a module: in the list of all, and in its package."""
    package, _, name = module.__name__.rpartition(".")
    inside = [(vars(sys.modules[package]), name)] if package in sys.modules else []
    return [(sys.modules, module.__name__), *inside]


if TYPE_CHECKING:
    from infinimix.scikit_types import (
        BaseEstimator,
        ClassifierMixin,
        ClusterMixin,
        ConvergenceWarning,
        DensityMixin,
        MetaEstimatorMixin,
        OneToOneFeatureMixin,
        RegressorMixin,
        TransformerMixin,
        _check_feature_names,
        _get_feature_names,
        check_array,
        check_consistent_length,
        check_is_fitted,
        clone,
        column_or_1d,
        get_config,
        validate_data,
    )
else:
    with promised({} if "sklearn" in sys.modules else PROMISED):
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
