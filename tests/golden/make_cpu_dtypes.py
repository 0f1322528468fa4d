#!/usr/bin/env python3
"""Writes cpu_dtypes.tsv, the dtypes of TensorFlow's CPU kernels, and dtype_values.tsv, what they compute of small inputs.

    make_cpu_dtypes.py             with a Python that has tensorflow-cpu

cpu_dtypes.tsv: op, attribute, dtypes that some CPU kernel of the op is registered for; ops whose kernels name none are left out.
dtype_values.tsv: op, attributes ("DstT=half"), inputs and outputs as literals of core/tensor/literal.hpp, between " ; ".
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
    for dtype in REALS:
        yield "L2Loss", {}, [tensor(dtype)]
    for source in ALL + ["bool"]:
        for target in ALL + ["bool"]:
            small = [0, 1, 1, 0] if source == "bool" else [3, 0, 2, 100]
            if source != target:
                yield "Cast", {"DstT": target}, [tf.cast(small, source)]


def run(op, attrs, inputs):
    """The kernel's outputs, or None where there is none."""
    arguments = {"DstT": tf.dtypes.as_dtype(attrs["DstT"])} if attrs else {}
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
            shown = ",".join(f"{k}={NAMES.get(v, v)}" for k, v in attrs.items())
            file.write("\t".join([op, shown, " ; ".join(map(literal, inputs)), " ; ".join(map(literal, outputs))]) + "\n")


if __name__ == "__main__":
    sys.exit(main())
