"""Sources are read right: what they import, whose operations they register, what is no code."""

import pytest

from infinimix.kernels.dependencies import closure, find_links, parse, read_sources
from infinimix.kernels.sources import SourceFile

FILES = {
    "__init__.py": b"from infinimix.a.plain import late",
    "kernels/__init__.py": b"",
    "kernels/dispatch.py": b"",
    "a/__init__.py": b"from infinimix.a.shown import Shown",
    "a/plain.py": b"def late(): pass",
    "a/shown.py": b"class Shown: pass",
    "a/other.py": b"class Other: pass",
    "b/__init__.py": b"",
    "b/ops.py": b"def do(x): pass\ndef more(x): pass",
    "b/c.py": b"",
}
COMMON = {"__init__.py", "kernels/__init__.py", "kernels/dispatch.py"}


def needs(text, name="b/c.py"):
    """Return which files one with this text depends on, beside those of all."""
    files = FILES | {name: text.encode()}
    return closure(find_links(parse(files)), name) - COMMON - {name, "b/__init__.py"}


@pytest.mark.parametrize("line", [
    "from infinimix.a.plain import late",
    "from infinimix.a import plain",
    "from infinimix.a import (\n    plain,  # (why)\n)",
    "from infinimix.a import plain as other",
    "import json; from infinimix.a import plain",
    "from ..a import plain",
    "from ..a.plain import late as early",
    "def f():\n    def g():\n        from infinimix.a import plain",
    "class C:\n    from infinimix.a import plain",
    "if x:\n    from infinimix.a.plain import *",
])  # fmt: skip
def test_an_import_counts_however_it_is_written(line):
    assert needs(line) == {"a/plain.py", "a/__init__.py"}


@pytest.mark.parametrize("line", ["from infinimix.a import Shown", "from infinimix.a import *"])
def test_what_a_package_imports_counts_if_it_is_imported_from_there(line):
    assert needs(line) == {"a/__init__.py", "a/shown.py"}


def test_by_an_import_of_a_module_all_packages_above_it_are_at_hand():
    assert needs("import infinimix.a.other") == {
        "a/__init__.py", "a/shown.py", "a/other.py", "a/plain.py"
    }  # fmt: skip


@pytest.mark.parametrize("line", ["import numpy", "from json import a", "x = 'infinimix.a.plain'"])
def test_other_imports_do_not_count(line):
    assert needs(line) == set()


OPS, EVERYWHERE, OTHER = "b/ops.py", "kernels/dispatch.py", "a/other.py"


@pytest.mark.parametrize(("body", "served"), [
    ("@ops.do.implement(Other)", {OTHER}),
    ("@do.implement(Other)", {OTHER}),
    ("@do.implement(Alias)", {OTHER}),
    ("@do.implement(Own)", {"b/c.py"}),
    ("@do.implement(Own, Other)", {"b/c.py", OTHER}),
    ("@do.implement(tuple, Other)", {OPS, OTHER}),
    ("@ops.do.implement(np.ndarray)", {OPS}),
    ("@ops.do.implement(*CLASSES)", {OPS}),
    ("@do.default", {OPS}),
    ("@ops.do.default", {OPS}),
    ("@some.implement(tuple)", {EVERYWHERE}),
    ("@ops.no_such.default", {EVERYWHERE}),
    ("@do.implement(elsewhere)", {OPS}),  # it is from a third file: that may be imported there
])  # fmt: skip
def test_a_body_is_served_to_whoever_knows_the_class_or_else_the_operation(body, served):
    imports = """
from infinimix.a.other import Other, Other as Alias
from infinimix.a.other import elsewhere
from infinimix.b import ops
from infinimix.b.ops import do

class Own: pass
"""
    text = f"{imports}\n{body}\ndef _(x): pass\n".encode()
    assert SourceFile("b/c.py", text, FILES | {"b/c.py": text}).serves == served


def test_comments_docstrings_and_line_numbers_do_not_count():
    texts = read_sources()
    for name, text in texts.items():
        first, _, rest = text.decode().partition('"""')
        remarks = f'# a remark\n\n{first}"""More words. {rest}# another\n'.encode()
        edited = f"{text.decode()}\nmore = 1\n".encode()
        before = SourceFile(name, text, texts)
        assert SourceFile(name, remarks, texts).digest == before.digest
        assert SourceFile(name, edited, texts).digest != before.digest


@pytest.mark.parametrize(("old", "new"), [
    ("x = {1, 2} | {'a'}", "x = {1, 3} | {'a'}"),
    ("def f(a, b):\n  def g(): return a", "def f(a, b):\n  def g(): return b"),
    ("x = a.b", "x = a.c"),
    ("def f(x): return x < 1", "def f(x): return x > 1"),
    ("def f(x=1): pass", "def f(x=1.0): pass"),
    ("x = 0.0", "x = -0.0"),
])  # fmt: skip
def test_what_is_done_counts(old, new):
    assert (
        SourceFile("a.py", old.encode(), {}).digest != SourceFile("a.py", new.encode(), {}).digest
    )
