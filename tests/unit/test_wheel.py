"""Wheels bring kernels: those of a folder, or those that the build compiles."""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from infinimix.kernels import ahead

ROOT = Path(__file__).parents[2]
NEEDS = ["numpy>=2.0"]


def hatch_build():
    """The module as it is in a new process."""
    spec = spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def hook(monkeypatch):
    """Return a function that makes the hook as a build does: hatchling is there in builds alone."""
    interface = ModuleType("interface")
    interface.BuildHookInterface = object
    monkeypatch.setitem(sys.modules, "hatchling.builders.hooks.plugin.interface", interface)

    def make(given, build="import pathlib, sys; pathlib.Path(sys.argv[1]).mkdir()"):
        monkeypatch.delenv("INFINIMIX_AHEAD", raising=False)
        if given is not None:
            monkeypatch.setenv("INFINIMIX_AHEAD", given)
        spec = spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        module.BUILD = build
        own, said = module.Kernels(), []
        own.root, own.metadata = (
            str(ROOT),
            SimpleNamespace(core=SimpleNamespace(dependencies=NEEDS)),
        )
        own.app = SimpleNamespace(display_info=said.append, display_warning=said.append)
        return own, said

    return make


def packed(own, version="standard"):
    data = {"pure_python": True, "infer_tag": False, "force_include": {}}
    own.initialize(version, data)
    assert data["pure_python"] is not data["infer_tag"]
    assert bool(data["force_include"]) is data["infer_tag"]
    return data["force_include"]


def test_kernels_are_compiled_for_a_wheel_and_packed(hook):
    own, _ = hook(None)
    assert own.dependencies() == NEEDS
    ((folder, place),) = packed(own).items()
    assert Path(folder).is_dir()
    assert place == "infinimix/kernels/ahead_of_time"


def test_a_folder_of_kernels_is_packed_as_it_is(hook):
    own, _ = hook("some/folder")
    assert own.dependencies() == []
    assert list(packed(own)) == [str(ROOT / "some/folder")]


@pytest.mark.parametrize(
    ("given", "version"),
    [("none", "standard"), ("none", "editable"), ("some/folder", "editable")],
)
def test_some_builds_compile_and_pack_nothing(hook, given, version):
    own, said = hook(given)
    assert packed(own, version) == {}
    assert said == []


def test_an_editable_installation_has_kernels_in_the_source_tree(hook, tmp_path):
    own, _ = hook(None)
    own.root = str(tmp_path)
    (tmp_path / "src/infinimix/kernels").mkdir(parents=True)
    assert packed(own, "editable") == {}
    assert (tmp_path / "src/infinimix/kernels/ahead_of_time").is_dir()


def test_a_build_without_a_compiler_says_so_and_goes_on(hook):
    own, said = hook(None, "raise SystemExit(1)")
    assert packed(own) == {}
    assert "Kernels were not compiled" in said[-1]


def test_the_build_compiles_by_the_function_that_make_uses(hook, monkeypatch):
    hook(None)
    built = []
    monkeypatch.setattr(ahead, "build", built.append)
    monkeypatch.setattr(sys, "argv", ["-c", "a folder"])
    exec(hatch_build().BUILD)
    assert built == [Path("a folder")]
