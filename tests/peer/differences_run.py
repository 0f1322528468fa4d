"""Each case of differences.tsv in TensorFlow and in troupe: both answer what their column says."""

import re

import numpy as np

from case import Case
from differences import read
from tensors import parse_literal


def attrs_of(text):
    def value(word):
        if word.startswith("["):
            return [int(x) for x in word.strip("[]").split(",")]
        if word in ("true", "false"):
            return word == "true"
        return int(word) if word.lstrip("-").isdigit() else float(word) if re.fullmatch(r"-?\d+\.\d+", word) else word
    return {key: value(word) for key, word in (attr.split("=") for attr in text.split())}


def is_code(text):
    return text.isupper() and "[" not in text


def disagrees(code, types, values, expected):
    """Why what was said is not what the column says, or None."""
    if is_code(expected) or code not in (None, "OK"):
        return None if code == expected else f"says {code or 'values'}, not {expected}"
    wanted = [parse_literal(text) for text in expected.split(" ; ")]
    for (dtype, value), kind, array in zip(wanted, types, values):
        array = np.asarray(array)
        if dtype != kind or value.shape != array.shape or not np.array_equal(value, array, equal_nan=array.dtype.kind == "f"):
            return f"computes {array!r}, not {value!r}"
    return None


def run(tensorflow, troupe):
    """Sentences on the lines that are not true, and the number of cases."""
    wrong, total = [], 0
    for difference in read():
        if difference.inputs is None:
            continue
        total += 1
        case = Case(difference.op, [parse_literal(text) for text in difference.inputs], attrs_of(difference.attrs))
        # What shape functions refuse is refused when a graph is built; kernels alone take it.
        answer, built = tensorflow.answer(case, as_graph=is_code(difference.tensorflow))
        if answer is None:
            wrong.append(f"{difference.shown()}\n    {built}")
            continue
        said = troupe.alone(built)
        for name, why in [("TensorFlow", disagrees(answer.code, answer.types, answer.values, difference.tensorflow)),
                          ("troupe", disagrees(said.code, said.types, said.values, difference.troupe))]:
            if why:
                wrong.append(f"{difference.shown()}\n    {name} {why}")
    return wrong, total
