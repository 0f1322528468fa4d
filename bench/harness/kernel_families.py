"""Rows of single ops that users of a family know: linear algebra, transforms, sorting, places, images, training, small dtypes."""

from graph_def import BFLOAT16, FLOAT, HALF, INT32, INT64, Type
from single_ops import F32, ints, row, scalar

UINT8, COMPLEX64 = 4, 8


def linear_algebra_rows():
    for n in (32, 256):
        x = {"x": (n, n)}
        yield row(f"cholesky-{n}", f"Cholesky of {n} x {n}", "Cholesky", ["gram x"], x, 10, **F32)
        yield row(f"inverse-{n}", f"MatrixInverse of {n} x {n}", "MatrixInverse", ["regular x"], x, 10, adjoint=False, **F32)
        yield row(f"solve-{n}", f"MatrixSolve of {n} x {n} for 16 right sides", "MatrixSolve", ["regular x", "y"], {**x, "y": (n, 16)}, 10, adjoint=False, **F32)
        yield row(f"triangular-{n}", f"MatrixTriangularSolve of {n} x {n} for {n} right sides", "MatrixTriangularSolve", ["regular x", "y"],
                  {**x, "y": (n, n)}, 10, lower=True, adjoint=False, **F32)
        yield row(f"determinant-{n}", f"MatrixDeterminant of {n} x {n}", "MatrixDeterminant", ["regular x"], x, 10, **F32)
        yield row(f"qr-{n}", f"Qr of {n} x {n}", "Qr", ["regular x"], x, 10, full_matrices=False, **F32)
    for n in (32, 96):
        x = {"x": (n, n)}
        yield row(f"eigh-{n}", f"SelfAdjointEigV2 of {n} x {n}, with vectors", "SelfAdjointEigV2", ["gram x"], x, 5, compute_v=True, **F32)
        yield row(f"svd-{n}", f"Svd of {n} x {n}, with vectors", "Svd", ["regular x"], x, 5, compute_uv=True, full_matrices=False, **F32)
    yield row("batch-inverse", "MatrixInverse of 256 times 8 x 8", "MatrixInverse", ["regular x"], {"x": (256, 8, 8)}, 10, adjoint=False, **F32)
    yield row("batch-matmul", "BatchMatMulV2 of 64 times 32 x 32", "BatchMatMulV2", ["x", "y"], {"x": (64, 32, 32), "y": (64, 32, 32)}, 10, adj_x=False, adj_y=False,
              **F32)


def transform_rows():
    for n in (256, 1000, 4096):
        yield row(f"fft-{n}", f"FFT of 16 times {n}", "FFT", ["complex x"], {"x": (16, n)}, 10, Tcomplex=Type(COMPLEX64))
    yield row("rfft", "RFFT of 64 times 512", "RFFT", ["x", ints([512])], {"x": (64, 512)}, 10, Treal=Type(FLOAT), Tcomplex=Type(COMPLEX64))
    yield row("fft2d", "FFT2D of 128 x 128", "FFT2D", ["complex x"], {"x": (128, 128)}, 10, Tcomplex=Type(COMPLEX64))


def sorting_rows():
    for k in (1, 10, 256):
        yield row(f"top-{k}", f"TopKV2 of 256 rows of 256, {k} of each", "TopKV2", ["x", scalar(k, INT32)], {"x": (256, 256)}, 10, sorted=True, **F32)
    yield row("in-top-k", "InTopKV2 of 128 rows of 1 000", "InTopKV2", ["x", "int64 0 999 y", scalar(5, INT64)], {"x": (128, 1000), "y": (128,)}, 10, T=Type(INT64))
    yield row("unique", "Unique of 16 384 integers, 1 000 of them different", "Unique", ["int32 0 999 x"], {"x": (16384,)}, 10, T=Type(INT32),
              out_idx=Type(INT32))
    yield row("where", "Where of 16 384, half of them true", "Where", ["true x"], {"x": (16384,)}, 10, T=Type(10))


def place_rows():
    """Gather, scatter, segments: 4 096 rows of 64 by 1 000 places."""
    rows, ids = {"x": (1000, 64), "y": (4096,)}, "int32 0 999 y"
    yield row("gather", "GatherV2 of 4 096 rows of 64", "GatherV2", ["x", ids, scalar(0, INT32)], rows, 10, Tparams=Type(FLOAT), Tindices=Type(INT32), Taxis=Type(INT32))
    yield row("gather-nd", "GatherNd of 4 096 rows of 64", "GatherNd", ["x", "int32 0 999 y"], {"x": (1000, 64), "y": (4096, 1)}, 10, Tparams=Type(FLOAT),
              Tindices=Type(INT32))
    yield row("scatter-nd", "ScatterNd of 4 096 rows of 64 to 1 000", "ScatterNd", [ids, "x", ints([1000, 64])], {"x": (4096, 64), "y": (4096, 1)}, 10,
              Tindices=Type(INT32), **F32)
    yield row("segment-sum", "UnsortedSegmentSum of 4 096 rows of 64 to 1 000", "UnsortedSegmentSum", ["x", ids, scalar(1000, INT32)],
              {"x": (4096, 64), "y": (4096,)}, 10, Tindices=Type(INT32), Tnumsegments=Type(INT32), **F32)
    sorted_ids = ints([i // 16 for i in range(4096)])
    for op in ("SegmentSum", "SegmentMean", "SegmentProd", "SegmentMin", "SegmentMax"):
        yield row(op.lower(), f"{op} of 4 096 rows of 64, 16 in each", op, ["above x", sorted_ids], {"x": (4096, 64)}, 10, Tindices=Type(INT32), **F32)
    yield row("segmentsum-scalars", "SegmentSum of 4 096 scalars, 16 in each", "SegmentSum", ["x", sorted_ids], {"x": (4096,)}, 10, Tindices=Type(INT32), **F32)
    for op in ("UnsortedSegmentMax", "UnsortedSegmentProd"):
        yield row(op.lower(), f"{op} of 4 096 rows of 64 to 1 000", op, ["above x", ids, scalar(1000, INT32)], {"x": (4096, 64), "y": (4096,)}, 10, Tindices=Type(INT32),
                  Tnumsegments=Type(INT32), **F32)
    for op in ("SparseSegmentSum", "SparseSegmentMean"):
        yield row(op.lower(), f"{op} of 4 096 rows of 64, 16 in each", op, ["x", ids, sorted_ids], rows, 10, Tidx=Type(INT32), Tsegmentids=Type(INT32),
                  sparse_gradient=False, **F32)
    yield row("gather-nd-scalars", "GatherNd of 16 384 scalars", "GatherNd", ["x", "int32 0 255 y"], {"x": (256, 256), "y": (16384, 2)}, 10, Tparams=Type(FLOAT),
              Tindices=Type(INT32))
    yield row("one-hot", "OneHot of 512 by 1 000", "OneHot", [ids, scalar(1000, INT32), scalar(1.0), scalar(0.0)], {"y": (512,)}, 10, axis=-1, TI=Type(INT32), **F32)
    for op in ("Cumsum", "Cumprod"):
        yield row(op.lower(), f"{op} of 256 rows of 256", op, ["x", scalar(1, INT32)], {"x": (256, 256)}, 10, exclusive=False, reverse=False, Tidx=Type(INT32), **F32)
    yield row("select", "SelectV2 of 16 384", "SelectV2", ["true x", "x", "y"], {"x": (16384,), "y": (16384,)}, 10, **F32)
    yield row("bincount", "Bincount of 16 384 to 1 000", "Bincount", ["int32 0 999 x", scalar(1000, INT32), (FLOAT, (0,), [])], {"x": (16384,)}, 10, **F32)
    yield row("strided-slice", "StridedSlice of every second element of 512 x 256", "StridedSlice", ["x", ints([0, 0]), ints([512, 256]), ints([2, 2])],
              {"x": (512, 256)}, 10, Index=Type(INT32), begin_mask=0, end_mask=0, ellipsis_mask=0, new_axis_mask=0, shrink_axis_mask=0, **F32)
    yield row("space-to-depth", "SpaceToDepth of 8 x 32 x 32 x 16 by 2", "SpaceToDepth", ["x"], {"x": (8, 32, 32, 16)}, 10, block_size=2, **F32)


def sparse_rows():
    """Sparse tensors, ragged ones, sets."""
    places = [n for i in range(20_000) for n in (i // 20, i % 20 * 50)]
    tensor = [(INT64, (20_000, 2), places), "x", (INT64, (2,), [1000, 1000])]
    entries = {"x": (20_000,)}
    yield row("sparse-fill", "SparseFillEmptyRows of 20 000 entries, with no row empty", "SparseFillEmptyRows", [*tensor, scalar(0.0)], entries, 10, **F32)
    yield row("sparse-fill-some", "SparseFillEmptyRows of 20 000 entries, every second row empty", "SparseFillEmptyRows",
              [(INT64, (20_000, 2), [2 * n if k % 2 == 0 else n for k, n in enumerate(places)]), "x", (INT64, (2,), [2000, 1000]), scalar(0.0)], entries, 10, **F32)
    yield row("sparse-split", "SparseSplit of 20 000 entries in 4", "SparseSplit", [scalar(1, INT64), *tensor], entries, 10, num_split=4, **F32)
    yield row("sparse-add", "SparseAdd of two times 20 000 entries", "SparseAdd", [*tensor, *tensor, scalar(0.0)], entries, 10, Treal=Type(FLOAT), **F32)
    yield row("sparse-to-dense", "SparseToDense of 20 000 entries to 1 000 x 1 000", "SparseToDense", [tensor[0], tensor[2], "x", scalar(0.0)], entries, 10,
              validate_indices=True, Tindices=Type(INT64), **F32)
    flags = {"transpose_a": False, "transpose_b": False, "a_is_sparse": True, "b_is_sparse": False}
    zeros = (FLOAT, (256, 256), [1.0 if i % 10 == 0 else 0.0 for i in range(256 * 256)])
    for name, changed in (("sparse-a", {}), ("sparse-b", {"a_is_sparse": False, "b_is_sparse": True}), ("sparse-a-turned", {"transpose_a": True, "transpose_b": True})):
        yield row(f"matmul-{name}", f"SparseMatMul of 256 x 256, {name.replace('-', ' ')}, a tenth of it not 0", "SparseMatMul",
                  ["x", zeros] if changed.get("b_is_sparse") else [zeros, "x"], {"x": (256, 256)}, 5, Ta=Type(FLOAT), Tb=Type(FLOAT), **{**flags, **changed})
    ends = [0]
    for i in range(2000):
        ends.append(ends[-1] + i * 7 % 20)
    splits, values = (INT64, (len(ends),), ends), {"x": (ends[-1],)}
    yield row("ragged-to-tensor", "RaggedTensorToTensor of 2 000 rows", "RaggedTensorToTensor", [(INT64, (2,), [-1, -1]), "x", scalar(0.0), splits], values, 10,
              Tindex=Type(INT64), Tshape=Type(INT64), num_row_partition_tensors=1, row_partition_types=["ROW_SPLITS"], **F32)
    yield row("ragged-to-sparse", "RaggedTensorToSparse of 2 000 rows", "RaggedTensorToSparse", [splits, "x"], values, 10, RAGGED_RANK=1, Tsplits=Type(INT64), **F32)
    yield row("ragged-range", "RaggedRange of 2 000 rows", "RaggedRange", [scalar(0, INT32), (INT32, (2000,), [i * 7 % 20 for i in range(2000)]), scalar(1, INT32)], {}, 10,
              Tsplits=Type(INT64), T=Type(INT32))
    for operation in ("intersection", "union", "a-b"):
        yield row(f"set-{operation}", f"DenseToDenseSetOperation, {operation} of 500 sets of 30", "DenseToDenseSetOperation", ["int64 0 49 x", "int64 0 49 y"],
                  {"x": (500, 30), "y": (500, 30)}, 5, set_operation=operation, validate_indices=True, T=Type(INT64))


def image_rows():
    image = {"x": (8, 56, 56, 16)}
    for op in ("ResizeBilinear", "ResizeNearestNeighbor", "ResizeBicubic", "ResizeArea"):
        yield row(op.lower(), f"{op} of 8 x 56 x 56 x 16 to 80 x 80", op, ["x", ints([80, 80])], image, 5, align_corners=False,
                  **({} if op == "ResizeArea" else {"half_pixel_centers": op != "ResizeNearestNeighbor"}), **F32)
    yield row("rgb-to-hsv", "RGBToHSV of 16 384 pixels", "RGBToHSV", ["above x"], {"x": (16384, 3)}, 10, **F32)
    plain = {"strides": [1, 1, 1, 1], "padding": "SAME", **F32}
    yield row("depthwise", "DepthwiseConv2dNative 3 x 3 of 8 x 28 x 28 x 32", "DepthwiseConv2dNative", ["x", "y"], {"x": (8, 28, 28, 32), "y": (3, 3, 32, 1)}, 5, **plain)
    yield row("depthwise-input-grad", "DepthwiseConv2dNativeBackpropInput 3 x 3 of 8 x 28 x 28 x 32", "DepthwiseConv2dNativeBackpropInput",
              [ints([8, 28, 28, 32]), "y", "x"], {"x": (8, 28, 28, 32), "y": (3, 3, 32, 1)}, 5, **plain)
    yield row("depthwise-filter-grad", "DepthwiseConv2dNativeBackpropFilter 3 x 3 of 8 x 28 x 28 x 32", "DepthwiseConv2dNativeBackpropFilter",
              ["x", ints([3, 3, 32, 1]), "z"], {"x": (8, 28, 28, 32), "z": (8, 28, 28, 32)}, 5, **plain)
    yield row("depthwise-2", "DepthwiseConv2dNative 3 x 3 of 8 x 28 x 28 x 16, two filters each", "DepthwiseConv2dNative", ["x", "y"],
              {"x": (8, 28, 28, 16), "y": (3, 3, 16, 2)}, 5, **plain)
    yield row("conv-1x1", "Conv2D 1 x 1 of 8 x 28 x 28 x 64 to 64", "Conv2D", ["x", "y"], {"x": (8, 28, 28, 64), "y": (1, 1, 64, 64)}, 5, **plain)
    yield row("conv-stride-2", "Conv2D 3 x 3 by 2 of 8 x 28 x 28 x 32 to 64", "Conv2D", ["x", "y"], {"x": (8, 28, 28, 32), "y": (3, 3, 32, 64)}, 5,
              **{**plain, "strides": [1, 2, 2, 1]})
    yield row("conv-input-grad", "Conv2DBackpropInput 3 x 3 of 8 x 28 x 28 x 32", "Conv2DBackpropInput", [ints([8, 28, 28, 32]), "y", "x"],
              {"x": (8, 28, 28, 32), "y": (3, 3, 32, 32)}, 5, **plain)
    yield row("conv-filter-grad", "Conv2DBackpropFilter 3 x 3 of 8 x 28 x 28 x 32", "Conv2DBackpropFilter", ["x", ints([3, 3, 32, 32]), "z"],
              {"x": (8, 28, 28, 32), "z": (8, 28, 28, 32)}, 5, **plain)
    yield row("conv3d", "Conv3D 3 x 3 x 3 of 2 x 8 x 16 x 16 x 16 to 16", "Conv3D", ["x", "y"], {"x": (2, 8, 16, 16, 16), "y": (3, 3, 3, 16, 16)}, 5,
              **{**plain, "strides": [1, 1, 1, 1, 1]})
    yield row("conv3d-input-grad", "Conv3DBackpropInputV2 3 x 3 x 3 of 2 x 8 x 16 x 16 x 16", "Conv3DBackpropInputV2", [ints([2, 8, 16, 16, 16]), "y", "x"],
              {"x": (2, 8, 16, 16, 16), "y": (3, 3, 3, 16, 16)}, 5, **{**plain, "strides": [1, 1, 1, 1, 1]})
    yield row("conv3d-filter-grad", "Conv3DBackpropFilterV2 3 x 3 x 3 of 2 x 8 x 16 x 16 x 16", "Conv3DBackpropFilterV2", ["x", ints([3, 3, 3, 16, 16]), "z"],
              {"x": (2, 8, 16, 16, 16), "z": (2, 8, 16, 16, 16)}, 5, **{**plain, "strides": [1, 1, 1, 1, 1]})
    yield row("lrn", "LRN of 8 x 28 x 28 x 32", "LRN", ["x"], {"x": (8, 28, 28, 32)}, 5, **F32)
    yield row("lrn-grad", "LRNGrad of 8 x 28 x 28 x 32", "LRNGrad", ["x", "y", "z"],
              {"x": (8, 28, 28, 32), "y": (8, 28, 28, 32), "z": (8, 28, 28, 32)}, 5, **F32)
    yield row("dilation", "Dilation2D 3 x 3 of 2 x 28 x 28 x 16", "Dilation2D", ["x", "y"], {"x": (2, 28, 28, 16), "y": (3, 3, 16)}, 5, rates=[1, 1, 1, 1],
              **plain)
    yield row("max-pool-argmax", "MaxPoolWithArgmax 2 x 2 of 8 x 28 x 28 x 32", "MaxPoolWithArgmax", ["x"], {"x": (8, 28, 28, 32)}, 5, Targmax=Type(INT64),
              ksize=[1, 2, 2, 1], **{**plain, "strides": [1, 2, 2, 1]})
    yield row("max-pool-grad", "MaxPoolGrad 2 x 2 of 8 x 28 x 28 x 32", "MaxPoolGrad", ["x", "y", "y"], {"x": (8, 28, 28, 32), "y": (8, 14, 14, 32)}, 5,
              ksize=[1, 2, 2, 1], **{**plain, "strides": [1, 2, 2, 1]})


def network_rows():
    """Losses, normalisation, random numbers, updates."""
    yield row("cross-entropy", "SoftmaxCrossEntropyWithLogits of 128 x 1 000", "SoftmaxCrossEntropyWithLogits", ["x", "y"], {"x": (128, 1000), "y": (128, 1000)}, 10,
              **F32)
    yield row("sparse-cross-entropy", "SparseSoftmaxCrossEntropyWithLogits of 128 x 1 000", "SparseSoftmaxCrossEntropyWithLogits", ["x", "int32 0 999 y"],
              {"x": (128, 1000), "y": (128,)}, 10, Tlabels=Type(INT32), **F32)
    yield row("batch-norm", "FusedBatchNormV3 of 8 x 28 x 28 x 32, as in training", "FusedBatchNormV3", ["x", "s", "s", (FLOAT, (0,), []), (FLOAT, (0,), [])],
              {"x": (8, 28, 28, 32), "s": (32,)}, 10, U=Type(FLOAT), epsilon=0.001, is_training=True, data_format="NHWC", **F32)
    yield row("bias-add", "BiasAdd of 8 x 28 x 28 x 32", "BiasAdd", ["x", "y"], {"x": (8, 28, 28, 32), "y": (32,)}, 10, **F32)
    yield row("bias-add-grad", "BiasAddGrad of 8 x 28 x 28 x 32", "BiasAddGrad", ["x"], {"x": (8, 28, 28, 32)}, 10, **F32)
    yield row("relu-grad", "ReluGrad of 16 384", "ReluGrad", ["x", "y"], {"x": (16384,), "y": (16384,)}, 10, **F32)
    shape = {"dtype": Type(FLOAT), "seed": 1, "seed2": 2, "T": Type(INT32)}
    for op in ("RandomUniform", "RandomStandardNormal", "TruncatedNormal"):
        yield row(op.lower(), f"{op} of 16 384", op, [ints([16384])], {}, 10, **shape)
    yield row("multinomial", "Multinomial of 128 rows of 1 000, 10 of each", "Multinomial", ["x", scalar(10, INT32)], {"x": (128, 1000)}, 5, seed=1, seed2=2,
              output_dtype=Type(INT64), **F32)
    for op in ("Lgamma", "Digamma", "Erfinv", "Log1p", "Expm1", "Softplus", "Pow", "FloorMod", "SquaredDifference", "Xlogy", "Xlog1py", "Xdivy", "BesselK0", "BesselK1e"):
        two = op in ("Pow", "FloorMod", "SquaredDifference", "Xlogy", "Xlog1py", "Xdivy")
        yield row(op.lower(), f"{op} of {'two times ' if two else ''}16 384", op, ["above x"] + (["y"] if two else []),
                  {"x": (16384,), **({"y": (16384,)} if two else {})}, 10, **F32)


    for op in ("Atan", "Asin", "Acos", "Erfc", "BesselI0", "BesselI1", "BesselI0e", "BesselI1e"):
        yield row(op.lower(), f"{op} of 16 384", op, ["x"], {"x": (16384,)}, 10, **F32)


def cell_rows():
    """Recurrent cells; inputs are as large as states. A block is of 20 times."""
    for batch, n in ((10, 64), (20, 200)):
        size, states = f"batch {batch}, {n} cells", {"h": (batch, n), "p": (n,)}
        inputs = {"x": (batch, n), **states, "w": (2 * n, 4 * n), "b": (4 * n,)}
        weights = ["h", "h", "w", "p", "p", "p", "b"]
        lstm = {"forget_bias": 1.0, "cell_clip": 3.0, "use_peephole": False, **F32}
        yield row(f"lstm-cell-{n}", f"LSTMBlockCell of {size}", "LSTMBlockCell", ["x", *weights], inputs, 10, **lstm)
        yield row(f"lstm-block-{n}", f"BlockLSTM of {size}", "BlockLSTM", [scalar(20, INT64), "x", *weights], {**inputs, "x": (20, batch, n)}, 5, **lstm)
        yield row(f"lstm-block-grad-{n}", f"BlockLSTMGrad of {size}", "BlockLSTMGrad", [scalar(20, INT64), "x", *weights, *["y"] * 9],
                  {**inputs, "x": (20, batch, n), "y": (20, batch, n)}, 5, use_peephole=False, **F32)
        yield row(f"gru-cell-{n}", f"GRUBlockCell of {size}", "GRUBlockCell", ["x", "h", "u", "v", "c", "p"],
                  {"x": (batch, n), **states, "u": (2 * n, 2 * n), "v": (2 * n, n), "c": (2 * n,)}, 10, **F32)


def dtype_rows():
    """What f32 is not: half, bfloat16, f64, integers."""
    for name, dtype in (("half", HALF), ("bfloat16", BFLOAT16), ("double", 2), ("int32", INT32), ("int64", INT64)):
        x, y, both = f"{name} -500 499 x", f"{name} -500 499 y", {"x": (16384,), "y": (16384,)}
        for op in ("AddV2", "Mul", "Maximum"):
            yield row(f"{op.lower()}-{name}", f"{op} of two times 16 384 of {name}", op, [x, y], both, 20, T=Type(dtype))
        yield row(f"sum-{name}", f"Sum of 256 rows of 256 of {name}", "Sum", [x, ints([1])], {"x": (256, 256)}, 20, Tidx=Type(INT32), keep_dims=False, T=Type(dtype))
        yield row(f"transpose-{name}", f"Transpose of 256 x 256 of {name}", "Transpose", [x, ints([1, 0])], {"x": (256, 256)}, 20, Tperm=Type(INT32), T=Type(dtype))
    for name, dtype in (("half", HALF), ("bfloat16", BFLOAT16), ("double", 2)):
        x = f"{name} -5 5 x"
        yield row(f"exp-{name}", f"Exp of 16 384 of {name}", "Exp", [x], {"x": (16384,)}, 20, T=Type(dtype))
        yield row(f"tanh-{name}", f"Tanh of 16 384 of {name}", "Tanh", [x], {"x": (16384,)}, 20, T=Type(dtype))
        yield row(f"softmax-{name}", f"Softmax of 64 x 1 000 of {name}", "Softmax", [x], {"x": (64, 1000)}, 20, T=Type(dtype))
        yield row(f"matmul-{name}", f"MatMul 128 x 128 by 128 x 128 of {name}", "MatMul", [x, f"{name} -5 5 y"], {"x": (128, 128), "y": (128, 128)}, 10,
                  transpose_a=False, transpose_b=False, T=Type(dtype))
    numbers = {"x": (16384,), "y": (16384,)}
    for op in ("ComplexAbs", "Angle"):
        yield row(op.lower(), f"{op} of 16 384", op, ["complex x"], {"x": (16384,)}, 20, T=Type(8), Tout=Type(1))
    for op in ("Mul", "RealDiv"):
        yield row(f"{op.lower()}-complex64", f"{op} of two times 16 384 of complex64", op, ["complex x", "complex y"], numbers, 20, T=Type(8))
    for op in ("Sqrt", "Log", "Exp"):
        yield row(f"{op.lower()}-complex64", f"{op} of 16 384 of complex64", op, ["complex x"], {"x": (16384,)}, 20, T=Type(8))
    yield row("quantize", "QuantizeV2 of 16 384 to quint8", "QuantizeV2", ["x", scalar(-1.0), scalar(1.0)], {"x": (16384,)}, 10, T=Type(12), mode="MIN_COMBINED")
    yield row("fake-quant", "FakeQuantWithMinMaxVars of 16 384", "FakeQuantWithMinMaxVars", ["x", scalar(-1.0), scalar(1.0)], {"x": (16384,)}, 10, num_bits=8)


def family_rows():
    for rows in (linear_algebra_rows, transform_rows, sorting_rows, place_rows, sparse_rows, image_rows, network_rows, cell_rows, dtype_rows):
        yield from rows()
