"""Wheels bring kernels: those of a folder, or those that the build compiles."""

import os
import sys
from importlib import metadata
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from infinimix.kernels import ahead

ROOT = Path(__file__).parents[2]
NEEDS = ["numpy>=2.0", "numba>=0.60; python_version >= '3.10'"]
MAKING = "import pathlib, sys; pathlib.Path(sys.argv[1]).mkdir()"
TELLING = "import os, sys; path = os.environ['PYTHONPATH']; print(path); "


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

    def make(given, build=MAKING, installed=(None, [])):
        monkeypatch.delenv("INFINIMIX_AHEAD", raising=False)
        if given is not None:
            monkeypatch.setenv("INFINIMIX_AHEAD", given)
        spec = spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        module.BUILD = build
        module.find_installed = lambda: installed
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


def searched(hook, installed, capfd, build=TELLING + MAKING):
    """Return where packages were looked for, beside the sources, each time that kernels compile."""
    own, _ = hook(None, build, installed)
    packed(own)
    lines = capfd.readouterr().out.splitlines()
    assert all(line.split(os.pathsep)[0] == str(ROOT / "src") for line in lines)
    return [line.split(os.pathsep)[1:] for line in lines]


def test_kernels_are_for_the_numba_that_pip_leaves_alone(hook, capfd, monkeypatch):
    monkeypatch.setattr(sys, "path", ["/somewhere/site-packages", "/elsewhere"])
    hook(None)
    kept = ["/user/site-packages"]
    monkeypatch.setattr(metadata, "version", lambda name: "0.99")
    assert searched(hook, ("0.61", kept), capfd) == [[*kept, "/somewhere/site-packages"]]
    for replaced in ["0.59", "0.99", None]:  # too old, the same as in the build, none at all
        assert searched(hook, (replaced, kept), capfd) == [[]]


def test_where_that_numba_cannot_compile_the_newest_does(hook, capfd, monkeypatch):
    monkeypatch.setattr(metadata, "version", lambda name: "0.99")
    failing = f"{TELLING} 'kept' in path and sys.exit(1); {MAKING}"
    first, second = searched(hook, ("0.61", ["/kept/site-packages"]), capfd, failing)
    assert first[0] == "/kept/site-packages"
    assert second == []


def test_what_is_installed_is_found_past_what_pip_hides(hook, monkeypatch, tmp_path):
    hook(None)
    (tmp_path / "sitecustomize.py").write_text("import sys; sys.path.clear()")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    numba, places = hatch_build().find_installed()
    assert numba == metadata.version("numba")
    assert any(Path(place, "numba").is_dir() for place in places)


def test_nothing_is_installed(hook, monkeypatch):
    hook(None)
    module = hatch_build()
    monkeypatch.setattr(module, "INSTALLED", "raise SystemExit(1)")
    assert module.find_installed() == (None, [])


def test_the_build_compiles_by_the_function_that_make_uses(hook, monkeypatch):
    hook(None)
    built = []
    monkeypatch.setattr(ahead, "build", built.append)
    monkeypatch.setattr(sys, "argv", ["-c", "a folder"])
    exec(hatch_build().BUILD)
    assert built == [Path("a folder")]
