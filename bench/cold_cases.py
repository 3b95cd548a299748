"""What a fresh process does for `bench.cold`: import, fit and predict one small table.

Run as a script, `python bench/cold_cases.py NAME`, so that nothing but infinimix is loaded. The
answer is one line of JSON: CPU seconds up to the end of the imports, and of the rest. With
`--count NAME NAME ...` it is the number of kernels needed up to each of these in one process.
"""

from __future__ import annotations

import gc
import json
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

N = 120


def cells(rng: np.random.Generator, y: np.ndarray) -> dict[str, Callable[[], np.ndarray]]:
    """Columns of each kind that know something of the class."""
    return {
        "binary": lambda: (rng.random(N) < 0.2 + 0.6 * y).astype(float),
        "real": lambda: rng.normal(size=N) + y,
        "categorical": lambda: (rng.integers(3, size=N) + y) % 4,
        "gaussian": lambda: rng.normal(size=N) - y,
        "spiked": lambda: np.where(rng.random(N) < 0.4, 0.0, 1.0 + rng.gamma(2.0, size=N) + y),
    }


def table(**widths: int) -> tuple[np.ndarray, np.ndarray, dict[Any, str]]:
    """Rows, classes and the kind of every column; the columns of a Gaussian are one block."""
    rng = np.random.default_rng(0)
    y = np.arange(N) % 2
    draw, columns, kinds = cells(rng, y), [], {}
    for kind, width in widths.items():
        places = range(len(columns), len(columns) + width)
        kinds |= {tuple(places): kind} if kind == "gaussian" else dict.fromkeys(places, kind)
        columns += [draw[kind]() for _ in places]
    return np.column_stack(columns), y, kinds


def classifier(**widths: int) -> Callable[[], Callable[[], Any]]:
    """The classifier with its defaults on a table of this mix."""

    def imports() -> Callable[[], Any]:
        from infinimix import AClassClassifier

        X, y, kinds = table(**widths)
        return lambda: AClassClassifier(columns=kinds, random_state=0).fit(X, y).predict_proba(X)

    return imports


def text() -> Callable[[], Any]:
    from infinimix import OnlineCRPClassifier

    def work() -> Any:
        words = ("red green blue", "one two three", "sun moon star")
        documents = [f"{words[i % 3]} word{i % 7} other{i % 5}" for i in range(N)]
        model = OnlineCRPClassifier().partial_fit(documents, [i % 3 for i in range(N)])
        return model.predict_proba(documents)

    return work


def em() -> Callable[[], Any]:
    from infinimix import FiniteMixtureClassifier

    X, y, kinds = table(binary=3, categorical=2, real=3)
    return lambda: (
        FiniteMixtureClassifier(columns=kinds, n_init=2, random_state=0).fit(X, y).predict_proba(X)
    )


def networks() -> Callable[[], Any]:
    from infinimix import BlockmodelBayesNet

    X = table(categorical=6)[0].astype(int)
    return lambda: BlockmodelBayesNet(n_iter=60, random_state=0).fit(X).score_samples(X)


def max_margin() -> Callable[[], Any]:
    from infinimix import MaxMarginDPMeans

    X, y, _ = table(real=4)
    return lambda: MaxMarginDPMeans(random_state=0).fit(X, y).predict_proba(X)


def gibbs_svm() -> Callable[[], Any]:
    from infinimix import GibbsInfiniteSVC

    X, y, _ = table(real=4)
    return lambda: (
        GibbsInfiniteSVC(n_iter=20, burn_in=10, random_state=0).fit(X, y).predict_proba(X)
    )


#: In the order in which they share a cache: binary is the first table ever.
CASES: dict[str, Callable[[], Callable[[], Any]]] = {
    "binary": classifier(binary=10),
    "real": classifier(real=10),
    "categorical": classifier(categorical=10),
    "mixed": classifier(binary=3, categorical=3, real=3),
    "mixed, gaussian, spiked": classifier(binary=2, categorical=2, real=2, gaussian=3, spiked=2),
    "text": text,
    "EM": em,
    "networks": networks,
    "max-margin": max_margin,
    "Gibbs SVM": gibbs_svm,
}


def main(name: str) -> None:
    """Do one case and print its CPU seconds."""
    work = CASES[name]()
    imported = time.process_time()
    work()
    print(json.dumps({"imports": imported, "work": time.process_time() - imported}))


def count(names: list[str]) -> None:
    """Do several cases; print how many kernels were needed up to each, and how many compiled."""
    needed = []
    for name in names:
        CASES[name]()()
        needed.append(sum(len(kernel.overloads) for kernel in kernels()))
    from numba.core.caching import NullCache

    on_disk = [kernel for kernel in kernels() if not isinstance(kernel._cache, NullCache)]
    compiled = sum(sum(kernel.stats.cache_misses.values()) for kernel in on_disk)
    print(json.dumps({"kernels": needed, "compiled": compiled}))


def kernels() -> list[Any]:
    """All compiled functions of infinimix in this process."""
    from numba.core.registry import CPUDispatcher

    found = [one for one in gc.get_objects() if isinstance(one, CPUDispatcher)]
    return [one for one in found if one.py_func.__module__.startswith("infinimix")]


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # so few sweeps that chains may well disagree
    if sys.argv[1] == "--count":
        count(sys.argv[2:])
    else:
        main(sys.argv[1])
