"""Sets of small numbers as the bits of words: added to without a branch, read in order."""

from numba import types
from numba.extending import intrinsic

from infinimix.kernels.compile import INTERPRETED


@intrinsic
def _lowest_bit(typing_context, word):
    def generate(context, builder, signature, args):
        one_bit = context.get_value_type(types.boolean)
        return builder.cttz(args[0], one_bit(0))

    return types.int64(types.int64), generate


def _lowest_bit_of(word):
    return (int(word) & -int(word)).bit_length() - 1


#: The place of the lowest bit of a positive number that is set: 0 for an odd one.
lowest_bit = _lowest_bit_of if INTERPRETED else _lowest_bit
