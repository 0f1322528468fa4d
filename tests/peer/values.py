"""Random shapes and tensors, with the awkward ones among them more often than chance would bring."""

import os

import ml_dtypes
import numpy as np

from tensors import ALIASES, COMPLEX, DTYPES, FLOATING, numpy_type

FLOATS = ["float", "double"]
REALS = ["half", "bfloat16", "float", "double"]
BIG_INTS = ["int32", "int64"]
NUMBERS = FLOATS + BIG_INTS
SIGNED = ["int8", "int16", "int32", "int64"]
INTS = BIG_INTS + ["uint8", "int8", "int16", "uint16", "uint32", "uint64"]
ALL_NUMBERS = FLOATS + INTS
ANY = ALL_NUMBERS + ["bool", "string"]
INDEX = ["int32", "int64"]
SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, 1e-30, 1e30, -1e30, 2.5, -2.5, 100.0, -100.0, 3.5, 0.3]
TEXTS = [b"", b"a", b"bc", b"\x00\xff", b"longer than sixteen bytes", b" ", b"A b", "gr\u00fc\u00df".encode(), "\u65e5\u672c".encode(), b"12", b"-1.5e3"]
# Those that graphs use most are drawn more often.
WEIGHT = {"float": 6, "double": 3, "int32": 4, "int64": 2, "string": 2, "bool": 2, "half": 2, "bfloat16": 2, "complex64": 2, "complex128": 2}
MOST_ELEMENTS = 4000


def read_dtypes():
    """(op, attribute) to the dtypes of TensorFlow's kernels for the CPU."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden", "cpu_dtypes.tsv")
    out = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            if not line.startswith("#"):
                op, attr, names = line.rstrip("\n").split("\t")
                out[op, attr] = names.split(",")
    return out


class Random:
    """A seeded source of shapes and values."""

    kernels = read_dtypes()

    def __init__(self, seed):
        self.np = np.random.RandomState(seed % 2**32)

    def integer(self, low, high):
        """In [low, high], both included."""
        return int(self.np.randint(low, high + 1, dtype=np.int64))

    def chance(self, p):
        return bool(self.np.rand() < p)

    def choice(self, items):
        return items[self.integer(0, len(items) - 1)]

    def some(self, items, p=0.5):
        return [item for item in items if self.chance(p)]

    def dtype(self, op, attr="T", but=(), only=None):
        """One of those that TensorFlow's kernels take."""
        names = self.kernels.get((op, attr)) or only or ANY + REALS[:2] + list(COMPLEX)
        names = [n for n in names if ALIASES.get(n, n) in DTYPES and n not in but and n not in ("resource", "variant") and (only is None or n in only)]
        weights = np.array([WEIGHT.get(n, 1) for n in names], float)
        return names[int(self.np.choice(len(names), p=weights / weights.sum()))]

    def dim(self):
        return self.choice([0, 1, 1, 2, 2, 3, 3, 4, 5, 7]) if self.chance(0.95) else self.integer(8, 40)

    def shape(self, low=0, high=None, empty=True):
        if high is None:
            high = 4
            if self.chance(0.06):  # up to the highest rank that TensorFlow's kernels know
                return [self.choice([1, 1, 2, 2, 3] + [0] * empty * self.chance(0.2)) for _ in range(self.integer(max(low, 5), 8))]
        dims = [self.dim() for _ in range(self.integer(low, max(low, high)))]
        while int(np.prod([max(d, 1) for d in dims])) > MOST_ELEMENTS:
            dims[int(np.argmax(dims))] //= 2
        return dims if empty else [max(d, 1) for d in dims]

    def broadcastable(self, shape):
        """A shape that broadcasts with `shape`, most of the time."""
        dims = [1 if self.chance(0.3) else d for d in shape[self.integer(0, len(shape)):]]
        if self.chance(0.3):
            dims = self.shape(0, 2) + list(shape)
        if self.chance(0.05):
            dims = self.shape()
        return dims if int(np.prod([max(d, 1) for d in dims])) <= 4 * MOST_ELEMENTS else list(shape)

    def real(self, n, dtype, kind):
        """Doubles that are to become a floating dtype."""
        flat = self.np.rand(n) + 0.01 if kind == "unit" else self.np.randn(n) * self.choice([0.1, 1, 1, 1, 10])
        if kind == "heavy":
            flat = np.clip(self.np.standard_cauchy(n), -1e6, 1e6)
            if n and self.chance(0.3):
                flat[self.integer(0, n - 1)] = 1e6
        if kind == "tame":
            flat = np.sign(flat) * (np.abs(flat) % 3 + 0.1)
        if kind == "positive":
            flat = np.abs(flat) % 3 + 0.1
        if kind == "whole":
            flat = np.round(flat * 3)
        if kind == "unit":
            flat = np.minimum(flat, 0.99)
        if kind == "any" and self.chance(0.1):
            flat = np.round(flat)
        if kind == "any" and n and self.chance(0.3):
            limits = ml_dtypes.finfo(numpy_type(dtype)) if dtype in FLOATING else None
            for _ in range(max(1, n // 4)):
                special = self.choice(SPECIAL)
                if limits is not None and self.chance(0.15):
                    special = float(self.choice([limits.max, limits.min, limits.tiny, limits.eps]))
                flat[self.integer(0, n - 1)] = special
        return flat

    def tensor(self, dtype, shape, kind="any"):
        """`kind`: "any" with special values now and then, "tame" near 1 and never 0, "positive" likewise, "small" numbers, "whole" ones,
        "unit" in (0, 1), "heavy" with tails as long as Cauchy's and a value beyond them now and then."""
        n = int(np.prod(shape, dtype=np.int64))
        t = numpy_type(dtype)
        if dtype == "string":
            flat = np.empty(n, object)
            for i in range(n):
                flat[i] = self.choice(TEXTS[:5] if kind == "small" else TEXTS)
        elif dtype == "bool":
            flat = self.np.rand(n) < self.choice([0.5, 0.5, 0.1, 0.9])
        elif dtype in FLOATING:
            with np.errstate(all="ignore"):
                flat = self.real(n, dtype, kind).astype(t)
        elif dtype in COMPLEX:
            real = "float" if dtype == "complex64" else "double"
            flat = (self.real(n, real, kind) + 1j * self.real(n, real, kind)).astype(t)
            if kind == "any" and n and self.chance(0.1):
                flat = flat.real.astype(t)
        elif dtype.startswith("float8"):
            flat = self.np.randn(n).astype(t)
        else:
            unsigned = dtype.startswith(("u", "qu"))
            if kind in ("tame", "positive", "unit"):
                flat = self.np.randint(1, 8 if "int4" in dtype else 10, n)
            else:
                flat = self.np.randint(0 if unsigned else -8 if "int4" in dtype else -10, 8 if "int4" in dtype else 11, n)
            flat = flat.astype(t)
            if kind == "any" and n and "int4" not in dtype and self.chance(0.3):
                info = np.iinfo(t)
                for _ in range(max(1, n // 4)):
                    flat[self.integer(0, n - 1)] = self.choice([info.min, info.max, 0, 1, info.max // 2 + 1, info.min + 1])
        return flat.reshape(shape)

    def values(self, dtype, shape, kind="any"):
        """An input of a case."""
        return dtype, self.tensor(dtype, shape, kind)

    def bad(self, value, p=0.04):
        """An integer that fits nowhere, now and then; `value` otherwise."""
        return self.choice([-1, -100, 100, 2**31 - 1, -2**31, value + 1]) if self.chance(p) else value

    def axis(self, rank, p=0.5):
        if rank == 0 or self.chance(0.04):
            return self.choice([0, -1, rank, -rank - 1, 2**31 - 1, -2**31])
        axis = self.integer(0, rank - 1)
        return axis - rank if self.chance(p) else axis
