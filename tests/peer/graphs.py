"""Cases as TensorFlow's graphs."""

import numpy as np
import tensorflow as tf
from tensorflow.core.framework import graph_pb2, tensor_pb2
from tensorflow.python.framework import op_def_registry

from case import Built
from tensors import ALIASES, NUMBERS, number_of, numpy_type

PRODUCER = 2400
tf1 = tf.compat.v1


def tensor_proto(dtype, array):
    array = np.asarray(array)
    proto = tensor_pb2.TensorProto(dtype=number_of(dtype))
    proto.tensor_shape.SetInParent()
    for d in array.shape:
        proto.tensor_shape.dim.add(size=d)
    if dtype == "string":
        proto.string_val.extend(array.ravel().tolist())
    else:
        proto.tensor_content = np.ascontiguousarray(array, numpy_type(dtype)).tobytes()
    return proto


def set_shape(proto, shape):
    """`shape`: dimensions, None or -1 for unknown ones; None for an unknown rank."""
    if shape is None:
        proto.unknown_rank = True
        return
    proto.SetInParent()
    for d in shape:
        proto.dim.add(size=-1 if d is None else d)


def set_attr(attr, value, kind):
    """`kind`: what the op's definition says of the attribute, such as "type" or "list(int)"."""
    if kind.startswith("list("):
        attr.list.SetInParent()
        kind = kind[5:-1]
        if kind == "type":
            attr.list.type.extend(map(number_of, value))
        elif kind == "string":
            attr.list.s.extend(v.encode() if isinstance(v, str) else v for v in value)
        elif kind == "shape":
            for v in value:
                set_shape(attr.list.shape.add(), v)
        elif kind == "func":
            for v in value:
                attr.list.func.add(name=v)
        else:
            getattr(attr.list, kind[0]).extend(value)
    elif kind == "type":
        attr.type = number_of(value)
    elif kind == "string":
        attr.s = value.encode() if isinstance(value, str) else value
    elif kind == "shape":
        set_shape(attr.shape, value)
    elif kind == "tensor":
        attr.tensor.CopyFrom(tensor_proto(*value))
    elif kind == "func":
        attr.func.name = value
    else:
        setattr(attr, kind[0], value)


def definition_of(op):
    definition = op_def_registry.get(op)
    if definition is None:
        raise KeyError(f"TensorFlow has no op {op}")
    return definition


def implied_attrs(definition, attrs, dtypes):
    """Attributes that the inputs' dtypes determine, beside those that are given."""
    out = dict(attrs)
    rest = list(dtypes)
    args = definition.input_arg
    for index, arg in enumerate(args):
        if arg.number_attr:
            later = sum(1 for a in args[index + 1:] if not a.number_attr and not a.type_list_attr)
            # Lists of one length share their attribute.
            alike = sum(1 for a in args[index:] if a.number_attr == arg.number_attr)
            count = out.get(arg.number_attr, (len(rest) - later) // max(alike, 1))
            out[arg.number_attr] = count
        elif arg.type_list_attr:
            known = out.get(arg.type_list_attr)
            count = len(known) if known is not None else len(rest) - (len(args) - index - 1)
            if known is None:
                out[arg.type_list_attr] = rest[:count]
        else:
            count = 1
        if arg.type_attr and count and rest and arg.type_attr not in out:
            out[arg.type_attr] = rest[0]
        rest = rest[count:]
    return out


def output_types(definition, attrs):
    """The outputs' dtypes, given all attributes that have no defaults."""
    def attr(name):
        if name in attrs:
            return attrs[name]
        default = next(a for a in definition.attr if a.name == name).default_value
        return default.i if default.HasField("i") else [n for n in default.list.type] if default.HasField("list") else default.type

    def name_of(value):
        return NUMBERS.get(value, "?") if isinstance(value, int) else ALIASES.get(value, value)

    out = []
    for arg in definition.output_arg:
        if arg.type_list_attr:
            out += [name_of(t) for t in attr(arg.type_list_attr)]
        else:
            one = name_of(attr(arg.type_attr)) if arg.type_attr else name_of(arg.type)
            out += [one] * (attr(arg.number_attr) if arg.number_attr else 1)
    return out


def node_def(graph, name, op, inputs, attrs):
    node = graph.node.add(name=name, op=op)
    node.input.extend(inputs)
    kinds = {a.name: a.type for a in definition_of(op).attr}
    for key, value in attrs.items():
        set_attr(node.attr[key], value, kinds[key])
    return node


def add_constant(graph, name, dtype, value):
    node = graph.node.add(name=name, op="Const")
    node.attr["dtype"].type = number_of(dtype)
    node.attr["value"].tensor.CopyFrom(tensor_proto(dtype, value))


def add_variable(graph, name, dtype, value, kind):
    """Nodes that make a variable with that value; the handle's or reference's name, and what has to run first."""
    shape = list(np.shape(value))
    add_constant(graph, f"{name}_init", dtype, value)
    if kind == "res":
        node_def(graph, name, "VarHandleOp", [], {"dtype": dtype, "shape": shape, "shared_name": name})
        node_def(graph, f"{name}_set", "AssignVariableOp", [name, f"{name}_init"], {"dtype": dtype})
    else:
        node_def(graph, name, "VariableV2", [], {"dtype": dtype, "shape": shape, "shared_name": name})
        node_def(graph, f"{name}_set", "Assign", [name, f"{name}_init"], {"T": dtype})
    return f"^{name}_set"


def build(case, prefix):
    """Raises KeyError for an op or an attribute that TensorFlow lacks."""
    graph = graph_pb2.GraphDef()
    feeds, fetches, targets, inputs, first, after = [], [], [], [], [], []
    for i, entry in enumerate(case.inputs):
        dtype, value = entry[:2]
        name = f"{prefix}in{i}"
        if len(entry) > 2:
            first.append(add_variable(graph, name, dtype, value, entry[2]))
            after.append((name, dtype, entry[2]))
        elif i in case.fed:
            node = graph.node.add(name=name, op="Placeholder")
            node.attr["dtype"].type = number_of(dtype)
            node.attr["shape"].shape.unknown_rank = True
            feeds.append((name, dtype, value))
        else:
            add_constant(graph, name, dtype, value)
        inputs.append(name)
    if case.nodes is not None:
        types = add_program(graph, case, prefix, fetches, targets)
        if not case.ys:
            return Built(graph.SerializeToString(), feeds, fetches, targets)
        whole, fetches, xs = with_gradients(graph, case, prefix, types)
        if case.autodiff:
            return Built(graph.SerializeToString(), feeds, fetches, targets, [prefix + y for y in case.ys], xs)
        return Built(whole.SerializeToString(), feeds, fetches, targets)
    definition = definition_of(case.op)
    attrs = implied_attrs(definition, case.attrs, ["resource" if len(e) > 2 and e[2] == "res" else e[0] for e in case.inputs])
    name = f"{prefix}op"
    node_def(graph, name, case.op, inputs + first, attrs)
    types = output_types(definition, attrs)
    count = len(types) if case.outputs is None else min(case.outputs, len(types))
    if any(arg.is_ref for arg in definition.output_arg):
        count = 0
    fetches += [(f"{name}:{i}", types[i]) for i in range(count) if types[i] not in ("resource", "variant")]
    if not fetches:
        targets.append(name)
    for variable, dtype, kind in after:
        read = f"{variable}_read"
        if kind == "res":
            node_def(graph, read, "ReadVariableOp", [variable, f"^{name}"], {"dtype": dtype})
        else:
            node_def(graph, read, "Identity", [variable, f"^{name}"], {"T": dtype})
        fetches.append((f"{read}:0", dtype))
    return Built(graph.SerializeToString(), feeds, fetches, targets)


def add_program(graph, case, prefix, fetches, targets):
    types = {f"in{i}": [entry[0]] for i, entry in enumerate(case.inputs)}
    for name, op, inputs, attrs in case.nodes:
        definition = definition_of(op)
        data = [i for i in inputs if not i.startswith("^")]
        known = [types[i.split(":")[0]][int(i.split(":")[1]) if ":" in i else 0] for i in data]
        attrs = implied_attrs(definition, attrs, known)
        node_def(graph, prefix + name, op, [f"^{prefix}{i[1:]}" if i.startswith("^") else prefix + i for i in inputs], attrs)
        types[name] = output_types(definition, attrs)
    for name in case.fetches:
        node, _, slot = name.partition(":")
        if types[node]:
            fetches.append((f"{prefix}{node}:{slot or 0}", types[node][int(slot or 0)]))
        else:
            targets.append(prefix + node)
    return types


def with_gradients(graph, case, prefix, types):
    """The graph with the nodes that TensorFlow's Python adds, and the gradients' names: ys by those xs that they depend on."""
    with tf.Graph().as_default() as g:
        tf1.import_graph_def(graph, name="")
        ys, xs = ([g.get_tensor_by_name(f"{prefix}{name}" if ":" in name else f"{prefix}{name}:0") for name in names] for names in (case.ys, case.xs))
        grads = [None if grad is None else tf.convert_to_tensor(grad) for grad in tf1.gradients(ys, xs, name=f"{prefix}gradients")]
        fetches = [(grad.name, types[name.split(":")[0]][0]) for grad, name in zip(grads, case.xs) if grad is not None]
        out = g.as_graph_def()
        out.ClearField("versions")
        return out, fetches, [prefix + name for grad, name in zip(grads, case.xs) if grad is not None]


def is_plain(case):
    """One stateless op on values: TensorFlow runs it without a graph."""
    if case.nodes is not None or any(len(entry) > 2 for entry in case.inputs):
        return False
    definition = definition_of(case.op)
    if definition.HasField("deprecation"):
        return False
    if any(arg.is_ref for arg in list(definition.input_arg) + list(definition.output_arg)):
        return False
    if case.op.startswith("Inplace"):  # they change what they are given
        return False
    return not any("func" in attr.type for attr in definition.attr) and case.op not in ("Switch", "Merge", "Enter", "Exit", "NextIteration", "Placeholder",
                                                                                         "PlaceholderV2", "Const")
