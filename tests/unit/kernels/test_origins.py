"""The modules that a kernel comes from: its own, those in its closure, those of its arguments."""

from typing import NamedTuple

import numba
import numpy as np
import pytest
from numba import types

from infinimix.families import BetaBernoulli, seam
from infinimix.kernels import blocks
from infinimix.kernels.compile import INTERPRETED, kernel, part
from infinimix.kernels.draws import invert
from infinimix.kernels.held import HeldType
from infinimix.kernels.memory import borrowed
from infinimix.kernels.origins import origins
from infinimix.networks.engine.packs import PackType

BERNOULLI, BLOCKS = "infinimix.families.bernoulli", "infinimix.kernels.blocks"
FAMILY = numba.typeof(BetaBernoulli(np.ones((2, 1))))
pytestmark = pytest.mark.skipif(INTERPRETED, reason="nothing is compiled")


class Theirs(NamedTuple):
    numbers: np.ndarray


def plain(x):
    return x


def of_types(*signature):
    return origins(plain, signature) - {__name__}


def in_closure(value):
    def inner():
        return value

    return origins(inner, ()) - {__name__}


def test_the_module_of_a_function_counts_and_that_of_numbers_and_arrays_does_not():
    assert origins(invert.py_func, (types.float64,)) == {"infinimix.kernels.draws"}
    assert origins(plain, (types.float64[:, ::1], types.none)) == {__name__}


@pytest.mark.parametrize("wrap", [
    lambda typ: typ,
    lambda typ: types.Tuple([types.float64, typ]),
    lambda typ: types.UniTuple(typ, 2),
    lambda typ: types.Optional(typ),
])  # fmt: skip
def test_the_class_of_an_argument_counts_in_other_types_too(wrap):
    assert of_types(wrap(FAMILY)) == {BERNOULLI}


def test_types_of_ours_count_and_what_is_in_them():
    assert of_types(HeldType(FAMILY)) == {BERNOULLI, "infinimix.kernels.held"}
    pack = PackType("Pack", (("family", FAMILY), ("n", types.int64)))
    assert of_types(pack) == {BERNOULLI, "infinimix.networks.engine.packs"}


def test_classes_of_others_count():
    found = origins(invert.py_func, (numba.typeof(Theirs(np.zeros(1))),))
    assert found == {"infinimix.kernels.draws", __name__}


@pytest.mark.parametrize("value", [
    invert, invert.py_func, invert.inner, part(invert.py_func), (1, [invert]), {"a": invert},
])  # fmt: skip
def test_what_a_function_has_in_its_closure_counts(value):
    assert "infinimix.kernels.draws" in in_closure(value)


def test_intrinsics_and_families_in_a_closure_count():
    assert in_closure(borrowed) == {"infinimix.kernels.memory"}
    assert BERNOULLI in in_closure(BetaBernoulli(np.ones((2, 1))))
    assert BERNOULLI in in_closure(BetaBernoulli)


def test_functions_given_as_arguments_count():
    assert of_types(numba.typeof(invert.inner)) == {"infinimix.kernels.draws"}


@pytest.mark.parametrize("name", ["count", "refresh", "copy"])
def test_an_operation_that_engines_call_comes_from_its_family_and_its_body(name):
    """The family counts, too, where the body is the default of all families."""
    stats = seam.empty(BetaBernoulli(np.ones((2, 1))), 1)
    fields = tuple((array.dtype.str, array.ndim) for array in (np.ones((2, 1)), *stats))
    read = blocks.block_reader(BetaBernoulli, type(stats), fields)
    body = getattr(seam, name).find(BetaBernoulli)
    made, _ = blocks.FORMS[name](kernel(body), read, blocks.array_reader(np.int8, 2))
    found = origins(made, ())
    assert {BERNOULLI, BLOCKS, body.__module__} <= found
    assert found <= {BERNOULLI, BLOCKS, "infinimix.families.registration"}
