"""Random cases of neural networks: convolutions, pools, normalisations, losses."""

import numpy as np

from case import Case
from makers import INDEX, ints, op
from tensorflow_answers import answer, output_shape
from values import FLOATS


@op("BiasAdd BiasAddV1")
def bias_add(r, name):
    dtype, shape = r.dtype(name), r.shape(2 if r.chance(0.95) else 0, 5)
    format_ = "NHWC" if name == "BiasAddV1" else r.choice(["NHWC", "NCHW"])
    channels = shape[1 if format_ == "NCHW" else -1] if len(shape) > 1 else 1
    bias = [channels if r.chance(0.97) else r.dim()]
    return Case(name, [r.values(dtype, shape), r.values(dtype, bias)], {} if name == "BiasAddV1" else {"data_format": format_})


@op("BiasAddGrad")
def bias_add_grad(r, name):
    dtype, shape = r.dtype(name), r.shape(2 if r.chance(0.95) else 0, 5)
    return Case(name, [r.values(dtype, shape, "small")], {"data_format": r.choice(["NHWC", "NCHW"])}, ulps=64, scale="sums")


@op("Softmax LogSoftmax")
def softmax(r, name):
    return Case(name, [r.values(r.dtype(name), r.shape(1 if r.chance(0.95) else 0, 4))], ulps=16, scale="one" if name == "LogSoftmax" else None)


@op("SoftmaxCrossEntropyWithLogits")
def softmax_xent(r, name):
    dtype, shape = r.dtype(name), r.shape(2, 2)
    labels = shape if r.chance(0.7) else [1 if r.chance(0.5) else d for d in shape]
    return Case(name, [r.values(dtype, shape, r.choice(["any", "small"])), r.values(dtype, labels, "unit")], ulps=64, scale="max")


@op("SparseSoftmaxCrossEntropyWithLogits")
def sparse_softmax_xent(r, name):
    dtype, shape, index = r.dtype(name), r.shape(2, 2), r.choice(INDEX)
    labels = np.array([r.integer(0, max(shape[1] - 1, 0)) if r.chance(0.98) else r.choice([-1, shape[1]]) for _ in range(shape[0])], int)
    return Case(name, [r.values(dtype, shape, r.choice(["any", "small"])), ints(labels, index)], ulps=64, scale="max")


def images(r, low=7, high=12):
    return [r.integer(0, 3) if r.chance(0.1) else r.integer(1, 3), r.integer(low, high), r.integer(low, high), r.integer(1, 5)]


def window_attrs(r, ksize, formats=("NHWC",)):
    return {"ksize": ksize, "strides": [1, r.integer(1, 3), r.integer(1, 3), 1], "padding": r.choice(["SAME", "VALID"]), "data_format": r.choice(formats)}


def window(r):
    return [1, r.integer(1, 4), r.integer(1, 4), 1]


def move_format(shape, attrs, names=("ksize", "strides")):
    """The same in NCHW."""
    if attrs.get("data_format", "NHWC") == "NHWC":
        return shape

    def move(x):
        return [x[0], x[-1]] + list(x[1:-1])
    for key in names:
        attrs[key] = move(attrs[key])
    return move(shape)


@op("MaxPool AvgPool")
def pool(r, name):
    dtype, shape = r.dtype(name), images(r)
    attrs = window_attrs(r, window(r), ("NHWC",) * 9 + ("NCHW",))
    if name == "MaxPool" and r.chance(0.2):
        attrs.update(padding="EXPLICIT", explicit_paddings=[0, 0] + [r.integer(0, 1) for _ in range(4)] + [0, 0])
    if r.chance(0.03):
        attrs["ksize"] = r.choice([[1, 2, 2], [0, 1, 1, 1], [1, 1, 1, 2], [2, 1, 1, 1], [1, 99, 1, 1]])
        return Case(name, [r.values(dtype, shape, "small")], attrs)
    shape = move_format(shape, attrs)
    return Case(name, [r.values(dtype, shape, r.choice(["any", "small"]) if name == "MaxPool" else "small")], attrs,
                ulps=32, scale=None if name == "MaxPool" else "sums")


@op("MaxPoolV2")
def pool_v2(r, name):
    dtype, shape = r.dtype(name), images(r)
    attrs = window_attrs(r, window(r))
    ksize, strides = attrs.pop("ksize"), attrs.pop("strides")
    return Case(name, [r.values(dtype, shape, "any"), ints(ksize), ints(strides)], attrs)


@op("MaxPoolGrad AvgPoolGrad MaxPoolGradV2")
def pool_grad(r, name):
    dtype, shape = r.dtype(name), images(r)
    attrs = window_attrs(r, window(r))
    base = "AvgPool" if name == "AvgPoolGrad" else "MaxPool"
    forward = Case(base, [r.values(dtype, shape, "small")], attrs)
    said = answer(forward)
    out = list(np.shape(said.values[0])) if said.code is None else r.shape(4, 4)
    grad = r.values(dtype, out if r.chance(0.97) else r.shape(4, 4), "small")
    if name == "AvgPoolGrad":
        return Case(name, [ints(shape), grad], attrs, ulps=64, scale="sums")
    y = said.values[0] if said.code is None else r.tensor(dtype, out)
    if name == "MaxPoolGradV2":
        kept = {k: v for k, v in attrs.items() if k not in ("ksize", "strides")}
        return Case(name, [forward.inputs[0], (dtype, y), grad, ints(attrs["ksize"]), ints(attrs["strides"])], kept, ulps=64, scale="max")
    return Case(name, [forward.inputs[0], (dtype, y), grad], attrs, ulps=64, scale="max")


@op("MaxPoolGradGrad MaxPoolGradGradV2")
def pool_grad_grad(r, name):
    dtype, shape = r.dtype(name), images(r)
    attrs = window_attrs(r, window(r))
    forward = Case("MaxPool", [r.values(dtype, shape, "small")], attrs)
    said = answer(forward)
    y = said.values[0] if said.code is None else r.tensor(dtype, r.shape(4, 4))
    inputs = [forward.inputs[0], (dtype, y), r.values(dtype, shape if r.chance(0.97) else r.shape(4, 4), "small")]
    if name.endswith("V2"):
        kept = {k: v for k, v in attrs.items() if k not in ("ksize", "strides")}
        return Case(name, inputs + [ints(attrs["ksize"]), ints(attrs["strides"])], kept)
    return Case(name, inputs, attrs)


def argmax_attrs(r):
    attrs = window_attrs(r, window(r))
    del attrs["data_format"]
    return dict(attrs, include_batch_in_index=r.chance(0.5), Targmax=r.choice(INDEX))


@op("MaxPoolWithArgmax")
def pool_argmax(r, name):
    return Case(name, [r.values(r.dtype(name), images(r), "small")], argmax_attrs(r))


@op("MaxPoolGradWithArgmax")
def pool_grad_argmax(r, name):
    dtype, attrs = r.dtype(name), argmax_attrs(r)
    x = r.values(dtype, images(r), "small")
    said = answer(Case("MaxPoolWithArgmax", [x], attrs))
    if said.code is not None:
        return Case("MaxPoolWithArgmax", [x], attrs)
    where = said.values[1] if r.chance(0.97) else said.values[1] + 100000
    return Case(name, [x, r.values(dtype, list(where.shape), "small"), (attrs["Targmax"], where)], attrs, ulps=64, scale="max")


def volumes(r):
    return [r.integer(1, 2)] + [r.integer(3, 6) for _ in range(3)] + [r.integer(1, 3)]


def volume_attrs(r):
    return {"ksize": [1] + [r.integer(1, 3) for _ in range(3)] + [1], "strides": [1] + [r.integer(1, 3) for _ in range(3)] + [1],
            "padding": r.choice(["SAME", "VALID"])}


@op("MaxPool3D AvgPool3D")
def pool_3d(r, name):
    return Case(name, [r.values(r.dtype(name), volumes(r), "small")], volume_attrs(r), ulps=32, scale=None if name == "MaxPool3D" else "sums")


@op("MaxPool3DGrad AvgPool3DGrad MaxPool3DGradGrad")
def pool_3d_grad(r, name):
    dtype, attrs, shape = r.dtype(name), volume_attrs(r), volumes(r)
    x = r.values(dtype, shape, "small")
    said = answer(Case("AvgPool3D" if name[0] == "A" else "MaxPool3D", [x], attrs))
    y = said.values[0] if said.code is None else r.tensor(dtype, r.shape(5, 5))
    grad = r.values(dtype, shape if name.endswith("GradGrad") else list(y.shape) if r.chance(0.97) else r.shape(5, 5), "small")
    if name == "AvgPool3DGrad":
        return Case(name, [ints(shape), grad], attrs, ulps=64, scale="sums")
    return Case(name, [x, (dtype, y), grad], attrs, ulps=64, scale="max")


def conv_parts(r, dilates=True):
    x = images(r)
    w = [r.integer(1, 4), r.integer(1, 4), x[3] if r.chance(0.97) else x[3] + 1, r.integer(1, 5)]
    attrs = {"strides": [1, r.integer(1, 3), r.integer(1, 3), 1], "padding": r.choice(["SAME", "VALID"])}
    if dilates and attrs["strides"] == [1, 1, 1, 1] and r.chance(0.2):
        attrs["dilations"] = [1, r.integer(1, 2), r.integer(1, 2), 1]
    elif r.chance(0.2):
        attrs["padding"] = "EXPLICIT"
        attrs["explicit_paddings"] = [0, 0, r.integer(0, 2), r.integer(0, 2), r.integer(0, 2), r.integer(0, 2), 0, 0]
    if r.chance(0.1) and w[2] == x[3]:  # groups
        x[3] *= 2
        w[3] *= 2
    return x, w, attrs


def wide_conv(r, name):
    """So many channels that f32 takes fewer products (Winograd's minimal filtering), and values of all sizes beside each other."""
    x = [r.integer(1, 2), r.integer(7, 12), r.integer(7, 12), r.choice([32, 48])]
    size = r.choice([3, 3, 5])
    w = [size, size, x[3], r.choice([32, 48])]
    attrs = {"strides": [1, 1, 1, 1], "padding": r.choice(["SAME", "VALID"])}
    forward = [r.tensor("float", x, r.choice(["small", "heavy", "heavy"])), r.tensor("float", w, r.choice(["small", "heavy"]))]
    if name == "Conv2D":
        return Case(name, [("float", part) for part in forward], attrs, ulps=1000, scale="sums")
    out = output_shape(Case("Conv2D", [("float", part) for part in forward], attrs))
    grad = ("float", r.tensor("float", out, r.choice(["small", "heavy"])))
    inputs = [ints(x), ("float", forward[1]), grad] if name == "Conv2DBackpropInput" else [("float", forward[0]), ints(w), grad]
    return Case(name, inputs, attrs, ulps=1000, scale="sums")


@op("Conv2D")
def conv(r, name):
    if r.chance(0.05):
        return wide_conv(r, name)
    dtype = r.dtype(name)
    x, w, attrs = conv_parts(r)
    if r.chance(0.05):
        attrs["data_format"] = "NCHW"
    return Case(name, [r.values(dtype, x, "small"), r.values(dtype, w, "small")], attrs, ulps=64, scale="sums")


@op("Conv2DBackpropInput Conv2DBackpropFilter")
def conv_grad(r, name):
    if r.chance(0.05):
        return wide_conv(r, name)
    dtype = r.dtype(name)
    x, w, attrs = conv_parts(r, dilates=False)  # there TensorFlow has no kernel for a CPU
    image, filter_ = r.values(dtype, x, "small"), r.values(dtype, w, "small")
    out = output_shape(Case("Conv2D", [image, filter_], attrs)) or r.shape(4, 4)
    grad = r.values(dtype, out, "small")
    if name == "Conv2DBackpropInput":
        return Case(name, [ints(x), filter_, grad], attrs, ulps=64, scale="sums")
    return Case(name, [image, ints(w), grad], attrs, ulps=64, scale="sums")


@op("DepthwiseConv2dNative DepthwiseConv2dNativeBackpropInput DepthwiseConv2dNativeBackpropFilter")
def depthwise(r, name):
    dtype, x = r.dtype(name), images(r, 4, 9)
    w = [r.integer(1, 4), r.integer(1, 4), x[3] if r.chance(0.97) else x[3] + 1, r.integer(1, 3)]
    stride = r.integer(1, 3)
    attrs = {"strides": [1, stride, stride if r.chance(0.97) else stride + 1, 1], "padding": r.choice(["SAME", "VALID"])}
    if r.chance(0.2):
        attrs.update(padding="EXPLICIT", explicit_paddings=[0, 0] + [r.integer(0, 2) for _ in range(4)] + [0, 0])
    image, filter_ = r.values(dtype, x, "small"), r.values(dtype, w, "small")
    if name == "DepthwiseConv2dNative":
        return Case(name, [image, filter_], attrs, ulps=64, scale="sums")
    out = output_shape(Case("DepthwiseConv2dNative", [image, filter_], attrs)) or r.shape(4, 4)
    grad = r.values(dtype, out, "small")
    inputs = [ints(x), filter_, grad] if name.endswith("Input") else [image, ints(w), grad]
    return Case(name, inputs, attrs, ulps=64, scale="sums")


@op("Conv3D Conv3DBackpropInput Conv3DBackpropInputV2 Conv3DBackpropFilter Conv3DBackpropFilterV2")
def conv_3d(r, name):
    dtype, x = r.dtype(name), volumes(r)
    w = [r.integer(1, 3) for _ in range(3)] + [x[4] if r.chance(0.97) else x[4] + 1, r.integer(1, 3)]
    attrs = {"strides": [1] + [r.integer(1, 2) for _ in range(3)] + [1], "padding": r.choice(["SAME", "VALID"])}
    image, filter_ = r.values(dtype, x, "small"), r.values(dtype, w, "small")
    if name == "Conv3D":
        return Case(name, [image, filter_], attrs, ulps=64, scale="sums")
    out = output_shape(Case("Conv3D", [image, filter_], attrs)) or r.shape(5, 5)
    grad = r.values(dtype, out, "small")
    if name.endswith("V2"):
        inputs = [ints(x), filter_, grad] if "Input" in name else [image, ints(w), grad]
    else:
        inputs = [image, filter_, grad]
    return Case(name, inputs, attrs, ulps=64, scale="sums")


@op("Dilation2D Dilation2DBackpropInput Dilation2DBackpropFilter")
def dilation(r, name):
    dtype, x = r.dtype(name, only=FLOATS + ["int32", "int64", "half", "bfloat16", "uint8", "int16"]), images(r, 4, 8)
    w = [r.integer(1, 3), r.integer(1, 3), x[3] if r.chance(0.97) else x[3] + 1]
    attrs = {"strides": [1, r.integer(1, 2), r.integer(1, 2), 1], "rates": [1, r.integer(1, 2), r.integer(1, 2), 1], "padding": r.choice(["SAME", "VALID"])}
    inputs = [r.values(dtype, x, "small"), r.values(dtype, w, "small")]
    if name == "Dilation2D":
        return Case(name, inputs, attrs)
    out = output_shape(Case("Dilation2D", inputs, attrs)) or r.shape(4, 4)
    return Case(name, inputs + [r.values(dtype, out, "small")], attrs, ulps=64, scale="max")


@op("FusedBatchNorm FusedBatchNormV2 FusedBatchNormV3")
def batch_norm(r, name):
    dtype = "float" if name == "FusedBatchNorm" else r.dtype(name)
    x = [max(d, 1) for d in images(r, 2, 6)]
    training = r.chance(0.5)
    c = [x[3] if r.chance(0.98) else x[3] + 1]
    kept = [0] if training and r.chance(0.7) else [x[3]]
    attrs = {"is_training": training, "epsilon": 1e-3, "exponential_avg_factor": r.choice([1.0, 1.0, 0.25])}
    if training and attrs["exponential_avg_factor"] == 1.0:
        kept = [0]
    return Case(name, [r.values(dtype, x, "small"), r.values("float", c, "small"), r.values("float", c, "small"), r.values("float", kept, "small"),
                       r.values("float", kept, "unit")], attrs, ulps=256, scale="max", outputs=3)  # the others are each library's own


@op("FusedBatchNormGrad FusedBatchNormGradV2 FusedBatchNormGradV3")
def batch_norm_grad(r, name):
    dtype = "float" if name == "FusedBatchNormGrad" else r.dtype(name)
    x = [max(d, 1) for d in images(r, 2, 6)]
    c = [x[3]]
    training = r.chance(0.5)
    more = [r.values("float", c)] if name.endswith("V3") else []
    mean, scale = ("float", r.tensor("float", c, "small")), ("float", r.tensor("float", c, "unit"))
    return Case(name, [r.values(dtype, x, "small"), r.values(dtype, x, "small"), r.values("float", c, "small"), mean, scale] + more,
                {"is_training": training, "epsilon": 1e-3}, ulps=2048, scale="max", outputs=3)


@op("BatchNormWithGlobalNormalization BatchNormWithGlobalNormalizationGrad")
def old_batch_norm(r, name):
    dtype, x = r.dtype(name, only=FLOATS), images(r, 1, 4)
    c = [x[3] if r.chance(0.97) else x[3] + 1]
    m, v, beta, gamma = r.values(dtype, c, "small"), r.values(dtype, c, "unit"), r.values(dtype, c, "small"), r.values(dtype, c, "small")
    attrs = {"variance_epsilon": 1e-3, "scale_after_normalization": r.chance(0.5)}
    inputs = [r.values(dtype, x, "small"), m, v, gamma, r.values(dtype, x, "small")] if name.endswith("Grad") else \
        [r.values(dtype, x, "small"), m, v, beta, gamma]
    return Case(name, inputs, attrs, ulps=256, scale="max")


@op("LRN LRNGrad")
def lrn(r, name):
    dtype, x = r.dtype(name, only=["half", "bfloat16", "float"]), images(r, 1, 4)
    attrs = {"depth_radius": r.integer(0, 3), "bias": r.choice([1.0, 2.0]), "alpha": r.choice([1.0, 0.5]), "beta": r.choice([0.5, 1.0, 0.75])}
    count = 3 if name == "LRNGrad" else 1
    return Case(name, [r.values(dtype, x, "small") for _ in range(count)], attrs, ulps=64 if dtype == "float" else 8, scale="max")


@op("FractionalMaxPool FractionalAvgPool")
def fractional(r, name):
    dtype, x = r.dtype(name), images(r, 4, 9)
    ratio = [1.0, float(np.float32(1 + r.np.rand())), float(np.float32(1 + r.np.rand())), 1.0]
    return Case(name, [r.values(dtype, x, "small")], {"pooling_ratio": ratio, "pseudo_random": r.chance(0.5), "overlapping": r.chance(0.5),
                                                      "deterministic": True, "seed": r.integer(1, 99), "seed2": r.integer(1, 99)}, ulps=32, scale="sums"
                if "Avg" in name else None)


@op("FractionalMaxPoolGrad FractionalAvgPoolGrad")
def fractional_grad(r, name):
    forward = fractional(r, name.removesuffix("Grad"))
    said = answer(forward)
    if said.code is not None:
        return forward
    dtype = forward.inputs[0][0]
    y, rows, columns = said.values
    grad = r.values(dtype, list(y.shape), "small")
    attrs = {"overlapping": forward.attrs["overlapping"]}
    splits = [("int64", rows), ("int64", columns)]
    if "Avg" in name:
        return Case(name, [ints(forward.inputs[0][1].shape, "int64"), grad] + splits, attrs, ulps=64, scale="sums")
    return Case(name, [forward.inputs[0], (dtype, y), grad] + splits, attrs, ulps=64, scale="max")


@op("CTCLoss")
def ctc_loss(r, name):
    dtype, steps, batch, classes = r.choice(FLOATS), r.integer(1, 6), r.integer(1, 3), r.integer(2, 5)
    rows, labels = [], []
    for b in range(batch):
        for k in range(r.integer(0 if r.chance(0.1) else 1, max(1, steps // 2))):
            rows.append([b, k])
            labels.append(r.integer(0, classes - 2))
    lengths = [steps if r.chance(0.7) else r.integer(1, steps) for _ in range(batch)]
    return Case(name, [r.values(dtype, [steps, batch, classes], "small"), ints(np.reshape(rows, [-1, 2]), "int64"), ints(labels), ints(lengths)],
                {"preprocess_collapse_repeated": r.chance(0.3), "ctc_merge_repeated": r.chance(0.7),
                 "ignore_longer_outputs_than_inputs": r.chance(0.5)},
                ulps=64 if dtype == "float" else 2.0**32, scale="max")  # both add logarithms in float, in an order of their own


@op("CTCGreedyDecoder CTCBeamSearchDecoder")
def ctc_decoder(r, name):
    dtype, steps, batch, classes = r.dtype(name), r.integer(1, 6), r.integer(1, 3), r.integer(2, 5)
    attrs = {"merge_repeated": r.chance(0.5)}
    if name == "CTCBeamSearchDecoder":
        attrs.update(beam_width=r.integer(2, 6), top_paths=r.integer(1, 2))
    elif r.chance(0.3):
        attrs["blank_index"] = r.integer(-1, classes)
    lengths = [steps if r.chance(0.7) else r.integer(0, steps) for _ in range(batch)]
    if r.chance(0.03):
        lengths[0] = steps + 1
    return Case(name, [r.values(dtype, [steps, batch, classes], "small"), ints(lengths)], attrs, ulps=256, scale="max")


@op("LSTMBlockCell")
def lstm_cell(r, name):
    dtype, b, i, n = r.dtype(name), r.integer(1, 3), r.integer(1, 3), r.integer(1, 4)
    parts = [[b, i], [b, n], [b, n], [i + n, 4 * n], [n], [n], [n], [4 * n]]
    if r.chance(0.03):
        parts[r.integer(0, 7)][0] += 1
    return Case(name, [r.values(dtype, p, "unit") for p in parts],
                {"forget_bias": r.choice([1.0, 0.0]), "cell_clip": r.choice([3.0, -1.0, 0.5]), "use_peephole": r.chance(0.5)},
                ulps=64 if dtype == "float" else 8, scale="one")


@op("GRUBlockCell")
def gru_cell(r, name):
    b, i, n = r.integer(1, 3), r.integer(1, 3), r.integer(1, 4)
    parts = [[b, i], [b, n], [i + n, 2 * n], [i + n, n], [2 * n], [n]]
    return Case(name, [r.values("float", p, "small") for p in parts], ulps=64, scale="one")


@op("BlockLSTM BlockLSTMV2")
def block_lstm(r, name):
    dtype, t, b, i, n = r.dtype(name), r.integer(1, 3), r.integer(1, 2), r.integer(1, 3), r.integer(1, 3)
    parts = [[t, b, i], [b, n], [b, n], [i + n, 4 * n], [n], [n], [n], [4 * n]]
    attrs = {"cell_clip": r.choice([3.0, 0.0, -1.0]), "use_peephole": r.chance(0.5)}
    if name == "BlockLSTM":
        attrs["forget_bias"] = r.choice([1.0, 0.0])
    return Case(name, [ints(t, "int64")] + [r.values(dtype, p, "unit") for p in parts], attrs,
                ulps=64 if dtype == "float" else 8, scale="one")
