"""`save` and `load`: models as archives of arrays and JSON that cannot execute code.

A model is its parameters, its schema, its labels and its bank; the bank is plain arrays and
generators, so that a loaded model continues bit for bit. What a class writes is listed
here, in one place, by name.
"""

from __future__ import annotations

from importlib import import_module
from os import PathLike
from typing import TYPE_CHECKING, Any, BinaryIO, TypeAlias, TypeVar, overload

import infinimix
from infinimix import artifacts
from infinimix.artifacts import ArtifactError
from infinimix.estimators.aclass.classifier import AClassClassifier
from infinimix.estimators.common.trees import TREE_VERSION, rebuild, tree_of
from infinimix.estimators.finite.classifier import FiniteMixtureClassifier
from infinimix.estimators.mixture.crp_mixture import CRPMixture
from infinimix.estimators.mixture.imputer import CRPImputer
from infinimix.estimators.mixture.regressor import CRPRegressor
from infinimix.estimators.online.classifier import OnlineCRPClassifier

if TYPE_CHECKING:
    from infinimix.maxmargin.dpmeans import DPMeans
    from infinimix.maxmargin.isvm import GibbsInfiniteSVC
    from infinimix.maxmargin.m2dpm import MaxMarginDPMeans
    from infinimix.maxmargin.search import MaxMarginDPMeansCV
    from infinimix.maxmargin.svc import DPMeansSVC
    from infinimix.networks.bayes_net import BlockmodelBayesNet
    from infinimix.networks.dynamic_net import BlockmodelDynamicNet
    from infinimix.networks.franchise import NetworkFranchise
    from infinimix.networks.markov_net import BlockmodelMarkovNet

    # What a file may hold: those who read files of several kinds tell them apart by isinstance.
    Model: TypeAlias = (
        AClassClassifier | BlockmodelBayesNet | BlockmodelDynamicNet | BlockmodelMarkovNet
        | CRPImputer | CRPMixture | CRPRegressor | DPMeans | DPMeansSVC | FiniteMixtureClassifier
        | GibbsInfiniteSVC | MaxMarginDPMeans | MaxMarginDPMeansCV | NetworkFranchise
        | OnlineCRPClassifier
    )  # fmt: skip

M = TypeVar("M")
File = str | PathLike[str] | BinaryIO
CLASSES: dict[str, type[Any]] = {
    cls.__name__: cls
    for cls in (
        AClassClassifier, CRPImputer, CRPMixture, CRPRegressor, FiniteMixtureClassifier,
        OnlineCRPClassifier,
    )
}  # fmt: skip

# Classes of neighbouring rooms are named, not imported, as those rooms use this one; the hybrid is
# slow to load. Some have a module that knows their trees (`to_tree`, `from_tree`).
NAMED = (
    "DPMeans", "DPMeansSVC", "GibbsInfiniteSVC", "HybridClassifier", "MaxMarginDPMeans",
    "MaxMarginDPMeansCV",
)  # fmt: skip
ELSEWHERE = dict.fromkeys(
    ["BlockmodelBayesNet", "BlockmodelDynamicNet", "BlockmodelMarkovNet", "NetworkFranchise"],
    "infinimix.networks.storage",
)
KNOWN = CLASSES.keys() | ELSEWHERE.keys() | set(NAMED)
LARGE = 1 << 24  # bytes of an array

WRONG = (
    ArithmeticError, AttributeError, LookupError, MemoryError, StopIteration, TypeError, ValueError,
)  # fmt: skip


def save(model: Model, path: File, *, notes: dict[str, Any] | None = None) -> None:
    """Write a fitted model to a file, whole or not at all.

    Parameters
    ----------
    model : an estimator of infinimix
        A fitted model.
    path : str, path or binary file
        Where to write.
    notes : dict, optional
        Plain values to keep beside the model, such as where its table came from; `read_notes`
        returns them, and `load` does not look at them.

    Examples
    --------
    >>> import io
    >>> from infinimix import CRPMixture, load, save
    >>> model = CRPMixture(random_state=0).fit([[0.1], [0.2], [5.0]])
    >>> file = io.BytesIO()
    >>> save(model, file)
    >>> again = load(io.BytesIO(file.getvalue()))
    >>> bool((again.score_samples([[1.0]]) == model.score_samples([[1.0]])).all())
    True
    """
    tree = _describe(model)
    if notes is not None:
        tree["notes"] = notes
    artifacts.write(path, type(model).__name__, tree, library_version=infinimix.__version__)


def save_quickly(model: Model, path: File) -> None:
    """Write a model as `save` does, but compress only what is large.

    For who writes it often beside other work: a core is worth more there than some megabytes.
    """
    tree, name = _describe(model), type(model).__name__
    artifacts.write(path, name, tree, library_version=infinimix.__version__, worthwhile=LARGE)


def _describe(model: Any) -> dict[str, Any]:
    """Return what is written of a model, which must be a fitted one that can be."""
    name = type(model).__name__
    if name == "HybridClassifier" and model.get_params(deep=False)["discriminative"] is not None:
        raise TypeError(
            "This HybridClassifier holds classifiers of scikit-learn that you chose, which have no "
            "form but pickle: leave out 'discriminative', save its generative_, or use joblib."
        )
    if name not in KNOWN or not type(model).__module__.startswith("infinimix."):
        raise TypeError(f"save takes one of {', '.join(sorted(KNOWN))}; got {name}.")
    if not model.__sklearn_is_fitted__():
        raise ValueError(f"This {name} has learned nothing yet; fit it before saving it.")
    if name in ELSEWHERE:
        return {"version": TREE_VERSION, **import_module(ELSEWHERE[name]).to_tree(model)}
    return tree_of(model)


@overload
def load(path: File, kind: type[M], *, max_unpacked: int | None = None) -> M: ...
@overload
def load(path: File, kind: None = None, *, max_unpacked: int | None = None) -> Model: ...
def load(path: File, kind: type[Any] | None = None, *, max_unpacked: int | None = None) -> Any:
    """Read a model that `save` wrote; it continues where it was.

    A file cannot run code, and what it holds is checked: whatever loads can be used. How much it
    may unpack to is judged before anything is unpacked.

    Parameters
    ----------
    path : str, path or binary file
        What to read.
    kind : class, optional
        What the file must hold, such as `AClassClassifier`: another model is refused, and type
        checkers know what comes back.
    max_unpacked : int, optional
        The most bytes that the file may unpack to. By default its own size, and 256 MiB more for
        what is compressed in it; a large model that an earlier version saved may need more.

    Raises
    ------
    infinimix.artifacts.ArtifactError
        If the file is damaged, is no model or none of `kind`, is from another version, or would
        unpack to more.

    Examples
    --------
    >>> import io
    >>> from infinimix import CRPMixture, load, save
    >>> file = io.BytesIO()
    >>> save(CRPMixture(random_state=0).fit([[0.1], [0.2], [5.0]]), file)
    >>> load(io.BytesIO(file.getvalue()), CRPMixture).n_features_in_
    1
    """
    bound: dict[str, Any] = {} if max_unpacked is None else {"max_unpacked": max_unpacked}
    name, tree, _ = artifacts.read(path, **bound)
    if name not in KNOWN:
        raise ArtifactError(f"The file holds a {name!r}, which this infinimix does not know.")
    if kind is not None and not issubclass(_class_of(name), kind):
        raise ArtifactError(f"The file holds a model of class {name}, not {kind.__name__}.")
    try:
        if tree["version"] > TREE_VERSION:
            raise ArtifactError(f"This {name} is from a newer infinimix; upgrade it to read this.")
        if tree["version"] < TREE_VERSION:
            raise ArtifactError(
                f"This {name} was saved by an older infinimix, in a form that this one does not "
                "read; fit it again."
            )
        if name in ELSEWHERE:
            return import_module(ELSEWHERE[name]).from_tree(name, tree)
        return rebuild(_class_of(name), tree)
    except ArtifactError:
        raise
    except WRONG as error:
        raise ArtifactError(f"The file is no complete {name}: {error}") from error


def _class_of(name: str) -> type[Any]:
    """Return the class of a name that is known; other rooms are imported when they are needed."""
    if name in ELSEWHERE:
        found: type[Any] = import_module(ELSEWHERE[name]).CLASSES[name]
        return found
    return CLASSES.get(name) or getattr(infinimix, name)


def read_notes(path: File) -> dict[str, Any]:
    """Return the notes that a model was saved with, {} without any.

    Examples
    --------
    >>> import io
    >>> from infinimix import CRPMixture, save
    >>> from infinimix.estimators.persistence import read_notes
    >>> file = io.BytesIO()
    >>> save(CRPMixture(random_state=0).fit([[0.1], [5.0]]), file, notes={"from": "a.csv"})
    >>> read_notes(io.BytesIO(file.getvalue()))
    {'from': 'a.csv'}
    """
    _, tree, _ = artifacts.read(path)
    notes = tree.get("notes") if isinstance(tree, dict) else None
    return notes if isinstance(notes, dict) else {}
