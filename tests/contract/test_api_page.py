"""`docs/api.md` has every public name, and every public method says what its arguments are."""

import inspect
import re
from importlib import import_module
from pathlib import Path

import pytest

ROOMS = ("", ".networks", ".streaming", ".reports", ".execution")
PAGE = Path(__file__).parents[2] / "docs" / "api.md"


def public():
    for room in ROOMS:
        module = import_module(f"infinimix{room}")
        for name in module.__all__:
            yield module, name


def find(module, name):
    try:
        return getattr(module, name)
    except ImportError as error:  # River is optional
        pytest.skip(str(error))


@pytest.mark.skipif(not PAGE.exists(), reason="the documentation is not here")
def test_every_public_name_is_on_the_page():
    text = PAGE.read_text(encoding="utf-8")
    missing = [f"{m.__name__}.{n}" for m, n in public() if not re.search(rf"[.`]{n}\b", text)]
    assert missing == []


@pytest.mark.parametrize(
    ("module", "name"), public(), ids=lambda value: getattr(value, "__name__", value)
)
def test_every_public_method_documents_its_arguments(module, name):
    found = find(module, name)
    methods = [(name, found)] if inspect.isfunction(found) else []
    if inspect.isclass(found):
        methods = [(k, m) for k, m in inspect.getmembers(found) if inspect.isroutine(m)]
    silent = []
    for k, method in methods:
        own = str(getattr(method, "__module__", "")).startswith("infinimix")
        if k.startswith("_") or not own:
            continue
        arguments = set(inspect.signature(method).parameters) - {"self", "cls"}
        if arguments and "Parameters\n---" not in (inspect.getdoc(method) or ""):
            silent.append(f"{name}.{k}")
    assert silent == []
