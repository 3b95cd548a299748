"""Rules that the sources keep, read from the sources themselves."""

import ast
import re
from collections import defaultdict
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

import infinimix
import infinimix.networks
from infinimix.later import uncollected
from infinimix.tables.column import KINDS

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "src/infinimix"
ASKED = (ast.FunctionDef, ast.ClassDef, ast.Call, ast.Compare)
MOST_ARGUMENTS = 8
COMPILED = {"kernel", "part", "engine", "exact"}  # which are called with bare arrays
OF_ESTIMATORS = {"estimators", "maxmargin", "networks"}
DOCUMENTED = set(re.findall(r"^::: infinimix\.([\w.]+)$", (ROOT / "docs/api.md").read_text(), re.M))
ASKS_MODELS = ("cli", "evaluation", "papers", "reports", "service", "streaming")


@pytest.fixture(scope="module")
def sources():
    """What tests ask of each source; not found at import, as every worker imports this file."""
    found = {}
    with uncollected():
        for path in sorted(SOURCES.rglob("*.py")):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            nodes = [node for node in ast.walk(tree) if isinstance(node, ASKED)]
            found[path.relative_to(SOURCES)] = nodes
    return found


def of_kind(nodes, kind):
    return (node for node in nodes if isinstance(node, kind))


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


def test_every_module_can_be_imported():
    """Those without examples too, which pytest leaves to others."""
    for path in sorted(SOURCES.rglob("*.py")):
        name = ".".join(path.relative_to(SOURCES.parent).with_suffix("").parts)
        if path.name != "__main__.py" and (path.stem != "river" or find_spec("river")):
            import_module(name.removesuffix(".__init__"))


def test_no_function_has_more_arguments_than_a_reader_can_hold(sources):
    many = []
    for path, nodes in sources.items():
        for function in of_kind(nodes, ast.FunctionDef):
            given = [a.arg for a in (*function.args.posonlyargs, *function.args.args)]
            given += [a.arg for a in function.args.kwonlyargs]
            number = len([name for name in given if name not in ("self", "cls")])
            if number > MOST_ARGUMENTS and not is_compiled(function):
                many += [] if is_public(path, function) else [(str(path), function.name, number)]
    assert not many


def test_no_two_classes_have_one_name(sources):
    found = defaultdict(list)
    for path, nodes in sources.items():
        for one in of_kind(nodes, ast.ClassDef):
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
def test_models_are_asked_by_abilities_and_not_by_probing(sources, room):
    """What a model can be asked is said in `evaluation/abilities.py`."""
    probed = [
        (str(path), ast.unparse(call))
        for path, nodes in sources.items()
        if path.parts[0] == room and path.name != "abilities.py"
        for call in of_kind(nodes, ast.Call)
        if isinstance(call.func, ast.Name) and call.func.id in ("hasattr", "getattr")
        if re.search(r"model|estimator|classifier|regressor|learned", ast.unparse(call.args[0]))
    ]
    assert not probed


@pytest.mark.parametrize("room", [*ASKS_MODELS, "inference", "maxmargin", "networks"])
def test_kinds_of_columns_are_asked_by_their_records(sources, room):
    """`tables/column.py` says what a kind is; no other room goes by its name."""
    by_name = [
        (str(path), ast.unparse(one))
        for path, nodes in sources.items()
        if path.parts[0] == room
        for one in of_kind(nodes, ast.Compare)
        if isinstance(one.ops[0], ast.Eq | ast.NotEq) and ast.unparse(one.left) != "likelihood"
        if any(isinstance(c, ast.Constant) and c.value in KINDS for c in one.comparators)
    ]
    assert not by_name
