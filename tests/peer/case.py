"""Cases of the comparison: one op, or a small graph of several, on tensors that are given."""

import numpy as np

from tensors import numpy_type


class Case:
    """One op. `inputs` are (dtype's name, array), or (name, array, "res") and (name, array, "var") for the handle of a variable with that
    value and for a reference to one: what becomes of it is compared too. `fed` are the positions of those that arrive by feeds instead of
    constants; `outputs` is how many of the outputs count.

    `ulps` is how many units in the last place two values may lie apart, and `scale` what the unit is of: "each" element, the "max" of the
    tensor's, "one" or the element if that is larger, "sums": of the sum of the terms' sizes, which the op on the absolute inputs computes.
    "spread": what is allowed follows from how far TensorFlow's own values go apart when the inputs change a little."""

    nodes = None
    ys = xs = ()  # of a Program: what is differentiated, and by what; then the gradients are what is compared

    def __init__(self, op, inputs, attrs=None, fed=(), ulps=None, scale=None, outputs=None):
        self.op, self.inputs, self.attrs = op, list(inputs), dict(attrs or {})
        self.fed, self.ulps, self.scale, self.outputs = set(fed), ulps, scale, outputs
        self.seed = None  # that made it

    def copy(self, **changes):
        out = object.__new__(type(self))
        out.__dict__.update(self.__dict__, **changes)
        return out


class Program(Case):
    """A small graph: nodes made by `node` and `then`, the latter each after the one before; `fetch` names what is compared.

    `op` is the op that it is about. Constants are `inputs`, so that a program shrinks as a case does."""

    autodiff = False  # troupe makes the gradients itself

    def __init__(self, op, ulps=None, scale=None):
        super().__init__(op, [], ulps=ulps, scale=scale)
        self.nodes, self.fetches, self.last = [], [], None

    def value(self, dtype, array):
        self.inputs.append((dtype, np.asarray(array, numpy_type(dtype))))
        return f"in{len(self.inputs) - 1}"

    def ints(self, values, dtype="int32"):
        return self.value(dtype, values)

    def text(self, value):
        return self.value("string", np.array(value.encode() if isinstance(value, str) else value, object))

    def node(self, op, inputs, attrs=None, after=None):
        """Adds a node; its name, which is its first output's too ("n3", "n3:1")."""
        name = f"n{len(self.nodes)}"
        self.nodes.append((name, op, list(inputs) + ([f"^{after}"] if after else []), dict(attrs or {})))
        return name

    def then(self, op, inputs, attrs=None):
        self.last = self.node(op, inputs, attrs, self.last)
        return self.last

    def fetch(self, *names):
        self.fetches.extend(names)


class Built:
    """A case as a graph: bytes of a GraphDef whose names begin with a prefix, feeds (name, dtype, array), fetches (name, dtype) and targets."""

    def __init__(self, graph, feeds, fetches, targets, ys=(), xs=()):
        self.graph, self.feeds, self.fetches, self.targets = graph, feeds, fetches, targets
        self.ys, self.xs = list(ys), list(xs)  # where the other side is to add gradients


class Answer:
    """Values with their dtypes' names, or a code and a message. `refused` if a shape function said no before a kernel saw the inputs.
    `spreads`, of cases of that scale: how far the values are apart when the inputs change a little."""

    spreads = None

    def __init__(self, code=None, values=(), types=(), message="", refused=False):
        self.code, self.values, self.types, self.message, self.refused = code, list(values), list(types), message, refused
