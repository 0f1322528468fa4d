"""Random shapes and tensors, with the awkward ones among them more often than chance would bring."""

import numpy as np

from tensorflow.python.framework import dtypes

FLOATS = ["float", "double"]
BIG_INTS = ["int32", "int64"]
NUMBERS = FLOATS + BIG_INTS
INTS = BIG_INTS + ["uint8", "int8", "int16", "uint16", "uint32", "uint64"]
ALL_NUMBERS = FLOATS + INTS
ANY = ALL_NUMBERS + ["bool", "string"]
# None below the normal numbers: TensorFlow's threads take those for 0, troupe's compute with them.
SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, 1e-30, 1e30, -1e30, 2.5, -2.5, 100.0, -100.0]


def numpy_type(name):
    return np.dtype(object) if name == "string" else np.dtype(dtypes.as_dtype(NAMES.get(name, name)).as_numpy_dtype)


NAMES = {"float": "float32", "double": "float64", "half": "float16"}


class Random:
    """A seeded source of shapes and values."""

    def __init__(self, seed):
        self.np = np.random.RandomState(seed)

    def integer(self, low, high):
        """In [low, high], both included."""
        return int(self.np.randint(low, high + 1))

    def chance(self, p):
        return bool(self.np.rand() < p)

    def choice(self, items):
        return items[self.integer(0, len(items) - 1)]

    def dim(self):
        return self.choice([0, 1, 1, 2, 2, 3, 3, 4, 5, 7]) if self.chance(0.95) else self.integer(8, 40)

    def shape(self, low=0, high=4, empty=True):
        dims = [self.dim() for _ in range(self.integer(low, high))]
        return dims if empty else [max(d, 1) for d in dims]

    def broadcastable(self, shape):
        """A shape that broadcasts with `shape`, most of the time."""
        dims = [1 if self.chance(0.3) else d for d in shape[self.integer(0, len(shape)):]]
        if self.chance(0.3):
            dims = self.shape(0, 2) + list(shape)
        if self.chance(0.05):
            dims = self.shape()
        return dims

    def tensor(self, dtype, shape, kind="any"):
        """`kind`: "any" with special values now and then, "tame" near 1 and never 0, "small" integers, "unit" in (0, 1),
        "heavy" with tails as long as Cauchy's and a value beyond them now and then."""
        n = int(np.prod(shape, dtype=np.int64))
        t = numpy_type(dtype)
        if dtype == "string":
            flat = np.array([self.choice([b"", b"a", b"bc", b"\x00\xff", b"longer than sixteen bytes"]) for _ in range(n)], dtype=object)
        elif dtype == "bool":
            flat = self.np.rand(n) < 0.5
        elif t.kind in "iu":
            if kind == "tame":
                flat = self.np.randint(1, 10, n)
            else:
                flat = self.np.randint(0 if t.kind == "u" else -10, 11, n)
            flat = flat.astype(t)
            if kind == "any" and n and self.chance(0.3):
                info = np.iinfo(t)
                for _ in range(max(1, n // 4)):
                    flat[self.integer(0, n - 1)] = self.choice([info.min, info.max, 0, 1, info.max // 2 + 1])
        else:
            flat = self.np.rand(n) + 0.01 if kind == "unit" else self.np.randn(n) * self.choice([0.1, 1, 1, 1, 10])
            if kind == "heavy":
                flat = np.clip(self.np.standard_cauchy(n), -1e6, 1e6)
                if n and self.chance(0.3):
                    flat[self.integer(0, n - 1)] = 1e6
            if kind == "tame":
                flat = np.sign(flat) * (np.abs(flat) % 3 + 0.1)
            if kind == "unit":
                flat = np.minimum(flat, 0.99)
            if kind == "any" and self.chance(0.1):
                flat = np.round(flat)
            flat = flat.astype(t)
            if kind == "any" and n and self.chance(0.3):
                for _ in range(max(1, n // 4)):
                    flat[self.integer(0, n - 1)] = self.choice(SPECIAL)
        return flat.reshape(shape)

    def bad(self, value):
        """An integer that fits nowhere, now and then; `value` otherwise."""
        return self.choice([-1, -100, 100, 2**31 - 1, -2**31, value + 1]) if self.chance(0.04) else value

    def axis(self, rank, p=0.5):
        if rank == 0 or self.chance(0.04):
            return self.choice([0, -1, rank, -rank - 1, 2**31 - 1, -2**31])
        axis = self.integer(0, rank - 1)
        return axis - rank if self.chance(p) else axis
