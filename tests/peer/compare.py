"""Whether two answers are the same: dtypes, shapes, values to within units in the last place, codes of refusals."""

import numpy as np

from tensors import COMPLEX, DTYPES, FLOATING, REAL_OF, literal

# Distance from 1 to the next number, and the smallest normal number.
EPSILON = {"half": 2.0**-10, "bfloat16": 2.0**-7, "float": 2.0**-23, "double": 2.0**-52}
TINY = {"half": 2.0**-14, "bfloat16": 2.0**-126, "float": 2.0**-126, "double": 2.0**-1022}
LARGEST = {"half": 65504.0, "bfloat16": 3.3895314e38, "float": 3.4028235e38, "double": np.finfo(np.float64).max}
DEFAULT_ULPS = 4
# In TensorFlow the sign of their zeros depends on where in the tensor they stand, or on its C++ library.
SIGNLESS = ("Relu", "Xdivy", "Xlogy", "Xlog1py", "CumulativeLogsumexp")
WIDE = {"half": "double", "bfloat16": "double", "float": "double", "complex64": "complex128"}


class Mismatch:
    """`kind` names the class: "value", "zero" (its sign), "dtype", "shape", "refuses", "accepts", "code", "ends"; `detail` is a sentence."""

    def __init__(self, kind, detail, label=""):
        self.kind, self.detail, self.label = kind, detail, label

    def key(self, case):
        return case.op, self.kind, self.label


def real_type(dtype):
    return REAL_OF.get(dtype, dtype)


def wide(array):
    with np.errstate(all="ignore"):
        return np.asarray(array, np.complex128 if np.asarray(array).dtype.kind == "c" else np.float64)


def units(expected, found, dtype, scale, sizes=None):
    """How far apart the values are, in units in the last place of `scale`; infinite where only one is a number."""
    real = real_type(dtype)
    a, b = wide(expected), wide(found)
    with np.errstate(all="ignore"):
        if scale == "sums":
            size = np.abs(wide(sizes))
        elif scale == "max":
            finite = np.abs(a[np.isfinite(a)])
            size = np.full(a.shape, finite.max() if finite.size else 0.0)
        elif scale == "one":
            size = np.maximum(1, np.maximum(np.abs(a), np.abs(b)))
        else:
            size = np.maximum(np.abs(a), np.abs(b))
        unit = np.maximum(size, TINY[real]) * EPSILON[real]
        unit = np.where(np.isfinite(unit), unit, LARGEST[real] * EPSILON[real])
        apart = np.abs(a - b)
        # Numbers below the normal ones may be taken for zero.
        apart = np.where((np.abs(a) <= TINY[real]) & (np.abs(b) <= TINY[real]), 0, apart)
        out = apart / unit
    if dtype in COMPLEX:
        same = ~np.isfinite(a) & ~np.isfinite(b)
    else:
        same = (a == b) | (np.isnan(a) & np.isnan(b))
    return np.where(same, 0, np.where(np.isfinite(a) & np.isfinite(b), out, np.inf))


def where(bad, expected, found, dtype):
    at = np.unravel_index(int(np.argmax(bad.ravel())), bad.shape) if bad.shape else ()
    text = f"at {[int(i) for i in at]} " if at else ""
    return f"{text}{literal(dtype, expected[at])} against {literal(dtype, found[at])}, {int(np.sum(bad))} of {bad.size} elements"


def differing(expected, found, dtype, ulps, scale, sizes=None):
    """The elements that differ."""
    if dtype == "string" or not (dtype in FLOATING or dtype in COMPLEX):
        expected, found = np.asarray(expected), np.asarray(found)
        if dtype.startswith("float8"):
            expected, found = expected.view(np.uint8), found.view(np.uint8)
        return np.asarray(expected != found)
    return units(expected, found, dtype, scale, sizes) > ulps


def wrong_zeros(expected, found, dtype):
    if dtype not in FLOATING:
        return np.zeros(np.shape(expected), bool)
    return (wide(expected) == 0) & (wide(found) == 0) & (np.signbit(wide(expected)) != np.signbit(wide(found)))


def absolute(case):
    """The case on the sizes of its numbers: what the terms of sums are together. Wider, so that it does not overflow."""
    return widened(case, lambda x: np.abs(x).astype(x.dtype))


def widened(case, change=lambda x: x, to="double"):
    """The case in double, or halves in float."""
    names = {"float32": "float", "float64": "double", "float16": "half"}
    wider = WIDE if to == "double" else {"half": "float", "bfloat16": "float"}

    def widen(entry):
        if entry[0] not in FLOATING + COMPLEX:
            return entry
        to = wider.get(entry[0], entry[0])
        with np.errstate(all="ignore"):
            return (to, change(np.asarray(entry[1]).astype(DTYPES[to][1]))) + tuple(entry[2:])

    def rename(value):
        if isinstance(value, str):
            return wider.get(names.get(value, value), value)
        if isinstance(value, list):
            return [rename(v) for v in value]
        return value
    attrs = {key: rename(value) for key, value in case.attrs.items()}
    nodes = case.nodes and [(name, op, inputs, {k: rename(v) for k, v in a.items()}) for name, op, inputs, a in case.nodes]
    return case.copy(inputs=[widen(entry) for entry in case.inputs], attrs=attrs, nodes=nodes)


def is_nearer(truth, expected, found, dtype, slack, bad):
    """Whether each found value of those that differ, `bad`, is as near to the truth as the expected one, or within `slack` units of it."""
    with np.errstate(all="ignore"):
        t, a, b = wide(truth), wide(expected), wide(found)
        if t.shape != a.shape:
            return False
        real = real_type(dtype)
        largest = LARGEST[real]
        t = np.where(np.isfinite(t) & (np.abs(t) > largest * (1 + EPSILON[real] / 4)), t * np.inf if dtype not in COMPLEX else np.nan, t)
        ours, theirs = np.abs(b - t), np.abs(a - t)
        unit = np.maximum(np.abs(t), TINY[real]) * EPSILON[real]
        good = ~bad | (ours <= theirs) | (ours <= slack * unit) | (b == t) | (np.isnan(b) & np.isnan(t))
        # A part that is the same need not be judged.
        good |= (a == b) | (np.isnan(a) & np.isnan(b))
        if dtype in COMPLEX:
            good |= ~np.isfinite(b) & ~np.isfinite(t)
    return bool(np.all(good))


def beyond(expected, found, dtype, spread):
    """The elements that are farther apart than changes of the inputs explain."""
    if dtype == "string" or not dtype in FLOATING:
        return (np.asarray(expected) != np.asarray(found)) & (np.asarray(spread) == 0)
    a, b = wide(expected), wide(found)
    with np.errstate(all="ignore"):
        largest = np.abs(a[np.isfinite(a)]).max(initial=0)
        allowed = 32 * np.max(spread, initial=0) + 128 * EPSILON[dtype] * largest
        return ~((np.abs(a - b) <= allowed) | (a == b) | (np.isnan(a) & np.isnan(b)) | ~np.isfinite(spread))


def truth(case, ask):
    """What TensorFlow computes in wider dtypes; nothing if it has none."""
    types = {entry[0] for entry in case.inputs}
    for to in ("double", "float"):
        if types & (set(WIDE) if to == "double" else {"half", "bfloat16"}):
            said = ask(widened(case, to=to))
            if said is not None and said.code is None:
                return said.values
    return []


def compare_values(case, expected, found, types, found_types, ask=None, spreads=None):
    """None, or the Mismatch. `ask(case)` is TensorFlow's answer to another case: it is asked for the sizes of sums, and for the truth."""
    if list(types) != list(found_types):
        return Mismatch("dtype", f"dtypes {types} against {found_types}")
    truths = None
    for i, (e, f, dtype) in enumerate(zip(expected, found, types)):
        e = np.asarray(e)
        if e.shape != f.shape:
            return Mismatch("shape", f"output {i} has shape {list(e.shape)} against {list(f.shape)}", f"output {i}")
        if spreads is not None:
            bad = beyond(e, f, dtype, spreads[i])
            if np.any(bad):
                return Mismatch("value", f"output {i} differs {where(bad, e, f, dtype)}", dtype)
            continue
        ulps = DEFAULT_ULPS if case.ulps is None else case.ulps
        scale = case.scale or "each"
        bad = differing(e, f, dtype, ulps, "each" if scale == "sums" else scale)
        if not np.any(bad):
            zeros = wrong_zeros(e, f, dtype)
            if np.any(zeros) and scale == "each" and not (case.op in SIGNLESS or case.op.endswith("Grad")):
                return Mismatch("zero", f"output {i} differs {where(zeros, e, f, dtype)}", dtype)
            continue
        if dtype not in FLOATING + COMPLEX or ask is None:
            return Mismatch("value", f"output {i} differs {where(bad, e, f, dtype)}", dtype)
        if scale == "sums":
            said = ask(absolute(case))
            if said is not None and said.code is None and np.shape(said.values[i]) == e.shape:
                bad = differing(e, f, dtype, ulps, "sums", said.values[i])
                if not np.any(bad):
                    continue
        if truths is None:
            truths = truth(case, ask)
        if i < len(truths) and np.shape(truths[i]) == e.shape and is_nearer(truths[i], e, f, dtype, ulps, bad):
            continue
        return Mismatch("value", f"output {i} differs {where(bad, e, f, dtype)}", dtype)
    return None


def compare_answer(case, answer, said, ask=None):
    """TensorFlow's answer and troupe's."""
    if said.code == "OK":
        if answer.code is not None:
            if answer.refused:
                return None
            shown = "; ".join(literal(t, v, 8) for t, v in zip(said.types, said.values) if v is not None)
            return Mismatch("accepts", f"TensorFlow says {answer.code} {answer.message!r}, troupe computes {shown}", answer.code)
        return compare_values(case, answer.values, said.values, answer.types, said.types, ask, answer.spreads)
    if answer.code is None:
        shown = "; ".join(literal(t, v, 8) for t, v in zip(answer.types, answer.values))
        return Mismatch("refuses", f"troupe says {said.code} {said.message!r}, TensorFlow computes {shown}", said.code)
    if answer.code != said.code and not (answer.refused and said.code in ("INVALID_ARGUMENT", "UNIMPLEMENTED")):
        return Mismatch("code", f"TensorFlow says {answer.code} {answer.message!r}, troupe {said.code} {said.message!r}", f"{answer.code} {said.code}")
    return None
