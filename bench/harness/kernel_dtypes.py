"""Rows of single ops in the dtypes that the other rows leave out: what users do in half, bfloat16, f64 and integers, by family."""

from graph_def import BFLOAT16, FLOAT, HALF, INT32, INT64, Type
from single_ops import ints, row, scalar

FLOATS = {"half": HALF, "bfloat16": BFLOAT16, "double": 2}
INTEGERS = {"int32": INT32, "int64": INT64}
VECTOR, PAIR = {"x": (16384,)}, {"x": (16384,), "y": (16384,)}
MATRIX, IMAGE = {"x": (256, 256)}, {"x": (4, 28, 28, 32)}


def named(op, name, what, *rest, **attrs):
    return row(f"{op.lower()}-{name}", f"{op} {what} of {name}", op, *rest, **attrs)


def float_elements(name, dtype):
    t = {"T": Type(dtype)}
    x, above, y = f"{name} -5 5 x", f"{name} 0.1 5 x", f"{name} 0.1 5 y"
    for op in ("Sqrt", "Rsqrt", "Log", "Lgamma"):
        yield named(op, name, "of 16 384", [above], VECTOR, 20, **t)
    for op in ("Sigmoid", "Erf", "Sin", "Square", "Abs", "Floor", "Round", "Neg", "Sign"):
        yield named(op, name, "of 16 384", [x], VECTOR, 20, **t)
    for op in ("Relu", "Elu", "Softplus"):
        yield named(op, name, "of 16 384", [x], VECTOR, 20, **t)
    for op in ("Sub", "RealDiv", "Pow", "FloorDiv", "FloorMod", "SquaredDifference", "Greater", "Equal"):
        yield named(op, name, "of two times 16 384", [above, y], PAIR, 20, **t)
    for op in ("ReluGrad", "TanhGrad", "SigmoidGrad", "SqrtGrad"):
        yield named(op, name, "of 16 384", [x, y], PAIR, 20, **t)
    yield row(f"add-row-{name}", f"AddV2 of 64 x 1 000 and 1 000 of {name}", "AddV2", [x, y], {"x": (64, 1000), "y": (1000,)}, 20, **t)
    yield row(f"mul-column-{name}", f"Mul of 64 x 1 000 and 64 x 1 of {name}", "Mul", [x, y], {"x": (64, 1000), "y": (64, 1)}, 20, **t)


def float_networks(name, dtype):
    t, x, y = {"T": Type(dtype)}, f"{name} -1 1 x", f"{name} -1 1 y"
    plain = {"strides": [1, 1, 1, 1], "padding": "SAME", **t}
    yield named("LogSoftmax", name, "of 64 x 1 000", [x], {"x": (64, 1000)}, 20, **t)
    yield named("BiasAdd", name, "of 4 x 28 x 28 x 32", [x, y], {**IMAGE, "y": (32,)}, 20, **t)
    yield named("BiasAddGrad", name, "of 4 x 28 x 28 x 32", [x], IMAGE, 20, **t)
    yield named("L2Loss", name, "of 16 384", [x], VECTOR, 20, **t)
    yield named("SoftmaxCrossEntropyWithLogits", name, "of 128 x 100", [x, f"{name} 0 1 y"], {"x": (128, 100), "y": (128, 100)}, 10, **t)
    yield named("Conv2D", name, "3 x 3 of 4 x 28 x 28 x 32", [x, y], {**IMAGE, "y": (3, 3, 32, 32)}, 4, **plain)
    yield named("Conv2DBackpropInput", name, "3 x 3 of 4 x 28 x 28 x 32", [ints([4, 28, 28, 32]), y, x], {**IMAGE, "y": (3, 3, 32, 32)}, 4, **plain)
    yield named("Conv2DBackpropFilter", name, "3 x 3 of 4 x 28 x 28 x 32", [x, ints([3, 3, 32, 32]), y], {**IMAGE, "y": (4, 28, 28, 32)}, 4, **plain)
    yield named("DepthwiseConv2dNative", name, "3 x 3 of 4 x 28 x 28 x 32", [x, y], {**IMAGE, "y": (3, 3, 32, 1)}, 4, **plain)
    pool = {"ksize": [1, 2, 2, 1], **plain, "strides": [1, 2, 2, 1]}
    for op in ("MaxPool", "AvgPool"):
        yield named(op, name, "2 x 2 of 4 x 28 x 28 x 32", [x], IMAGE, 10, **pool)
    yield named("MaxPoolGrad", name, "2 x 2 of 4 x 28 x 28 x 32", [x, f"{name} -1 1 z", f"{name} -1 1 w"], {**IMAGE, "z": (4, 14, 14, 32), "w": (4, 14, 14, 32)}, 10, **pool)
    for m, k, n in ((1, 1024, 1024), (32, 784, 128), (512, 512, 512)):
        yield row(f"matmul-{m}-{k}-{n}-{name}", f"MatMul {m} x {k} by {k} x {n} of {name}", "MatMul", [x, y], {"x": (m, k), "y": (k, n)}, 2 if m > 100 else 10,
                  transpose_a=False, transpose_b=False, **t)
    yield named("BatchMatMulV2", name, "of 64 times 32 x 32", [x, y], {"x": (64, 32, 32), "y": (64, 32, 32)}, 10, adj_x=False, adj_y=False, **t)
    shape = {"dtype": Type(dtype), "seed": 1, "seed2": 2, "T": Type(INT32)}
    for op in ("RandomUniform", "RandomStandardNormal"):
        yield named(op, name, "of 16 384", [ints([16384])], {}, 10, **shape)


def integer_elements(name, dtype):
    t = {"T": Type(dtype)}
    x, y = f"{name} -500 499 x", f"{name} 1 99 y"
    for op in ("Sub", "Minimum", "FloorDiv", "FloorMod", "SquaredDifference", "Less", "Equal", "BitwiseAnd"):
        yield named(op, name, "of two times 16 384", [x, y], PAIR, 20, **t)
    for op in ("Abs", "Neg", "Square", "Sign", "Relu"):
        yield named(op, name, "of 16 384", [x], VECTOR, 20, **t)
    yield row(f"matmul-64-{name}", f"MatMul 64 x 64 by 64 x 64 of {name}", "MatMul", [x, y], {"x": (64, 64), "y": (64, 64)}, 10,
              transpose_a=False, transpose_b=False, **t)


def any_dtype(name, dtype):
    """Reductions, places and moves."""
    t, x, y = {"T": Type(dtype)}, f"{name} -5 5 x", f"{name} -5 5 y"
    reduce = {"Tidx": Type(INT32), "keep_dims": False, **t}
    for op in ("Mean", "Max", "Prod"):
        yield named(op, name, "of 256 rows of 256", [x, ints([1])], MATRIX, 20, **reduce)
    yield row(f"sum-columns-{name}", f"Sum of 256 columns of 256 of {name}", "Sum", [x, ints([0])], MATRIX, 20, **reduce)
    yield row(f"sum-all-{name}", f"Sum of all of 256 x 256 of {name}", "Sum", [x, ints([0, 1])], MATRIX, 20, **reduce)
    yield named("ArgMax", name, "of 256 rows of 256", [x, scalar(1, INT32)], MATRIX, 20, Tidx=Type(INT32), output_type=Type(INT64), **t)
    yield named("Cumsum", name, "of 256 rows of 256", [x, scalar(1, INT32)], MATRIX, 10, exclusive=False, reverse=False, Tidx=Type(INT32), **t)
    yield named("TopKV2", name, "of 256 rows of 256, 10 of each", [x, scalar(10, INT32)], MATRIX, 10, sorted=True, **t)
    yield named("Cast", f"{name}-to-float", "of 16 384", [x], VECTOR, 20, SrcT=Type(dtype), DstT=Type(FLOAT))
    yield row(f"cast-float-to-{name}", f"Cast of 16 384 of float to {name}", "Cast", ["x"], VECTOR, 20, SrcT=Type(FLOAT), DstT=Type(dtype))
    yield named("SelectV2", name, "of 16 384", ["true x", x, y], PAIR, 20, **t)
    yield named("ConcatV2", name, "of two times 256 x 64 on the last axis", [x, y, scalar(1, INT32)], {"x": (256, 64), "y": (256, 64)}, 20, N=2, Tidx=Type(INT32), **t)
    yield named("Pack", name, "of two times 16 384 on the last axis", [x, y], PAIR, 20, N=2, axis=1, **t)
    yield named("Tile", name, "of 64 x 64 to 256 x 256", [x, ints([4, 4])], {"x": (64, 64)}, 20, Tmultiples=Type(INT32), **t)
    yield named("Pad", name, "of 254 x 254 by 1", [x, (INT32, (2, 2), [1, 1, 1, 1])], {"x": (254, 254)}, 20, Tpaddings=Type(INT32), **t)
    yield named("ReverseV2", name, "of 256 x 256 on the last axis", [x, ints([1])], MATRIX, 20, Tidx=Type(INT32), **t)
    yield named("GatherV2", name, "of 4 096 rows of 64", [f"{name} -5 5 x", "int32 0 999 y", scalar(0, INT32)], {"x": (1000, 64), "y": (4096,)}, 10,
                Tparams=Type(dtype), Tindices=Type(INT32), Taxis=Type(INT32))
    yield named("UnsortedSegmentSum", name, "of 4 096 rows of 64 to 1 000", [x, "int32 0 999 y", scalar(1000, INT32)], {"x": (4096, 64), "y": (4096,)}, 10,
                Tindices=Type(INT32), Tnumsegments=Type(INT32), **t)
    yield named("StridedSlice", name, "of every second element of 512 x 256", [x, ints([0, 0]), ints([512, 256]), ints([2, 2])], {"x": (512, 256)}, 10,
                Index=Type(INT32), begin_mask=0, end_mask=0, ellipsis_mask=0, new_axis_mask=0, shrink_axis_mask=0, **t)
    yield named("AddN", name, "of four times 16 384", [f"{name} -5 5 {i}" for i in "xyzw"], {i: (16384,) for i in "xyzw"}, 20, N=4, **t)


def dtype_rows():
    for name, dtype in FLOATS.items():
        for rows in (float_elements, float_networks, any_dtype):
            yield from rows(name, dtype)
    for name, dtype in INTEGERS.items():
        for rows in (integer_elements, any_dtype):
            yield from rows(name, dtype)
