"""What rows of single ops are made of: many of the op in a graph, one after the other, so that a session's own time does not count."""

from dataclasses import dataclass

import graph_def
from graph_def import BFLOAT16, FLOAT, HALF, INT32, INT64, Type
from steps import PLAIN, LOCAL_PLAIN, Step, StepRow

AIM = 1.0  # TensorFlow's time by ours; no row is to be below LEAST
LEAST = 0.8
F32 = {"T": Type(FLOAT)}
DTYPES = {"double": 2, "int32": INT32, "int64": INT64, "bfloat16": BFLOAT16, "half": HALF}


@dataclass
class KernelRow(StepRow):
    copies: int = 1

    def once(self, bench, side, variants, result):
        return super().once(bench, side, variants, result) / self.copies


def ints(values, dtype=INT32):
    """A vector of integers as an input."""
    return (dtype, (len(values),), list(values))


def scalar(value, dtype=FLOAT):
    return (dtype, (), [value])


def sparse_places(g, size, entries):
    """Where a sparse matrix of size x size has entries, and its shape; each row has as many of them, far from each other."""
    in_row = entries // size
    places = [sorted((row * 37 + i * (size // in_row) + row * i % 11) % size for i in range(in_row)) for row in range(size)]
    indices = g.constant("places", [n for row, columns in enumerate(places) for column in columns for n in (row, column)], INT64, (entries, 2))
    return indices, g.constant("size", [size, size], INT64, (2,))


def sparse_matrix(g, name, size, entries):
    """A sparse matrix whose entries are a fed tensor."""
    indices, shape = sparse_places(g, size, entries)
    return g.node("sparse", "SparseTensorToCSRSparseMatrix", [indices, name, shape], **F32)


def unit_matrix(g, n):
    return g.constant("unit", [float(i == j) for i in range(n) for j in range(n)], FLOAT, (n, n))


def prepared(g, kind, name, dims):
    """A node that makes of a fed tensor x, whose elements lie in -0.5 … 0.5: "above x" what is positive, "true x" what is above 0, "complex x", "regular x" and
    "gram x" square matrices that have an inverse and that are positive definite, "int32 0 999 x" another dtype, its range spread over two bounds."""
    what = kind[0]
    if what == "above":
        return g.node(f"above_{name}", "AddV2", [name, g.constant(f"one_{name}", [1.0])], **F32)
    if what == "true":
        return g.node(f"true_{name}", "Greater", [name, g.constant(f"zero_{name}", [0.0])], **F32)
    if what == "complex":
        return g.node(f"complex_{name}", "Complex", [name, name], T=Type(FLOAT), Tout=Type(8))
    if what == "regular":
        eight = g.node(f"eight_{name}", "Mul", [unit_matrix(g, dims[-1]), g.constant(f"factor_{name}", [8.0])], **F32)
        return g.node(f"regular_{name}", "AddV2", [name, eight], **F32)
    if what == "gram":
        square = g.node(f"square_{name}", "MatMul", [name, name], transpose_a=False, transpose_b=True, **F32)
        return g.node(f"gram_{name}", "AddV2", [square, unit_matrix(g, dims[-1])], **F32)
    low, high = map(float, kind[1:])
    from_zero = g.node(f"from_zero_{name}", "AddV2", [name, g.constant(f"half_{name}", [0.5])], **F32)
    spread = g.node(f"spread_{name}", "Mul", [from_zero, g.constant(f"factor_{name}", [high - low])], **F32)
    moved = g.node(f"moved_{name}", "AddV2", [spread, g.constant(f"low_{name}", [low])], **F32)
    return g.node(f"cast_{name}", "Cast", [moved], SrcT=Type(FLOAT), DstT=Type(DTYPES[what]))


def graph_of(op, inputs, shapes, attrs, copies):
    """`copies` nodes of one op in a row. Inputs: the name of a fed tensor, what `prepared` makes of one, "sparse 64" for a sparse matrix of 64 x 64 with
    the entries of x, "places 64" for the indices, the values and the shape of such a sparse tensor, or a constant's dtype, shape and values."""
    g = graph_def.Graph()
    names, placed = [], []
    for i, value in enumerate(inputs):
        if isinstance(value, tuple):
            names.append(g.constant(f"c{i}", value[2], value[0], value[1]))
        elif value.startswith("sparse "):
            names.append(sparse_matrix(g, g.placeholder("x", shapes["x"]), int(value.split()[1]), shapes["x"][0]))
        elif value.startswith("places "):
            indices, shape = sparse_places(g, int(value.split()[1]), shapes["x"][0])
            names.extend([indices, g.placeholder("x", shapes["x"]), shape])
        elif " " in value:
            *kind, name = value.split()
            if name not in placed:
                placed.append(g.placeholder(name, shapes[name]))
            names.append(prepared(g, kind, name, shapes[name]))
        elif value in placed or value in names:
            names.append(value)
        else:
            placed.append(g.placeholder(value, shapes[value]))
            names.append(value)
    last = []
    for k in range(copies):
        last = ["^" + g.node(f"n{k}", op, [*names, *last], **attrs)]
    g.node("done", "NoOp", last)
    return g.bytes()


def row(family, what, op, inputs, shapes, copies=50, **attrs):
    """`shapes`: of the fed tensors, by name."""
    name = f"kernel-{family}"
    feeds = [f"{tensor}:float:{','.join(map(str, shape))}" for tensor, shape in shapes.items()]
    step = Step((name, graph_of, op, inputs, shapes, attrs, copies), feeds=feeds, ops=["done"])
    return KernelRow(name, what, AIM, steps=[step], ours=PLAIN, theirs=LOCAL_PLAIN, seconds=0.4, copies=copies)


def summary(figures):
    """Sentences about all rows that have a ratio."""
    ratios = {name: figure["ratio"]["median"] for name, figure in figures.items() if figure.get("ratio")}
    if not ratios:
        return []
    reached = sum(ratio >= AIM for ratio in ratios.values())
    below = [f"{name} {ratio:.2f}" for name, ratio in ratios.items() if ratio < LEAST]
    return [f"{reached} of {len(ratios)} rows are at least {AIM:g} times as fast as TensorFlow; below {LEAST:g}: {', '.join(below) or 'none'}"]
