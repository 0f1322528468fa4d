#!/usr/bin/env python3
"""Writes graph/op/known_ops.txt: the signatures of all public ops of the TensorFlow installed here, packed.

Three parts, an empty line between them: lists of dtypes, arguments and attributes that several ops have, one line for each op.
"#n" is the n-th list, "@n" the n-th argument or attribute; else the notation is that of op_signatures.tsv. Ops of TPUs, XLA and
TensorRT are left out: their graphs are made for one machine.
"""
import os
import re
from collections import Counter

from make_op_signatures import HERE, from_installation

LEFT_OUT = re.compile(r"TPU|Tpu|^Xla|^TRT|Mkl|XlaSparse|D[Tt]ensor|^Tfl")


def pieces(column):
    return [piece for piece in re.split(r"; (?=\w+:)", column) if piece]


def shared(counts, shortest):
    return [key for key, count in counts.most_common() if count > 1 and len(key) > shortest]


def main():
    source, rows = from_installation()
    rows = sorted(row for row in rows if not LEFT_OUT.search(row[0]))
    # No literal stands for a tensor, and an attribute of that kind is always given.
    rows = [[column.replace(":tensor=tensor", ":tensor").replace(":[tensor]=[]", ":[tensor]") for column in row] for row in rows]
    assert not any("@" in column or "#" in column for row in rows for column in row)
    common = shared(Counter(p for row in rows for column in row[2:] for p in pieces(column)), 4)
    number = {piece: "@" + str(n) for n, piece in enumerate(common)}
    lines = ["\t".join(row[:2] + [";".join(number.get(p, p) for p in pieces(c)) for c in row[2:]]) for row in rows]
    text = "\n".join(common) + "\n\n" + "\n".join(lines) + "\n"
    lists = shared(Counter(re.findall(r"allowed=\[([a-z0-9,]*)\]", text)), 6)
    for n, types in enumerate(lists):
        text = text.replace("[" + types + "]", "[#" + str(n) + "]")
    path = os.path.join(HERE, "..", "..", "graph", "op", "known_ops.txt")
    with open(path, "w", encoding="utf-8") as out:
        out.write("# " + source + "\n" + "\n".join(lists) + "\n\n" + text)


if __name__ == "__main__":
    main()
