"""Makes a case that shows a mismatch smaller, as long as it shows one of the same kind; and writes it as a row of the op's table."""

import numpy as np

from tensors import COMPLEX, FLOATING, element, literal

MOST_STEPS = 250


def cut(array, axis, keep):
    return np.take(array, keep, axis)


def smaller_shapes(case):
    """Cases with fewer rows: along one axis of one input, and along all axes of one length of all inputs."""
    lengths = sorted({d for entry in case.inputs for d in np.shape(entry[1])} - {0, 1}, reverse=True)
    for length in lengths:
        for keep in {1, length // 2, length - 1}:
            out = []
            for entry in case.inputs:
                array = np.asarray(entry[1])
                for axis in range(array.ndim):
                    if array.shape[axis] == length:
                        array = cut(array, axis, list(range(keep)))
                out.append((entry[0], array) + tuple(entry[2:]))
            yield case.copy(inputs=out)
    for i, entry in enumerate(case.inputs):
        array = np.asarray(entry[1])
        for axis in range(array.ndim):
            length = array.shape[axis]
            for keep in ([range(0, length // 2), range(length // 2, length), range(1, length), range(0, length - 1)] if length > 1 else []):
                yield with_input(case, i, cut(array, axis, list(keep)))


def with_input(case, i, array):
    inputs = list(case.inputs)
    inputs[i] = (inputs[i][0], array) + tuple(inputs[i][2:])
    return case.copy(inputs=inputs)


def simpler_values(case):
    for i, entry in enumerate(case.inputs):
        dtype, array = entry[0], np.asarray(entry[1])
        if array.size == 0:
            continue
        if dtype == "string":
            for plain in (b"", b"a"):
                if array.size > 1 or (array.ravel()[0] != plain and len(array.ravel()[0]) > len(plain)):
                    yield with_input(case, i, np.full(array.shape, plain, object))
            continue
        zeros = np.zeros_like(array)
        if dtype in FLOATING or dtype in COMPLEX:
            tries = [zeros, np.ones_like(array)]
            with np.errstate(all="ignore"):
                rounded = np.round(array.astype(np.complex128 if dtype in COMPLEX else np.float64), 1).astype(array.dtype)
            tries.append(np.where(array == 0, array, rounded).astype(array.dtype))
        else:
            tries = [zeros]
        for value in tries:
            if not np.array_equal(value, array, equal_nan=dtype in FLOATING):
                yield with_input(case, i, value)
        if array.size <= 64:
            flat = array.ravel()
            for k in range(array.size):
                if flat[k] != 0:
                    changed = flat.copy()
                    changed[k] = 0
                    yield with_input(case, i, changed.reshape(array.shape))


def fewer_attrs(case):
    for key, value in case.attrs.items():
        if isinstance(value, bool) and value:
            yield case.copy(attrs=dict(case.attrs, **{key: False}))
    if case.fed:
        yield case.copy(fed=set())


def renamed(case, nodes, inputs, kept, fetches, ys, xs):
    """The program with those inputs (positions `kept` of `inputs`), whose names are their positions."""
    names = {f"in{old}": f"in{new}" for new, old in enumerate(kept)}

    def rename(name):
        mark, bare = ("^", name[1:]) if name.startswith("^") else ("", name)
        node, colon, slot = bare.partition(":")
        return mark + names.get(node, node) + colon + slot
    nodes = [(name, op, [rename(i) for i in ins], attrs) for name, op, ins, attrs in nodes]
    fed = {kept.index(i) for i in case.fed if i in kept}
    return case.copy(nodes=nodes, inputs=[inputs[i] for i in kept], fed=fed, fetches=[rename(f) for f in fetches], ys=[rename(y) for y in ys],
                     xs=[rename(x) for x in xs])


def pruned(case, fetches=None, ys=None, xs=None, nodes=None, inputs=None):
    """The program with what those fetches need."""
    fetches, ys, xs = (case.fetches if fetches is None else fetches), (case.ys if ys is None else ys), (case.xs if xs is None else xs)
    nodes, inputs = nodes or case.nodes, inputs or case.inputs
    needed = {name.split(":")[0].lstrip("^") for name in list(fetches) + list(ys) + list(xs)}
    kept = []
    for node in reversed(nodes):
        if node[0] in needed:
            kept.append(node)
            needed.update(i.lstrip("^").split(":")[0] for i in node[2])
    return renamed(case, kept[::-1], inputs, [i for i in range(len(inputs)) if f"in{i}" in needed], fetches, ys, xs)


def smaller_programs(case, values):
    """`values(case)`: what TensorFlow computes of each node, by name."""
    if case.nodes is None:
        return
    for name in case.fetches if len(case.fetches) > 1 else ():
        yield pruned(case, [name])
    for name in case.ys if len(case.ys) > 1 else ():
        yield pruned(case, ys=[name])
    for name in case.xs if len(case.xs) > 1 else ():
        yield pruned(case, xs=[name])
    for node in case.nodes:
        if any(i.startswith("^") for i in node[2]):
            nodes = [(n, op, [i for i in ins if not i.startswith("^")], attrs) for n, op, ins, attrs in case.nodes]
            yield pruned(case, nodes=nodes)
            break
    known = values(case) if case.scale == "spread" else {}
    # A node becomes the constant that it gives; those near the end first, since more falls away with them.
    for name, _, _, _ in reversed(case.nodes):
        if name not in known or any(f.split(":")[0] == name for f in list(case.fetches) + list(case.ys)):
            continue
        where = f"in{len(case.inputs)}"
        nodes = [(n, op, [i if i.lstrip("^").split(":")[0] != name else where for i in ins if i != f"^{name}"], attrs)
                 for n, op, ins, attrs in case.nodes if n != name]
        if any(i.startswith(name + ":") for _, _, ins, _ in case.nodes for i in ins):
            continue
        yield pruned(case, nodes=nodes, inputs=case.inputs + [known[name]])


def size_of(case):
    total = 10000 * len(case.nodes or ()) + 1000 * (len(getattr(case, "ys", ())) + len(getattr(case, "xs", ())) + len(getattr(case, "fetches", ())))
    if case.nodes is not None:
        total += 10 * sum(len(ins) for _, _, ins, _ in case.nodes)
    for entry in case.inputs:
        array = np.asarray(entry[1])
        total += 4 + array.size * 4 + array.ndim
        if entry[0] == "string":
            total += sum(len(x) for x in array.ravel())
        elif array.size:
            total += int(np.sum(array != 0)) * 2 + sum(len(element(entry[0], x)) for x in array.ravel()[:64])
    return total + sum(map(bool, case.attrs.values())) + len(case.fed)


def shrink(case, mismatch_of, kind, values=None):
    """`mismatch_of(case)` is the Mismatch or None; the smallest case found, and its mismatch."""
    best, found, steps, goes_on = case, None, 0, True
    while goes_on and steps < MOST_STEPS:
        goes_on = False
        for candidates in (lambda c: smaller_programs(c, values), smaller_shapes, simpler_values, fewer_attrs):
            for candidate in candidates(best):
                if size_of(candidate) >= size_of(best):
                    continue
                steps += 1
                if steps > MOST_STEPS:
                    break
                mismatch = mismatch_of(candidate)
                if mismatch is not None and mismatch.kind == kind.kind and mismatch.label == kind.label:
                    best, found, goes_on = candidate, mismatch, True
                    break
    return best, found or mismatch_of(best)


CPP_TYPES = {"float": "float32", "double": "float64", "half": "float16", "bool": "bool_"}


def cpp_text(text):
    if isinstance(text, bytes):
        text = text.decode("latin-1")
    out = ""
    for char in text:
        out += "\\" + char if char in '"\\' else char if 32 <= ord(char) < 127 else f"\\{ord(char):03o}"
    return f'"{out}"'


def cpp_value(key, value):
    from tensors import ALIASES, DTYPES
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, np.integer)):
        return f"std::int64_t{{{value}}}"
    if isinstance(value, float):
        return f"{value!r}f"
    if isinstance(value, (str, bytes)):
        if isinstance(value, str) and (value in DTYPES or value in ALIASES) and key not in ("message", "equation", "mode"):
            value = ALIASES.get(value, value)
            return f"DType::{CPP_TYPES.get(value, value)}"
        return f"std::string({cpp_text(value)})"
    if value is None:
        return "PartialShape{}"
    if all(isinstance(v, (int, np.integer)) and not isinstance(v, bool) for v in value):
        return f"std::vector<std::int64_t>{{{', '.join(map(str, value))}}}"
    if all(isinstance(v, str) and v in DTYPES for v in value):
        return f"std::vector<DType>{{{', '.join(cpp_value(key, v) for v in value)}}}"
    if all(isinstance(v, float) for v in value):
        return f"std::vector<float>{{{', '.join(repr(v) + 'f' for v in value)}}}"
    if any(v is None for v in value) and all(v is None or isinstance(v, int) for v in value):
        return f"PartialShape{{{', '.join(str(-1 if v is None else v) for v in value)}}}"
    return f"/* {value!r} */"


def as_row(case, answer, name="NAME"):
    """A row of TROUPE_OP_CASES that holds TensorFlow's answer; a program as the lines of a graph."""
    if case.nodes is not None:
        return as_graph(case, answer)
    def shown(text):
        return cpp_text(text)
    inputs = ", ".join(shown((f"{entry[2]} " if len(entry) > 2 else "") + literal(entry[0], entry[1])) for entry in case.inputs)
    lines = [f"{{.name = {cpp_text(name)}", f".inputs = {{{inputs}}}"]
    if case.attrs:
        lines.append(f".attrs = {{{', '.join(f'{{{cpp_text(k)}, {cpp_value(k, v)}}}' for k, v in case.attrs.items())}}}")
    if answer is None:
        lines.append(".error = /* TensorFlow ends its process */")
    elif answer.code is not None:
        lines.append(f".error = {cpp_text(answer.message[:200])} /* {answer.code} */")
    else:
        states = [(i, entry[2]) for i, entry in enumerate(case.inputs) if len(entry) > 2]
        values = [literal(t, v) for t, v in zip(answer.types, answer.values)]
        outputs, after = values[:len(values) - len(states)], values[len(values) - len(states):]
        if outputs:
            lines.append(f".outputs = {{{', '.join(map(shown, outputs))}}}")
        if after:
            lines.append(f".after = {{{', '.join(f'{{{i}, {shown(v)}}}' for (i, _), v in zip(states, after))}}}")
    return f"{case.op}: " + ",\n     ".join(lines) + "}"


def as_graph(case, answer):
    lines = [f"{case.op}:"]
    for i, entry in enumerate(case.inputs):
        lines.append(f"    in{i} = Const[value={literal(entry[0], entry[1])}]()")
    for name, op, inputs, attrs in case.nodes:
        shown = ", ".join(f"{k}={v}" for k, v in attrs.items())
        lines.append(f"    {name} = {op}[{shown}]({', '.join(inputs)})")
    if case.fed:
        lines.append(f"    feed {', '.join(f'in{i}' for i in sorted(case.fed))}")
    lines.append(f"    d {', '.join(case.ys)} by {', '.join(case.xs)}" if case.ys else f"    fetch {', '.join(case.fetches)}")
    if answer is not None:
        lines.append("    " + (f"{answer.code} {answer.message[:300]}" if answer.code else "; ".join(literal(t, v) for t, v in zip(answer.types, answer.values))))
    return "\n".join(lines)
