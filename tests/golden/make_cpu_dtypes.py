#!/usr/bin/env python3
"""Writes cpu_dtypes.tsv, the dtypes of TensorFlow's CPU kernels, and dtype_values.tsv, what they compute of small inputs.

    make_cpu_dtypes.py             with a Python that has tensorflow-cpu

cpu_dtypes.tsv: op, attribute, dtypes that some CPU kernel of the op is registered for; ops whose kernels name none are left out.
dtype_values.tsv: op, attributes ("DstT=half ksize=[1,2,2,1]"), inputs and outputs as literals of core/tensor/literal.hpp, between " ; ".
An input "var …" or "res …" is a variable; then the outputs are what the variables hold afterwards.
"""
import inspect
import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import numpy as np
import tensorflow as tf
from tensorflow.python.framework import kernels

HERE = os.path.dirname(os.path.abspath(__file__))
NAMES = {"float32": "float", "float64": "double", "float16": "half"}
LITERALS = {"float32": "f32", "float64": "f64", "float16": "f16", "bfloat16": "bf16", "complex64": "c64", "complex128": "c128",
            "bool": "bool", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "uint8": "u8", "uint16": "u16",
            "uint32": "u32", "uint64": "u64"}
REALS = ["bfloat16", "float16", "float32", "float64"]
COMPLEX = ["complex64", "complex128"]
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
ALL = REALS + COMPLEX + INTEGERS


def cpu_dtypes():
    out = []
    for op in sorted(dir(tf.raw_ops)):
        if op.startswith("_"):
            continue
        found = {}
        for kernel in kernels.get_registered_kernels_for_op(op).kernel:
            if kernel.device_type == "CPU" and not kernel.label:
                for constraint in kernel.constraint:
                    found.setdefault(constraint.name, set()).update(constraint.allowed_values.list.type)
        for attr, types in sorted(found.items()):
            names = [tf.dtypes.as_dtype(t).name for t in sorted(types)]
            out.append((op, attr, ",".join(NAMES.get(n, n) for n in names)))
    return out


def literal(tensor):
    def text(x):
        if isinstance(x, (complex, np.complexfloating)):
            return f"({text(x.real)},{text(x.imag)})"
        if isinstance(x, (bool, np.bool_)):
            return "true" if x else "false"
        if isinstance(x, (int, np.integer)):
            return str(int(x))
        return repr(float(x))

    array = np.asarray(tensor.numpy())
    if array.dtype == object:
        return f"str[{','.join(map(str, array.shape))}] " + " ".join(f'"{x.decode()}"' for x in array.reshape(-1))
    name = tf.dtypes.as_dtype(array.dtype).name
    return f"{LITERALS[name]}[{','.join(map(str, array.shape))}] " + " ".join(text(x) for x in array.reshape(-1))


def values(dtype, which):
    """Some values of a dtype; the second choice has no zero."""
    if dtype in COMPLEX:
        return [[1 + 2j, -0.5 + 0.25j, -1j, 0j], [0.5 - 1j, 2 + 0j, 0.25 + 1j, 1 + 1j]][which]
    if dtype in REALS:
        return [[-2, -0.5, 0, 0.25, 1, 3.5], [0.5, -1, 2, 3, -0.25, 1.5]][which]
    if dtype.startswith("u"):
        return [[0, 1, 2, 7, 100, 250], [1, 3, 5, 2, 7, 251]][which]
    return [[-100, -3, 0, 1, 7, 100], [3, 2, -5, -1, 2, 7]][which]


def cases():
    def tensor(dtype, which=0):
        return tf.constant(values(dtype, which), dtype)

    for op in ["Abs", "Ceil", "Cos", "Erf", "Exp", "Expm1", "Floor", "Inv", "IsFinite", "IsInf", "IsNan", "Log", "Log1p", "Neg",
               "Reciprocal", "Relu", "Relu6", "Round", "Rsqrt", "Sigmoid", "Sign", "Sin", "Sqrt", "Square", "Tanh", "Elu", "Softplus"]:
        for dtype in ALL:
            if op != "Round" or dtype in REALS:  # TensorFlow's of an integer is 0, whatever it is; ours is the integer
                yield op, {}, [tensor(dtype)]
    for op in ["Add", "AddV2", "Sub", "Mul", "Maximum", "Minimum", "SquaredDifference", "Div", "RealDiv", "FloorDiv", "FloorMod",
               "TruncateDiv", "DivNoNan", "MulNoNan", "Equal", "NotEqual", "Less", "LessEqual", "Greater", "GreaterEqual", "Atan2"]:
        for dtype in ALL:
            yield op, {}, [tensor(dtype), tensor(dtype, 1)]
    for dtype in ALL:
        yield "Pow", {}, [tensor(dtype, 1), tf.constant(2, dtype)]
        yield "AddN", {}, [tensor(dtype), tensor(dtype, 1), tensor(dtype, 1)]
        yield "Cumsum", {}, [tensor(dtype), tf.constant(0)]
        yield "Cumprod", {}, [tensor(dtype, 1), tf.constant(0)]
        yield "UnsortedSegmentSum", {}, [tensor(dtype), tf.constant([0, 1, 1, 0, 2, 2][:len(values(dtype, 0))]), tf.constant(4)]
        yield "Where", {}, [tensor(dtype)]
        for op in ["Sum", "Mean", "Prod", "Max", "Min"]:
            yield op, {}, [tensor(dtype, 1), tf.constant([0])]
            yield op, {}, [tf.reshape(tensor(dtype, 1), [2, -1]), tf.constant([0])]
            yield op, {}, [tf.zeros([2, 0], dtype), tf.constant([1])]
        for op in ["ArgMax", "ArgMin"]:
            yield op, {}, [tf.reshape(tensor(dtype), [2, -1]), tf.constant(1)]
        if dtype not in COMPLEX:
            yield "ClipByValue", {}, [tensor(dtype), tf.constant(1, dtype), tf.constant(3, dtype)]
    for op in ["TanhGrad", "SigmoidGrad", "SqrtGrad", "RsqrtGrad", "ReciprocalGrad", "InvGrad"]:
        for dtype in REALS + COMPLEX:
            yield op, {}, [tensor(dtype, 1), tensor(dtype)]
    for op in ["ReluGrad", "Relu6Grad", "EluGrad", "SoftplusGrad"]:
        for dtype in REALS + INTEGERS:
            yield op, {}, [tensor(dtype, 1), tensor(dtype)]
    for dtype, part in zip(COMPLEX, ["float32", "float64"]):
        yield "Conj", {}, [tensor(dtype)]
        for op in ["Real", "Imag", "ComplexAbs", "Angle"]:
            yield op, {"Tout": part}, [tensor(dtype)]
        yield "Complex", {"Tout": dtype}, [tensor(part), tensor(part, 1)]
    for dtype in REALS:
        yield "L2Loss", {}, [tensor(dtype)]
    yield from products()
    yield from images()
    yield from rows()
    for source in ALL + ["bool"]:
        for target in ALL + ["bool"]:
            small = [0, 1, 1, 0] if source == "bool" else [3, 0, 2, 100]
            if source != target:
                yield "Cast", {"DstT": target}, [tf.cast(small, source)]


def numbers(dtype, shape, seed=0, least=-7):
    """Numbers that are the same in every dtype that has them, quarters among them where there are such."""
    random = np.random.RandomState(seed)
    whole = random.randint(0 if dtype.startswith("u") else least, 8, shape)
    if dtype in COMPLEX:
        return tf.constant((whole + 1j * random.randint(-7, 8, shape)) / 4, dtype)
    return tf.constant(whole / 4 if dtype in REALS else whole, dtype)


def products():
    for dtype in ALL:
        for flags in range(4):
            a, b = bool(flags & 1), bool(flags & 2)
            x, y = numbers(dtype, [3, 2] if a else [2, 3]), numbers(dtype, [4, 3] if b else [3, 4], 1)
            yield "MatMul", {"transpose_a": a, "transpose_b": b}, [x, y]
            pair = [tf.stack([x, x + x]), y[tf.newaxis]]
            yield "BatchMatMulV2", {"adj_x": a, "adj_y": b}, pair
            yield "BatchMatMul", {"adj_x": a, "adj_y": b}, [pair[0], tf.stack([y, y])]
            for other in dict.fromkeys(["int8", "uint8", dtype]):
                for out in dict.fromkeys([dtype, other, "int32"]):
                    yield "BatchMatMulV3", {"adj_x": a, "adj_y": b, "Tout": out}, [x, numbers(other, y.shape, 1)]


def images():
    for dtype in ALL:
        x, filters, dy = numbers(dtype, [2, 4, 3, 4]), numbers(dtype, [2, 2, 4, 3], 1), numbers(dtype, [2, 4, 3, 3], 2)
        convolution = {"strides": [1, 1, 1, 1], "padding": "SAME"}
        yield "Conv2D", convolution, [x, filters]
        yield "Conv2D", {"strides": [1, 2, 1, 1], "padding": "VALID", "dilations": [1, 2, 1, 1]}, [x, numbers(dtype, [2, 2, 2, 4], 1)]
        yield "Conv2DBackpropInput", convolution, [tf.constant([2, 4, 3, 4]), filters, dy]
        yield "Conv2DBackpropFilter", convolution, [x, tf.constant([2, 2, 4, 3]), dy]
        for size, stride, padding in [(2, 2, "VALID"), (3, 1, "SAME")]:
            pool = {"ksize": [1, size, size, 1], "strides": [1, stride, stride, 1], "padding": padding}
            out = numbers(dtype, [2, 2, 1, 4] if padding == "VALID" else [2, 4, 3, 4], 3)
            yield "MaxPool", pool, [x]
            yield "AvgPool", pool, [x]
            # Of one sign: TensorFlow rounds after each addition, so that what cancels out has few digits.
            yield "AvgPoolGrad", pool, [tf.constant([2, 4, 3, 4]), numbers(dtype, out.shape, 3, least=0)]
            pooled = run("MaxPool", pool, [x])
            if pooled:
                yield "MaxPoolGrad", pool, [x, pooled[0], out]
        yield "MaxPool", {"ksize": [1, 1, 1, 2], "strides": [1, 1, 1, 2], "padding": "VALID"}, [x]
        if dtype in REALS:
            scale, offset, mean = (numbers("float32", [4], seed) for seed in (4, 5, 6))
            variance = tf.constant([1, 0.5, 2, 4], tf.float32)
            for training in [True, False]:
                attrs = {"is_training": training, "exponential_avg_factor": 1.0, "epsilon": 0.5}
                yield "FusedBatchNormV3", attrs, [x, scale, offset] + ([tf.zeros([0])] * 2 if training else [mean, variance])
                attrs = {"is_training": training, "epsilon": 0.5}
                yield "FusedBatchNormGradV3", attrs, [numbers(dtype, x.shape, 7), x, scale, mean, variance, tf.zeros([0])]


def rows():
    for dtype in ALL:
        x, labels = numbers(dtype, [3, 5]), tf.constant([1, 0, 4])
        yield "BiasAdd", {}, [x, numbers(dtype, [5], 1)]
        yield "BiasAdd", {"data_format": "NCHW"}, [numbers(dtype, [2, 3, 2, 2]), numbers(dtype, [3], 1)]
        yield "BiasAddGrad", {}, [x]
        yield "BiasAddGrad", {"data_format": "NCHW"}, [numbers(dtype, [2, 3, 2, 2])]
        yield "Softmax", {}, [x]
        yield "LogSoftmax", {}, [x]
        yield "SoftmaxCrossEntropyWithLogits", {}, [x, numbers(dtype, [3, 5], 1)]
        yield "SparseSoftmaxCrossEntropyWithLogits", {}, [x, labels]
        yield "TopKV2", {}, [x, tf.constant(3)]
        yield "ArgMax", {"output_type": "uint16"}, [x, tf.constant(1)]
        yield "ArgMax", {"output_type": "int16"}, [x, tf.constant(0)]
        yield "GatherV2", {}, [x, tf.constant([2, 0, 2], tf.int16), tf.constant(0)]
    yield "Add", {}, [tf.constant(["a", "bc"]), tf.constant([["x"], [""]])]


def updates():
    """Optimizers: name, attributes, variables, what follows them, and what the variables hold afterwards."""
    for dtype in REALS + COMPLEX:
        def scalar(value):
            return tf.constant(value, dtype)
        var, m, grad = (numbers(dtype, [12], seed) for seed in (1, 2, 3))
        v = tf.constant(np.arange(12) / 8, dtype)
        rates = [scalar(x) for x in (0.81, 0.998, 0.01, 0.9, 0.999, 0.001)]
        cases = [("GradientDescent", {}, [var], [scalar(0.3), grad])]
        for nesterov in [False, True]:
            momentum = [scalar(0.3), grad, scalar(0.7)]
            cases.append(("Momentum", {"use_nesterov": nesterov}, [var, m], momentum))
            cases.append(("KerasMomentum", {"use_nesterov": nesterov}, [var, m], momentum))
            cases.append(("Adam", {"use_nesterov": nesterov}, [var, m, v], rates + [grad]))
        for name, attrs, variables, rest in cases:
            held = [tf.Variable(x) for x in variables]
            with tf.device("CPU:0"):
                arguments = [x.handle for x in held] + rest
                function = getattr(tf.raw_ops, "ResourceApply" + name)
                function(**dict(zip(inspect.signature(function).parameters, arguments)), **attrs)
            yield name, attrs, variables, rest, held


def run(op, attrs, inputs):
    """The kernel's outputs, or None where there is none."""
    arguments = {k: tf.dtypes.as_dtype(v) if k in ("DstT", "Tout", "output_type") else v for k, v in attrs.items()}
    function = getattr(tf.raw_ops, op)
    if op == "AddN":
        arguments["inputs"] = inputs
    else:
        arguments.update(zip(inspect.signature(function).parameters, inputs))
    try:
        with tf.device("CPU:0"):
            out = function(**arguments)
    except (tf.errors.OpError, TypeError, ValueError):
        return None
    return list(out) if isinstance(out, (list, tuple)) else [out]


def shown(attrs):
    def text(value):
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, list):
            return "[" + ",".join(map(str, value)) + "]"
        return NAMES.get(value, str(value))

    return " ".join(f"{k}={text(v)}" for k, v in attrs.items())


def main():
    source = f"# TensorFlow {tf.__version__}, make_cpu_dtypes.py\n"
    with open(os.path.join(HERE, "cpu_dtypes.tsv"), "w", encoding="utf-8") as file:
        file.write(source)
        for row in cpu_dtypes():
            file.write("\t".join(row) + "\n")
    with open(os.path.join(HERE, "dtype_values.tsv"), "w", encoding="utf-8") as file:
        file.write(source)
        for op, attrs, inputs in cases():
            outputs = run(op, attrs, inputs)
            if outputs is None:
                continue
            if op == "FusedBatchNormV3":
                outputs = outputs[:5 if attrs["is_training"] else 3]  # the last is for GPUs, and those before may be left as they were
            elif op == "FusedBatchNormGradV3":
                outputs = outputs[:3]
            file.write("\t".join([op, shown(attrs), " ; ".join(map(literal, inputs)), " ; ".join(map(literal, outputs))]) + "\n")
        for name, attrs, variables, rest, held in updates():
            for op, kind in [("Apply" + name, "var "), ("ResourceApply" + name, "res ")]:
                if op == "ApplyKerasMomentum":
                    continue
                inputs = [kind + literal(x) for x in variables] + [literal(x) for x in rest]
                file.write("\t".join([op, shown(attrs), " ; ".join(inputs), " ; ".join(map(literal, held))]) + "\n")


if __name__ == "__main__":
    sys.exit(main())
