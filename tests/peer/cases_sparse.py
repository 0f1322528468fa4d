"""Random cases of ops on sparse and ragged tensors."""

import numpy as np

from case import Case, Program
from cases_reductions import splits
from makers import INDEX, indices, ints, op, text
from tensors import numpy_type
from values import FLOATS, NUMBERS


class Sparse:
    """indices, values, dense shape."""

    def __init__(self, r, dtype, shape=None, ordered=True, kind="small", wrong=0.02, rank=(1, 3)):
        self.shape = [min(d, 5) for d in r.shape(*rank, empty=False)] if shape is None else list(shape)
        cells = [at for at in np.ndindex(*self.shape) if r.chance(0.35)]
        r.np.shuffle(cells)
        cells = cells[:10]
        if ordered:
            cells.sort()
        where = np.reshape(cells, [-1, len(self.shape)]).astype(np.int64)
        if len(where) and r.chance(wrong):
            row = r.integer(0, len(where) - 1)
            where[row, r.integer(0, len(self.shape) - 1)] = r.choice([-1, 7])
        self.where = where
        self.dtype = dtype
        self.values = r.tensor(dtype, [len(where)], kind)

    def inputs(self):
        return [ints(self.where, "int64"), (self.dtype, self.values), ints(self.shape, "int64")]


@op("SparseAdd")
def sparse_add(r, name):
    dtype = r.dtype(name)
    a = Sparse(r, dtype)
    b = Sparse(r, dtype, a.shape if r.chance(0.97) else None)
    real = {"complex64": "float", "complex128": "double"}.get(dtype, dtype)
    return Case(name, a.inputs() + b.inputs() + [(real, np.array(r.choice([0, 0, 1, 5])).astype(numpy_type(real)))])


@op("SparseAddGrad")
def sparse_add_grad(r, name):
    dtype = r.dtype(name)
    a = Sparse(r, dtype, wrong=0)
    b = Sparse(r, dtype, a.shape, wrong=0)
    both = np.unique(np.concatenate([a.where, b.where]), axis=0)
    return Case(name, [r.values(dtype, [len(both)], "small"), ints(a.where, "int64"), ints(b.where, "int64"), ints(both, "int64")])


@op("SparseReorder")
def reorder(r, name):
    return Case(name, Sparse(r, r.dtype(name), ordered=False).inputs(), ulps=0)


@op("SparseReshape")
def sparse_reshape(r, name):
    s = Sparse(r, "float", wrong=0.01)
    total = int(np.prod(s.shape))
    to = r.choice([[total], [-1], s.shape[::-1], [1] + s.shape, [-1] + s.shape[:1], [total, -1], [-1, -1], [total + 1]])
    return Case(name, [ints(s.where, "int64"), ints(s.shape, "int64"), ints(to, "int64")])


@op("SparseConcat")
def sparse_concat(r, name):
    dtype, n = r.dtype(name), r.integer(2, 3)
    first = Sparse(r, dtype)
    axis = r.axis(len(first.shape))
    parts = [first]
    for _ in range(n - 1):
        shape = list(first.shape)
        shape[axis if -len(shape) <= axis < len(shape) else 0] = r.integer(1, 4)
        parts.append(Sparse(r, dtype, shape if r.chance(0.97) else None))
    return Case(name, [ints(p.where, "int64") for p in parts] + [(dtype, p.values) for p in parts] + [ints(p.shape, "int64") for p in parts],
                {"concat_dim": axis, "N": n}, ulps=0)


@op("SparseSplit")
def sparse_split(r, name):
    s = Sparse(r, r.dtype(name), wrong=0)
    axis = r.axis(len(s.shape), 0.1)
    d = s.shape[axis] if -len(s.shape) <= axis < len(s.shape) else 2
    return Case(name, [ints(axis, "int64")] + s.inputs(), {"num_split": r.integer(1, d) if r.chance(0.97) else d + 1}, ulps=0)


@op("SparseSlice")
def sparse_slice(r, name):
    s = Sparse(r, r.dtype(name), wrong=0)
    start = [r.integer(0, d) for d in s.shape]
    size = [r.integer(0, d + 1) for d in s.shape]
    if r.chance(0.03):
        start[0] = -1
    return Case(name, s.inputs() + [ints(start, "int64"), ints(size, "int64")], ulps=0)


@op("SparseSliceGrad")
def sparse_slice_grad(r, name):
    dtype = r.dtype(name)
    s = Sparse(r, dtype, wrong=0)
    start = [r.integer(0, d - 1) for d in s.shape]
    size = [r.integer(1, d) for d in s.shape]
    kept = [row for row in s.where if all(b <= x < b + n for x, b, n in zip(row, start, size))]
    out = np.reshape([row - start for row in kept], [-1, len(s.shape)]).astype(np.int64)
    return Case(name, [r.values(dtype, [len(out)], "small"), ints(s.where, "int64"), ints(start, "int64"), ints(out, "int64")])


@op("SparseFillEmptyRows")
def fill_rows(r, name):
    dtype = r.dtype(name)
    s = Sparse(r, dtype, rank=(1, 2), ordered=r.chance(0.8))
    if r.chance(0.1):
        s.where, s.values, s.shape = s.where[:0], s.values[:0], [r.choice([0, 3])] + s.shape[1:]
    return Case(name, s.inputs() + [r.values(dtype, [] if r.chance(0.98) else [1])], ulps=0)


@op("SparseFillEmptyRowsGrad")
def fill_rows_grad(r, name):
    dtype, n, m = r.dtype(name), r.integer(0, 4), r.integer(0, 6)
    return Case(name, [ints(indices(r, [n if m else 0], m), "int64"), r.values(dtype, [m], "small")], ulps=32, scale="sums")


@op("SparseReduceSum SparseReduceMax SparseReduceSumSparse SparseReduceMaxSparse")
def sparse_reduce(r, name):
    s = Sparse(r, r.dtype(name))
    axes = [i if r.chance(0.5) else i - len(s.shape) for i in range(len(s.shape)) if r.chance(0.5)]
    if r.chance(0.03):
        axes.append(9)
    return Case(name, s.inputs() + [ints(axes)], {"keep_dims": r.chance(0.5)}, ulps=32, scale="sums" if "Sum" in name else None)


@op("SparseDenseCwiseAdd SparseDenseCwiseMul SparseDenseCwiseDiv")
def sparse_dense(r, name):
    dtype = r.dtype(name)
    s = Sparse(r, dtype)
    dense = [d if r.chance(0.7) else 1 for d in s.shape][r.integer(0, len(s.shape)) if r.chance(0.3) else 0:]
    return Case(name, s.inputs() + [r.values(dtype, dense if r.chance(0.97) else r.shape(), "tame")], ulps=16 if dtype.startswith("complex") else None)


@op("SparseSparseMaximum SparseSparseMinimum")
def sparse_sparse(r, name):
    dtype = r.dtype(name)
    a = Sparse(r, dtype)
    return Case(name, a.inputs() + Sparse(r, dtype, a.shape if r.chance(0.97) else None).inputs())


@op("SparseSoftmax")
def sparse_softmax(r, name):
    return Case(name, Sparse(r, r.dtype(name), rank=(2, 3) if r.chance(0.97) else (1, 1)).inputs(), ulps=16)


@op("SparseTensorDenseAdd")
def sparse_dense_add(r, name):
    dtype, index = r.dtype(name), r.choice(INDEX)
    s = Sparse(r, dtype)
    return Case(name, [ints(s.where, index), (dtype, s.values), ints(s.shape, index), r.values(dtype, s.shape if r.chance(0.96) else r.shape(), "small")])


@op("SparseTensorDenseMatMul")
def sparse_dense_mat_mul(r, name):
    dtype, index = r.dtype(name), r.choice(INDEX)
    s = Sparse(r, dtype, rank=(2, 2))
    ta, tb = r.chance(0.4), r.chance(0.4)
    k, n = s.shape[0] if ta else s.shape[1], r.integer(0, 4)
    b = [n, k] if tb else [k, n]
    if r.chance(0.03):
        b[0] += 1
    return Case(name, [ints(s.where, index), (dtype, s.values), ints(s.shape, "int64"), r.values(dtype, b, "small")], {"adjoint_a": ta, "adjoint_b": tb},
                ulps=64, scale="sums")


@op("SerializeSparse SerializeManySparse")
def serialize(r, name):
    return Case(name, Sparse(r, r.dtype(name, only=NUMBERS + ["string", "bool", "uint8"]), rank=(1, 3) if name == "SerializeSparse" else (2, 3), wrong=0).inputs(),
                ulps=0)


@op("DeserializeSparse DeserializeManySparse")
def deserialize(r, name):
    """What SerializeManySparse gives goes back."""
    dtype = r.choice(NUMBERS + ["string", "bool"])
    p = Program(name, ulps=0)
    rows = p.node("SerializeManySparse", [p.value(*x) for x in Sparse(r, dtype, rank=(2, 3), wrong=0).inputs()])
    to = r.choice(NUMBERS + ["string"]) if r.chance(0.03) else dtype
    out = p.node(name, [rows], {"dtype": to})
    p.fetch(out, out + ":1", out + ":2")
    return p


@op("AddSparseToTensorsMap AddManySparseToTensorsMap TakeManySparseFromTensorsMap")
def sparse_map(r, name):
    dtype = r.choice(NUMBERS + ["string"])
    p = Program(name, ulps=0)
    shared = f"map{r.integer(0, 1 << 40)}"
    if name == "AddSparseToTensorsMap":
        rank = r.integer(1, 2)
        handles = []
        for _ in range(r.integer(1, 3)):
            handles.append(p.then("AddSparseToTensorsMap", [p.value(*x) for x in Sparse(r, dtype, rank=(rank, rank), wrong=0).inputs()], {"shared_name": shared}))
        packed = p.node("Pack", handles)
    else:
        packed = p.then("AddManySparseToTensorsMap", [p.value(*x) for x in Sparse(r, dtype, rank=(2, 3), wrong=0).inputs()], {"shared_name": shared})
    out = p.then("TakeManySparseFromTensorsMap", [packed], {"dtype": dtype, "shared_name": shared})
    p.fetch(out, out + ":1", out + ":2")
    return p


def cross_inputs(r, types=("int64", "string")):
    batch = r.integer(1, 3)
    sparse, dense = [], []
    for _ in range(r.integer(0, 2)):
        sparse.append(Sparse(r, r.choice(types), [batch, r.integer(1, 3)], wrong=0))
    for _ in range(r.integer(0 if sparse else 1, 2)):
        dense.append(r.values(r.choice(types), [batch, r.integer(1, 2)], "small"))
    return sparse, dense


@op("SparseCross")
def sparse_cross(r, name):
    kind = r.choice(["string", "int64"])
    hashed = kind == "int64"
    sparse, dense = cross_inputs(r)
    inputs = [ints(s.where, "int64") for s in sparse] + [(s.dtype, s.values) for s in sparse] + [ints(s.shape, "int64") for s in sparse] + dense
    return Case(name, inputs, {"N": len(sparse), "sparse_types": [s.dtype for s in sparse], "dense_types": [d for d, _ in dense], "hashed_output": hashed,
                               "num_buckets": r.choice([0, 100]), "hash_key": r.choice([0, 956888297470]), "out_type": kind,
                               "internal_type": r.choice(["string", "int64"])}, ulps=0)


@op("SparseCrossV2 SparseCrossHashed")
def sparse_cross_v2(r, name):
    types = ("int64", "string") if name == "SparseCrossHashed" else ("string",)
    sparse, dense = cross_inputs(r, types)
    inputs = [ints(s.where, "int64") for s in sparse] + [(s.dtype, s.values) for s in sparse] + [ints(s.shape, "int64") for s in sparse] + dense
    if name == "SparseCrossV2":
        inputs.append(text(r.choice(["_X_", "", "-"])))
    else:
        inputs += [ints(r.choice([0, 100]), "int64"), ("bool", np.array(r.chance(0.5))), ints([r.integer(0, 99), r.integer(0, 99)], "int64")]
    return Case(name, inputs, {"N": len(sparse), "sparse_types": [s.dtype for s in sparse], "dense_types": [d for d, _ in dense]}, ulps=0)


# Ragged tensors


@op("RaggedRange")
def ragged_range(r, name):
    dtype = r.dtype(name, only=FLOATS + INDEX + ["bfloat16"])
    n = r.integer(0, 4)
    shapes = [[n] if r.chance(0.7) else [] for _ in range(3)]
    start, limit = r.tensor(dtype, shapes[0], "whole"), r.tensor(dtype, shapes[1], "whole")
    step = r.tensor(dtype, shapes[2], "tame")
    if r.chance(0.03) and step.size:
        step = np.zeros_like(step)
    return Case(name, [(dtype, start), (dtype, limit), (dtype, step)], {"Tsplits": r.choice(INDEX)})


@op("RaggedGather")
def ragged_gather(r, name):
    dtype, kind = r.choice(NUMBERS + ["string", "bool"]), r.choice(INDEX)
    outer, total = splits(r, r.integer(1, 4))
    nested = [ints(outer, kind)]
    if r.chance(0.4):
        inner, total = splits(r, total)
        nested.append(ints(inner, kind))
    index = r.choice(INDEX)
    which = ints(indices(r, r.shape(1, 2), len(outer) - 1), index)
    return Case(name, nested + [r.values(dtype, [total] + r.shape(0, 1)), which],
                {"PARAMS_RAGGED_RANK": len(nested), "OUTPUT_RAGGED_RANK": len(nested) + len(np.shape(which[1])) - 1, "Tsplits": kind}, ulps=0)


@op("RaggedTensorToSparse")
def ragged_to_sparse(r, name):
    dtype, kind = r.dtype(name, only=NUMBERS + ["string", "bool"]), r.choice(INDEX)
    outer, total = splits(r, r.integer(0, 4))
    nested = [ints(outer, kind)]
    if r.chance(0.4):
        inner, total = splits(r, total)
        nested.append(ints(inner, kind))
    return Case(name, nested + [r.values(dtype, [total] + r.shape(0, 1))], {"RAGGED_RANK": len(nested), "Tsplits": kind}, ulps=0)


@op("RaggedTensorToTensor")
def ragged_to_tensor(r, name):
    dtype, kind = r.choice(NUMBERS + ["string", "bool"]), r.choice(INDEX)
    rows, total = splits(r, r.integer(0, 4))
    inner = r.shape(0, 1)
    how = r.choice(["ROW_SPLITS", "VALUE_ROWIDS"])
    if how == "ROW_SPLITS":
        partitions, types = [ints(rows, kind)], ["ROW_SPLITS"]
    else:
        ids = np.repeat(np.arange(len(rows) - 1), np.maximum(np.diff(rows), 0))[:total]
        partitions, types = [ints(len(rows) - 1, kind), ints(ids, kind)], ["FIRST_DIM_SIZE", "VALUE_ROWIDS"]
        total = len(ids)
    shape = [-1 if r.chance(0.6) else r.integer(0, 5) for _ in range(2 + len(inner))]
    if r.chance(0.2):
        shape = -1
    default = r.values(dtype, [] if r.chance(0.8) else inner)
    return Case(name, [ints(shape, r.choice(INDEX)), r.values(dtype, [total] + inner), default] + partitions,
                {"row_partition_types": types, "num_row_partition_tensors": len(partitions)}, ulps=0)


@op("RaggedTensorToVariant RaggedTensorFromVariant")
def ragged_variant(r, name):
    dtype, kind = r.choice(NUMBERS + ["string", "bool"]), r.choice(INDEX)
    p = Program(name, ulps=0)
    rows, total = splits(r, r.integer(0, 3))
    batched = r.chance(0.7)
    nested = [p.ints(rows, kind)]
    v = p.node("RaggedTensorToVariant", nested + [p.value(dtype, r.tensor(dtype, [total] + r.shape(0, 1)))],
               {"RAGGED_RANK": 1, "Tsplits": kind, "batched_input": batched})
    input_rank = 0 if batched else 1
    out = p.node("RaggedTensorFromVariant", [v], {"input_ragged_rank": input_rank, "output_ragged_rank": 1, "Tvalues": dtype, "Tsplits": kind})
    p.fetch(out, out + ":1")
    return p


@op("RaggedCross")
def ragged_cross(r, name):
    batch, kind = r.integer(1, 3), r.choice(["string", "int64"])
    ragged_values, ragged_splits, order = [], [], ""
    for _ in range(r.integer(0, 2)):
        rows, total = splits(r, batch, 2)
        t = r.choice(["int64", "string"])
        ragged_values.append(r.values(t, [total], "small"))
        ragged_splits.append(ints(rows, r.choice(INDEX)))
        order += "R"
    sparse = [Sparse(r, r.choice(["int64", "string"]), [batch, 2], wrong=0) for _ in range(r.integer(0, 1))]
    dense = [r.values(r.choice(["int64", "string"]), [batch, r.integer(1, 2)], "small") for _ in range(r.integer(0 if order or sparse else 1, 1))]
    order += "S" * len(sparse) + "D" * len(dense)
    inputs = ragged_values + ragged_splits + [ints(s.where, "int64") for s in sparse] + [(s.dtype, s.values) for s in sparse] + \
        [ints(s.shape, "int64") for s in sparse] + dense
    return Case(name, inputs, {"Nsparse": len(sparse), "input_order": order, "hashed_output": kind == "int64", "num_buckets": r.choice([0, 50]),
                               "hash_key": r.choice([0, 956888297470]), "ragged_values_types": [d for d, _ in ragged_values],
                               "ragged_splits_types": [d for d, _ in ragged_splits], "sparse_values_types": [s.dtype for s in sparse],
                               "dense_types": [d for d, _ in dense], "out_values_type": kind, "out_row_splits_type": r.choice(INDEX)}, ulps=0)


