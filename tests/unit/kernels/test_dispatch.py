"""One generic kernel, many bodies: chosen by the class of the first argument."""

from typing import NamedTuple

import numpy as np
import pytest
from numba import njit
from numba.core.errors import TypingError

from infinimix.kernels.compile import INTERPRETED
from infinimix.kernels.dispatch import operation


class Plus(NamedTuple):
    a: float


class Times(NamedTuple):
    a: float


class Child(Plus):
    """Has no body of its own."""


class Pair(NamedTuple):
    """Has no body of its own either, so it is a tuple of its members."""

    one: Plus
    two: Times


@operation
def apply(first, x):
    """Apply the first to x."""


@apply.implement(Plus)
def _(first, x):
    return x + first.a


@apply.implement(Times)
def _(first, x):
    return x * first.a


@apply.implement(tuple)
def _(first, x):
    y = apply(first[0], x)
    if len(first) > 1:
        return apply(first[1:], y)
    return y


@apply.implement(np.ndarray)
def _(first, x):
    return x + first.sum()


@njit
def compiled(first, x):
    return apply(first, x)


CASES = [
    (Plus(2.0), 5.0),
    (Times(2.0), 6.0),
    ((Plus(2.0), Times(3.0)), 15.0),
    ((Plus(1.0), (Times(3.0), Plus(1.0)), Times(2.0)), 26.0),
    (Pair(Plus(2.0), Times(3.0)), 15.0),
    (np.array([1.0, 3.0]), 7.0),
]


@pytest.mark.parametrize(("first", "expected"), CASES)
def test_the_class_chooses_the_body(first, expected):
    assert apply(first, 3.0) == expected
    assert compiled(first, 3.0) == expected


def test_a_child_has_the_body_of_its_parent():
    assert apply(Child(2.0), 3.0) == 5.0


def test_a_class_adopts_a_default_unless_it_has_a_body():
    @operation
    def describe(first):
        """Describe the first."""

    @describe.implement(tuple)
    def _(first):
        return "a tuple"

    describe.implement(Plus)(lambda first: "plus")
    assert not describe.adopt(Times)
    describe.default(lambda first: "by default")
    assert describe.adopt(Times)
    assert describe.adopt(Plus)
    assert describe.adopt(Child)
    assert [describe(f) for f in (Plus(1.0), Times(1.0), Child(1.0), (1,))] == [
        "plus", "by default", "plus", "a tuple",
    ]  # fmt: skip


def test_a_class_that_goes_without_is_no_tuple():
    @operation
    def describe(first):
        """Describe the first."""

    describe.implement(tuple)(lambda first: "a tuple")
    describe.refuse(Times)
    with pytest.raises(TypeError, match="Times has no operation 'describe'"):
        describe(Times(1.0))


def test_an_operation_keeps_its_name():
    assert apply.__name__ == "apply"
    assert apply.__doc__ == "Apply the first to x."


def test_a_class_without_body_is_refused():
    with pytest.raises(TypeError):
        apply(3.0, 3.0)
    if not INTERPRETED:
        with pytest.raises(TypingError):
            compiled(3.0, 3.0)
