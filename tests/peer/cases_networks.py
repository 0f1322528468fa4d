"""Random cases of reductions, linear algebra, neural networks and random numbers."""

import numpy as np

from makers import INDEX, ints, op
from peer import Case, tensorflow_answer
from values import ANY, FLOATS, NUMBERS

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
