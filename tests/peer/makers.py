"""The register of the makers of random cases, and what the makers share."""

import numpy as np

MAKERS = {}
INDEX = ["int32", "int64"]


def op(*names):
    def keep(maker):
        for name in names:
            MAKERS[name] = maker
        return maker
    return keep


def ints(values, dtype="int32"):
    return dtype, np.array(values, dtype=np.dtype(dtype))


def some_fed(r, case):
    """Half of the cases know all inputs before the step, the others only some or none."""
    if r.chance(0.5):
        case.fed = {i for i in range(len(case.inputs)) if r.chance(0.7)}
    return case
