"""Random cases of ops on shapes, and of ops that move elements."""

import numpy as np

from case import Case
from makers import INDEX, indices, ints, op, real
from tensorflow_answers import output_shape
from values import FLOATS, NUMBERS


@op("Shape", "Size")
def shape_of(r, name):
    dtype = r.dtype(name)
    return Case(name, [(dtype, r.tensor(dtype, r.shape(0, 7)))], {"out_type": r.choice(INDEX)})


@op("ShapeN")
def shape_n(r, name):
    dtype = r.dtype(name)
    return Case(name, [(dtype, r.tensor(dtype, r.shape())) for _ in range(r.integer(1, 4))], {"out_type": r.choice(INDEX)})


@op("Reshape")
def reshape(r, name):
    dtype, shape = r.dtype(name), r.shape()
    n = int(np.prod(shape))
    to = list(shape)
    r.np.shuffle(to)
    if r.chance(0.3):
        to = [1] + to
    if r.chance(0.3):
        to = [n]
    if to and r.chance(0.5):
        to[r.integer(0, len(to) - 1)] = -1
    if to and r.chance(0.1):
        to[r.integer(0, len(to) - 1)] = r.choice([-1, -2, 0, 3, 2**31 - 1])
    if r.chance(0.05):
        to = -1
    return Case(name, [(dtype, r.tensor(dtype, shape)), ints(to, r.choice(INDEX))])


@op("ExpandDims")
def expand_dims(r, name):
    dtype, shape = r.dtype(name), r.shape()
    axis = r.axis(len(shape) + 1)
    return Case(name, [(dtype, r.tensor(dtype, shape)), ints(axis if r.chance(0.9) else [axis], r.choice(INDEX))])


@op("Squeeze")
def squeeze(r, name):
    dtype = r.dtype(name)
    shape = [1 if r.chance(0.5) else d for d in r.shape(0, 5)]
    ones = [i if r.chance(0.5) else i - len(shape) for i, d in enumerate(shape) if d == 1]
    axes = [a for a in ones if r.chance(0.5)] + ([r.axis(len(shape))] if r.chance(0.1) else [])
    return Case(name, [(dtype, r.tensor(dtype, shape))], {"squeeze_dims": axes})


@op("EnsureShape", "PlaceholderWithDefault")
def ensure_shape(r, name):
    dtype, shape = r.dtype(name), r.shape()
    fits = name == "PlaceholderWithDefault" or r.chance(0.9)  # the former's shape TensorFlow checks only before a step
    wanted = [None if r.chance(0.3) else d for d in (shape if fits else r.shape())]
    return Case(name, [(dtype, r.tensor(dtype, shape))], {"shape": wanted})


@op("Concat", "ConcatV2")
def concat(r, name):
    dtype, shape = r.dtype(name), r.shape(1 if r.chance(0.95) else 0)
    axis = r.axis(len(shape))
    values = []
    for _ in range(r.integer(2, 5)):
        part = list(shape)
        if part:
            part[axis if -len(part) <= axis < len(part) else 0] = r.dim()
        if r.chance(0.02):
            part = r.shape()
        values.append((dtype, r.tensor(dtype, part)))
    if name == "Concat":
        return Case(name, [ints(axis)] + values)
    return Case(name, values + [ints(axis, r.choice(INDEX))])


@op("ConcatOffset")
def concat_offset(r, name):
    shape = r.shape(1)
    axis = r.axis(len(shape))
    shapes = []
    for _ in range(r.integer(2, 4)):
        part = list(shape)
        part[axis if -len(part) <= axis < len(part) else 0] = r.dim()
        shapes.append(ints(part if r.chance(0.97) else r.shape(1)))
    return Case(name, [ints(axis)] + shapes)


@op("Split")
def split(r, name):
    dtype, shape = r.dtype(name), r.shape(1)
    axis, parts = r.axis(len(shape)), r.integer(1, 4)
    at = axis if -len(shape) <= axis < len(shape) else 0
    if r.chance(0.9):
        shape[at] = r.integer(0, 4) * parts
    return Case(name, [ints(axis), (dtype, r.tensor(dtype, shape))], {"num_split": parts})


@op("SplitV")
def split_v(r, name):
    dtype, shape = r.dtype(name), r.shape(1)
    axis, parts = r.axis(len(shape)), r.integer(1, 4)
    at = axis if -len(shape) <= axis < len(shape) else 0
    sizes = [r.integer(0, 3) for _ in range(parts)]
    if r.chance(0.9):
        shape[at] = sum(sizes)
    if parts > 1 and r.chance(0.3):  # with one part TensorFlow refuses it
        sizes[r.integer(0, parts - 1)] = -1
    if r.chance(0.05):
        sizes[0] = r.bad(sizes[0])
    return Case(name, [(dtype, r.tensor(dtype, shape)), ints(sizes, r.choice(INDEX)), ints(axis)], {"num_split": parts})


@op("Pack")
def pack(r, name):
    dtype, shape = r.dtype(name), r.shape()
    count = r.integer(1, 4)
    return Case(name, [(dtype, r.tensor(dtype, shape if r.chance(0.98) else r.shape())) for _ in range(count)], {"axis": r.axis(len(shape) + 1)})


@op("Unpack")
def unpack(r, name):
    dtype, shape = r.dtype(name), r.shape(1)
    axis = r.axis(len(shape))
    at = axis if -len(shape) <= axis < len(shape) else 0
    return Case(name, [(dtype, r.tensor(dtype, shape))], {"num": shape[at] if r.chance(0.97) else r.dim(), "axis": axis})


@op("Slice")
def slice_(r, name):
    dtype, shape, index = r.dtype(name), r.shape(), r.choice(INDEX)
    begin = [r.bad(r.integer(0, d)) for d in shape]
    size = [r.bad(r.choice([-1, r.integer(0, max(d - b, 0))])) for b, d in zip(begin, shape)]
    return Case(name, [(dtype, r.tensor(dtype, shape)), ints(begin, index), ints(size, index)])


def slice_inputs(r, shape, index):
    """begin, end, strides and masks for a tensor of that shape."""
    begin, end, strides = [], [], []
    masks = dict.fromkeys(["begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"], 0)
    count = r.integer(0, len(shape) + (1 if r.chance(0.2) else 0))
    dim = 0
    for i in range(count):
        d = shape[dim] if dim < len(shape) else 3
        begin.append(r.integer(-d - 2, d + 2))
        end.append(r.integer(-d - 2, d + 2))
        strides.append(r.choice([1, 1, 1, 2, 3, -1, -2, -1 if r.chance(0.8) else 0]))
        kind = r.choice(["range", "range", "range", "begin", "end", "both", "shrink", "new", "ellipsis"])
        if kind in ("begin", "both"):
            masks["begin_mask"] |= 1 << i
        if kind in ("end", "both"):
            masks["end_mask"] |= 1 << i
        if kind == "shrink":
            masks["shrink_axis_mask"] |= 1 << i
            strides[-1] = 1 if r.chance(0.95) else -1
            if r.chance(0.9) and d:
                begin[-1] = r.integer(-d, d - 1)
                end[-1] = begin[-1] + 1
        if kind == "new":
            masks["new_axis_mask"] |= 1 << i
        elif kind == "ellipsis" and (not masks["ellipsis_mask"] or r.chance(0.05)):
            masks["ellipsis_mask"] |= 1 << i
        else:
            dim += 1
        if r.chance(0.05):
            masks[r.choice(list(masks))] |= 1 << i
        if r.chance(0.03):
            r.choice([begin, end])[-1] = r.choice([2**31 - 1, -2**31] + ([2**63 - 1, -2**63] if index == "int64" else []))
        if r.chance(0.01):
            strides[-1] = r.choice([2**31 - 1, -2**31] + ([2**63 - 1, -2**63] if index == "int64" else []))
    return [ints(begin, index), ints(end, index), ints(strides, index)], masks


@op("StridedSlice")
def strided_slice(r, name):
    dtype, shape, index = r.dtype(name), r.shape(), r.choice(INDEX)
    spec, masks = slice_inputs(r, shape, index)
    return Case(name, [(dtype, r.tensor(dtype, shape))] + spec, masks)


@op("StridedSliceGrad")
def strided_slice_grad(r, name):
    dtype, shape, index = r.dtype(name), r.shape(), r.choice(INDEX)
    spec, masks = slice_inputs(r, shape, index)
    dy = output_shape(Case("StridedSlice", [(dtype, r.tensor(dtype, shape))] + spec, masks))
    dy = dy if dy is not None and r.chance(0.97) else r.shape()
    return Case(name, [ints(shape, index)] + spec + [(dtype, r.tensor(dtype, dy))], masks)


@op("Pad", "PadV2")
def pad(r, name):
    dtype, shape = r.dtype(name), r.shape()
    amounts = [[r.bad(r.choice([0, 0, 1, 2])), r.choice([0, 0, 1, 3])] for _ in shape]
    more = [(dtype, r.tensor(dtype, []))] if name == "PadV2" else []
    return Case(name, [(dtype, r.tensor(dtype, shape)), ints(np.reshape(amounts, [-1, 2]), r.choice(INDEX))] + more)


@op("Tile")
def tile(r, name):
    dtype, shape = r.dtype(name), r.shape()
    times = [r.choice([0, 1, 1, 2, 3]) if r.chance(0.97) else -1 for _ in shape]
    return Case(name, [(dtype, r.tensor(dtype, shape)), ints(times if r.chance(0.97) else times + [1], r.choice(INDEX))])


@op("BroadcastTo")
def broadcast_to(r, name):
    dtype, shape = r.dtype(name), r.shape()
    return Case(name, [(dtype, r.tensor(dtype, r.broadcastable(shape))), ints(shape, r.choice(INDEX))])


@op("Transpose")
def transpose(r, name):
    dtype, shape = r.dtype(name), r.shape(0, 6)
    perm = list(r.np.permutation(len(shape)))
    if perm and r.chance(0.04):
        perm[0] = r.bad(r.choice([-1, perm[-1]]))
    return Case(name, [(dtype, r.tensor(dtype, shape)), ints(perm, r.choice(INDEX))])


@op("InvertPermutation")
def invert(r, name):
    perm = list(r.np.permutation(r.integer(0, 9)))
    if perm and r.chance(0.2):
        perm[0] = r.bad(perm[-1])
    return Case(name, [ints(perm, r.choice(INDEX))])


@op("ReverseV2")
def reverse(r, name):
    dtype, shape = r.dtype(name), r.shape()
    axes = [i if r.chance(0.5) else i - len(shape) for i in range(len(shape)) if r.chance(0.5)]
    if r.chance(0.05):
        axes.append(r.axis(len(shape)))
    return Case(name, [(dtype, r.tensor(dtype, shape)), ints(axes, r.choice(INDEX))])


@op("Fill")
def fill(r, name):
    dtype, shape = r.dtype(name), r.shape()
    if shape and r.chance(0.05):
        shape[0] = -1
    return Case(name, [ints(shape, r.choice(INDEX)), (dtype, r.tensor(dtype, [] if r.chance(0.97) else [2]))])


@op("Range")
def range_(r, name):
    dtype = r.dtype(name, "Tidx", only=NUMBERS)
    if dtype in FLOATS:
        x = [round(float(v), 1) for v in (r.np.randn() * 3, r.np.randn() * 3, r.np.randn())]
    else:
        x = [r.integer(-20, 20), r.integer(-20, 20), r.integer(-5, 5)]
        if r.chance(0.05):
            big = np.iinfo(dtype)
            x = [big.min, big.max, int(big.max) // 3]
    if r.chance(0.8) and (x[1] - x[0]) * x[2] < 0:
        x[2] = -x[2]
    return Case(name, [(dtype, np.array(v, dtype=np.dtype({"float": "f4", "double": "f8"}.get(dtype, dtype)))) for v in x])


@op("LinSpace")
def lin_space(r, name):
    dtype = r.dtype(name, only=FLOATS)
    return Case(name, [(dtype, r.tensor(dtype, [])), (dtype, r.tensor(dtype, [])), ints(r.bad(r.integer(0, 9)) % 1000, r.choice(INDEX))])


@op("OneHot")
def one_hot(r, name):
    index, dtype, shape = r.dtype(name, "TI"), r.dtype(name), r.shape()
    depth = r.integer(0, 8) if r.chance(0.97) else -1
    axis = -1 if r.chance(0.4) else r.axis(len(shape) + 1, 0)
    return Case(name, [(index, r.tensor(index, shape)), ints(depth), (dtype, r.tensor(dtype, [])), (dtype, r.tensor(dtype, []))], {"axis": axis})


@op("Gather")
def gather(r, name):
    dtype, shape, index = r.dtype(name, "Tparams"), r.shape(1), r.dtype(name, "Tindices")
    return Case(name, [(dtype, r.tensor(dtype, shape)), ints(indices(r, r.shape(0, 3), shape[0]), index)])


@op("GatherV2")
def gather_v2(r, name):
    dtype, shape, index = r.dtype(name, "Tparams"), r.shape(1), r.dtype(name, "Tindices")
    axis = r.axis(len(shape))
    at = axis % len(shape)
    batch = r.integer(0, at) if r.chance(0.4) else 0
    where = shape[:batch] + r.shape(0, 2)
    if r.chance(0.03):
        batch = r.choice([-1, len(shape) + 1, at + 1])
    which = indices(r, where, shape[at])
    if which.shape != tuple(where):
        which = np.zeros(where)
    if r.chance(0.2):
        batch -= len(where)
    return Case(name, [(dtype, r.tensor(dtype, shape)), ints(which, index), ints(axis, r.choice(INDEX))], {"batch_dims": batch})


@op("Where")
def where(r, name):
    dtype = r.dtype(name)
    return Case(name, [(dtype, r.tensor(dtype, r.shape(1, 5) if r.chance(0.95) else []))])
