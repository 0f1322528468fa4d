"""Rows of single ops in f32, in the shapes that the other rows leave out: small and large, thin and wide, one image and many."""

from graph_def import FLOAT, INT32, INT64, Type
from single_ops import F32, ints, row, scalar

REDUCE = {"Tidx": Type(INT32), "keep_dims": False, **F32}
PLAIN = {"strides": [1, 1, 1, 1], "padding": "SAME", **F32}
FORMAT = {"half_pixel_centers": True, "align_corners": False, **F32}


def text(dims):
    return " x ".join(map(str, dims))


def key(dims):
    return "-".join(map(str, dims))


def element_shapes():
    for op in ("AddV2", "Mul", "Sigmoid", "Exp", "Relu", "Rsqrt"):
        for n in (16, 1000, 300_000):
            feeds = {"x": (n,), "y": (n,)} if op in ("AddV2", "Mul") else {"x": (n,)}
            yield row(f"{op.lower()}-{n}", f"{op} of {n}", op, ["above x"] if len(feeds) == 1 else ["x", "y"], feeds, 4 if n > 10_000 else 50, **F32)
    for x, y in (((32, 1, 100), (1, 50, 100)), ((64, 64, 1), (64, 1, 64)), ((8, 28, 28, 32), (32,)), ((128, 128), (128, 1)), ((1000, 7), (7,))):
        for op in ("AddV2", "Mul", "Greater"):
            yield row(f"{op.lower()}-{key(x)}-by-{key(y)}", f"{op} of {text(x)} and {text(y)}", op, ["x", "y"], {"x": x, "y": y}, 10, **F32)
    for n in (10, 1000, 50_000):
        yield row(f"softmax-{n}", f"Softmax of 32 x {n}", "Softmax", ["x"], {"x": (32, n)}, 4 if n > 10_000 else 20, **F32)
        yield row(f"logsoftmax-{n}", f"LogSoftmax of 32 x {n}", "LogSoftmax", ["x"], {"x": (32, n)}, 4 if n > 10_000 else 20, **F32)


def reduce_shapes():
    for op in ("Sum", "Mean", "Max"):
        for dims, axes in (((32, 100, 64), [1]), ((8, 28, 28, 32), [1, 2]), ((8, 28, 28, 32), [0, 1, 2]), ((100_000,), [0]), ((64, 10), [1]), ((10, 10_000), [0])):
            yield row(f"{op.lower()}-{key(dims)}-by-{key(axes)}", f"{op} of {text(dims)} over {text(axes)}", op, ["x", ints(axes)], {"x": dims}, 10, **REDUCE)
    yield row("all-1000", "All of 1 000 x 100 over the last", "All", ["true x", ints([1])], {"x": (1000, 100)}, 10, Tidx=Type(INT32), keep_dims=False)
    yield row("argmax-columns", "ArgMax of 1 000 x 100 over the first", "ArgMax", ["x", scalar(0, INT32)], {"x": (1000, 100)}, 10, Tidx=Type(INT32), output_type=Type(INT64), **F32)
    yield row("cumsum-columns", "Cumsum of 256 x 256 over the first", "Cumsum", ["x", scalar(0, INT32)], {"x": (256, 256)}, 10, exclusive=False, reverse=False,
              Tidx=Type(INT32), **F32)
    yield row("l2loss-300000", "L2Loss of 300 000", "L2Loss", ["x"], {"x": (300_000,)}, 4, **F32)


def matrix_shapes():
    for m, k, n, ta, tb in ((1, 256, 256, False, False), (64, 256, 10, False, False), (10, 64, 256, True, False), (128, 512, 128, False, True), (1024, 64, 64, False, False),
                            (8, 8, 8, False, False), (256, 1, 256, False, False), (1, 4096, 1, False, False)):
        turned = ("t" if ta else "n") + ("t" if tb else "n")
        yield row(f"matmul-{m}-{k}-{n}-{turned}", f"MatMul {m} x {k} by {k} x {n}, {turned}", "MatMul", ["x", "y"],
                  {"x": (k, m) if ta else (m, k), "y": (n, k) if tb else (k, n)}, 10, transpose_a=ta, transpose_b=tb, **F32)
    for b, m, k, n in ((96, 64, 32, 64), (1000, 4, 4, 4), (8, 128, 128, 128)):
        yield row(f"batchmatmul-{b}-{m}-{k}-{n}", f"BatchMatMulV2 of {b} times {m} x {k} by {k} x {n}", "BatchMatMulV2", ["x", "y"], {"x": (b, m, k), "y": (b, k, n)}, 4,
                  adj_x=False, adj_y=False, **F32)


def convolution_shapes():
    for image, window, strides in (((1, 224, 224, 3), (7, 7, 3, 64), [1, 2, 2, 1]), ((32, 28, 28, 1), (5, 5, 1, 32), [1, 1, 1, 1]), ((32, 14, 14, 32), (5, 5, 32, 64), [1, 1, 1, 1]),
                                   ((1, 56, 56, 64), (3, 3, 64, 64), [1, 1, 1, 1]), ((16, 7, 7, 256), (1, 1, 256, 512), [1, 1, 1, 1]), ((1, 1, 1000, 16), (1, 5, 16, 32), [1, 1, 1, 1]),
                                   ((8, 84, 84, 4), (8, 8, 4, 32), [1, 4, 4, 1])):
        attrs = {**PLAIN, "strides": strides}
        out = tuple(-(-extent // stride) for extent, stride in zip(image[:3], strides)) + window[3:]
        yield row(f"conv-{key(image)}-{key(window)}", f"Conv2D {text(window)} of {text(image)}", "Conv2D", ["x", "y"], {"x": image, "y": window}, 2, **attrs)
        yield row(f"conv-input-grad-{key(image)}-{key(window)}", f"Conv2DBackpropInput {text(window)} of {text(image)}", "Conv2DBackpropInput",
                  [ints(image), "y", "z"], {"y": window, "z": out}, 2, **attrs)
        yield row(f"conv-filter-grad-{key(image)}-{key(window)}", f"Conv2DBackpropFilter {text(window)} of {text(image)}", "Conv2DBackpropFilter",
                  ["x", ints(window), "z"], {"x": image, "z": out}, 2, **attrs)
    for image in ((1, 112, 112, 64), (32, 28, 28, 32), (32, 7, 7, 256)):
        for op in ("MaxPool", "AvgPool"):
            yield row(f"{op.lower()}-{key(image)}", f"{op} 3 x 3 by 2 of {text(image)}", op, ["x"], {"x": image}, 4, ksize=[1, 3, 3, 1], **{**PLAIN, "strides": [1, 2, 2, 1]})
    yield row("batch-norm-inference", "FusedBatchNormV3 of 1 x 56 x 56 x 64, as in inference", "FusedBatchNormV3", ["x", "s", "s", "s", "above s"],
              {"x": (1, 56, 56, 64), "s": (64,)}, 10, U=Type(FLOAT), epsilon=0.001, is_training=False, data_format="NHWC", **F32)
    yield row("batch-norm-grad", "FusedBatchNormGradV3 of 32 x 14 x 14 x 64", "FusedBatchNormGradV3", ["x", "y", "s", "s", "above s", "s"],
              {"x": (32, 14, 14, 64), "y": (32, 14, 14, 64), "s": (64,)}, 4, U=Type(FLOAT), epsilon=0.001, is_training=True, data_format="NHWC", **F32)
    for image, to in (((1, 224, 224, 3), (299, 299)), ((16, 32, 32, 3), (64, 64)), ((1, 512, 512, 1), (256, 256))):
        for op in ("ResizeBilinear", "ResizeNearestNeighbor"):
            yield row(f"{op.lower()}-{key(image)}", f"{op} of {text(image)} to {text(to)}", op, ["x", ints(to)], {"x": image}, 4, **FORMAT)


def movement_shapes():
    turn = {"Tperm": Type(INT32), **F32}
    for dims, order in (((32, 64, 8, 16), [0, 2, 1, 3]), ((8, 28, 28, 32), [0, 3, 1, 2]), ((8, 32, 28, 28), [0, 2, 3, 1]), ((1000, 10), [1, 0]), ((50, 32, 128), [1, 0, 2]),
                        ((1, 224, 224, 3), [0, 3, 1, 2])):
        yield row(f"transpose-{key(dims)}-{key(order)}", f"Transpose of {text(dims)} to {text(order)}", "Transpose", ["x", ints(order)], {"x": dims}, 10, **turn)
    for dims, axis in (((8, 28, 28, 32), 3), ((64, 100), 0), ((64, 3), 1)):
        yield row(f"concat-{key(dims)}-{axis}", f"ConcatV2 of three times {text(dims)} on {axis}", "ConcatV2", ["x", "y", "z", scalar(axis, INT32)],
                  {"x": dims, "y": dims, "z": dims}, 10, N=3, Tidx=Type(INT32), **F32)
    for dims, parts, axis in (((64, 2048), 4, 1), ((8, 28, 28, 64), 2, 3), ((1024, 32), 8, 0)):
        yield row(f"split-{key(dims)}-{axis}", f"Split of {text(dims)} in {parts} on {axis}", "Split", [scalar(axis, INT32), "x"], {"x": dims}, 10, num_split=parts, **F32)
    yield row("unpack-time", "Unpack of 50 x 32 x 128", "Unpack", ["x"], {"x": (50, 32, 128)}, 10, num=50, axis=0, **F32)
    yield row("pack-time", "Pack of two times 32 x 128 on axis 1", "Pack", ["x", "y"], {"x": (32, 128), "y": (32, 128)}, 20, N=2, axis=1, **F32)
    yield row("pad-image", "Pad of 8 x 28 x 28 x 32 by 2", "Pad", ["x", (INT32, (4, 2), [0, 0, 2, 2, 2, 2, 0, 0])], {"x": (8, 28, 28, 32)}, 10, Tpaddings=Type(INT32), **F32)
    yield row("mirror-pad", "MirrorPad of 8 x 28 x 28 x 32 by 2", "MirrorPad", ["x", (INT32, (4, 2), [0, 0, 2, 2, 2, 2, 0, 0])], {"x": (8, 28, 28, 32)}, 10, mode="REFLECT",
              Tpaddings=Type(INT32), **F32)
    yield row("tile-rows", "Tile of 1 x 1 000 to 100 x 1 000", "Tile", ["x", ints([100, 1])], {"x": (1, 1000)}, 10, Tmultiples=Type(INT32), **F32)
    yield row("tile-column", "Tile of 1 000 x 1 to 1 000 x 100", "Tile", ["x", ints([1, 100])], {"x": (1000, 1)}, 10, Tmultiples=Type(INT32), **F32)
    yield row("broadcast-to", "BroadcastTo of 1 x 64 to 1 000 x 64", "BroadcastTo", ["x", ints([1000, 64])], {"x": (1, 64)}, 10, Tidx=Type(INT32), **F32)
    for params, count in (((50_000, 128), 64), ((1000, 1), 10_000), ((10, 1000), 100)):
        yield row(f"gather-{key(params)}-{count}", f"GatherV2 of {count} rows of {text(params)}", "GatherV2", ["x", f"int32 0 {params[0] - 1} y", scalar(0, INT32)],
                  {"x": params, "y": (count,)}, 10, Tparams=Type(FLOAT), Tindices=Type(INT32), Taxis=Type(INT32))
    yield row("gather-axis", "GatherV2 of 32 of 64 columns of 1 000 x 64", "GatherV2", ["x", "int32 0 63 y", scalar(1, INT32)], {"x": (1000, 64), "y": (32,)}, 10,
              Tparams=Type(FLOAT), Tindices=Type(INT32), Taxis=Type(INT32))
    for n, k in ((1000, 5), (100_000, 10)):
        yield row(f"top-{k}-of-{n}", f"TopKV2 of 8 rows of {n}, {k} of each", "TopKV2", ["x", scalar(k, INT32)], {"x": (8, n)}, 4, sorted=True, **F32)
    yield row("slice-image", "Slice of a crop of 8 x 28 x 28 x 32", "Slice", ["x", ints([0, 2, 2, 0]), ints([8, 24, 24, 32])], {"x": (8, 28, 28, 32)}, 10,
              Index=Type(INT32), **F32)
    yield row("reverse-image", "ReverseV2 of 8 x 64 x 64 x 3, left and right", "ReverseV2", ["x", ints([2])], {"x": (8, 64, 64, 3)}, 10, Tidx=Type(INT32), **F32)
    yield row("where-few", "Where of 100 000, few of them true", "Where", ["int32 0 1 x"], {"x": (100_000,)}, 4, T=Type(INT32))
    yield row("segment-few", "UnsortedSegmentSum of 10 000 numbers to 10", "UnsortedSegmentSum", ["x", "int32 0 9 y", scalar(10, INT32)], {"x": (10_000,), "y": (10_000,)}, 10,
              Tindices=Type(INT32), Tnumsegments=Type(INT32), **F32)
    yield row("one-hot-10", "OneHot of 4 096 by 10", "OneHot", ["int32 0 9 y", scalar(10, INT32), scalar(1.0), scalar(0.0)], {"y": (4096,)}, 10, axis=-1, TI=Type(INT32), **F32)
    yield row("matrix-band-part", "MatrixBandPart of 64 times 32 x 32", "MatrixBandPart", ["x", scalar(-1, INT64), scalar(0, INT64)], {"x": (64, 32, 32)}, 10,
              Tindex=Type(INT64), **F32)
    yield row("matrix-diag", "MatrixDiag of 64 times 32", "MatrixDiag", ["x"], {"x": (64, 32)}, 10, **F32)
    yield row("space-to-batch", "SpaceToBatchND of 8 x 28 x 28 x 16 by 2", "SpaceToBatchND", ["x", ints([2, 2]), (INT32, (2, 2), [0, 0, 0, 0])], {"x": (8, 28, 28, 16)}, 10,
              Tblock_shape=Type(INT32), Tpaddings=Type(INT32), **F32)
    yield row("depth-to-space", "DepthToSpace of 8 x 16 x 16 x 64 by 2", "DepthToSpace", ["x"], {"x": (8, 16, 16, 64)}, 10, block_size=2, **F32)
    yield row("clip", "ClipByValue of 16 384", "ClipByValue", ["x", scalar(-0.1), scalar(0.1)], {"x": (16384,)}, 10, **F32)
    yield row("check-numerics", "CheckNumerics of 16 384", "CheckNumerics", ["x"], {"x": (16384,)}, 10, message="", **F32)
    yield row("dynamic-partition", "DynamicPartition of 4 096 rows of 16 in 4", "DynamicPartition", ["x", "int32 0 3 y"], {"x": (4096, 16), "y": (4096,)}, 10, num_partitions=4, **F32)


def shape_rows():
    for rows in (element_shapes, reduce_shapes, matrix_shapes, convolution_shapes, movement_shapes):
        yield from rows()
