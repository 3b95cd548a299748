"""Four sums side by side, whose order is written down.

Sums may be reordered so that they are vectorised (`compile.SUMS`), and each loop gets the order
that suits it. Where two loops must round alike, however many sums each of them adds up at once,
they say it: a processor adds to all lanes with one instruction, and the lanes are added up last.
The functions with these loops must be `exact`, as numba lets other ones reorder these sums, too.
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, register_model

from infinimix.kernels.compile import INTERPRETED

LANES = 4
FUSED = ("contract",)  # a product may be added without being rounded, as elsewhere


class LanesType(types.Type):
    """The type of four numbers in one register."""

    def __init__(self):
        super().__init__("Lanes")


LANES_TYPE = LanesType()
VECTOR = ir.VectorType(ir.DoubleType(), LANES)


@register_model(LanesType)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager, lanes_type):
        super().__init__(manager, lanes_type, VECTOR)


@intrinsic
def _no_lanes(typing_context):
    def generate(context, builder, signature, args):
        return ir.Constant(VECTOR, [0.0] * LANES)

    return LANES_TYPE(), generate


@intrinsic
def _lanes_at(typing_context, array, at):
    def generate(context, builder, signature, args):
        made = context.make_array(array)(context, builder, args[0])
        given = zip(cgutils.unpack_tuple(builder, args[1]), at.types, strict=True)
        indices = [context.cast(builder, *pair, types.intp) for pair in given]
        cell = cgutils.get_item_pointer(context, builder, array, made, indices)
        loaded = builder.load(builder.bitcast(cell, VECTOR.as_pointer()))
        loaded.align = 8
        return loaded

    return LANES_TYPE(array, at), generate


@intrinsic
def _plus_products(typing_context, lanes, x, y):
    def generate(context, builder, signature, args):
        product = builder.fmul(args[1], args[2], flags=FUSED)
        return builder.fadd(args[0], product, flags=FUSED)

    return LANES_TYPE(lanes, x, y), generate


@intrinsic
def _plus(typing_context, lanes, more):
    def generate(context, builder, signature, args):
        return builder.fadd(*args)

    return LANES_TYPE(lanes, more), generate


@intrinsic
def _where(typing_context, chosen, x):
    def generate(context, builder, signature, args):
        zeros = ir.Constant(VECTOR, [0.0] * LANES)
        return builder.select(builder.fcmp_unordered("!=", args[0], zeros), args[1], zeros)

    return LANES_TYPE(chosen, x), generate


@intrinsic
def _sum_of_lanes(typing_context, lanes):
    def generate(context, builder, signature, args):
        a, b, c, d = (builder.extract_element(args[0], ir.IntType(32)(j)) for j in range(LANES))
        return builder.fadd(builder.fadd(a, c), builder.fadd(b, d))

    return types.float64(lanes), generate


def _four_zeros():
    return np.zeros(LANES)


def _four_from(array, at):
    return array[at[:-1]][at[-1] : at[-1] + LANES]


def _each_plus_product(lanes, x, y):
    return lanes + x * y


def _each_plus(lanes, more):
    return lanes + more


def _each_where(chosen, x):
    return np.where(chosen != 0.0, x, 0.0)


def _sum_of_four(lanes):
    return (lanes[0] + lanes[2]) + (lanes[1] + lanes[3])


#: Four sums of nothing yet.
no_lanes = _four_zeros if INTERPRETED else _no_lanes

#: Four numbers of an array one after the other, from a place on; all must be within its last axis.
lanes_at = _four_from if INTERPRETED else _lanes_at

#: Lanes, and to each of them the product of two others.
plus_products = _each_plus_product if INTERPRETED else _plus_products

#: Lanes, and to each of them another.
plus = _each_plus if INTERPRETED else _plus

#: Lanes, but 0 where others are 0.
where = _each_where if INTERPRETED else _where

#: The sum of the lanes.
sum_of_lanes = _sum_of_four if INTERPRETED else _sum_of_lanes
