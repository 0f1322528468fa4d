"""Random cases of quantised ops and of the fused convolutions of optimised graphs."""

import numpy as np

from case import Case, Program
from makers import INDEX, ints, op, real
from tensors import numpy_type


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


QUANTISED = ["quint8", "qint8"]


def quantised(r, shape, dtype="quint8"):
    """Of all sizes: the integers stand for what their range says."""
    info = np.iinfo(numpy_type(dtype))
    low, high = (info.min, info.max) if r.chance(0.7) else (-1000, 1000) if dtype == "qint32" else (max(info.min, -3), 3)
    return dtype, r.np.randint(low, high + 1, shape, dtype=np.int64).astype(numpy_type(dtype))


def bounds(r, wrong=True):
    """A range, with zero in it most of the time."""
    scale = r.choice([0.1, 1, 1, 6, 100])
    low, high = -float(r.np.rand()) * scale * r.choice([0, 1]), float(r.np.rand()) * scale + 1e-3
    if wrong and r.chance(0.1):
        low, high = r.choice([(0.5, 3.0), (-3.0, -1.0), (0.0, 0.0), (1.0, 1.0), (2.0, -1.0)])
    if wrong and r.chance(0.02):
        return [real(low), real([high])]
    return [real(low), real(high)]


@op("QuantizedMatMul")
def matmul(r, name):
    m, k, n = r.integer(0, 5), r.integer(1, 40), r.integer(0, 6)
    attrs = {"transpose_a": r.chance(0.5), "transpose_b": r.chance(0.5)}
    a, b = [m, k][::-1 if attrs["transpose_a"] else 1], [k if r.chance(0.98) else k + 1, n][::-1 if attrs["transpose_b"] else 1]
    if r.chance(0.02):
        a = a + [1]
    return Case(name, [quantised(r, a), quantised(r, b)] + bounds(r) + bounds(r), attrs)


@op("QuantizedConv2D")
def conv(r, name):
    x = [r.integer(1, 2), r.integer(3, 7), r.integer(3, 7), r.integer(1, 4)]
    w = [r.integer(1, 3), r.integer(1, 3), x[3] if r.chance(0.98) else x[3] + 1, r.integer(1, 4)]
    stride = r.integer(1, 2)
    attrs = {"strides": [1, stride, stride if r.chance(0.98) else 3, 1], "padding": r.choice(["SAME", "VALID"])}
    if r.chance(0.02):
        attrs["dilations"] = [1, 2, 1, 1]
    return Case(name, [quantised(r, x), quantised(r, w)] + bounds(r) + bounds(r), attrs)


@op("QuantizedBiasAdd")
def bias_add(r, name):
    dtype, shape = r.choice(QUANTISED), r.shape(2 if r.chance(0.97) else 0, 4)
    bias = [shape[-1] if shape and r.chance(0.97) else 3]
    return Case(name, [quantised(r, shape, dtype), quantised(r, bias, dtype)] + bounds(r) + bounds(r), {"out_type": "qint32"})


@op("QuantizedRelu QuantizedRelu6")
def relu(r, name):
    dtype = r.choice(["quint8", "qint32"])
    return Case(name, [quantised(r, r.shape(), dtype)] + bounds(r), {"out_type": dtype})


@op("QuantizedAdd QuantizedMul")
def binary(r, name):
    x = r.shape()
    y = x if r.chance(0.4) else x[len(x) - r.integer(0, len(x)):] if r.chance(0.9) else r.shape()
    inputs = [quantised(r, x), quantised(r, y)]
    return Case(name, (inputs if r.chance(0.5) else inputs[::-1]) + bounds(r) + bounds(r))


@op("QuantizedMaxPool QuantizedAvgPool")
def pool(r, name):
    x = [r.integer(0 if r.chance(0.05) else 1, 2), r.integer(2, 7), r.integer(2, 7), r.integer(1, 4)]
    attrs = {"ksize": [1, r.integer(1, 3), r.integer(1, 3), 1], "strides": [1, r.integer(1, 3), r.integer(1, 3), 1], "padding": r.choice(["SAME", "VALID"])}
    if r.chance(0.1):
        attrs["ksize"], attrs["strides"] = [1, 1, 1, 2], [1, 1, 1, r.choice([2, 2, 2, 1])]
    return Case(name, [quantised(r, x, r.choice(QUANTISED))] + bounds(r), attrs)


@op("QuantizedConcat")
def concat(r, name):
    dtype, shape, n = r.choice(["quint8", "qint32"]), r.shape(1 if r.chance(0.97) else 0, 4), r.integer(2, 4)
    axis = r.integer(0, max(len(shape) - 1, 0)) if r.chance(0.97) else r.choice([-1, 5])
    parts = []
    for _ in range(n):
        part = list(shape)
        if part:
            part[axis if 0 <= axis < len(part) else 0] = r.dim()
        if r.chance(0.02):
            part = r.shape()
        parts.append(quantised(r, part, dtype))
    ranges = [bounds(r) for _ in range(n)] if r.chance(0.8) else [bounds(r)] * n
    return Case(name, [ints(axis)] + parts + [low for low, _ in ranges] + [high for _, high in ranges], {"N": n, "T": dtype})


@op("QuantizedReshape")
def reshape(r, name):
    shape = r.shape()
    count = int(np.prod(shape))
    to = r.choice([[count], [-1], [1, count], [count, 1, 1], [-1, 1], shape, [2, -1]])
    return Case(name, [quantised(r, shape, r.choice(["quint8", "qint32"])), ints(to, r.choice(INDEX))] + bounds(r))


@op("QuantizedResizeBilinear")
def resize(r, name):
    dtype, shape = r.choice(["quint8", "qint32", "float"]), [r.integer(1, 2), r.integer(1, 6), r.integer(1, 6), r.integer(1, 3)]
    x = r.values("float", shape, "small") if dtype == "float" else quantised(r, shape, dtype)
    attrs = {"align_corners": r.chance(0.4), "half_pixel_centers": r.chance(0.3)}
    return Case(name, [x, ints([r.integer(1, 9), r.integer(1, 9)])] + bounds(r), attrs)


@op("QuantizedBatchNormWithGlobalNormalization")
def batch_norm(r, name):
    x = [r.integer(1, 2), r.integer(1, 4), r.integer(1, 4), r.integer(1, 4)]
    inputs = [quantised(r, x)] + bounds(r)
    for _ in range(4):
        inputs += [quantised(r, [x[3] if r.chance(0.99) else x[3] + 1])] + bounds(r)
    attrs = {"out_type": "qint32", "variance_epsilon": r.choice([0.001, 0.1, 1.0]), "scale_after_normalization": r.chance(0.5)}
    return Case(name, inputs, attrs)


@op("QuantizedInstanceNorm")
def instance_norm(r, name):
    x = [r.integer(1, 2), r.integer(1, 5), r.integer(1, 5), r.integer(1, 4)]
    attrs = {"variance_epsilon": r.choice([1e-5, 0.1]), "min_separation": r.choice([1e-3, 3.0])}
    if r.chance(0.5):
        attrs.update(output_range_given=True, given_y_min=-1.0, given_y_max=r.choice([0.5, 2.0, 2.0, -2.0]))
    out = Program(name, scale="spread")
    node = out.node(name, [out.value(*quantised(r, x))] + [out.value(*bound) for bound in bounds(r)], dict(attrs, T="quint8"))
    out.fetch(node, f"{node}:1", f"{node}:2")
    return out


@op("QuantizeDownAndShrinkRange RequantizationRange Requantize")
def requantize(r, name):
    inputs = [quantised(r, r.shape(), "qint32")] + bounds(r)
    if name == "Requantize":
        inputs += bounds(r)
    attrs = {} if name == "RequantizationRange" else {"out_type": r.choice(["quint8", "qint8"]) if name == "Requantize" else "quint8"}
    return Case(name, inputs, attrs)


@op("QuantizeAndDequantize")
def quantize_and_dequantize(r, name):
    attrs = {"signed_input": r.chance(0.7), "range_given": r.chance(0.5), "num_bits": r.choice([8, 8, 4, 2, 16]) if r.chance(0.95) else r.choice([0, 64, -1])}
    low, high = bounds(r, False)
    if r.chance(0.9):
        attrs.update(input_min=float(low[1]), input_max=float(high[1]))
    elif r.chance(0.5):
        attrs.update(input_min=1.5, input_max=-1.0)
    return Case(name, [r.values(r.choice(["float", "double"]), r.shape(), "small")], attrs)
