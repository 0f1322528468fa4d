"""Rows that time one op: elementwise, reductions, layers, sparse matrices, movement; and those of kernel_families.py."""

from graph_def import FLOAT, HALF, INT32, INT64, Type
from kernel_dtypes import dtype_rows
from kernel_families import family_rows
from kernel_shapes import shape_rows
from single_ops import F32, ints, row, scalar


def elementwise_rows():
    n = 16384
    one = {"x": (n,)}
    for op in ("Neg", "Relu", "Exp", "Log", "Sigmoid", "Sqrt", "Sin", "Cos", "Tanh", "Erf", "Rsqrt"):
        yield row(op.lower(), f"{op} of {n}", op, ["above x" if op in ("Log", "Sqrt", "Rsqrt") else "x"], one, **F32)
    for op in ("AddV2", "Mul", "Maximum", "Atan2"):
        yield row(op.lower(), f"{op} of two times {n}", op, ["x", "y"], {"x": (n,), "y": (n,)}, **F32)
    yield row("add-row", "AddV2 of 256 x 256 and a row", "AddV2", ["x", "y"], {"x": (256, 256), "y": (256,)}, **F32)
    for name, dtype in (("half", HALF), ("int32", INT32)):
        yield row(f"cast-{name}", f"Cast of {n} to {name}", "Cast", ["x"], one, SrcT=Type(FLOAT), DstT=Type(dtype))
    for count in (4, 8):
        names = [f"x{i}" for i in range(count)]
        yield row(f"add-n-{count}", f"AddN of {count} times {n}", "AddN", names, {name: (n,) for name in names}, N=count, **F32)
    yield row("add-n-1000", "AddN of 1 000 times 256", "AddN", ["x"] * 1000, {"x": (256,)}, 20, N=1000, **F32)


def reduction_rows():
    attrs = {"Tidx": Type(INT32), "keep_dims": False, **F32}
    for op in ("Sum", "Mean", "Prod", "Max"):
        for rows, columns in ((1024, 32), (1024, 64), (64, 4096)):
            yield row(f"{op.lower()}-{rows}x{columns}", f"{op} of {rows} rows of {columns}", op, ["above x" if op == "Prod" else "x", ints([1])],
                      {"x": (rows, columns)}, **attrs)
    for axis in (0, 1):
        yield row(f"euclidean-{axis}", f"EuclideanNorm of 1024 x 64 over {axis}", "EuclideanNorm", ["x", ints([axis])], {"x": (1024, 64)}, **attrs)
    for op in ("Sum", "Max"):
        yield row(f"{op.lower()}-columns", f"{op} of the columns of 1024 x 64", op, ["x", ints([0])], {"x": (1024, 64)}, **attrs)
    yield row("prod-all", "Prod of 262 144", "Prod", ["above x", ints([0])], {"x": (262144,)}, **attrs)
    yield row("l2-loss", "L2Loss of 262 144", "L2Loss", ["x"], {"x": (262144,)}, **F32)
    yield row("argmax", "ArgMax of 1024 rows of 64", "ArgMax", ["x", scalar(1, INT32)], {"x": (1024, 64)}, Tidx=Type(INT32), output_type=Type(INT64), **F32)


def neural_rows():
    for op in ("Softmax", "LogSoftmax"):
        for rows, columns in ((128, 10), (64, 1000)):
            yield row(f"{op.lower()}-{rows}x{columns}", f"{op} of {rows} x {columns}", op, ["x"], {"x": (rows, columns)}, **F32)
    for op, name in (("MaxPool", "max"), ("AvgPool", "avg")):
        for size, stride in ((2, 2), (3, 2), (3, 1), (5, 1)):
            yield row(f"{name}-pool-{size}x{size}-s{stride}", f"{op} {size} x {size} by {stride} of 8 x 28 x 28 x 32", op, ["x"], {"x": (8, 28, 28, 32)}, 10,
                      ksize=[1, size, size, 1], strides=[1, stride, stride, 1], padding="SAME", **F32)
    plain = {"transpose_a": False, "transpose_b": False, **F32}
    for m, k, n in ((3, 4096, 3), (1, 1024, 1024), (128, 256, 256)):
        yield row(f"matmul-{m}x{k}x{n}", f"MatMul {m} x {k} by {k} x {n}", "MatMul", ["x", "y"], {"x": (m, k), "y": (k, n)}, **plain)
    for size in (3, 9):
        yield row(f"conv-{size}x{size}", f"Conv2D {size} x {size} of 8 x 28 x 28 x 16 to 16", "Conv2D", ["x", "y"],
                  {"x": (8, 28, 28, 16), "y": (size, size, 16, 16)}, 10, strides=[1, 1, 1, 1], padding="SAME", **F32)


def matrix_rows():
    """Sparse matrices, and centers of clusters."""
    sparse = "sparse 4096"
    entries = (4096 * 48,)
    flips = {flip + side: False for flip in ("transpose_", "adjoint_") for side in "ab"}
    yield row("sparse-matmul", "SparseMatrixMatMul of 4096 x 4096 with 48 entries in a row by 4096 x 128", "SparseMatrixMatMul", [sparse, "y"],
              {"x": entries, "y": (4096, 128)}, 10, transpose_output=False, conjugate_output=False, **flips, **F32)
    for adjoint in (False, True):
        yield row("sparse-tensor-adjoint" if adjoint else "sparse-tensor",
                  f"SparseTensorDenseMatMul of 4096 x 4096{', adjoint,' if adjoint else ''} with 48 entries in a row by 4096 x 64", "SparseTensorDenseMatMul",
                  ["places 4096", "y"], {"x": entries, "y": (4096, 64)}, 10, adjoint_a=adjoint, adjoint_b=False, Tindices=Type(INT64), **F32)
    yield row("sparse-transpose", "SparseMatrixTranspose of 4096 x 4096 with 48 entries in a row", "SparseMatrixTranspose", [sparse], {"x": entries}, 10,
              conjugate=False, type=Type(FLOAT))
    yield row("sparse-product", "SparseMatrixSparseMatMul of 1024 x 1024 with 16 entries in a row by itself", "SparseMatrixSparseMatMul",
              ["sparse 1024", "sparse"], {"x": (1024 * 16,)}, 10, type=Type(FLOAT), **flips)
    yield row("nearest-1", "NearestNeighbors of 4096 points among 512 centers in 64 dimensions", "NearestNeighbors", ["x", "y", scalar(1, INT64)],
              {"x": (4096, 64), "y": (512, 64)}, 10)


def movement_rows():
    yield row("range", "Range of 16 384 floats", "Range", [scalar(0.0), scalar(16384.0), scalar(1.0)], {}, Tidx=Type(FLOAT))
    yield row("range-int", "Range of 16 384 integers", "Range", [scalar(0, INT32), scalar(16384, INT32), scalar(1, INT32)], {}, Tidx=Type(INT32))
    image = {"x": (8, 32, 32, 16)}
    turn = {"Tperm": Type(INT32), **F32}
    yield row("transpose", "Transpose of 512 x 512", "Transpose", ["x", ints([1, 0])], {"x": (512, 512)}, **turn)
    for order in ((0, 3, 1, 2), (0, 2, 1, 3), (3, 2, 1, 0), (0, 3, 2, 1)):
        yield row("transpose-" + "".join(map(str, order)), f"Transpose {order} of 8 x 32 x 32 x 16", "Transpose", ["x", ints(order)], image, **turn)
    for axis in (0, 1):
        yield row(f"reverse-{axis}", f"ReverseV2 of axis {axis} of 512 x 256", "ReverseV2", ["x", ints([axis])], {"x": (512, 256)}, Tidx=Type(INT32), **F32)
    yield row("pad", "Pad of 8 x 32 x 32 x 16 by 1", "Pad", ["x", (INT32, (4, 2), [0, 0, 1, 1, 1, 1, 0, 0])], image, Tpaddings=Type(INT32), **F32)
    yield row("concat", "ConcatV2 of two times 512 x 128", "ConcatV2", ["x", "y", scalar(1, INT32)], {"x": (512, 128), "y": (512, 128)}, N=2,
              Tidx=Type(INT32), **F32)
    yield row("slice", "Slice of 256 x 128 out of 512 x 256", "Slice", ["x", ints([64, 64]), ints([256, 128])], {"x": (512, 256)}, Index=Type(INT32), **F32)
    yield row("tile", "Tile of 128 x 64 by 2 x 4", "Tile", ["x", ints([2, 4])], {"x": (128, 64)}, Tmultiples=Type(INT32), **F32)


def kernel_rows():
    rows = [*elementwise_rows(), *reduction_rows(), *neural_rows(), *matrix_rows(), *movement_rows(), *family_rows(), *dtype_rows(), *shape_rows()]
    return {row.name: row for row in rows}
