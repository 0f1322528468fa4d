"""For each op a maker of random cases: most of them right, some at the edges, a few wrong on purpose."""

import numpy as np

from peer import Case, tensorflow_answer
from values import ALL_NUMBERS, ANY, BIG_INTS, FLOATS, INTS, NUMBERS

MAKERS = {}
INDEX = ["int32", "int64"]


def op(*names):
    def keep(maker):
        for name in names:
            MAKERS[name] = maker
        return maker
    return keep


def ints(values, dtype="int32"):
    return dtype, np.array(values, dtype=np.dtype(dtype))


def some_fed(r, case):
    """Half of the cases know all inputs before the step, the others only some or none."""
    if r.chance(0.5):
        case.fed = {i for i in range(len(case.inputs)) if r.chance(0.7)}
    return case


# Elementwise

UNARY = {name: FLOATS for name in ("Sqrt Rsqrt Reciprocal Inv Exp Expm1 Log Log1p Tanh Sigmoid Sin Cos Erf Floor Ceil Rint IsNan IsInf IsFinite "
                                   "Softplus Elu").split()}
UNARY.update({"Neg": NUMBERS, "Abs": NUMBERS, "Sign": NUMBERS, "Square": NUMBERS, "Relu": NUMBERS, "Relu6": NUMBERS,
              "Round": FLOATS, "OnesLike": ALL_NUMBERS + ["bool"], "ZerosLike": ANY,
              "Identity": ANY, "Snapshot": ALL_NUMBERS, "StopGradient": ANY, "PreventGradient": ANY, "Rank": ANY, "LogicalNot": ["bool"],
              "L2Loss": FLOATS})


@op(*UNARY)
def unary(r, name):
    dtype = r.choice(UNARY[name])
    x = r.tensor(dtype, r.shape())
    if name == "Erf":  # TensorFlow's is NaN for large numbers of dtype double
        x = np.clip(x, -5, 5)
    return Case(name, [(dtype, x)])


BINARY = {name: ALL_NUMBERS for name in "AddV2 Sub Mul Maximum Minimum Less LessEqual Greater GreaterEqual".split()}
BINARY.update({name: FLOATS for name in "RealDiv DivNoNan MulNoNan Atan2".split()})
BINARY.update({name: NUMBERS for name in "Div FloorDiv TruncateDiv FloorMod TruncateMod Mod Pow SquaredDifference".split()})
BINARY.update({"Add": FLOATS + BIG_INTS + ["uint8", "int8", "int16"], "Equal": ANY, "NotEqual": ANY, "LogicalAnd": ["bool"],
               "LogicalOr": ["bool"]})


@op(*BINARY)
def binary(r, name):
    dtype = r.choice(BINARY[name])
    a = r.shape()
    b = r.broadcastable(a) if r.chance(0.7) else a
    if r.chance(0.5):
        a, b = b, a
    divides = "Div" in name or "Mod" in name
    x = r.tensor(dtype, a, "small" if name == "Pow" and dtype in INTS else "any")
    y = r.tensor(dtype, b, r.choice(["tame", "any"]) if divides else "any")
    if name.startswith("Truncate") and dtype in INTS:  # of zeros TensorFlow says INTERNAL, troupe INVALID_ARGUMENT
        y = r.tensor(dtype, b, "tame")
    if name == "Pow" and dtype in INTS and r.chance(0.8):
        y = np.abs(r.tensor(dtype, b, "small"))
    attrs = {"incompatible_shape_error": False} if "qual" in name and name in ("Equal", "NotEqual") and r.chance(0.2) else {}
    return Case(name, [(dtype, x), (dtype, y)], attrs)


GRADS = "TanhGrad SigmoidGrad SqrtGrad RsqrtGrad ReciprocalGrad InvGrad ReluGrad Relu6Grad EluGrad SoftplusGrad".split()


@op(*GRADS)
def unary_grad(r, name):
    dtype = r.choice(FLOATS)
    shape = r.shape()
    return Case(name, [(dtype, r.tensor(dtype, shape)), (dtype, r.tensor(dtype, shape if r.chance(0.95) else r.shape()))])


@op("AddN")
def add_n(r, name):
    dtype, shape = r.choice(NUMBERS), r.shape()
    return Case(name, [(dtype, r.tensor(dtype, shape if r.chance(0.98) else r.shape())) for _ in range(r.integer(1, 9))])


@op("ClipByValue")
def clip(r, name):
    dtype, shape = r.choice([t for t in ALL_NUMBERS if t not in ("uint32", "uint64")]), r.shape()
    bounds = [r.tensor(dtype, r.choice([[], [], shape, r.broadcastable(shape)])) for _ in range(2)]
    return Case(name, [(dtype, r.tensor(dtype, shape))] + [(dtype, b) for b in bounds])


@op("Select")
def select(r, name):
    dtype, shape = r.choice(ANY), r.shape()
    condition = r.choice([shape, [], shape[:1], r.shape()])
    return Case(name, [("bool", r.tensor("bool", condition)), (dtype, r.tensor(dtype, shape)), (dtype, r.tensor(dtype, shape))])


@op("SelectV2")
def select_v2(r, name):
    dtype, shape = r.choice(ANY), r.shape()
    return Case(name, [("bool", r.tensor("bool", r.broadcastable(shape))), (dtype, r.tensor(dtype, r.broadcastable(shape))),
                       (dtype, r.tensor(dtype, shape))])


@op("Cast")
def cast(r, name):
    types = ALL_NUMBERS + ["bool", "half"]
    dtype = r.choice(types)
    to = r.choice(types)
    x = r.tensor(dtype, r.shape())
    if dtype in FLOATS + ["half"] and to in INTS:  # beyond the range C++ says nothing, and TensorFlow follows the processor
        x = np.clip(np.nan_to_num(x), -100 if "u" not in to else 0, 100).astype(x.dtype)
    return Case(name, [(dtype, x)], {"DstT": to})


@op("CheckNumerics")
def check_numerics(r, name):
    dtype = r.choice(FLOATS)
    return Case(name, [(dtype, r.tensor(dtype, r.shape()))], {"message": "here"})


@op("BroadcastArgs", "BroadcastGradientArgs")
def broadcast_args(r, name):
    dtype, a = r.choice(INDEX), r.shape()
    return Case(name, [ints(a, dtype), ints(r.broadcastable(a), dtype)])


# Shapes and movement


@op("Shape", "Size")
def shape_of(r, name):
    dtype = r.choice(ANY)
    return Case(name, [(dtype, r.tensor(dtype, r.shape(0, 7)))], {"out_type": r.choice(INDEX)})


@op("ShapeN")
def shape_n(r, name):
    dtype = r.choice(ANY)
    return Case(name, [(dtype, r.tensor(dtype, r.shape())) for _ in range(r.integer(1, 4))], {"out_type": r.choice(INDEX)})


@op("Reshape")
def reshape(r, name):
    dtype, shape = r.choice(ANY), r.shape()
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
    dtype, shape = r.choice(ANY), r.shape()
    axis = r.axis(len(shape) + 1)
    return Case(name, [(dtype, r.tensor(dtype, shape)), ints(axis if r.chance(0.9) else [axis], r.choice(INDEX))])


@op("Squeeze")
def squeeze(r, name):
    dtype = r.choice(ANY)
    shape = [1 if r.chance(0.5) else d for d in r.shape(0, 5)]
    ones = [i if r.chance(0.5) else i - len(shape) for i, d in enumerate(shape) if d == 1]
    axes = [a for a in ones if r.chance(0.5)] + ([r.axis(len(shape))] if r.chance(0.1) else [])
    return Case(name, [(dtype, r.tensor(dtype, shape))], {"squeeze_dims": axes})


@op("EnsureShape", "PlaceholderWithDefault")
def ensure_shape(r, name):
    dtype, shape = r.choice(ANY), r.shape()
    fits = name == "PlaceholderWithDefault" or r.chance(0.9)  # the former's shape TensorFlow checks only before a step
    wanted = [None if r.chance(0.3) else d for d in (shape if fits else r.shape())]
    return Case(name, [(dtype, r.tensor(dtype, shape))], {"shape": wanted})


@op("Concat", "ConcatV2")
def concat(r, name):
    dtype, shape = r.choice(ANY), r.shape(1 if r.chance(0.95) else 0)
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
    dtype, shape = r.choice(ANY), r.shape(1)
    axis, parts = r.axis(len(shape)), r.integer(1, 4)
    at = axis if -len(shape) <= axis < len(shape) else 0
    if r.chance(0.9):
        shape[at] = r.integer(0, 4) * parts
    return Case(name, [ints(axis), (dtype, r.tensor(dtype, shape))], {"num_split": parts})


@op("SplitV")
def split_v(r, name):
    dtype, shape = r.choice(ALL_NUMBERS + ["string"]), r.shape(1)
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
    dtype, shape = r.choice(ANY), r.shape()
    count = r.integer(1, 4)
    return Case(name, [(dtype, r.tensor(dtype, shape if r.chance(0.98) else r.shape())) for _ in range(count)], {"axis": r.axis(len(shape) + 1)})


@op("Unpack")
def unpack(r, name):
    dtype, shape = r.choice(ANY), r.shape(1)
    axis = r.axis(len(shape))
    at = axis if -len(shape) <= axis < len(shape) else 0
    return Case(name, [(dtype, r.tensor(dtype, shape))], {"num": shape[at] if r.chance(0.97) else r.dim(), "axis": axis})


@op("Slice")
def slice_(r, name):
    dtype, shape, index = r.choice(ANY), r.shape(), r.choice(INDEX)
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
    dtype, shape, index = r.choice(ANY), r.shape(), r.choice(INDEX)
    spec, masks = slice_inputs(r, shape, index)
    return Case(name, [(dtype, r.tensor(dtype, shape))] + spec, masks)


@op("StridedSliceGrad")
def strided_slice_grad(r, name):
    dtype, shape, index = r.choice([t for t in ANY if t != "string"]), r.shape(), r.choice(INDEX)
    spec, masks = slice_inputs(r, shape, index)
    forward = tensorflow_answer(Case("StridedSlice", [(dtype, r.tensor(dtype, shape))] + spec, masks))
    dy = forward.values[0].shape if forward.code is None and r.chance(0.97) else r.shape()
    return Case(name, [ints(shape, index)] + spec + [(dtype, r.tensor(dtype, dy))], masks)


@op("Pad", "PadV2")
def pad(r, name):
    dtype, shape = r.choice([t for t in ANY if t != "string"]), r.shape()
    amounts = [[r.bad(r.choice([0, 0, 1, 2])), r.choice([0, 0, 1, 3])] for _ in shape]
    more = [(dtype, r.tensor(dtype, []))] if name == "PadV2" else []
    return Case(name, [(dtype, r.tensor(dtype, shape)), ints(np.reshape(amounts, [-1, 2]), r.choice(INDEX))] + more)


@op("Tile")
def tile(r, name):
    dtype, shape = r.choice(NUMBERS + ["uint8", "int8", "int16", "bool", "string"]), r.shape()
    times = [r.choice([0, 1, 1, 2, 3]) if r.chance(0.97) else -1 for _ in shape]
    return Case(name, [(dtype, r.tensor(dtype, shape)), ints(times if r.chance(0.97) else times + [1], r.choice(INDEX))])


@op("BroadcastTo")
def broadcast_to(r, name):
    dtype, shape = r.choice([t for t in ANY]), r.shape()
    return Case(name, [(dtype, r.tensor(dtype, r.broadcastable(shape))), ints(shape, r.choice(INDEX))])


@op("Transpose")
def transpose(r, name):
    dtype, shape = r.choice(ANY), r.shape(0, 6)
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
    dtype, shape = r.choice(ANY), r.shape()
    axes = [i if r.chance(0.5) else i - len(shape) for i in range(len(shape)) if r.chance(0.5)]
    if r.chance(0.05):
        axes.append(r.axis(len(shape)))
    return Case(name, [(dtype, r.tensor(dtype, shape)), ints(axes, r.choice(INDEX))])


@op("Fill")
def fill(r, name):
    dtype, shape = r.choice(ANY), r.shape()
    if shape and r.chance(0.05):
        shape[0] = -1
    return Case(name, [ints(shape, r.choice(INDEX)), (dtype, r.tensor(dtype, [] if r.chance(0.97) else [2]))])


@op("Range")
def range_(r, name):
    dtype = r.choice(NUMBERS)
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
    dtype = r.choice(FLOATS)
    return Case(name, [(dtype, r.tensor(dtype, [])), (dtype, r.tensor(dtype, [])), ints(r.bad(r.integer(0, 9)) % 1000, r.choice(INDEX))])


@op("OneHot")
def one_hot(r, name):
    index, dtype, shape = r.choice(["uint8", "int8", "int32", "int64"]), r.choice(ANY), r.shape()
    depth = r.integer(0, 8) if r.chance(0.97) else -1
    axis = -1 if r.chance(0.4) else r.axis(len(shape) + 1, 0)
    return Case(name, [(index, r.tensor(index, shape)), ints(depth), (dtype, r.tensor(dtype, [])), (dtype, r.tensor(dtype, []))], {"axis": axis})


@op("Gather")
def gather(r, name):
    dtype, shape, index = r.choice(ANY), r.shape(1), r.choice(INDEX)
    return Case(name, [(dtype, r.tensor(dtype, shape)), ints(indices(r, r.shape(0, 3), shape[0]), index)])


def indices(r, shape, limit):
    n = int(np.prod(shape))
    if limit == 0 and r.chance(0.7):
        return np.zeros([0] + list(shape[1:]) if shape else [0])
    return np.array([r.integer(0, max(limit - 1, 0)) if r.chance(0.995) else r.choice([-1, limit, 2**31 - 1, -2**31]) for _ in range(n)]).reshape(shape)


@op("GatherV2")
def gather_v2(r, name):
    dtype, shape, index = r.choice(ANY), r.shape(1), r.choice(INDEX)
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
    dtype = r.choice(ALL_NUMBERS + ["bool"])
    return Case(name, [(dtype, r.tensor(dtype, r.shape(1, 5) if r.chance(0.95) else []))])


# Reductions

REDUCTIONS = {"Sum": NUMBERS, "Mean": NUMBERS, "Prod": NUMBERS, "Max": NUMBERS, "Min": NUMBERS, "All": ["bool"], "Any": ["bool"]}


@op(*REDUCTIONS)
def reduction(r, name):
    dtype, shape = r.choice(REDUCTIONS[name]), r.shape(0, 5)
    axes = [i if r.chance(0.5) else i - len(shape) for i in range(len(shape)) if r.chance(0.5)]
    if r.chance(0.05):
        axes.append(r.axis(len(shape)))
    if len(axes) == 1 and r.chance(0.3):
        axes = axes[0]
    x = r.tensor(dtype, shape, "any" if name in ("Max", "Min") else r.choice(["any", "small", "tame"]))
    return Case(name, [(dtype, x), ints(axes, r.choice(INDEX))], {"keep_dims": r.chance(0.5)}, tolerance=10)


@op("ArgMax", "ArgMin")
def arg_max(r, name):
    dtype, shape = r.choice(NUMBERS), r.shape(1, 5)
    return Case(name, [(dtype, r.tensor(dtype, shape, r.choice(["any", "small"]))), ints(r.axis(len(shape)), r.choice(INDEX))],
                {"output_type": r.choice(INDEX)})


@op("Cumsum", "Cumprod")
def cumulative(r, name):
    dtype, shape = r.choice(NUMBERS), r.shape(1 if r.chance(0.95) else 0)
    return Case(name, [(dtype, r.tensor(dtype, shape)), ints(r.axis(len(shape)), r.choice(INDEX))],
                {"exclusive": r.chance(0.5), "reverse": r.chance(0.5)}, tolerance=10)


@op("UnsortedSegmentSum")
def unsorted_segment_sum(r, name):
    dtype, shape = r.choice(NUMBERS), r.shape(1)
    ids, count = shape[:r.integer(0, len(shape))], r.integer(0, 6)
    where = np.array([r.integer(-1, max(count - 1, 0)) if r.chance(0.995) else count + 1 for _ in range(int(np.prod(ids)))]).reshape(ids)
    return Case(name, [(dtype, r.tensor(dtype, shape)), ints(where, r.choice(INDEX)), ints(count if r.chance(0.97) else -1, r.choice(INDEX))])


# Linear algebra and neural networks


@op("MatMul")
def mat_mul(r, name):
    dtype = r.choice(NUMBERS + ["half"])
    m, k, n = r.dim(), r.dim(), r.dim()
    ta, tb = r.chance(0.5), r.chance(0.5)
    a, b = [m, k], [k if r.chance(0.97) else k + 1, n]
    return Case(name, [(dtype, r.tensor(dtype, a[::-1] if ta else a, r.choice(["small", "small", "any"]))),
                       (dtype, r.tensor(dtype, b[::-1] if tb else b, "small"))], {"transpose_a": ta, "transpose_b": tb}, tolerance=10)


@op("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3")
def batch_mat_mul(r, name):
    dtype = r.choice(NUMBERS + ["half"])
    m, k, n = r.dim(), r.dim(), r.dim()
    batch = r.shape(0, 3)
    other = batch if name == "BatchMatMul" else r.broadcastable(batch)
    ta, tb = r.chance(0.5), r.chance(0.5)
    a, b = [m, k], [k if r.chance(0.97) else k + 1, n]
    attrs = {"adj_x": ta, "adj_y": tb}
    if name == "BatchMatMulV3":
        attrs["Tout"] = dtype
    return Case(name, [(dtype, r.tensor(dtype, batch + (a[::-1] if ta else a), "small")),
                       (dtype, r.tensor(dtype, other + (b[::-1] if tb else b), "small"))], attrs, tolerance=10)


@op("BiasAdd", "BiasAddV1")
def bias_add(r, name):
    dtype, shape = r.choice(NUMBERS + ["half"]), r.shape(2 if r.chance(0.95) else 0, 5)
    format_ = "NHWC" if name == "BiasAddV1" else r.choice(["NHWC", "NCHW"])
    channels = shape[1 if format_ == "NCHW" else -1] if len(shape) > 1 else 1
    bias = [channels if r.chance(0.97) else r.dim()]
    return Case(name, [(dtype, r.tensor(dtype, shape)), (dtype, r.tensor(dtype, bias))], {} if name == "BiasAddV1" else {"data_format": format_})


@op("BiasAddGrad")
def bias_add_grad(r, name):
    dtype, shape = r.choice(NUMBERS + ["half"]), r.shape(2 if r.chance(0.95) else 0, 5)
    return Case(name, [(dtype, r.tensor(dtype, shape, "small"))], {"data_format": r.choice(["NHWC", "NCHW"])}, tolerance=10)


@op("Softmax", "LogSoftmax")
def softmax(r, name):
    dtype = r.choice(FLOATS + ["half"])
    return Case(name, [(dtype, r.tensor(dtype, r.shape(1 if r.chance(0.95) else 0, 4)))])


@op("SoftmaxCrossEntropyWithLogits")
def softmax_xent(r, name):
    dtype, shape = r.choice(FLOATS + ["half"]), r.shape(2, 2)
    labels = shape if r.chance(0.7) else [1 if r.chance(0.5) else d for d in shape]
    return Case(name, [(dtype, r.tensor(dtype, shape, r.choice(["any", "small"]))), (dtype, r.tensor(dtype, labels, "unit"))], tolerance=10)


@op("SparseSoftmaxCrossEntropyWithLogits")
def sparse_softmax_xent(r, name):
    dtype, shape, index = r.choice(FLOATS + ["half"]), r.shape(2, 2), r.choice(INDEX)
    labels = np.array([r.integer(0, max(shape[1] - 1, 0)) if r.chance(0.98) else r.choice([-1, shape[1]]) for _ in range(shape[0])], int)
    return Case(name, [(dtype, r.tensor(dtype, shape, r.choice(["any", "small"]))), ints(labels, index)], tolerance=10)


@op("InTopK", "InTopKV2")
def in_top_k(r, name):
    shape, index = r.shape(2, 2), r.choice(INDEX)
    targets = r.np.randint(-1, shape[1] + 1, shape[0])
    k = r.integer(-1, shape[1] + 1)
    x = ("float", r.tensor("float", shape))
    if name == "InTopK":
        return Case(name, [x, ints(targets, index)], {"k": k})
    return Case(name, [x, ints(targets, index), ints(k, index)])


@op("TopKV2")  # TopK is gone from newer graphs
def top_k(r, name):
    dtype, shape = r.choice(NUMBERS + ["half"]), r.shape(1)
    k = r.integer(0, shape[-1]) if r.chance(0.95) else r.choice([-1, shape[-1] + 1])
    x = r.tensor(dtype, shape, r.choice(["any", "small"]))
    if x.dtype.kind == "f":
        x = np.nan_to_num(x)  # the order of NaN is left open
    return Case(name, [(dtype, x), ints(k)])


def images(r):
    """Larger than every window of these tests: for an output without elements TensorFlow returns the input, or reads beyond it."""
    return [r.integer(0, 3) if r.chance(0.1) else r.integer(1, 3), r.integer(7, 12), r.integer(7, 12), r.integer(1, 5)]


def window_attrs(r, ksize):
    return {"ksize": ksize, "strides": [1, r.integer(1, 3), r.integer(1, 3), 1], "padding": r.choice(["SAME", "VALID"]), "data_format": "NHWC"}


@op("MaxPool", "AvgPool")
def pool(r, name):
    dtype, shape = r.choice(FLOATS + ["half"]), images(r)
    return Case(name, [(dtype, r.tensor(dtype, shape, r.choice(["any", "small"]) if name == "MaxPool" else "small"))],
                window_attrs(r, [1, r.integer(1, 4), r.integer(1, 4), 1]))


def output_shape(case):
    answer = tensorflow_answer(case)
    return list(answer.values[0].shape) if answer.code is None else None


@op("MaxPoolGrad", "AvgPoolGrad")
def pool_grad(r, name):
    dtype, shape = r.choice(FLOATS + ["half"]), images(r)
    attrs = window_attrs(r, [1, r.integer(1, 4), r.integer(1, 4), 1])
    forward = Case(name[:-4], [(dtype, r.tensor(dtype, shape, "small"))], attrs)
    out = output_shape(forward) or r.shape(4, 4)
    grad = (dtype, r.tensor(dtype, out, "small"))
    if name == "AvgPoolGrad":
        return Case(name, [ints(shape), grad], attrs, tolerance=10)
    answer = tensorflow_answer(forward)
    y = answer.values[0] if answer.code is None else r.tensor(dtype, out)
    return Case(name, [forward.inputs[0], (dtype, y), grad], attrs, tolerance=10)


def conv_parts(r, dilates=True):
    x = images(r)
    w = [r.integer(1, 4), r.integer(1, 4), x[3] if r.chance(0.97) else x[3] + 1, r.integer(1, 5)]
    attrs = {"strides": [1, r.integer(1, 3), r.integer(1, 3), 1], "padding": r.choice(["SAME", "VALID"])}
    if dilates and attrs["strides"] == [1, 1, 1, 1] and r.chance(0.2):
        attrs["dilations"] = [1, r.integer(1, 2), r.integer(1, 2), 1]
    elif r.chance(0.2):
        attrs["padding"] = "EXPLICIT"
        attrs["explicit_paddings"] = [0, 0, r.integer(0, 2), r.integer(0, 2), r.integer(0, 2), r.integer(0, 2), 0, 0]
    return x, w, attrs


def wide_conv(r, name):
    """So many channels that f32 takes fewer products (Winograd's minimal filtering), and values of all sizes beside each other."""
    x = [r.integer(1, 3), r.integer(7, 18), r.integer(7, 18), r.choice([32, 48, 64])]
    size = r.choice([3, 3, 5])
    w = [size, size, x[3], r.choice([32, 48, 64])]
    attrs = {"strides": [1, 1, 1, 1], "padding": r.choice(["SAME", "VALID"])}
    forward = [r.tensor("float", x, r.choice(["small", "heavy", "heavy"])), r.tensor("float", w, r.choice(["small", "heavy"]))]
    parts = forward
    if name != "Conv2D":
        out = output_shape(Case("Conv2D", [("float", part) for part in forward], attrs))
        grad = r.tensor("float", out, r.choice(["small", "heavy"]))
        parts = [ints(x)[1], forward[1], grad] if name == "Conv2DBackpropInput" else [forward[0], ints(w)[1], grad]

    def inputs(kind):
        return [("int32", part) if part.dtype == np.int32 else (kind, np.abs(part.astype("f8")) if kind == "double" else part) for part in parts]

    sizes = tensorflow_answer(Case(name, inputs("double"), attrs)).values[0]
    return Case(name, inputs("float"), attrs, tolerance=5, sizes=sizes)


@op("Conv2D")
def conv(r, name):
    if r.chance(0.3):
        return wide_conv(r, name)
    dtype = r.choice(FLOATS + ["half"])
    x, w, attrs = conv_parts(r)
    return Case(name, [(dtype, r.tensor(dtype, x, "small")), (dtype, r.tensor(dtype, w, "small"))], attrs, tolerance=20)


@op("Conv2DBackpropInput", "Conv2DBackpropFilter")
def conv_grad(r, name):
    if r.chance(0.3):
        return wide_conv(r, name)
    dtype = r.choice(FLOATS + ["half"])
    x, w, attrs = conv_parts(r, dilates=False)  # there TensorFlow has no kernel for a CPU
    image, filter_ = (dtype, r.tensor(dtype, x, "small")), (dtype, r.tensor(dtype, w, "small"))
    out = output_shape(Case("Conv2D", [image, filter_], attrs)) or r.shape(4, 4)
    grad = (dtype, r.tensor(dtype, out, "small"))
    if name == "Conv2DBackpropInput":
        return Case(name, [ints(x), filter_, grad], attrs, tolerance=20)
    return Case(name, [image, ints(w), grad], attrs, tolerance=20)


@op("FusedBatchNormV3")
def batch_norm(r, name):
    x = [max(d, 1) for d in images(r)]
    training = r.chance(0.5)
    c = [x[3]]
    kept = [0] if training else c
    return Case(name, [("float", r.tensor("float", x, "small")), ("float", r.tensor("float", c, "small")), ("float", r.tensor("float", c, "small")),
                       ("float", r.tensor("float", kept, "small")), ("float", r.tensor("float", kept, "unit"))],
                {"is_training": training, "epsilon": 1e-3, "exponential_avg_factor": 1.0}, tolerance=50, outputs=3)  # the others are each library's own


# Random numbers, which are TensorFlow's to the bit for one seed


@op("StatelessRandomUniform", "StatelessRandomNormal", "StatelessTruncatedNormal")
def stateless(r, name):
    return Case(name, [ints(r.shape(), r.choice(INDEX)), ints(r.np.randint(-2**31, 2**31 - 1, 2), r.choice(INDEX))], {"dtype": r.choice(FLOATS)})


@op("RandomUniform", "RandomStandardNormal", "TruncatedNormal")
def random_numbers(r, name):
    return Case(name, [ints(r.shape(), r.choice(INDEX))], {"dtype": r.choice(FLOATS), "seed": r.integer(1, 1000), "seed2": r.integer(0, 1000)})


@op("RandomUniformInt")
def random_int(r, name):
    dtype = r.choice(INDEX)
    low = r.integer(-10, 10)
    return Case(name, [ints(r.shape(), r.choice(INDEX)), ints(low, dtype), ints(low + r.integer(0 if r.chance(0.1) else 1, 100), dtype)],
                {"seed": r.integer(1, 1000), "seed2": r.integer(0, 1000)})


@op("RandomShuffle")
def shuffle(r, name):
    dtype = r.choice(ANY)
    return Case(name, [(dtype, r.tensor(dtype, r.shape()))], {"seed": r.integer(1, 1000), "seed2": r.integer(0, 1000)})


def make(r, name):
    case = MAKERS[name](r, name)
    return some_fed(r, case)
