"""Random cases of reductions, segments, counts, sets and orders."""

import numpy as np

from case import Case
from makers import INDEX, indices, ints, op


def reduction_axes(r, rank):
    axes = [i if r.chance(0.5) else i - rank for i in range(rank) if r.chance(0.5)]
    if r.chance(0.05):
        axes.append(r.axis(rank))
    return axes[0] if len(axes) == 1 and r.chance(0.3) else axes


@op("Sum Mean Prod Max Min All Any EuclideanNorm")
def reduction(r, name):
    dtype, shape = "bool" if name in ("All", "Any") else r.dtype(name), r.shape()
    kind = "any" if name in ("Max", "Min") else r.choice(["any", "small", "tame"])
    if name == "EuclideanNorm":
        kind = r.choice(["small", "tame"])
    if dtype.startswith("complex"):
        kind = "tame"
    return Case(name, [r.values(dtype, shape, kind), ints(reduction_axes(r, len(shape)), r.choice(INDEX))], {"keep_dims": r.chance(0.5)},
                ulps=64 if name not in ("Max", "Min") else 0, scale="sums" if name in ("Sum", "Mean") else None)


@op("ArgMax ArgMin")
def arg_max(r, name):
    dtype, shape = r.dtype(name), r.shape(1)
    return Case(name, [r.values(dtype, shape, r.choice(["any", "small"])), ints(r.axis(len(shape)), r.choice(INDEX))],
                {"output_type": r.dtype(name, "output_type") if name == "ArgMax" else r.choice(INDEX)})


@op("Cumsum Cumprod CumulativeLogsumexp")
def cumulative(r, name):
    dtype, shape = r.dtype(name), r.shape(1 if r.chance(0.95) else 0)
    kind = "small" if dtype.startswith("complex") else r.choice(["any", "small", "tame"])
    return Case(name, [r.values(dtype, shape, kind), ints(r.axis(len(shape)), r.choice(INDEX))],
                {"exclusive": r.chance(0.5), "reverse": r.chance(0.5)}, ulps=64, scale="sums" if name == "Cumsum" else None)


@op("SegmentSum SegmentMean SegmentProd SegmentMax SegmentMin")
def segment(r, name):
    dtype, shape = r.dtype(name), r.shape(1)
    ids = np.sort(r.np.randint(0, 6, shape[0]))
    if shape[0] and r.chance(0.05):
        ids[r.integer(0, shape[0] - 1)] = r.choice([-1, 0, 9])
    kind = "tame" if name == "SegmentProd" else "small" if dtype.startswith("complex") else r.choice(["any", "small"])
    return Case(name, [r.values(dtype, shape, kind), ints(ids if r.chance(0.97) else r.np.randint(0, 3, r.shape()), r.choice(INDEX))], ulps=32,
                scale="sums" if name in ("SegmentSum", "SegmentMean") else None)


@op("UnsortedSegmentSum UnsortedSegmentProd UnsortedSegmentMax UnsortedSegmentMin")
def unsorted_segment(r, name):
    dtype, shape = r.dtype(name), r.shape(1)
    ids, count = shape[:r.integer(0, len(shape))], r.integer(0, 6)
    where = np.array([r.integer(-1, max(count - 1, 0)) if r.chance(0.995) else count + 1 for _ in range(int(np.prod(ids)))], int).reshape(ids)
    kind = "tame" if name.endswith("Prod") else "small" if dtype.startswith("complex") else r.choice(["any", "small"])
    return Case(name, [r.values(dtype, shape, kind), ints(where, r.choice(INDEX)), ints(count if r.chance(0.97) else -1, r.choice(INDEX))],
                ulps=32, scale="sums" if name.endswith("Sum") else None)


def sparse_segments(r, rows):
    count = r.integer(0, 8)
    ids = np.sort(r.np.randint(0, 5, count))
    if count and r.chance(0.05):
        ids[r.integer(0, count - 1)] = r.choice([-1, 0, 7])
    return ints(indices(r, [count], rows), r.choice(INDEX)), ints(ids, r.choice(INDEX))


@op("""SparseSegmentSum SparseSegmentMean SparseSegmentSqrtN SparseSegmentSumWithNumSegments SparseSegmentMeanWithNumSegments
    SparseSegmentSqrtNWithNumSegments""")
def sparse_segment(r, name):
    dtype, shape = r.dtype(name), r.shape(1)
    which, ids = sparse_segments(r, shape[0])
    if len(which[1]) != len(ids[1]):
        ids = (ids[0], ids[1][:len(which[1])])
    more = [ints(r.integer(0, 7) if r.chance(0.97) else -1, r.choice(INDEX))] if name.endswith("NumSegments") else []
    return Case(name, [r.values(dtype, shape, "small"), which, ids] + more, ulps=32, scale="sums")


@op("SparseSegmentSumGrad SparseSegmentMeanGrad SparseSegmentSqrtNGrad SparseSegmentSumGradV2 SparseSegmentMeanGradV2 SparseSegmentSqrtNGradV2")
def sparse_segment_grad(r, name):
    dtype, shape = r.dtype(name), r.shape(1)
    rows = r.integer(1, 6)
    count = r.integer(0, 8)
    ids = np.sort(indices(r, [count], shape[0]))
    which = indices(r, [len(ids)], rows)
    return Case(name, [r.values(dtype, shape, "small"), ints(which, r.choice(INDEX)), ints(ids, r.choice(INDEX)), ints(rows)], ulps=32, scale="sums")


@op("TopK TopKV2")
def top_k(r, name):
    dtype, shape = r.dtype(name), r.shape(1)
    k = r.integer(0, shape[-1]) if r.chance(0.95) else r.choice([-1, shape[-1] + 1])
    x = r.tensor(dtype, shape, r.choice(["any", "small"]))
    if x.dtype.kind not in "iu":  # the order of NaN is left open
        x = np.where(np.isnan(x), 0, x).astype(x.dtype)
    attrs = {"sorted": r.chance(0.8)}
    attrs["sorted"] = True  # the other order is left open
    if name == "TopK":
        return Case(name, [(dtype, x)], {"k": k, **attrs})
    if r.chance(0.3):
        attrs["index_type"] = r.dtype(name, "index_type", only=["int16", "int32", "int64"])
    kind = r.dtype(name, "Tk", only=["int16", "int32", "int64"])
    return Case(name, [(dtype, x), ints(k, kind)], attrs, ulps=0)


@op("InTopK InTopKV2")
def in_top_k(r, name):
    shape, index = r.shape(2, 2), r.choice(INDEX)
    targets = r.np.randint(-1, shape[1] + 1, shape[0])
    k = r.integer(-1, shape[1] + 1)
    x = r.values("float", shape)
    if name == "InTopK":
        return Case(name, [x, ints(targets, index)], {"k": k})
    return Case(name, [x, ints(targets, index), ints(k, index)])


@op("NthElement")
def nth_element(r, name):
    dtype, shape = r.dtype(name), r.shape(1)
    n = r.integer(0, max(shape[-1] - 1, 0)) if r.chance(0.95) else r.choice([-1, shape[-1]])
    x = r.tensor(dtype, shape, r.choice(["any", "small"]))
    if x.dtype.kind not in "iu":
        x = np.where(np.isnan(x), 0, x).astype(x.dtype)
    return Case(name, [(dtype, x), ints(n)], {"reverse": r.chance(0.5)}, ulps=0)


@op("Bincount")
def bincount(r, name):
    dtype, shape, size = r.dtype(name, only=["int32", "int64", "float", "double"]), r.shape(), r.integer(0, 7)
    x = ints(indices(r, shape, size + 2))
    weights = x[1].shape if r.chance(0.6) else [0]
    return Case(name, [x, ints(size if r.chance(0.97) else -1), r.values(dtype, weights, "small")], ulps=32, scale="sums")


@op("DenseBincount")
def dense_bincount(r, name):
    dtype, shape, size, index = r.dtype(name), r.shape(1, 2) if r.chance(0.95) else r.shape(), r.integer(0, 7), r.choice(INDEX)
    x = ints(indices(r, shape, size + 2), index)
    weights = x[1].shape if r.chance(0.6) else [0]
    return Case(name, [x, ints(size if r.chance(0.97) else -1, index), r.values(dtype, weights, "small")], {"binary_output": r.chance(0.3)}, ulps=32,
                scale="sums")


@op("SparseBincount")
def sparse_bincount(r, name):
    dtype, size, index = r.dtype(name), r.integer(0, 7), r.choice(INDEX)
    shape = r.shape(1, 2, empty=False)
    where = np.array([at for at in np.ndindex(*shape) if r.chance(0.3)][:12]).reshape(-1, len(shape))
    if len(where) and r.chance(0.05):
        where[0, 0] = r.choice([-1, 99])
    values = ints(indices(r, [len(where)], size + 2), index)
    return Case(name, [ints(where, "int64"), values, ints(shape, "int64"), ints(size if r.chance(0.97) else -1, index),
                       r.values(dtype, [len(where) if r.chance(0.6) else 0], "small")], {"binary_output": r.chance(0.3)}, ulps=32, scale="sums")


def splits(r, rows, most=4):
    """Row splits, and how many values there are."""
    out = np.concatenate([[0], np.cumsum([r.integer(0, most) for _ in range(rows)])]).astype(np.int64)
    total = int(out[-1])
    if r.chance(0.05):
        out[r.integer(0, len(out) - 1)] += r.choice([-1, 1, 5])
    return out, total


@op("RaggedBincount")
def ragged_bincount(r, name):
    dtype, size, index = r.dtype(name), r.integer(0, 7), r.choice(INDEX)
    rows, total = splits(r, r.integer(0, 4))
    return Case(name, [ints(rows, "int64"), ints(indices(r, [total], size + 2), index), ints(size if r.chance(0.97) else -1, index),
                       r.values(dtype, [total if r.chance(0.6) else 0], "small")], {"binary_output": r.chance(0.3)}, ulps=32, scale="sums")


def count_attrs(r):
    return {"minlength": r.choice([-1, 0, 3]), "maxlength": r.choice([-1, 2, 5]), "binary_output": r.chance(0.3)}


@op("DenseCountSparseOutput")
def dense_count(r, name):
    index, shape = r.choice(INDEX), r.shape(1, 2)
    x = ints(indices(r, shape, 5), index)
    dtype = r.dtype(name, "output_type", only=["int32", "int64", "float", "double"])
    return Case(name, [x, r.values(dtype, x[1].shape if r.chance(0.5) else [0], "small")], count_attrs(r))


@op("SparseCountSparseOutput")
def sparse_count(r, name):
    index, shape = r.choice(INDEX), r.shape(1, 2, empty=False)
    where = np.array([at for at in np.ndindex(*shape) if r.chance(0.4)][:12]).reshape(-1, len(shape))
    dtype = r.dtype(name, "output_type", only=["int32", "int64", "float", "double"])
    return Case(name, [ints(where, "int64"), ints(indices(r, [len(where)], 5), index), ints(shape, "int64"),
                       r.values(dtype, [len(where) if r.chance(0.5) else 0], "small")], count_attrs(r))


@op("RaggedCountSparseOutput")
def ragged_count(r, name):
    index = r.choice(INDEX)
    rows, total = splits(r, r.integer(0, 4))
    dtype = r.dtype(name, "output_type", only=["int32", "int64", "float", "double"])
    return Case(name, [ints(rows, "int64"), ints(indices(r, [total], 5), index), r.values(dtype, [total if r.chance(0.5) else 0], "small")], count_attrs(r))


@op("HistogramFixedWidth")
def histogram(r, name):
    dtype = r.dtype(name)
    low = r.integer(-10, 5)
    bounds = [low, low + r.integer(1, 9)] if r.chance(0.95) else [low, low - r.integer(0, 1)]
    return Case(name, [r.values(dtype, r.shape(), "small"), (dtype, np.array(bounds).astype(r.tensor(dtype, []).dtype)),
                       ints(r.integer(1, 9) if r.chance(0.97) else r.choice([0, -1]))], {"dtype": r.choice(INDEX)})


SET_TYPES = ["int8", "int16", "int32", "int64", "uint8", "uint16", "string"]
OPERATIONS = ["a-b", "b-a", "intersection", "union", "A-B"]


def sparse_set(r, dtype, group, disorder=True):
    rows, values = [], []
    for at in np.ndindex(*group):
        items = [k for k in range(3) if r.chance(0.6)]
        for k in items:
            rows.append(list(at) + [k])
            values.append(r.tensor(dtype, [], "small"))
    out = np.empty(len(values), object if dtype == "string" else r.tensor(dtype, []).dtype)
    for i, v in enumerate(values):
        out[i] = v.item() if dtype == "string" else v
    where = np.reshape(rows, [-1, len(group) + 1]).astype(np.int64)
    if len(where) > 1 and disorder and r.chance(0.03):
        where = where[::-1]
    return [ints(where, "int64"), (dtype, out), ints(list(group) + [4], "int64")]


@op("SetSize")
def set_size(r, name):
    group = r.shape(1, 2, empty=False)
    return Case(name, sparse_set(r, r.choice(SET_TYPES), group), {"validate_indices": r.chance(0.8)})


@op("DenseToDenseSetOperation DenseToSparseSetOperation SparseToSparseSetOperation")
def set_operation(r, name):
    dtype, group = r.choice(SET_TYPES), [min(d, 3) for d in r.shape(1, 2, empty=False)]
    kinds = name.removesuffix("SetOperation").split("To")
    validate = r.chance(0.8)

    def one(kind):  # sets out of order only where that is refused
        here = group if r.chance(0.97) else [d + 1 for d in group]
        return [r.values(dtype, here + [r.integer(0, 4)], "small")] if kind == "Dense" else sparse_set(r, dtype, here, validate)
    return Case(name, one(kinds[0]) + one(kinds[1]), {"set_operation": r.choice(OPERATIONS) if r.chance(0.98) else "other", "validate_indices": validate})
