#!/usr/bin/env python3
"""Writes op_signatures.tsv: signatures of TensorFlow's public ops, one a line.

    make_op_signatures.py              every op of the TensorFlow installed here
    make_op_signatures.py CENSUS.tsv   the ops of a census: columns tier, family, op, grad, flags, inputs, outputs,
                                       attrs, versions
    make_op_signatures.py CENSUS.tsv OP...   and these ops of the TensorFlow installed here
    make_op_signatures.py op_signatures.tsv OP...   the same, where the census is not at hand

Columns written: op, flags (S stateful, c commutative, a aggregate, u takes uninitialised references), inputs, outputs,
attrs. "name:T&" is a reference, "name:N*T" a list of one dtype; "name:kind=default allowed=[...] min=n" an attribute,
"[kind]" a list. The first line names the source.
"""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def from_census(path):
    if path.endswith("op_signatures.tsv"):
        lines = open(path, encoding="utf-8").read().splitlines()
        return lines[0][2:], [tuple(line.split("\t")) for line in lines[1:]]
    text = open(path, encoding="utf-8").read().replace("'\n'", r"'\n'").replace("'\t'", r"'\t'")
    rows = []
    for line in text.split("\n")[1:]:
        fields = line.split("\t")
        if len(fields) == 9:
            rows.append((fields[2], fields[4], fields[5], fields[6], fields[7], fields[8].split(",")[-1]))
    newest = max((row[5] for row in rows), key=lambda v: [int(p) for p in v.split(".")])
    return "TensorFlow " + newest, [row[:5] for row in rows if row[5] == newest]


def from_installation():
    import tensorflow as tf
    from tensorflow.core.framework import op_def_pb2, types_pb2
    from tensorflow.python.client import pywrap_tf_session

    def dtype(number):
        return types_pb2.DataType.Name(number)[3:].lower()

    def escaped(data):
        return data.decode("utf-8", "replace").replace("\n", r"\n").replace("\t", r"\t")

    def shape(value):
        return "?" if value.unknown_rank else "[" + ",".join(str(d.size) for d in value.dim) + "]"

    def arg(a):
        if a.type_list_attr:
            kind = a.type_list_attr
        else:
            kind = a.type_attr or dtype(a.type)
            if a.number_attr:
                kind = a.number_attr + "*" + kind
        return a.name + ":" + kind + ("&" if a.is_ref else "")

    def value(v):
        case = v.WhichOneof("value")
        if case == "list":
            items = v.list.s or v.list.i or v.list.f or v.list.b or v.list.type or v.list.shape
            show = {id(v.list.s): escaped, id(v.list.type): dtype, id(v.list.shape): shape,
                    id(v.list.b): lambda b: "T" if b else "F"}.get(id(items), str)
            return "[" + ",".join(show(i) for i in items) + "]"
        if case == "s":
            return "'" + escaped(v.s) + "'"
        if case == "b":
            return "T" if v.b else "F"
        if case == "type":
            return dtype(v.type)
        if case == "shape":
            return shape(v.shape)
        return {"i": lambda: str(v.i), "f": lambda: repr(v.f)}.get(case, lambda: str(case))()

    def attr(a):
        kind = a.type.replace("list(", "[").replace(")", "]")
        out = a.name + ":" + kind
        if a.HasField("default_value"):
            out += "=" + value(a.default_value)
        allowed = a.allowed_values.list
        if allowed.type or allowed.s:
            names = [dtype(t) for t in allowed.type] or [escaped(s) for s in allowed.s]
            out += " allowed=[" + ",".join(names) + "]"
        if a.has_minimum:
            out += " min=" + str(a.minimum)
        return out

    ops = op_def_pb2.OpList()
    ops.ParseFromString(pywrap_tf_session.TF_GetBuffer(pywrap_tf_session.TF_GetAllOpList()))
    rows = []
    for op in ops.op:
        if op.name.startswith("_"):
            continue
        flags = ("S" * op.is_stateful + "c" * op.is_commutative + "a" * op.is_aggregate
                 + "u" * op.allows_uninitialized_input)
        rows.append((op.name, flags, "; ".join(map(arg, op.input_arg)), "; ".join(map(arg, op.output_arg)),
                     "; ".join(map(attr, op.attr))))
    return "TensorFlow " + tf.__version__, rows


def main():
    source, rows = from_census(sys.argv[1]) if len(sys.argv) > 1 else from_installation()
    known, further = {row[0] for row in rows}, set(sys.argv[2:])
    if further - known:
        rows += [row for row in from_installation()[1] if row[0] in further - known]
    with open(os.path.join(HERE, "op_signatures.tsv"), "w", encoding="utf-8") as out:
        out.write("# " + source + "\n")
        for row in sorted(rows):
            out.write("\t".join(row) + "\n")


if __name__ == "__main__":
    main()
