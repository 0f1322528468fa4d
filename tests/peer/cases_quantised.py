"""Random cases of the fused convolutions of optimised graphs."""

import numpy as np

from case import Case
from makers import ints, op


def paddings(r, sizes, reflects):
    """Of rows and columns, within what may be mirrored, most of the time."""
    out = np.zeros([4, 2], np.int32)
    for i, size in enumerate(sizes):
        for side in range(2):
            out[i + 1, side] = r.integer(0, max(size - reflects, 0)) if r.chance(0.97) else r.choice([-1, size + 1])
    if r.chance(0.03):
        out[r.choice([0, 3]), 0] = 1
    return out


@op("FusedPadConv2D FusedResizeAndPadConv2D")
def fused_pad(r, name):
    dtype = r.dtype(name)
    x = [2 if r.chance(0.03) else 1, r.integer(1, 6), r.integer(1, 6), r.integer(1, 4)]
    reflects = r.chance(0.5)
    attrs = {"mode": "REFLECT" if reflects else "SYMMETRIC", "padding": r.choice(["SAME", "VALID"]), "strides": [1, r.integer(1, 2), r.integer(1, 2), 1]}
    inputs, size = [r.values(dtype, x, "small")], x[1:3]
    if name == "FusedResizeAndPadConv2D":
        size = [r.integer(1, 8), r.integer(1, 8)] if r.chance(0.98) else [0, 2]
        attrs["resize_align_corners"] = r.chance(0.5)
        inputs.append(ints(size))
    inputs.append(("int32", paddings(r, size, reflects)))
    filter_ = [r.integer(1, 3), r.integer(1, 3), x[3] if r.chance(0.98) else x[3] + 1, r.integer(1, 4)]
    inputs.append(r.values(dtype, filter_, "small"))
    return Case(name, inputs, attrs, ulps=256 if dtype in ("half", "bfloat16") else 64, scale="max")
