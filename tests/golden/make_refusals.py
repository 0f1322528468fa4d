#!/usr/bin/env python3
"""Writes refusals.tsv: what TensorFlow's CPU kernels say of inputs that are wrong in one thing.

    make_refusals.py --runner build/tests/peer/case_runner [--cases N] [--seed S] [OP ...]

Random valid cases of tests/peer get one input of another rank or extent, or with one other number in it, and go through both. A row stands
for each op and sentence; columns as op_values.tsv has them, with "! CODE sentence" in place of outputs. Only rows are written where troupe says
the same: the others are printed, for whoever makes them alike. What only differs in names of nodes, or says more after the same words, is alike.
With OPs nothing is written.
"""

import argparse
import collections
import os
import random
import re
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "peer"))

from differential import Differential, seed_of  # noqa: E402
from sides import Ended  # noqa: E402
from tensors import DTYPES, literal  # noqa: E402

NAMED = {name for name in DTYPES if not name.startswith("float8") and name not in ("int4", "uint4")}  # whose literals both sides write alike
MOST_ELEMENTS = 24
CHANGES = 4  # of each case


def changed(array, source):
    """The array with one thing made wrong, or None."""
    kind = source.choice(["longer", "shorter", "empty", "flat", "wrapped", "unwrapped", "number", "number", "negative", "large"])
    if kind == "flat":
        return array.reshape(-1)
    if kind == "wrapped":
        return array[..., None] if source.random() < 0.5 else array[None]
    if kind in ("number", "negative", "large"):
        value = source.choice({"number": [0, 1, 2, 3, 5, 7], "negative": [-1, -2, -5], "large": [100, 1000, 1 << 20]}[kind])
        if array.size == 0 or array.dtype.kind not in "iuf":
            return None
        array = array.copy()
        try:
            array.reshape(-1)[source.randrange(array.size)] = value
        except OverflowError:
            return None
        return array
    if array.ndim == 0:
        return None
    if kind == "unwrapped":
        return array[:1].reshape(array.shape[1:]) if array.shape[0] else None
    axis = source.randrange(array.ndim)
    if kind == "empty":
        return np.take(array, [], axis)
    if array.shape[axis] == 0:
        return None
    return np.concatenate([array, np.take(array, [0], axis)], axis) if kind == "longer" else np.delete(array, 0, axis)


def wrong(case, source):
    """The case with one input changed, or None."""
    if case.nodes is not None or not case.inputs:
        return None
    i = source.randrange(len(case.inputs))
    entry = case.inputs[i]
    array = changed(np.asarray(entry[1]), source)
    if array is None or any(np.size(other[1]) > MOST_ELEMENTS for other in case.inputs) or array.size > MOST_ELEMENTS:
        return None
    inputs = list(case.inputs)
    inputs[i] = (entry[0], array) + tuple(entry[2:])
    return case.copy(inputs=inputs, fed=set())


def sentence(text):
    """Its first line, without what names nodes."""
    text = re.split(r"\n| \[\[| \[node|, node( name)?:|; NodeDef:", text)[0].rstrip(". ")
    return re.sub(r"c\d+_(op|n\d+|in\d+)\w*", "NODE", text)


def sort_of(text):
    return re.sub(r"#([, ]+#)+", "#", re.sub(r"-?\d+(\.\d+)?(e[+-]?\d+)?", "#", text))


def attr_text(value):
    if isinstance(value, (list, tuple)):
        return f"[{','.join(map(attr_text, value))}]"
    return {True: "true", False: "false"}.get(value, str(value)) if isinstance(value, bool) else str(value)


def row_of(case, words):
    """The line, or None where the columns cannot hold it."""
    def fits(value):
        many = value if isinstance(value, (list, tuple)) else [value]
        return value is not None and all(isinstance(v, (bool, int, float)) or (isinstance(v, str) and v and not isinstance(value, (list, tuple))) for v in many)
    if not all(fits(value) for value in case.attrs.values()) or any(entry[0] not in NAMED for entry in case.inputs):
        return None
    attrs = " ".join(f"{key}={attr_text(value)}" for key, value in case.attrs.items())
    inputs = " ; ".join((f"{entry[2]} " if len(entry) > 2 else "") + literal(entry[0], entry[1]) for entry in case.inputs)
    if inputs.count(";") != len(case.inputs) - 1 or attrs.count(" ") != max(len(case.attrs) - 1, 0) or "\t" in inputs + attrs:
        return None
    return "\t".join([case.op, attrs, inputs, words])


class Refusals:
    def __init__(self, runner, seed):
        self.both, self.seed = Differential(runner, out=lambda text: print(text, flush=True)), seed
        self.rows, self.apart = {}, collections.Counter()

    def ops(self):
        return self.both.tensorflow.begin()

    def add_op(self, op, count):
        source = random.Random(f"{self.seed} {op}")
        made = self.both.tensorflow.make([(op, seed_of(self.seed, op, i)) for i in range(count)])
        cases = [case for case, _, _ in made]
        for case in cases:
            for _ in range(CHANGES if case is not None else 0):
                other = wrong(case, source)
                if other is not None:
                    self.add(other)

    def add(self, case):
        try:
            answer, built = self.both.tensorflow.answer(case)
        except Ended:  # TensorFlow's process; of ours it is an error
            return
        if answer is None or isinstance(built, str) or built is None or answer.refused or answer.code in (None, "DEADLINE_EXCEEDED"):
            return
        said = self.both.troupe_says(built)
        theirs, ours = sentence(answer.message), sentence(said.message)
        names_node = f"{case.op} " in theirs or "NODE" in theirs or "{{" in theirs or "No OpKernel" in theirs or "OpKernel '" in theirs or not theirs
        if said.code != answer.code or not (names_node or theirs in ours):
            self.apart[case.op, f"{answer.code} {sort_of(theirs)}", f"{said.code} {sort_of(ours)}"] += 1
            return
        row = None if names_node else row_of(case, f"! {answer.code} {theirs}")
        key = case.op, sort_of(theirs)
        if row and len(row) < len(self.rows.get(key, row + " ")):
            self.rows[key] = row


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--runner", required=True)
    parser.add_argument("--cases", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("ops", nargs="*")
    options = parser.parse_args()
    np.seterr(all="ignore")
    refusals = Refusals(options.runner, options.seed)
    ops = refusals.ops()
    for op in options.ops or ops:
        refusals.add_op(op, options.cases)
    for (op, theirs, ours), count in sorted(refusals.apart.items()):
        print(f"{op}: {count}\n    TensorFlow: {theirs}\n    troupe:     {ours}")
    print(f"{len(refusals.rows)} rows of {len({op for op, _ in refusals.rows})} ops; {sum(refusals.apart.values())} answers in {len(refusals.apart)} classes differ")
    if not options.ops:
        import tensorflow as tf
        with open(os.path.join(HERE, "refusals.tsv"), "w") as file:
            file.write(f"# TensorFlow {tf.__version__}, make_refusals.py\n")
            file.writelines(row + "\n" for _, row in sorted(refusals.rows.items()))
    refusals.both.end()


if __name__ == "__main__":
    main()
