"""Each case of differences.tsv in TensorFlow and in troupe: both answer what their column says."""

import os
import subprocess
import tempfile

import numpy as np
from tensorflow.core.framework import graph_pb2

from differences import read
from peer import Case, add_case, add_fetches, run_tensorflow

DTYPES = {"f16": "half", "f32": "float", "f64": "double", "i32": "int32", "i64": "int64", "c64": "complex64", "bool": "bool"}


def literal(text):
    """A dtype's name and an array, of the literals that the list has."""
    head, _, rest = text.partition("]")
    name, _, dims = head.partition("[")
    kind = DTYPES[name]
    shape = [int(d) for d in dims.split(",") if d]
    words = [{"true": True, "false": False}.get(word, word) for word in rest.split()]
    if name == "c64":
        words = [complex(*map(float, word.strip("()").split(","))) for word in words]
    array = np.array(words, {"half": "float16", "float": "float32", "double": "float64"}.get(kind, kind))
    return kind, np.full(shape, array[0]) if len(words) == 1 else array.reshape(shape)


def attrs_of(text):
    def value(word):
        if word.startswith("["):
            return [int(x) for x in word.strip("[]").split(",")]
        return int(word) if word.lstrip("-").isdigit() else word
    return {key: value(word) for key, word in (attr.split("=") for attr in text.split())}


def is_code(text):
    return text.isupper() and "[" not in text


def tensorflow_says(case):
    answer = run_tensorflow(case)
    return answer.code or [np.asarray(value) for value in answer.values]


def troupe_says(executable, case, count):
    graph = graph_pb2.GraphDef()
    graph.versions.producer = 1882
    add_case(graph, case, "x")
    with tempfile.TemporaryDirectory(prefix="troupe-peer-") as folder:
        fetches = [f"x:{i}" for i in range(count)]
        path = os.path.join(folder, "g.pb")
        with open(path, "wb") as file:
            file.write(graph.SerializeToString())
        command = [executable, "run", "local", path, "--out", os.path.join(folder, "out"), "--timeout", "60s"]
        done = subprocess.run(command + [word for name in fetches for word in ("--fetch", name)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if done.returncode != 0:
            return done.stderr.decode(errors="replace").removeprefix("troupe: ").split(":")[0]
        return [np.load(os.path.join(folder, "out", file)) for file in sorted(os.listdir(os.path.join(folder, "out")))]


def disagrees(said, expected):
    """Why what was said is not what the column says, or None."""
    if is_code(expected) or isinstance(said, str):
        return None if said == expected else f"says {said}, not {expected}"
    values = [literal(text.strip())[1] for text in expected.split(";")]
    for value, array in zip(values, said):
        if value.dtype != array.dtype or not np.array_equal(value, array, equal_nan=array.dtype.kind == "f"):
            return f"computes {array!r}, not {value!r}"
    return None


def run(executable):
    """Sentences on the lines that are not true, and the number of cases."""
    wrong, total = [], 0
    for difference in read():
        if difference.inputs is None:
            continue
        total += 1
        case = Case(difference.op, [literal(text) for text in difference.inputs], attrs_of(difference.attrs))
        count = 1 if is_code(difference.troupe) else len(difference.troupe.split(";"))
        for name, said, expected in [("TensorFlow", tensorflow_says(case), difference.tensorflow),
                                     ("troupe", troupe_says(executable, case, count), difference.troupe)]:
            why = disagrees(said, expected)
            if why:
                wrong.append(f"{difference.shown()}\n    {name} {why}")
    return wrong, total
