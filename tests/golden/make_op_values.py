#!/usr/bin/env python3
"""Writes op_values.tsv: what TensorFlow's CPU kernels compute of small inputs, edge cases among them, and what they refuse.

    make_op_values.py              with a Python that has tensorflow-cpu

Columns as dtype_values.tsv has them (make_cpu_dtypes.py). In place of outputs "! CODE" stands for a refusal.
Rows of ops that the library lacks wait for them. Only ops whose values are determined are here: ops on lists, queues, files and random numbers have tests of their own.
"""
import inspect
import itertools
import os
import sys

import numpy as np

import make_cpu_dtypes as base
from make_cpu_dtypes import ALL, COMPLEX, INTEGERS, REALS, numbers, tf

HERE = os.path.dirname(os.path.abspath(__file__))
FEW = ["float32", "float64", "int32", "int64", "complex64", "bool", "string"]
INDICES = ["int32", "int64"]
ROWS = []


def constant(value, dtype="float32"):
    return tf.constant(value, dtype)


def some(dtype, shape, seed=0):
    """Elements of any dtype, texts and truths too."""
    count = int(np.prod(shape))
    if dtype == "string":
        return tf.reshape(tf.constant([f"s{i * 7 % 5}" for i in range(count)], tf.string), shape)
    if dtype == "bool":
        return tf.constant((np.random.RandomState(seed).rand(*shape) < 0.5) if shape else True, tf.bool)
    return numbers(dtype, shape, seed)


def row(op, *inputs, **attrs):
    """One case. A list among the inputs is an argument of several tensors."""
    ROWS.append((op, inputs, attrs))


def each(dtypes):
    return list(dict.fromkeys(dtypes))


def moving():
    """Ops that only move elements."""
    for dtype in FEW:
        x = some(dtype, [2, 3, 4])
        for index in INDICES:
            row("GatherNd", x, constant([[0, 1], [1, 2]], index))
            row("GatherNd", x, constant([[[0, 1, 3]], [[1, 0, 0]]], index))
            row("GatherNd", x, constant(np.zeros([2, 0]), index))
            row("GatherNd", x, constant([[2, 0]], index))
            row("ScatterNd", constant([[1], [3], [1]], index), some(dtype if dtype != "bool" else "int32", [3, 2]), constant([5, 2], index))
            row("ScatterNd", constant([[7]], index), constant([1.0]), constant([5], index))
            row("TensorScatterUpdate", some(dtype, [4, 2]), constant([[3], [0]], index), some(dtype, [2, 2], 5))
            row("Roll", x, constant([1, -2], index), constant([0, 2], index))
            row("MirrorPad", some(dtype, [2, 3]), constant([[1, 1], [2, 0]], index), mode="REFLECT")
            row("MirrorPad", some(dtype, [2, 3]), constant([[1, 2], [3, 0]], index), mode="SYMMETRIC")
            row("ReverseSequence", some(dtype, [3, 4]), constant([2, 0, 4], index), seq_dim=1, batch_dim=0)
            row("ReverseSequence", some(dtype, [3, 4, 2]), constant([1, 3, 2, 0], index), seq_dim=0, batch_dim=1)
            row("SpaceToBatchND", some(dtype, [1, 4, 2, 1]), constant([2, 2], index), constant([[0, 0], [2, 0]], index))
            row("BatchToSpaceND", some(dtype, [4, 2, 2, 1]), constant([2, 2], index), constant([[0, 1], [0, 0]], index))
        row("MatrixDiag", some(dtype, [2, 3]))
        row("MatrixDiagPart", some(dtype, [2, 3, 4]))
        row("MatrixSetDiag", some(dtype, [2, 3, 4]), some(dtype, [2, 3], 3))
        row("MatrixBandPart", x, constant(1, "int64"), constant(0, "int64"))
        row("MatrixBandPart", x, constant(-1, "int64"), constant(1, "int64"))
        row("MatrixBandPart", some(dtype, [5, 3]), constant(0, "int32"), constant(-1, "int32"))
        row("MatrixBandPart", x, constant(7, "int64"), constant(0, "int64"))
        if dtype not in ("string", "bool"):
            row("Diag", some(dtype, [3]))
            row("Diag", some(dtype, [2, 2]))
            row("DiagPart", some(dtype, [3, 3]))
            row("DiagPart", some(dtype, [2, 2, 2, 2]))
            row("DiagPart", some(dtype, [2, 3]))
        row("ConjugateTranspose", x, constant([2, 0, 1], "int32"))
        for format_ in ["NHWC", "NCHW"]:
            row("SpaceToDepth", some(dtype, [1, 4, 4, 2] if format_ == "NHWC" else [1, 2, 4, 4]), block_size=2, data_format=format_)
            row("DepthToSpace", some(dtype, [1, 2, 2, 8] if format_ == "NHWC" else [1, 8, 2, 2]), block_size=2, data_format=format_)
        row("SpaceToBatch", some(dtype, [1, 4, 4, 1]), constant([[0, 0], [0, 0]], "int32"), block_size=2)
        row("BatchToSpace", some(dtype, [4, 2, 2, 1]), constant([[0, 0], [0, 0]], "int32"), block_size=2)
        row("DynamicPartition", some(dtype, [5, 2]), constant([1, 0, 1, 2, 0], "int32"), num_partitions=3)
        row("DynamicPartition", some(dtype, [3]), constant([1, 0, 3], "int32"), num_partitions=3)
        row("InvertPermutation", constant([2, 0, 3, 1], "int32"))
        for align in ["LEFT_LEFT", "RIGHT_LEFT", "LEFT_RIGHT", "RIGHT_RIGHT"]:
            padding = tf.zeros([], dtype) if dtype != "string" else constant("", "string")
            row("MatrixDiagV3", some(dtype, [2, 3, 3]), constant([-1, 1], "int32"), constant(-1, "int32"), constant(-1, "int32"), padding, align=align)
            row("MatrixDiagPartV3", some(dtype, [2, 3, 4]), constant([-1, 2], "int32"), padding, align=align)
            row("MatrixSetDiagV3", some(dtype, [2, 3, 4]), some(dtype, [2, 3, 3], 4), constant([-1, 1], "int32"), align=align)
        row("MatrixDiagV2", some(dtype, [3]), constant(1, "int32"), constant(-1, "int32"), constant(-1, "int32"), tf.zeros([], dtype) if dtype != "string" else constant("", "string"))
        row("MatrixDiagPartV2", some(dtype, [3, 3]), constant(1, "int32"), tf.zeros([], dtype) if dtype != "string" else constant("", "string"))
        row("MatrixSetDiagV2", some(dtype, [3, 3]), some(dtype, [2], 3), constant(1, "int32"))
        row("UniqueV2", some(dtype if dtype not in COMPLEX else "int8", [6]), constant([0], "int64"), out_idx="int32")
        row("UniqueWithCounts", some(dtype if dtype not in COMPLEX else "int8", [6]), out_idx="int64")
    for dtype in ALL:
        row("UniqueWithCountsV2", some(dtype, [4, 1]), constant([0], "int32"), out_idx="int32")
        row("TensorScatterAdd", numbers(dtype, [4]), constant([[1], [1], [3]], "int32"), numbers(dtype, [3], 3))
        row("TensorScatterSub", numbers(dtype, [4]), constant([[1], [1], [3]], "int32"), numbers(dtype, [3], 3))
        row("TensorScatterMax", numbers(dtype, [4]), constant([[1], [1], [3]], "int32"), numbers(dtype, [3], 3))
        row("TensorScatterMin", numbers(dtype, [4]), constant([[1], [1], [3]], "int32"), numbers(dtype, [3], 3))
        row("ScatterNdNonAliasingAdd", numbers(dtype, [4, 2]), constant([[1], [1]], "int64"), numbers(dtype, [2, 2], 3))
        row("Fingerprint", some(dtype, [2, 3]), constant("farmhash64", "string"))
    for source, target in [("float32", "int32"), ("float32", "uint8"), ("uint8", "float32"), ("complex64", "float64"), ("int64", "int32"), ("int16", "bfloat16")]:
        row("Bitcast", some(source, [2, 4]), type=target)
    row("Bitcast", some("uint8", [3]), type="int32")
    row("ExtractImagePatches", some("float32", [1, 5, 5, 2]), ksizes=[1, 3, 3, 1], strides=[1, 2, 2, 1], rates=[1, 1, 1, 1], padding="VALID")
    row("ExtractImagePatches", some("int32", [1, 5, 4, 1]), ksizes=[1, 2, 2, 1], strides=[1, 1, 1, 1], rates=[1, 2, 2, 1], padding="SAME")
    row("ExtractVolumePatches", some("float32", [1, 3, 3, 3, 1]), ksizes=[1, 2, 2, 2, 1], strides=[1, 1, 1, 1, 1], padding="SAME")
    row("UnravelIndex", constant([22, 41, 37], "int32"), constant([7, 6], "int32"))
    row("UnravelIndex", constant([42], "int64"), constant([7, 6], "int64"))
    row("MirrorPadGrad", some("float32", [4, 5]), constant([[1, 1], [2, 0]], "int32"), mode="REFLECT")
    row("MirrorPadGrad", some("float32", [4, 5]), constant([[1, 1], [2, 0]], "int32"), mode="SYMMETRIC")
    row("SparseToDense", constant([[0, 1], [1, 2]], "int64"), constant([2, 3], "int64"), constant([1.0, 2.0]), constant(-1.0), validate_indices=True)
    row("SparseToDense", constant([[1, 1], [0, 2]], "int64"), constant([2, 3], "int64"), constant([1.0, 2.0]), constant(-1.0), validate_indices=True)
    row("SparseToDense", constant([3], "int32"), constant([5], "int32"), constant(7, "int32"), constant(0, "int32"), validate_indices=True)
    row("EnsureShape", some("float32", [2, 3]), shape=[2, 3])
    row("ParallelDynamicStitch", [constant([0, 2], "int32"), constant([1], "int32")], [constant([[1.0], [3.0]]), constant([[2.0]])])


def segments():
    for dtype in ALL:
        x = numbers(dtype, [5, 2])
        for op in ["SegmentSum", "SegmentProd", "SegmentMax", "SegmentMin", "SegmentMean"]:
            row(op, x, constant([0, 0, 1, 3, 3], "int32"))
            row(op, numbers(dtype, [5]), constant([0, 0, 1, 3, 3], "int64"))
        for op in ["UnsortedSegmentSum", "UnsortedSegmentProd", "UnsortedSegmentMax", "UnsortedSegmentMin"]:
            row(op, x, constant([2, 0, 2, -1, 0], "int32"), constant(4, "int32"))
    row("SegmentSum", constant([1.0, 2.0]), constant([1, 0], "int32"))
    row("SegmentSum", constant([1.0, 2.0]), constant([-1, 0], "int32"))
    row("SegmentSum", constant([1.0, 2.0]), constant([0], "int32"))
    row("UnsortedSegmentMax", constant([1.0, 2.0]), constant([0, 5], "int32"), constant(2, "int32"))
    for dtype in ["float32", "float64", "bfloat16", "float16"]:
        x = numbers(dtype, [4, 3])
        for op in ["SparseSegmentSum", "SparseSegmentMean", "SparseSegmentSqrtN"]:
            row(op, x, constant([0, 3, 1, 0], "int32"), constant([0, 0, 1, 3], "int32"))
            row(op + "WithNumSegments", x, constant([0, 3, 1], "int64"), constant([0, 2, 2], "int32"), constant(5, "int32"))
        for op in ["SparseSegmentSumGrad", "SparseSegmentMeanGrad", "SparseSegmentSqrtNGrad"]:
            row(op, numbers(dtype, [2, 3]), constant([0, 3, 0], "int32"), constant([0, 0, 1], "int32"), constant(4, "int32"))
    row("SparseSegmentSum", numbers("float32", [4, 3]), constant([0, 4], "int32"), constant([0, 0], "int32"))


def counting():
    for dtype in ["int32", "int64"]:
        for weights in ["int32", "int64", "float32", "float64"]:
            row("Bincount", constant([1, 2, 1, 5, 0], "int32"), constant(4, "int32"), numbers(weights, [5]))
            row("DenseBincount", constant([1, 2, 1, 5, 0], dtype), constant(6, dtype), numbers(weights, [5]))
            row("DenseBincount", constant([[1, 2], [1, 0]], dtype), constant(3, dtype), numbers(weights, [0]), binary_output=True)
            row("DenseBincount", constant([[1, 2], [1, 0]], dtype), constant(3, dtype), numbers(weights, [2, 2]))
    row("Bincount", constant([1, -1], "int32"), constant(4, "int32"), constant([], "int32"))
    for dtype in ["int32", "int64", "float32", "float64"]:
        row("Bucketize", numbers(dtype, [6]), boundaries=[-1.5, 0.5, 3.0])
        row("HistogramFixedWidth", numbers(dtype, [8]), constant([-4, 4], dtype), constant(5, "int32"), dtype="int32")
        for index in INDICES:
            row("LowerBound", constant([[1, 2, 2, 5], [0, 0, 3, 4]], dtype), constant([[2, 9, 0], [0, 3, 5]], dtype), out_type=index)
            row("UpperBound", constant([[1, 2, 2, 5], [0, 0, 3, 4]], dtype), constant([[2, 9, 0], [0, 3, 5]], dtype), out_type=index)
    for dtype in each(REALS + INTEGERS):
        row("NthElement", constant([[3, 1, 2, 7], [5, 5, 0, 1]], dtype), constant(1, "int32"))
        row("NthElement", constant([[3, 1, 2, 7], [5, 5, 0, 1]], dtype), constant(0, "int32"), reverse=True)
    row("NthElement", constant([3.0]), constant(1, "int32"))
    for index in INDICES:
        row("InTopKV2", constant([[0.1, 0.3, 0.2, 0.4], [0.9, 0.1, float("nan"), 0.2], [1, 1, 1, 0]]), constant([1, 0, 2], index), constant(2, index))
        row("InTopK", constant([[0.1, 0.3, 0.2, 0.4], [0.1, 0.3, 0.2, 0.5]]), constant([1, 5], index), k=2)
    for kind in ["a-b", "b-a", "intersection", "union"]:
        for dtype in ["int32", "string"]:
            a, b = some(dtype, [2, 3]), some(dtype, [2, 4], 3)
            row("DenseToDenseSetOperation", a, b, set_operation=kind)
            row("DenseToSparseSetOperation", a, constant([[0, 0], [1, 0], [1, 1]], "int64"), some(dtype, [3], 2), constant([2, 2], "int64"), set_operation=kind)
            row("SparseToSparseSetOperation", constant([[0, 0], [1, 1]], "int64"), some(dtype, [2]), constant([2, 2], "int64"),
                constant([[0, 0], [1, 0], [1, 1]], "int64"), some(dtype, [3], 2), constant([2, 2], "int64"), set_operation=kind)
    row("SetSize", constant([[0, 0], [1, 1], [1, 2]], "int64"), constant([3, 4, 4], "int32"), constant([2, 3], "int64"))


def functions():
    """Elementwise functions beyond those of make_cpu_dtypes.py."""
    x = constant([-2.5, -1.0, -0.3, 0.0, 0.2, 0.9, 1.0, 3.5, 20.0, float("inf"), float("nan")])
    for op in ["Lgamma", "Digamma", "Erfc", "Erfinv", "Ndtri", "Rint", "Asin", "Acos", "Atan", "Sinh", "Cosh", "Asinh", "Acosh", "Atanh", "Tan", "Selu", "Softsign",
               "LeakyRelu", "BesselI0", "BesselI0e", "BesselI1", "BesselI1e", "BesselJ0", "BesselJ1", "BesselK0", "BesselK0e", "BesselK1", "BesselK1e", "BesselY0",
               "BesselY1", "Dawsn", "Expint", "FresnelCos", "FresnelSin", "Spence"]:
        # Kernels differ, TensorFlow's of two dtypes too, where these have no value: below 0, at infinity.
        domain = x[4:9] if op[:7] in ("BesselK", "BesselY", "Expint") else x[:9] if op in ("BesselJ0", "BesselJ1", "Spence") else x
        for dtype in REALS + (COMPLEX if op[0] in "ASCTR" else []):
            row(op, tf.cast(domain if dtype in ("float32", "float64") else domain[:9], dtype))
    for dtype in REALS + COMPLEX:
        a, b = tf.cast(constant([0.0, 0.0, 2.0, -1.5, 3.0]), dtype), tf.cast(constant([0.0, 2.0, 0.5, 2.0, 0.25]), dtype)
        for op in ["Xlogy", "Xlog1py", "Xdivy"]:
            row(op, a, b)
    for dtype in ["float32", "float64", "bfloat16", "float16"]:
        a, b = tf.cast(constant([0.5, 1.0, 2.0, 5.0]), dtype), tf.cast(constant([0.25, 1.5, 2.0, 9.0]), dtype)
        for op in ["Igamma", "Igammac", "IgammaGradA"]:
            row(op, a, b)
    for dtype in ["float32", "float64"]:
        row("Zeta", tf.cast([1.5, 2.0, 4.0], dtype), tf.cast([0.5, 1.0, 3.0], dtype))
        row("Polygamma", tf.cast([0.0, 1.0, 3.0], dtype), tf.cast([0.5, 1.0, 3.0], dtype))
        row("Betainc", tf.cast([0.5, 2.0, 5.0], dtype), tf.cast([0.5, 3.0, 1.0], dtype), tf.cast([0.1, 0.5, 0.9], dtype))
        row("NextAfter", tf.cast([0.0, 1.0, 1.0], dtype), tf.cast([1.0, 2.0, -1.0], dtype))
        row("LinSpace", constant(1.0, dtype), constant(3.0, dtype), constant(5, "int32"))
        row("LinSpace", constant(1.0, dtype), constant(3.0, dtype), constant(0, "int32"))
        row("Cross", numbers(dtype, [2, 3]), numbers(dtype, [2, 3], 1))
    row("Cross", numbers("float32", [2, 4]), numbers("float32", [2, 4], 1))
    for dtype in INTEGERS:
        a, b = numbers(dtype, [6], 1), tf.abs(numbers(dtype, [6], 2)) if not dtype.startswith("u") else numbers(dtype, [6], 2)
        for op in ["BitwiseAnd", "BitwiseOr", "BitwiseXor", "LeftShift", "RightShift"]:
            row(op, a, b)
        row("Invert", a)
        row("PopulationCount", a)
        row("Cross", numbers(dtype, [1, 3]), numbers(dtype, [1, 3], 1))
    for dtype in REALS:
        row("SeluGrad", numbers(dtype, [6], 1), numbers(dtype, [6], 2))
        row("SoftsignGrad", numbers(dtype, [6], 1), numbers(dtype, [6], 2))
        row("LeakyReluGrad", numbers(dtype, [6], 1), numbers(dtype, [6], 2), alpha=0.25)
        for exclusive, reverse in itertools.product([False, True], repeat=2):
            row("CumulativeLogsumexp", numbers(dtype, [2, 3]), constant(1, "int32"), exclusive=exclusive, reverse=reverse)
    for dtype in ALL:
        row("ApproximateEqual", numbers(dtype, [4]), numbers(dtype, [4], 1), tolerance=1.5)
        row("EuclideanNorm", numbers(dtype, [3, 4]), constant([1], "int32"), keep_dims=True)
        row("AccumulateNV2", [numbers(dtype, [2, 3]), numbers(dtype, [2, 3], 1)], shape=[2, 3])
    for dtype in ["float32", "float64", "complex64", "bfloat16"]:
        for equation, shapes in [("ij,jk->ik", ([2, 3], [3, 4])), ("bij,bjk->bik", ([2, 2, 3], [2, 3, 2])), ("ij->ji", ([2, 3],)), ("ii->i", ([3, 3],)), ("ij->", ([2, 3],)),
                                 ("...ij,...jk->...ik", ([2, 1, 2, 3], [3, 3, 2])), ("i,j->ij", ([2], [3])), ("abc,cd->abd", ([2, 2, 3], [3, 2])), ("ij,ij->i", ([2, 3], [2, 3]))]:
            row("Einsum", [numbers(dtype, shape, i) for i, shape in enumerate(shapes)], equation=equation)
    row("Einsum", [numbers("float32", [2, 3]), numbers("float32", [4, 2])], equation="ij,jk->ik")


def linear_algebra():
    for dtype in ["float32", "float64", "complex64", "complex128"]:
        square = numbers(dtype, [2, 3, 3]) + tf.cast(4 * np.eye(3), dtype)
        right = numbers(dtype, [2, 3, 2], 2)
        for adjoint in [False, True]:
            row("MatrixInverse", square, adjoint=adjoint)
            row("MatrixSolve", square, right, adjoint=adjoint)
            for lower in [False, True]:
                row("MatrixTriangularSolve", square, right, lower=lower, adjoint=adjoint)
        row("MatrixDeterminant", square)
        row("LogMatrixDeterminant", square)
        definite = tf.matmul(square, square, adjoint_b=True)
        row("Cholesky", definite)
        row("MatrixInverse", tf.zeros([2, 2], dtype))
        if dtype not in COMPLEX:
            row("Cholesky", tf.cast(-np.eye(2), dtype))
        row("MatrixInverse", tf.zeros([2, 3], dtype))
        row("MatrixSquareRoot", definite)
        if dtype in COMPLEX:
            row("MatrixLogarithm", definite)
        row("TridiagonalMatMul", numbers(dtype, [1, 4], 1), numbers(dtype, [1, 4], 2), numbers(dtype, [1, 4], 3), numbers(dtype, [4, 2], 4))
    for size in [1, 4, 6, 7]:
        wave = numbers("complex64", [2, size])
        row("FFT", wave)
        row("IFFT", wave)
        row("RFFT", numbers("float32", [2, size]), constant([size], "int32"), Tcomplex="complex64")
        row("IRFFT", numbers("complex64", [2, size // 2 + 1]), constant([size], "int32"), Treal="float32")
    row("FFT2D", numbers("complex64", [2, 3, 4]))
    row("IFFT2D", numbers("complex128", [3, 4]))
    row("RFFT2D", numbers("float32", [3, 5]), constant([4, 6], "int32"), Tcomplex="complex64")
    row("FFT3D", numbers("complex64", [2, 3, 4]))


def networks():
    for dtype in ["float32", "float64", "bfloat16", "float16"]:
        x, filters = numbers(dtype, [1, 4, 4, 2]), numbers(dtype, [2, 2, 2, 2], 1)
        attrs = {"strides": [1, 1, 1, 1], "padding": "SAME"}
        row("DepthwiseConv2dNative", x, filters, **attrs)
        row("DepthwiseConv2dNativeBackpropInput", constant([1, 4, 4, 2], "int32"), filters, numbers(dtype, [1, 4, 4, 4], 2), **attrs)
        row("DepthwiseConv2dNativeBackpropFilter", x, constant([2, 2, 2, 2], "int32"), numbers(dtype, [1, 4, 4, 4], 2), **attrs)
        volume = numbers(dtype, [1, 3, 4, 3, 2])
        attrs = {"strides": [1, 1, 2, 1, 1], "padding": "SAME"}
        row("Conv3D", volume, numbers(dtype, [2, 2, 2, 2, 3], 1), **attrs)
        row("Conv3DBackpropInputV2", constant([1, 3, 4, 3, 2], "int32"), numbers(dtype, [2, 2, 2, 2, 3], 1), numbers(dtype, [1, 3, 2, 3, 3], 2), **attrs)
        row("Conv3DBackpropFilterV2", volume, constant([2, 2, 2, 2, 3], "int32"), numbers(dtype, [1, 3, 2, 3, 3], 2), **attrs)
        pool = {"ksize": [1, 2, 2, 2, 1], "strides": [1, 1, 1, 1, 1], "padding": "VALID"}
        row("AvgPool3D", volume, **pool)
        row("MaxPool3D", volume, **pool)
        row("MaxPoolV2", x, constant([1, 2, 2, 1], "int32"), constant([1, 1, 1, 1], "int32"), padding="VALID")
        row("LRN", numbers(dtype, [1, 2, 2, 5]), depth_radius=1, bias=1.0, alpha=0.5, beta=0.5)
        row("MaxPoolWithArgmax", x, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], Targmax="int64", padding="SAME")
    row("Dilation2D", numbers("float32", [1, 4, 4, 2]), numbers("float32", [2, 2, 2], 1), strides=[1, 1, 1, 1], rates=[1, 1, 1, 1], padding="SAME")
    for dtype in ["float32", "uint8"]:
        picture = numbers(dtype, [1, 3, 4, 2])
        for align, half in [(False, False), (True, False), (False, True)]:
            row("ResizeBilinear", picture, constant([5, 3], "int32"), align_corners=align, half_pixel_centers=half)
            row("ResizeNearestNeighbor", picture, constant([5, 3], "int32"), align_corners=align, half_pixel_centers=half)
            row("ResizeBicubic", picture, constant([5, 3], "int32"), align_corners=align, half_pixel_centers=half)
        row("ResizeArea", picture, constant([2, 5], "int32"))
    row("RGBToHSV", constant([[0.2, 0.5, 0.1], [1.0, 0.0, 0.0], [0.3, 0.3, 0.3]]))
    row("HSVToRGB", constant([[0.2, 0.5, 0.1], [0.9, 1.0, 0.7], [0.0, 0.0, 0.3]]))
    row("AdjustContrastv2", numbers("float32", [2, 2, 3]), constant(0.5))
    row("DataFormatVecPermute", constant([1, 2, 3, 4], "int32"), src_format="NHWC", dst_format="NCHW")
    row("DataFormatDimMap", constant([0, 1, -1], "int32"), src_format="NHWC", dst_format="NCHW")
    for dtype in ["float32", "float64", "int32", "complex64"]:
        row("SparseTensorDenseMatMul", constant([[0, 1], [1, 0], [1, 2]], "int64"), numbers(dtype, [3]), constant([2, 3], "int64"), numbers(dtype, [3, 2], 1))
    row("SparseReorder", constant([[1, 0], [0, 2], [0, 1]], "int64"), constant([1.0, 2.0, 3.0]), constant([2, 3], "int64"))
    row("SparseReshape", constant([[0, 1], [1, 2]], "int64"), constant([2, 3], "int64"), constant([3, -1], "int64"))
    row("SparseSoftmax", constant([[0, 0], [0, 1], [1, 1]], "int64"), constant([1.0, 2.0, 3.0]), constant([2, 2], "int64"))
    row("SparseFillEmptyRows", constant([[1, 0]], "int64"), constant([5.0]), constant([3, 2], "int64"), constant(-1.0))


def texts():
    words = constant(["apple", "", "Banana split", "äöü"], "string")
    for unit in ["BYTE", "UTF8_CHAR"]:
        row("StringLength", words, unit=unit)
        row("Substr", words[:1], constant([1], "int32"), constant([3], "int32"), unit=unit)
    row("Substr", words[:1], constant([9], "int64"), constant([3], "int64"))
    row("StringLower", words, encoding="utf-8")
    row("StringUpper", words, encoding="utf-8")
    row("StringStrip", constant(["  a b ", "\t", "c"], "string"))
    row("StringJoin", [constant(["a", "b"], "string"), constant("-", "string"), constant(["c", "d"], "string")], separator="_")
    row("StringToHashBucketFast", words, num_buckets=1000)
    row("StringToHashBucket", words, num_buckets=1000)
    row("StringToHashBucketStrong", words, num_buckets=1000, key=[12, 34])
    for dtype in ["float32", "float64", "int32", "int64"]:
        row("StringToNumber", constant(["1", "-7"], "string"), out_type=dtype)
    row("StringToNumber", constant(["x"], "string"), out_type="float32")
    row("StringToNumber", constant(["1.5", "1e-3", "inf"], "string"), out_type="float32")
    for dtype in ["float32", "float64", "int32", "int64", "int8", "bool", "complex64"]:
        row("AsString", some(dtype, [4]))
    row("AsString", constant([1.5, -2.25]), precision=3)
    row("AsString", constant([1.5, -2.25]), scientific=True)
    row("AsString", constant([1.5, -2.25]), width=9, fill="0")
    row("AsString", constant([42], "int32"), width=6, fill="-")
    row("StringSplitV2", constant(["a b  c", "", "d"], "string"), constant("", "string"))
    row("StringSplitV2", constant(["a,b,,c"], "string"), constant(",", "string"))
    row("StringSplit", constant(["a b", "c"], "string"), constant(" ", "string"))
    row("RegexReplace", words, constant("[aeiou]", "string"), constant("#", "string"))
    row("StaticRegexReplace", words, pattern="(\\\\w)p", rewrite="\\\\1q", replace_global=False)
    row("RegexFullMatch", words, constant(".*p.*", "string"))
    row("StaticRegexFullMatch", words, pattern="a.*")
    row("RegexFullMatch", words, constant("(", "string"))
    row("ReduceJoin", constant([["a", "b"], ["c", "d"]], "string"), constant([0], "int32"), separator="+")
    row("ReduceJoin", constant([["a", "b"], ["c", "d"]], "string"), constant([0, 1], "int32"))
    row("UnsortedSegmentJoin", constant(["a", "b", "c"], "string"), constant([1, 0, 1], "int32"), constant(3, "int32"), separator=":")
    row("EncodeBase64", words, pad=True)
    row("DecodeBase64", constant(["aGVsbG8"], "string"))
    row("DecodeBase64", constant(["a"], "string"))
    row("DecodeRaw", constant(["abcdefgh", "ABCDEFGH"], "string"), out_type="int32")
    row("DecodeRaw", constant(["abcdefgh"], "string"), out_type="int16", little_endian=False)
    row("DecodeRaw", constant(["abc"], "string"), out_type="int32")
    row("StringFormat", [constant([1.5, 2.0]), constant(3, "int32")], template="a{}b{}", placeholder="{}", summarize=3)
    row("ShardedFilename", constant("base", "string"), constant(3, "int32"), constant(12, "int32"))
    row("ShardedFilespec", constant("base", "string"), constant(12, "int32"))
    row("UnicodeScript", constant([65, 0x3b1, 0x4e00], "int32"))
    row("UnicodeTranscode", constant(["a\u00e4"], "string"), input_encoding="UTF-8", output_encoding="UTF-16-BE")
    row("DecodeCSV", constant(["1,2.5,x", "3,,y"], "string"), [constant([0], "int32"), constant([7.5]), constant(["z"], "string")])


def argument(value):
    names = {"float32", "float64", "bfloat16", "float16", "complex64", "complex128", "bool", *INTEGERS}
    return tf.dtypes.as_dtype(value) if isinstance(value, str) and value in names else value


def literal(tensor):
    if tensor.dtype != tf.string:
        return base.literal(tensor)
    texts = np.asarray(tensor.numpy(), dtype=object).reshape(-1)
    return f"str[{','.join(map(str, tensor.shape))}] " + " ".join(f'"{text.decode()}"' for text in texts)


def result_of(op, inputs, attrs):
    """Literals of the outputs, or "! CODE"; None where TensorFlow has no kernel."""
    function = getattr(tf.raw_ops, op)
    arguments = {k: argument(v) for k, v in attrs.items()}
    arguments.update(zip(inspect.signature(function).parameters, inputs))
    try:
        with tf.device("CPU:0"):
            out = function(**arguments)
    except (tf.errors.NotFoundError, tf.errors.UnimplementedError, TypeError, ValueError):
        return None
    except tf.errors.OpError as error:
        if "Could not find device for node" in str(error) or "Value for attr" in str(error):
            return None
        return "! " + CODES[error.error_code]
    out = [out] if isinstance(out, tf.Tensor) else [x for part in out for x in (part if isinstance(part, (list, tuple)) else [part])]
    try:
        return " ; ".join(map(literal, out))
    except UnicodeDecodeError:
        return None


CODES = {3: "INVALID_ARGUMENT", 9: "FAILED_PRECONDITION", 11: "OUT_OF_RANGE", 13: "INTERNAL", 5: "NOT_FOUND", 8: "RESOURCE_EXHAUSTED"}


def main():
    for part in [moving, segments, counting, functions, linear_algebra, networks, texts]:
        part()
    lines = []
    for op, inputs, attrs in ROWS:
        expected = result_of(op, inputs, attrs)
        if expected is None:
            continue
        flat = [x for part in inputs for x in (part if isinstance(part, list) else [part])]
        fields = [op, base.shown(attrs), " ; ".join(map(literal, flat)), expected]
        if all(field.isprintable() and "\\" not in field for field in fields):
            lines.append("\t".join(fields))
    with open(os.path.join(HERE, "op_values.tsv"), "w", encoding="utf-8") as file:
        file.write(f"# TensorFlow {tf.__version__}, make_op_values.py\n" + "".join(line + "\n" for line in dict.fromkeys(lines)))


if __name__ == "__main__":
    sys.exit(main())
