#!/usr/bin/env python3
"""Where troupe differs from TensorFlow on purpose: differences.tsv, and docs/differences.md, which is made of it.

    differences.py            says whether the page is that of the list; tools/dev/docs.py asks too
    differences.py --write    writes the page
peer_test.py runs the cases in both and holds each to its column.
"""

import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
LIST = os.path.join(HERE, "differences.tsv")
PAGE = os.path.join(HERE, "..", "..", "docs", "differences.md")
HEAD = """# Where troupe differs from TensorFlow

Made of `tests/peer/differences.tsv` by `tests/peer/differences.py --write`; do not edit it. `ctest -L peer` runs every case of it in both.
What is not here is meant to be TensorFlow's: values to within the tolerances of `tests/support/ops/compare.cpp`, refusals with its code.

"""


class Difference:
    """One line: the op, its attributes and inputs, what each side answers (a code, or literals between " ; "), and why. Without inputs ("-")
    no single op shows it, and the answers are sentences.

    A seventh column says which of the random cases that differ are this difference: a Python expression on `op`, `kind` and `label` of the
    mismatch (compare.py), `dtypes` and `values` of the inputs, `attrs`, and the messages `theirs` and `ours`."""

    def __init__(self, line):
        self.op, self.attrs, inputs, self.tensorflow, self.troupe, self.why, *covers = line.rstrip("\n").split("\t")
        self.inputs = None if inputs == "-" else [text.strip() for text in inputs.split(";")]
        self.condition = compile(covers[0], f"covers of {self.op}", "eval") if covers else None
        self.name = self.op

    def covers(self, case, mismatch, answer):
        if self.condition is None:
            return False
        import numpy
        ours = re.findall(r"troupe (?:says )?[A-Z_]+:? ['\"](.*)", mismatch.detail)
        names = {"op": case.op, "kind": mismatch.kind, "label": mismatch.label, "attrs": case.attrs, "np": numpy,
                 "dtypes": [entry[0] for entry in case.inputs], "values": [entry[1] for entry in case.inputs],
                 "theirs": answer.message if answer is not None else "", "ours": ours[0] if ours else "", "detail": mismatch.detail}
        known = {function.__name__: function for function in (abs, all, any, float, len, max, min, set, zip)}
        try:
            return bool(eval(self.condition, {"__builtins__": known, **names}))
        except LookupError:  # an input or attribute that this case does not have
            return False

    def shown(self):
        if self.inputs is None:
            return self.op
        return f"`{self.op}({'; '.join(self.inputs)}{'; ' + self.attrs if self.attrs else ''})`"


def read():
    with open(LIST, encoding="utf-8") as file:
        return [Difference(line) for line in file if not line.startswith("#")]


def rules():
    """Those that cover random cases."""
    return [difference for difference in read() if difference.condition is not None]


def page():
    def answer(difference, text):
        return text if difference.inputs is None else f"`{text}`"
    lines = ["| case | TensorFlow | troupe | why |", "|---|---|---|---|"]
    lines += [f"| {d.shown()} | {answer(d, d.tensorflow)} | {answer(d, d.troupe)} | {d.why} |" for d in read()]
    return HEAD + "\n".join(lines) + "\n"


def is_up_to_date():
    try:
        with open(PAGE, encoding="utf-8") as file:
            return file.read() == page()
    except FileNotFoundError:
        return False


def main():
    if sys.argv[1:] == ["--write"]:
        with open(PAGE, "w", encoding="utf-8") as file:
            file.write(page())
        return 0
    if is_up_to_date():
        return 0
    print("docs/differences.md is not that of tests/peer/differences.tsv: run tests/peer/differences.py --write")
    return 1


if __name__ == "__main__":
    sys.exit(main())
