"""Rules that the sources keep, read from the sources themselves."""

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest

import infinimix
import infinimix.networks
from infinimix.tables.column import KINDS

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "src/infinimix"
TREES = {
    path.relative_to(SOURCES): ast.parse(path.read_text(encoding="utf-8"))
    for path in sorted(SOURCES.rglob("*.py"))
}
MOST_ARGUMENTS = 8
COMPILED = {"kernel", "part", "engine", "exact"}  # which are called with bare arrays
OF_ESTIMATORS = {"estimators", "maxmargin", "networks"}
DOCUMENTED = set(re.findall(r"^::: infinimix\.([\w.]+)$", (ROOT / "docs/api.md").read_text(), re.M))
ASKS_MODELS = ("cli", "evaluation", "papers", "reports", "service", "streaming")


def of_kind(tree, *kinds):
    return (node for node in ast.walk(tree) if isinstance(node, kinds))


def is_compiled(function):
    """Whether a decorator makes it a kernel."""
    return any(re.match(r"\w+", ast.unparse(d))[0] in COMPILED for d in function.decorator_list)


def is_public(path, function):
    """Whether users call it by names of arguments: parameters, options, documented functions."""
    room, module = path.parts[0], ".".join(path.with_suffix("").parts)
    return (
        (function.name == "__init__" and room in OF_ESTIMATORS)
        or (room == "cli" and function.name == path.stem)  # a command
        or f"{module}.{function.name}" in DOCUMENTED
    )


def test_no_function_has_more_arguments_than_a_reader_can_hold():
    many = []
    for path, tree in TREES.items():
        for function in of_kind(tree, ast.FunctionDef):
            given = [a.arg for a in (*function.args.posonlyargs, *function.args.args)]
            given += [a.arg for a in function.args.kwonlyargs]
            number = len([name for name in given if name not in ("self", "cls")])
            if number > MOST_ARGUMENTS and not is_compiled(function):
                many += [] if is_public(path, function) else [(str(path), function.name, number)]
    assert not many


def test_no_two_classes_have_one_name():
    found = defaultdict(list)
    for path, tree in TREES.items():
        for one in of_kind(tree, ast.ClassDef):
            found[one.name].append(str(path))
    assert not {name: paths for name, paths in found.items() if len(paths) > 1}


def levels(cls):
    """How many of our own classes stand above a class, on the longest way up."""
    own = [base for base in cls.__bases__ if base.__module__.startswith("infinimix.")]
    return max((1 + levels(base) for base in own), default=0)


def test_no_estimator_has_more_than_two_levels_of_our_own_bases():
    public = [getattr(infinimix, name) for name in infinimix.__all__]
    public += [getattr(infinimix.networks, name) for name in infinimix.networks.__all__]
    estimators = [one for one in public if isinstance(one, type) and hasattr(one, "get_params")]
    assert len(estimators) >= 15
    assert {cls.__name__: levels(cls) for cls in estimators if levels(cls) > 2} == {}


@pytest.mark.parametrize("room", ASKS_MODELS)
def test_models_are_asked_by_abilities_and_not_by_probing(room):
    """What a model can be asked is said in `evaluation/abilities.py`."""
    probed = [
        (str(path), ast.unparse(call))
        for path, tree in TREES.items()
        if path.parts[0] == room and path.name != "abilities.py"
        for call in of_kind(tree, ast.Call)
        if isinstance(call.func, ast.Name) and call.func.id in ("hasattr", "getattr")
        if re.search(r"model|estimator|classifier|regressor|learned", ast.unparse(call.args[0]))
    ]
    assert not probed


@pytest.mark.parametrize("room", [*ASKS_MODELS, "inference", "maxmargin", "networks"])
def test_kinds_of_columns_are_asked_by_their_records(room):
    """`tables/column.py` says what a kind is; no other room goes by its name."""
    by_name = [
        (str(path), ast.unparse(one))
        for path, tree in TREES.items()
        if path.parts[0] == room
        for one in of_kind(tree, ast.Compare)
        if isinstance(one.ops[0], ast.Eq | ast.NotEq) and ast.unparse(one.left) != "likelihood"
        if any(isinstance(c, ast.Constant) and c.value in KINDS for c in one.comparators)
    ]
    assert not by_name
