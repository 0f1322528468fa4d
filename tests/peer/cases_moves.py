"""Random cases of ops that move elements by indices, blocks or diagonals."""

import numpy as np

from case import Case
from makers import INDEX, indices, ints, op, text
from tensorflow_answers import output_shape
from values import INTS, REALS

MOVES = 0  # units in the last place: elements are moved, not computed


@op("GatherNd")
def gather_nd(r, name):
    dtype, index = r.dtype(name, "Tparams"), r.dtype(name, "Tindices")
    shape = r.shape(1)
    depth = r.integer(0, len(shape)) if r.chance(0.97) else len(shape) + 1
    outer = r.shape(0, 2)
    which = np.zeros(outer + [depth], np.int64)
    for k in range(min(depth, len(shape))):
        part = indices(r, outer, shape[k])
        if part.shape == tuple(outer):
            which[..., k] = part
    attrs = {"bad_indices_policy": r.choice(["", "ERROR", "IGNORE", "DEFAULT"])} if r.chance(0.3) else {}
    return Case(name, [r.values(dtype, shape), ints(which, index)], attrs, ulps=MOVES)


def scatter_parts(r, shape, dtype, index):
    """indices and updates for a tensor of that shape."""
    depth = r.integer(1, len(shape)) if r.chance(0.95) else r.integer(0, len(shape) + 1)
    outer = r.shape(0, 2)
    which = np.zeros(outer + [depth], np.int64)
    for k in range(min(depth, len(shape))):
        part = indices(r, outer, shape[k])
        if part.shape == tuple(outer):
            which[..., k] = part
    updates = outer + list(shape[depth:]) if r.chance(0.97) else r.shape()
    return ints(which, index), r.values(dtype, updates, r.choice(["small", "any"]))


def policy(r):
    return {"bad_indices_policy": r.choice(["", "ERROR", "IGNORE", "DEFAULT"])} if r.chance(0.3) else {}


@op("ScatterNd")
def scatter_nd(r, name):
    dtype, index, shape = r.dtype(name), r.dtype(name, "Tindices"), r.shape(1)
    which, updates = scatter_parts(r, shape, dtype, index)
    if r.chance(0.03):
        shape = [-1] + shape[1:]
    return Case(name, [which, updates, ints(shape, index)], policy(r), scale="sums", ulps=16)


@op("TensorScatterUpdate TensorScatterAdd TensorScatterSub TensorScatterMax TensorScatterMin ScatterNdNonAliasingAdd")
def tensor_scatter(r, name):
    dtype, shape = r.dtype(name), r.shape(1)
    index = r.dtype(name, "Tindices", only=["int32", "int64"])
    which, updates = scatter_parts(r, shape, dtype, index)
    attrs = policy(r) if name in ("TensorScatterUpdate", "ScatterNdNonAliasingAdd", "TensorScatterAdd", "TensorScatterSub") else {}
    return Case(name, [r.values(dtype, shape, r.choice(["small", "any"])), which, updates], attrs, ulps=16, scale="sums")


@op("Roll")
def roll(r, name):
    dtype, shape = r.dtype(name), r.shape(1)
    count = r.integer(1, 3)
    axes = [r.axis(len(shape)) for _ in range(count)]
    shifts = [r.choice([r.integer(-9, 9), r.integer(-100, 100), 10**9, -10**9]) for _ in range(count)]
    if count == 1 and r.chance(0.5):
        axes, shifts = axes[0], shifts[0]
    return Case(name, [r.values(dtype, shape), ints(shifts, r.choice(INDEX)), ints(axes, r.choice(INDEX))], ulps=MOVES)


@op("Reverse")
def reverse_v1(r, name):
    dtype, shape = r.dtype(name), r.shape()
    return Case(name, [r.values(dtype, shape), r.values("bool", [len(shape)] if r.chance(0.97) else r.shape())], ulps=MOVES)


@op("ReverseSequence")
def reverse_sequence(r, name):
    dtype, shape = r.dtype(name), r.shape(2)
    batch, seq = r.axis(len(shape), 0), r.axis(len(shape), 0)
    if batch == seq and r.chance(0.9):
        seq = (batch + 1) % len(shape)
    n, most = shape[batch % len(shape)], shape[seq % len(shape)]
    lengths = [r.integer(0, most) if r.chance(0.99) else r.choice([-1, most + 1]) for _ in range(n)]
    return Case(name, [r.values(dtype, shape), ints(lengths, r.choice(INDEX))], {"seq_dim": seq, "batch_dim": batch}, ulps=MOVES)


@op("MirrorPad")
def mirror_pad(r, name):
    dtype, shape, mode = r.dtype(name), r.shape(0, 5), r.choice(["REFLECT", "SYMMETRIC"])
    most = [max(0, d - (mode == "REFLECT")) for d in shape]
    amounts = [[r.bad(r.integer(0, m)), r.integer(0, m)] for m in most]
    return Case(name, [r.values(dtype, shape), ints(np.reshape(amounts, [-1, 2]), r.choice(INDEX))], {"mode": mode}, ulps=MOVES)


@op("MirrorPadGrad")
def mirror_pad_grad(r, name):
    dtype, shape, mode = r.dtype(name), r.shape(0, 5), r.choice(["REFLECT", "SYMMETRIC"])
    amounts = [[r.bad(r.integer(0, max(0, (d - 1) // 3))), r.integer(0, max(0, (d - 1) // 3))] for d in shape]
    return Case(name, [r.values(dtype, shape, "small"), ints(np.reshape(amounts, [-1, 2]), r.choice(INDEX))], {"mode": mode}, ulps=16, scale="sums")


@op("SpaceToDepth DepthToSpace")
def depth_space(r, name):
    dtype, block = r.dtype(name), r.integer(2, 3) if r.chance(0.95) else r.choice([1, 0, -1])
    format_ = r.choice(["NHWC", "NHWC", "NCHW"])
    b = max(block, 1)
    n, h, w, c = r.integer(0, 2), r.integer(1, 3), r.integer(1, 3), r.integer(1, 3)
    if name == "SpaceToDepth":
        h, w = h * b, w * b
    else:
        c *= b * b
    if r.chance(0.05):
        h, c = h + 1, c + 1
    shape = [n, h, w, c] if format_ == "NHWC" else [n, c, h, w]
    return Case(name, [r.values(dtype, shape if r.chance(0.97) else r.shape())], {"block_size": block, "data_format": format_}, ulps=MOVES)


@op("SpaceToBatchND BatchToSpaceND")
def batch_space_nd(r, name):
    dtype, index = r.dtype(name), r.choice(INDEX)
    m = r.integer(0, 3)
    block = [r.integer(1, 3) if r.chance(0.98) else 0 for _ in range(m)]
    pads, dims = [], []
    for b in block:
        b = max(b, 1)
        low, high = r.integer(0, 2), r.integer(0, 2)
        pads.append([low, high])
        dims.append(max(b * r.integer(1, 3) - low - high, 0) if name == "SpaceToBatchND" else r.integer(1, 4) + (low + high + b - 1) // b)
    if pads and r.chance(0.05):
        pads[0][0] = r.choice([-1, 100])
    batch = r.integer(0, 2) if name == "SpaceToBatchND" else r.integer(0, 2) * int(np.prod(block))
    if r.chance(0.05):
        batch += 1
    rest = r.shape(0, 2)
    return Case(name, [r.values(dtype, [batch] + dims + rest), ints(block, index), ints(np.reshape(pads, [-1, 2]), r.choice(INDEX))], ulps=MOVES)


@op("SpaceToBatch BatchToSpace")
def batch_space(r, name):
    dtype, b = r.dtype(name), r.integer(2, 3)
    pads = [[r.integer(0, 2), r.integer(0, 2)] for _ in range(2)]
    if r.chance(0.05):
        pads[0][0] = r.choice([-1, 100])
    if name == "SpaceToBatch":
        dims = [max(b * r.integer(1, 3) - sum(p), 0) for p in pads]
        batch = r.integer(1, 2)
    else:
        dims, batch = [r.integer(2, 4) for _ in pads], r.integer(1, 2) * b * b
    if r.chance(0.05):
        batch, dims[0] = batch + 1, dims[0] + 1
    return Case(name, [r.values(dtype, [batch] + dims + [r.integer(1, 3)]), ints(pads, r.choice(INDEX))], {"block_size": b}, ulps=MOVES)


@op("Diag")
def diag(r, name):
    return Case(name, [r.values(r.dtype(name), r.shape(0, 3))], ulps=MOVES)


@op("DiagPart")
def diag_part(r, name):
    half = r.shape(0, 3)
    return Case(name, [r.values(r.dtype(name), half * 2 if r.chance(0.95) else r.shape())], ulps=MOVES)


@op("MatrixDiag MatrixDiagPart MatrixBandPart")
def matrix_diag(r, name):
    dtype, shape = r.dtype(name), r.shape(1 if name == "MatrixDiag" else 2, 4) if r.chance(0.97) else r.shape(0, 1)
    if name == "MatrixBandPart":
        index = r.choice(["int64", "int32"])
        return Case(name, [r.values(dtype, shape), ints(r.integer(-2, 5), index), ints(r.integer(-2, 5), index)], ulps=MOVES)
    return Case(name, [r.values(dtype, shape)], ulps=MOVES)


@op("MatrixSetDiag")
def matrix_set_diag(r, name):
    dtype, shape = r.dtype(name), r.shape(2, 4)
    diagonal = shape[:-2] + [min(shape[-2:])] if r.chance(0.95) else r.shape()
    return Case(name, [r.values(dtype, shape), r.values(dtype, diagonal)], ulps=MOVES)


def band(r, rows, columns):
    """k: one diagonal or a band of them."""
    low = r.integer(-rows + 1, columns - 1) if rows and columns and r.chance(0.95) else r.integer(-9, 9)
    high = r.integer(low, max(low, columns - 1)) if r.chance(0.95) else low - 1
    return low, high, r.chance(0.4)


@op("MatrixDiagV2 MatrixDiagV3")
def matrix_diag_v2(r, name):
    dtype, rows, columns = r.dtype(name), r.integer(1, 5), r.integer(1, 5)
    low, high, one = band(r, rows, columns)
    high = low if one else high
    longest = max([min(rows + min(k, 0), columns - max(k, 0)) for k in range(low, high + 1)] or [1])
    shape = r.shape(0, 2) + ([max(high - low + 1, 0)] if high != low else []) + [max(longest, 0)]
    if r.chance(0.05):
        shape = r.shape(1)
    known = [r.choice([-1, rows]), r.choice([-1, columns])]
    k = ints(low if one and r.chance(0.5) else [low, high])
    attrs = {"align": r.choice(["LEFT_RIGHT", "RIGHT_LEFT", "LEFT_LEFT", "RIGHT_RIGHT"])} if name == "MatrixDiagV3" else {}
    return Case(name, [r.values(dtype, shape), k, ints(known[0]), ints(known[1]), r.values(dtype, [] if r.chance(0.98) else [1])], attrs, ulps=MOVES)


@op("MatrixDiagPartV2 MatrixDiagPartV3 MatrixSetDiagV2 MatrixSetDiagV3")
def matrix_diag_part_v2(r, name):
    dtype, batch = r.dtype(name), r.shape(0, 2)
    rows, columns = r.integer(1, 5), r.integer(1, 5)
    low, high, one = band(r, rows, columns)
    high = low if one else high
    x = r.values(dtype, batch + [rows, columns] if r.chance(0.97) else r.shape())
    k = ints(low if one and r.chance(0.5) else [low, high])
    attrs = {"align": r.choice(["LEFT_RIGHT", "RIGHT_LEFT", "LEFT_LEFT", "RIGHT_RIGHT"])} if name.endswith("V3") else {}
    if "Part" in name:
        return Case(name, [x, k, r.values(dtype, [])], attrs, ulps=MOVES)
    longest = max([min(rows + min(i, 0), columns - max(i, 0)) for i in range(low, high + 1)] or [1])
    diagonal = batch + ([max(high - low + 1, 0)] if high != low else []) + [max(longest, 0)]
    return Case(name, [x, r.values(dtype, diagonal if r.chance(0.95) else r.shape()), k], attrs, ulps=MOVES)


@op("ConjugateTranspose")
def conjugate_transpose(r, name):
    dtype, shape = r.dtype(name), r.shape(0, 6)
    return Case(name, [r.values(dtype, shape), ints(r.np.permutation(len(shape)), r.choice(INDEX))], ulps=MOVES)


@op("DynamicPartition")
def dynamic_partition(r, name):
    dtype, shape, count = r.dtype(name), r.shape(), r.integer(1, 4)
    which = shape[:r.integer(0, len(shape))] if r.chance(0.97) else r.shape()
    return Case(name, [r.values(dtype, shape), ints(indices(r, which, count))], {"num_partitions": count}, ulps=MOVES)


@op("DynamicStitch ParallelDynamicStitch")
def dynamic_stitch(r, name):
    dtype, rest, count = r.dtype(name), r.shape(0, 2), r.integer(1, 3)
    total = r.integer(0, 8)
    order = r.np.permutation(total)
    cuts = sorted(r.integer(0, total) for _ in range(count - 1))
    parts = np.split(order, cuts)
    which = [ints(np.array(p) if r.chance(0.97) else r.np.randint(-1, 9, len(p))) for p in parts]
    data = [r.values(dtype, [len(p)] + (rest if r.chance(0.98) else r.shape(0, 2))) for p in parts]
    return Case(name, which + data, {"N": count}, ulps=MOVES)


@op("SparseToDense")
def sparse_to_dense(r, name):
    dtype, index = r.dtype(name), r.dtype(name, "Tindices")
    shape = r.shape(1, 3, empty=False)
    count = r.integer(0, 6)
    which = np.array([[r.integer(0, d - 1) for d in shape] for _ in range(count)]).reshape(count, len(shape))
    ordered = r.chance(0.8)
    if ordered:
        which = np.unique(which, axis=0)
        count = len(which)
    if count and r.chance(0.05):
        which[r.integer(0, count - 1), 0] = r.choice([-1, shape[0]])
    kept = count
    if len(shape) == 1 and r.chance(0.5):
        which = which[:, 0]
        if count == 1 and r.chance(0.3):
            which = which[0]
    values = [] if r.chance(0.2) else [kept]
    return Case(name, [ints(which, index), ints(shape, index), r.values(dtype, values), r.values(dtype, [])],
                {"validate_indices": r.chance(0.8)}, ulps=MOVES)


@op("Unique UniqueV2 UniqueWithCounts UniqueWithCountsV2")
def unique(r, name):
    dtype = r.dtype(name, only=INTS + REALS + ["string", "bool"])
    attrs = {"out_idx": r.choice(INDEX)}
    kind = r.choice(["small", "any", "whole"])
    if not name.endswith("V2"):
        return Case(name, [r.values(dtype, [r.integer(0, 12)] if r.chance(0.97) else r.shape(), kind)], attrs, ulps=MOVES)
    shape = r.shape(1, 3)
    axis = [r.axis(len(shape))] if r.chance(0.8) else []
    return Case(name, [r.values(dtype, shape, kind), ints(axis, r.choice(INDEX))], attrs, ulps=MOVES)


@op("ListDiff")
def list_diff(r, name):
    dtype = r.dtype(name)
    return Case(name, [r.values(dtype, [r.integer(0, 9)], "small"), r.values(dtype, [r.integer(0, 9)] if r.chance(0.97) else r.shape(), "small")],
                {"out_idx": r.choice(INDEX)}, ulps=MOVES)


@op("UnravelIndex")
def unravel(r, name):
    index, dims = r.choice(INDEX), [r.integer(1, 5) if r.chance(0.97) else 0 for _ in range(r.integer(1, 4))]
    return Case(name, [ints(indices(r, r.shape(0, 1), int(np.prod(dims)), 0.03), index), ints(dims, index)])


@op("ExtractImagePatches")
def image_patches(r, name):
    shape = [r.integer(0, 2), r.integer(1, 8), r.integer(1, 8), r.integer(1, 3)]
    attrs = {"ksizes": [1, r.integer(1, 3), r.integer(1, 3), 1], "strides": [1, r.integer(1, 3), r.integer(1, 3), 1],
             "rates": [1, r.integer(1, 2), r.integer(1, 2), 1], "padding": r.choice(["SAME", "VALID"])}
    return Case(name, [r.values(r.dtype(name), shape)], attrs, ulps=MOVES)


@op("ExtractVolumePatches")
def volume_patches(r, name):
    shape = [r.integer(1, 2)] + [r.integer(1, 5) for _ in range(3)] + [r.integer(1, 3)]
    attrs = {"ksizes": [1] + [r.integer(1, 3) for _ in range(3)] + [1], "strides": [1] + [r.integer(1, 2) for _ in range(3)] + [1],
             "padding": r.choice(["SAME", "VALID"])}
    return Case(name, [r.values(r.dtype(name), shape)], attrs, ulps=MOVES)


@op("Bucketize")
def bucketize(r, name):
    edges = sorted(float(np.float32(x)) for x in r.np.randn(r.integer(0, 5)) * 5)
    if r.chance(0.05):
        edges.reverse()
    return Case(name, [r.values(r.dtype(name), r.shape(), "any")], {"boundaries": edges})


@op("LowerBound UpperBound")
def bound(r, name):
    dtype, rows = r.dtype(name), r.integer(0, 3)
    kind = "small"
    x = np.sort(r.tensor(dtype, [rows, r.integer(0, 6)], kind), axis=1)
    return Case(name, [(dtype, x), r.values(dtype, [rows if r.chance(0.97) else rows + 1, r.integer(0, 5)], kind)], {"out_type": r.choice(INDEX)})


@op("TensorStridedSliceUpdate")
def strided_update(r, name):
    from cases_arrays import slice_inputs
    dtype, shape, index = r.dtype(name), r.shape(), r.choice(INDEX)
    spec, masks = slice_inputs(r, shape, index)
    x = r.values(dtype, shape)
    inner = output_shape(Case("StridedSlice", [x] + spec, masks))
    return Case(name, [x] + spec + [r.values(dtype, inner if inner is not None and r.chance(0.9) else r.shape())], masks, ulps=MOVES)


@op("InplaceUpdate InplaceAdd InplaceSub")
def inplace(r, name):
    dtype, shape = r.dtype(name), r.shape(1)
    n = r.integer(0, 3)
    rows = r.np.permutation(max(shape[0], 1))[:n] if r.chance(0.9) else r.np.randint(-2, 9, n)
    return Case(name, [r.values(dtype, shape, "small"), ints(rows), r.values(dtype, [len(rows)] + shape[1:] if r.chance(0.97) else r.shape(), "small")])


@op("IdentityN")
def identity_n(r, name):
    types = [r.dtype("Identity") for _ in range(r.integer(1, 3))]
    return Case(name, [r.values(t, r.shape()) for t in types], {"T": types}, ulps=MOVES)


@op("ParallelConcat")
def parallel_concat(r, name):
    dtype, shape, n = r.dtype(name), r.shape(), r.integer(1, 4)
    return Case(name, [r.values(dtype, [1] + shape) for _ in range(n)], {"shape": [n] + shape}, ulps=MOVES)


@op("Empty")
def empty(r, name):
    dtype = r.dtype(name, "dtype", only=INTS + REALS + ["bool", "string"])
    return Case(name, [ints(r.shape() if r.chance(0.95) else [-1])], {"dtype": dtype, "init": True}, ulps=MOVES)


@op("EditDistance")
def edit_distance(r, name):
    dtype = r.dtype(name)
    ranks = r.integer(2, 3)
    shapes = [r.integer(1, 3) for _ in range(ranks - 1)]

    def sequences():
        rows, values = [], []
        for at in np.ndindex(*shapes):
            for k in range(r.integer(0, 4)):
                rows.append(list(at) + [k])
                values.append(r.tensor(dtype, [], "small"))
        out = np.empty(len(values), np.asarray(values).dtype if dtype != "string" else object)
        for i, v in enumerate(values):
            out[i] = v.item() if dtype == "string" else v
        width = 4
        return [ints(np.reshape(rows, [-1, ranks]), "int64"), (dtype, out), ints(shapes + [width], "int64")]
    return Case(name, sequences() + sequences(), {"normalize": r.chance(0.7)})


@op("Fingerprint")
def fingerprint(r, name):
    dtype, shape = r.dtype(name, only=INTS + REALS + ["string", "bool"]), r.shape(1)
    return Case(name, [r.values(dtype, shape), text("farmhash64" if r.chance(0.97) else "other")])


