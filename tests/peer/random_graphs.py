"""Random graphs of tens of nodes, whose values stay moderate; and their gradients."""

import numpy as np

from case import Case, Program
from makers import MAKERS
from tensorflow_answers import run_eagerly
from tensors import FLOATING, numpy_type

MOST = 600  # elements of a tensor
LARGE = 1e3
SMOOTH = ["Neg", "Tanh", "Sigmoid", "Square", "Sin", "Cos", "Softplus", "Identity", "Exp", "Erf", "Softsign", "StopGradient"]
KINKED = ["Abs", "Relu", "Relu6", "Elu", "Selu", "Sqrt", "Rsqrt", "Log", "Log1p", "Reciprocal", "Floor", "Ceil", "Rint", "Sign", "LeakyRelu", "Expm1"]
TWO = ["AddV2", "Add", "Sub", "Mul", "Maximum", "Minimum", "SquaredDifference", "RealDiv", "DivNoNan", "MulNoNan", "Xdivy", "Atan2"]
WINDOWED = ["Conv2D", "DepthwiseConv2dNative", "MaxPool", "AvgPool"]
TWO_WHOLE = ["AddV2", "Sub", "Mul", "Maximum", "Minimum", "FloorDiv", "FloorMod", "BitwiseAnd", "BitwiseXor", "SquaredDifference"]


class Node:
    def __init__(self, name, dtype, value):
        self.name, self.dtype, self.value = name, dtype, value

    @property
    def shape(self):
        return list(np.shape(self.value))


class Builder:
    """Grows a program; knows the value of every node."""

    def __init__(self, r, op, dtype, differentiable):
        self.r, self.dtype, self.differentiable = r, dtype, differentiable
        self.program, self.pool = Program(op, scale="spread"), []

    def constant(self, dtype, value):
        value = np.asarray(value, numpy_type(dtype))
        return Node(self.program.value(dtype, value), dtype, value)

    def add(self, op, inputs, attrs=None):
        """The node's outputs, none where TensorFlow refuses it or what it gives is too large."""
        case = Case(op, [(n.dtype, n.value) for n in inputs], attrs)
        said = run_eagerly(case)
        if said.code is not None or not said.values:
            return []
        for value in said.values:
            value = np.asarray(value)
            if value.size == 0 and op in WINDOWED:  # there shape functions refuse what kernels compute
                return []
            if value.size > MOST or (value.dtype.kind == "f" and value.size and not (np.all(np.isfinite(value)) and np.abs(value).max() < LARGE)):
                return []
        names = [n.name for n in inputs]
        if self.r.chance(0.03) and self.program.nodes:
            names.append(f"^{self.r.choice(self.program.nodes)[0]}")
        name = self.program.node(op, names, attrs)
        out = [Node(f"{name}:{i}" if i else name, t, np.asarray(v)) for i, (t, v) in enumerate(zip(said.types, said.values))]
        self.pool += out
        return out

    def one(self, dtype=None, rank=None):
        """A tensor of the pool, the newest more often."""
        found = [n for n in self.pool if (dtype is None or n.dtype == dtype) and (rank is None or len(n.shape) in rank)]
        if not found:
            return None
        at = len(found) - 1 - min(int(abs(self.r.np.randn()) * len(found) / 2), len(found) - 1)
        return found[at]

    def partner(self, x):
        """A tensor that broadcasts with x."""
        found = [n for n in self.pool if n.dtype == x.dtype and (n.shape == x.shape or not n.shape)]
        if found and self.r.chance(0.7):
            return self.r.choice(found)
        shape = [d if self.r.chance(0.7) else 1 for d in x.shape][self.r.integer(0, len(x.shape)):]
        if self.r.chance(0.15):  # what a rewriting may simplify
            return self.constant(x.dtype, np.full(shape, self.r.choice([0, 1, 2])))
        return self.constant(x.dtype, self.r.tensor(x.dtype, shape, "tame"))

    # Each step adds a node or two, or nothing.

    def step_smooth(self):
        x = self.one(self.dtype)
        return self.add(self.r.choice(SMOOTH), [x])

    def step_kinked(self):
        x, op = self.one(self.dtype), self.r.choice(KINKED)
        if op in ("Sqrt", "Rsqrt", "Log", "Log1p", "Reciprocal"):
            positive = self.add("Softplus", [x])
            return positive and self.add(op, positive)
        return self.add(op, [x])

    def step_two(self):
        x = self.one(self.dtype)
        pair = [x, self.partner(x)]
        if self.r.chance(0.5):
            pair.reverse()
        return self.add(self.r.choice(TWO), pair)

    def step_again(self):
        """A node like another one."""
        if self.program.nodes:
            name, op, inputs, attrs = self.r.choice(self.program.nodes)
            by = {n.name: n for n in self.pool}
            data = [by.get(i) for i in inputs if not i.startswith("^")]
            return self.add(op, data, attrs) if all(data) and data else []
        return []

    def step_whole(self):
        x = self.one("int32")
        if x is None:
            return self.add("Cast", [self.one(self.dtype)], {"DstT": "int32"})
        op = self.r.choice(TWO_WHOLE)
        y = self.constant("int32", self.r.tensor("int32", [], "tame")) if "Floor" in op else self.partner(x)
        return self.add(op, [x, y])

    def step_cast(self):
        x = self.one(self.r.choice(["int32", "bool", self.dtype]))
        return x and self.add("Cast", [x], {"DstT": self.r.choice([self.dtype, self.dtype, "int32"])})

    def step_compare(self):
        x = self.one(self.r.choice([self.dtype, "int32"]))
        if x is None:
            return []
        out = self.add(self.r.choice(["Less", "GreaterEqual", "Equal", "NotEqual", "Greater"]), [x, self.partner(x)])
        if out and self.r.chance(0.7):
            a = self.one(self.dtype)
            out += self.add("SelectV2", [out[0], a, self.partner(a)])
        return out

    def step_logic(self):
        x = self.one("bool")
        if x is None:
            return []
        return self.add("LogicalNot", [x]) if self.r.chance(0.4) else self.add(self.r.choice(["LogicalAnd", "LogicalOr"]), [x, self.partner(x)])

    def step_reduce(self):
        x = self.one(self.r.choice([self.dtype, self.dtype, "int32"])) or self.one(self.dtype)
        axes = self.r.some(range(len(x.shape)))
        op = self.r.choice(["Sum", "Mean", "Max", "Min", "Sum"] + ["Prod"] * (max(x.shape + [1]) < 4))
        return self.add(op, [x, self.constant("int32", axes)], {"keep_dims": self.r.chance(0.5)})

    def step_reshape(self):
        x = self.one()
        total, how = int(np.prod(x.shape)), self.r.integer(0, 3)
        if how == 0 or not total:
            return self.add("ExpandDims", [x, self.constant("int32", self.r.integer(0, len(x.shape)))])
        if how == 1:
            shape = self.add("Shape", [x], {"out_type": "int32"})
            flat = self.add("Reshape", [x, self.constant("int32", [-1])])
            return flat and shape and self.add("Reshape", [flat[0], shape[0]])
        if how == 2 and 1 in x.shape:
            return self.add("Squeeze", [x], {"squeeze_dims": []})
        factor = self.r.choice([f for f in (1, 2, 3, 4, 6) if total % f == 0])
        return self.add("Reshape", [x, self.constant("int32", self.r.choice([[factor, -1], [-1, factor], [factor, total // factor], [1, -1, factor]]))])

    def step_move(self):
        x, r = self.one(), self.r
        rank = len(x.shape)
        if rank == 0:
            return self.add("Tile", [self.add("ExpandDims", [x, self.constant("int32", 0)])[0], self.constant("int32", [r.integer(1, 3)])])
        axis = r.integer(0, rank - 1)
        how = r.choice(["Transpose", "Transpose", "ReverseV2", "Tile", "GatherV2", "StridedSlice", "Slice", "ConcatV2", "Pack", "Split", "Unpack", "Pad", "Roll"])
        if how == "Transpose":
            return self.add(how, [x, self.constant("int32", r.np.permutation(rank))])
        if how == "ReverseV2":
            return self.add(how, [x, self.constant("int32", [axis])])
        if how == "Roll":
            return [] if self.differentiable else self.add(how, [x, self.constant("int32", r.integer(-2, 2)), self.constant("int32", axis)])
        if how == "Tile":
            return self.add(how, [x, self.constant("int32", [r.integer(1, 2) for _ in range(rank)])])
        if how == "GatherV2" and x.shape[axis]:
            return self.add(how, [x, self.constant("int32", r.np.randint(0, x.shape[axis], r.shape(0, 1))), self.constant("int32", axis)])
        if how == "Slice":
            begin = [r.integer(0, d) for d in x.shape]
            size = [r.choice([-1, r.integer(0, d - b)]) for b, d in zip(begin, x.shape)]
            return self.add(how, [x, self.constant("int32", begin), self.constant("int32", size)])
        if how == "StridedSlice":
            from cases_arrays import slice_inputs
            spec, masks = slice_inputs(r, x.shape, "int32")
            return self.add(how, [x] + [self.constant(*part) for part in spec], masks)
        if how == "ConcatV2":
            y = self.partner(x)
            y = y if y.shape == x.shape else x
            return self.add(how, [x, y, self.constant("int32", axis)])
        if how == "Pack":
            return self.add(how, [x, x], {"axis": r.integer(0, rank)})
        if how == "Split":
            parts = r.choice([n for n in (1, 2, 3) if x.shape[axis] % n == 0])
            return self.add(how, [self.constant("int32", axis), x], {"num_split": parts})
        if how == "Unpack" and 0 < x.shape[axis] < 4:
            return self.add(how, [x], {"num": x.shape[axis], "axis": axis})
        if how == "Pad":
            return self.add(how, [x, self.constant("int32", [[r.integer(0, 1), r.integer(0, 1)] for _ in x.shape])])
        return []

    def step_shape(self):
        """Shapes as values."""
        x = self.one()
        shape = self.add("Shape", [x], {"out_type": "int32"})
        if not shape or self.r.chance(0.3):
            return self.add(self.r.choice(["Size", "Rank"]), [x])
        if self.r.chance(0.5):
            return self.add("Fill", [shape[0], self.constant(self.dtype, self.r.choice([0, 1, 0.5]))])
        y = self.partner(x)
        return self.add("BroadcastTo", [y, shape[0]]) if self.r.chance(0.5) else self.add("BroadcastGradientArgs", [shape[0], self.constant("int32", y.shape)])

    def step_matrix(self):
        x, r = self.one(self.dtype, (2, 3)), self.r
        if x is None:
            x = self.one(self.dtype)
            out = self.add("Reshape", [x, self.constant("int32", [-1, 1])])
            if not out:
                return []
            x = out[0]
        n = r.integer(1, 5)
        if len(x.shape) == 3:
            return self.add("BatchMatMulV2", [x, self.constant(self.dtype, r.tensor(self.dtype, [x.shape[2], n], "unit"))])
        ta, tb = r.chance(0.5), r.chance(0.5)
        k = x.shape[0] if ta else x.shape[1]
        w = self.constant(self.dtype, r.tensor(self.dtype, [n, k] if tb else [k, n], "unit"))
        out = self.add("MatMul", [x, w], {"transpose_a": ta, "transpose_b": tb})
        if out and r.chance(0.6):
            out = self.add("BiasAdd", [out[0], self.constant(self.dtype, r.tensor(self.dtype, [n], "tame"))])
            if out and r.chance(0.6):
                out = self.add(r.choice(["Relu", "Tanh", "Sigmoid", "Elu"]), out)
        return out

    def step_image(self):
        x, r = self.one(self.dtype, (4,)), self.r
        if x is None or 0 in x.shape:
            flat = self.one(self.dtype)
            total = int(np.prod(flat.shape))
            if total == 0:
                return []
            out = self.add("Reshape", [flat, self.constant("int32", r.choice([[1, 1, -1, 1], [1, -1, 1, 1], [1, 1, 1, -1]]))])
            if not out:
                return []
            x = out[0]
        padding = r.choice(["SAME", "VALID"])
        what = r.choice(["Conv2D", "Conv2D", "MaxPool", "AvgPool", "DepthwiseConv2dNative"])
        if what.endswith("Pool"):
            return self.add(what, [x], {"ksize": [1, r.integer(1, 2), r.integer(1, 2), 1], "strides": [1, r.integer(1, 2), r.integer(1, 2), 1], "padding": padding})
        n = r.integer(1, 3)
        w = self.constant(self.dtype, r.tensor(self.dtype, [r.integer(1, 2), r.integer(1, 3), x.shape[3], n], "tame"))
        stride = r.integer(1, 2)
        out = self.add(what, [x, w], {"strides": [1, stride, stride, 1], "padding": padding})
        if out and r.chance(0.7):
            c = out[0].shape[3]
            out = self.add("BiasAdd", [out[0], self.constant(self.dtype, r.tensor(self.dtype, [c], "tame"))])
            if out and r.chance(0.7):
                out = self.add("Relu", out)
        return out

    def step_softmax(self):
        x = self.one(self.dtype, (1, 2, 3))
        return x and x.shape[-1] and self.add(self.r.choice(["Softmax", "LogSoftmax"]), [x])

    def step_segment(self):
        x, r = self.one(self.dtype, (1, 2, 3)), self.r
        if x is None or not x.shape[0]:
            return []
        n = r.integer(1, 4)
        ids = self.constant("int32", r.np.randint(0, n, x.shape[0]))
        return self.add("UnsortedSegmentSum", [x, ids, self.constant("int32", n)])

    def grow(self, count):
        r = self.r
        for _ in range(r.integer(2, 4)):
            self.pool.append(self.constant(self.dtype, r.tensor(self.dtype, [max(min(d, 5), 1) for d in r.shape(0, 4, empty=False)][:4], r.choice(["small", "tame", "unit"]))))
        steps = [name for name in dir(self) if name.startswith("step_")]
        weights = {"step_smooth": 3, "step_two": 6, "step_move": 3, "step_reduce": 2, "step_kinked": 2}
        pick = [name for name in steps for _ in range(weights.get(name, 1))]
        tries = 0
        while len(self.program.nodes) < count and tries < 4 * count:
            tries += 1
            getattr(self, r.choice(pick))()


def make(r, name):
    """"Graph": some of its values. "Gradients": d sum(y) / dx in the graph that TensorFlow's Python makes of it. "Autodiff": the same, where
    troupe makes its own."""
    gradients = name != "Graph"
    b = Builder(r, name, r.choice(["float", "float", "double"]), gradients)
    b.grow(r.integer(8, 60) if gradients else r.integer(20, 200))
    p = b.program
    used = {i.split(":")[0] for _, _, inputs, _ in p.nodes for i in inputs}
    made = [n for n in b.pool if not n.name.startswith("in")]
    ends = [n for n in made if n.name.split(":")[0] not in used]
    if not gradients:
        # Ends of the graph, and some nodes within.
        chosen = ends[:6] + [n for n in made if r.chance(0.05)][:4]
        p.fetch(*dict.fromkeys(n.name for n in chosen or made[-1:]))
        p.fed = {i for i, (dtype, _) in enumerate(p.inputs) if dtype in FLOATING and r.chance(0.4)}
        return p
    floats = [n for n in ends if n.dtype == b.dtype] or [n for n in made if n.dtype == b.dtype][-1:]
    p.ys = [n.name for n in floats[:3]]
    p.xs = [f"in{i}" for i, (dtype, _) in enumerate(p.inputs) if dtype == b.dtype][:6]
    p.autodiff = name == "Autodiff"
    return p


for kind in ("Graph", "Gradients", "Autodiff"):
    MAKERS[kind] = make
