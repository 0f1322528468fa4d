"""The register of the makers of random cases, and what the makers share."""

import numpy as np

from tensors import numpy_type
from values import INDEX

MAKERS = {}


def op(*names):
    """Names may be several in one text."""
    def keep(maker):
        for name in " ".join(names).split():
            MAKERS[name] = maker
        return maker
    return keep


def ints(values, dtype="int32"):
    return dtype, np.array(values, dtype=numpy_type(dtype))


def real(value, dtype="float"):
    return dtype, np.array(value, dtype=numpy_type(dtype))


def text(value):
    array = np.empty([], object)
    array[()] = value.encode() if isinstance(value, str) else value
    return "string", array


def texts(values):
    out = np.empty(len(values), object)
    for i, value in enumerate(values):
        out[i] = value.encode() if isinstance(value, str) else value
    return "string", out


def indices(r, shape, limit, wrong=0.005):
    """Integers below `limit`; one that is not, now and then."""
    n = int(np.prod(shape))
    if limit == 0 and r.chance(0.7):
        return np.zeros([0] + list(shape[1:]) if shape else [0], int)
    flat = [r.integer(0, max(limit - 1, 0)) if not r.chance(wrong) else r.choice([-1, limit, 2**31 - 1, -2**31]) for _ in range(n)]
    return np.array(flat, np.int64).reshape(shape)


def some_fed(r, case):
    """Half of the cases know all inputs before the step, the others only some or none."""
    if r.chance(0.5):
        case.fed = {i for i, entry in enumerate(case.inputs) if len(entry) == 2 and r.chance(0.7)}
    return case


__all__ = ["INDEX", "MAKERS", "indices", "ints", "op", "real", "some_fed", "text", "texts"]
