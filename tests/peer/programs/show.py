"""What the programs of this folder print: a name and the numbers or texts of a value, so that two runs can be compared."""

import numpy as np


def show(name, value):
    """Strings as they are; of a large array its shape, mean, and some of its numbers."""
    if isinstance(value, dict):
        for key in sorted(value):
            show(f"{name}.{key}", value[key])
        return
    if isinstance(value, (list, tuple)) and not hasattr(value, "dtype"):
        for number, one in enumerate(value):
            show(f"{name}[{number}]", one)
        return
    array = np.asarray(value)
    if array.dtype.kind in "OSU":
        print(name, array.shape, array.reshape(-1).tolist()[:20])
        return
    flat = array.reshape(-1)
    some = flat if flat.size <= 12 else np.concatenate([flat[:4], flat[-4:], [flat.astype(np.float64).mean(), np.abs(flat).astype(np.float64).mean()]])
    print(name, array.dtype.name, array.shape, " ".join(f"{x:.6g}" for x in some.tolist()))


def refusal(call):
    """The class and the code of the error that the call ends with."""
    try:
        call()
    except Exception as error:
        return type(error).__name__
    return "nothing"
