#!/usr/bin/env python3
"""Where troupe differs from TensorFlow on purpose: differences.tsv, and docs/differences.md, which is made of it.

    differences.py            says whether the page is that of the list; tools/dev/docs.py asks too
    differences.py --write    writes the page
peer_test.py runs the cases in both and holds each to its column.
"""

import os
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
    no single op shows it, and the answers are sentences."""

    def __init__(self, line):
        self.op, self.attrs, inputs, self.tensorflow, self.troupe, self.why = line.rstrip("\n").split("\t")
        self.inputs = None if inputs == "-" else [text.strip() for text in inputs.split(";")]

    def shown(self):
        if self.inputs is None:
            return self.op
        return f"`{self.op}({'; '.join(self.inputs)}{'; ' + self.attrs if self.attrs else ''})`"


def read():
    with open(LIST, encoding="utf-8") as file:
        return [Difference(line) for line in file if not line.startswith("#")]


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
