"""What TensorFlow says of a case: single ops run eagerly, which costs microseconds; others as graphs, without any rewriting."""

import re

import numpy as np
import tensorflow as tf
from tensorflow.core.framework import graph_pb2
from tensorflow.core.protobuf import config_pb2, rewriter_config_pb2
from tensorflow.python.eager import context, execute
from tensorflow.python.framework import errors_impl, ops

from case import Answer
from graphs import PRODUCER, build, definition_of, implied_attrs, is_plain, output_types, tensor_proto
from tensors import NUMBERS, OBJECTS, number_of, numpy_type

tf1 = tf.compat.v1
CODES = {1: "CANCELLED", 2: "UNKNOWN", 3: "INVALID_ARGUMENT", 4: "DEADLINE_EXCEEDED", 5: "NOT_FOUND", 6: "ALREADY_EXISTS", 7: "PERMISSION_DENIED",
         8: "RESOURCE_EXHAUSTED", 9: "FAILED_PRECONDITION", 10: "ABORTED", 11: "OUT_OF_RANGE", 12: "UNIMPLEMENTED", 13: "INTERNAL", 14: "UNAVAILABLE",
         15: "DATA_LOSS"}
STEP_LIMIT_MS = 5_000
context.context().ensure_initialized()


def options():
    out = config_pb2.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
    out.graph_options.optimizer_options.opt_level = -1
    out.graph_options.rewrite_options.disable_meta_optimizer = True
    out.graph_options.rewrite_options.constant_folding = rewriter_config_pb2.RewriterConfig.OFF
    return out


def first_words(message):
    """The message without what names the node, the device and the stack."""
    message = re.sub(r"\{\{function_node [^}]*\}\} ?(\{\{node [^}]*\}\})? ?", "", message)
    if message.startswith("Graph execution error:"):
        message = re.split(r"\nNode: '[^']*'\n", message)[-1]
    message = message.split("\n\n")[0]
    return re.sub(r" ?\[Op:\w+\].*| name: .*$", "", message.split("\n\t [[")[0]).strip()


def error_answer(error):
    """Raised by TensorFlow; what is no OpError is its Python's own refusal."""
    if isinstance(error, errors_impl.OpError):
        return Answer(CODES.get(error.error_code, str(error.error_code)), message=first_words(error.message))
    status = getattr(error, "code", None)
    if isinstance(status, int):
        return Answer(CODES.get(status, str(status)), message=first_words(getattr(error, "message", str(error))))
    return Answer("INVALID_ARGUMENT", message=first_words(str(error)), refused=True)


def eager_tensor(dtype, value):
    ctx = context.context()
    value = np.asarray(value, numpy_type(dtype))
    if value.size == 0 and dtype == "string":
        return tf.zeros(value.shape, tf.string)
    return ops.EagerTensor(value, device=ctx.device_name, dtype=number_of(dtype))


def eager_attr(kind, value):
    if kind == "type":
        return number_of(value)
    if kind == "list(type)":
        return [number_of(v) for v in value]
    if kind == "shape":
        return None if value is None else [-1 if d is None else int(d) for d in value]
    if kind == "list(shape)":
        return [eager_attr("shape", v) for v in value]
    if kind == "tensor":
        return tensor_proto(*value)
    if kind == "int":
        return int(value)
    if kind == "float":
        return float(value)
    return value


def run_eagerly(case):
    definition = definition_of(case.op)
    ctx = context.context()
    inputs = [eager_tensor(dtype, value) for dtype, value in case.inputs]
    attrs = implied_attrs(definition, case.attrs, [entry[0] for entry in case.inputs])
    types = output_types(definition, attrs)
    kinds = {a.name: a.type for a in definition.attr}
    for attr in definition.attr:  # kernels are chosen before defaults are filled in
        if attr.name not in attrs and attr.type == "type" and attr.HasField("default_value"):
            attrs[attr.name] = NUMBERS[attr.default_value.type]
    flat = [x for key, value in attrs.items() for x in (key, eager_attr(kinds[key], value))]
    # Arguments of several tensors come as lists.
    grouped, rest = [], list(inputs)
    for arg in definition.input_arg:
        if arg.number_attr or arg.type_list_attr:
            count = attrs[arg.number_attr] if arg.number_attr else len(attrs[arg.type_list_attr])
            grouped += rest[:count]
            rest = rest[count:]
        else:
            grouped += rest[:1]
            rest = rest[1:]
    if definition.is_stateful:
        ctx.clear_kernel_cache()  # a generator begins anew
    try:
        out = execute.quick_execute(case.op, len(types), grouped, tuple(flat), ctx)
    except Exception as error:  # TensorFlow has a class for each code, and some of Python's own
        said = error_answer(error)
        # No kernel for these dtypes or attributes: troupe may have one.
        said.refused |= said.code == "NOT_FOUND" and said.message.startswith("Could not find device for node")
        said.refused |= said.message.startswith("OpKernel '") and "has constraint on attr" in said.message
        return said
    count = len(types) if case.outputs is None else min(case.outputs, len(types))
    kept = [i for i in range(count) if types[i] not in OBJECTS[1:]]
    return Answer(None, [as_array(out[i].numpy()) for i in kept], [types[i] for i in kept])


def producer_of(case):
    """The version of a graph that may have the case's ops: some are gone from newer ones."""
    ops = {case.op} if case.nodes is None else {op for _, op, _, _ in case.nodes}
    gone = [definition_of(op).deprecation.version for op in ops if definition_of(op).HasField("deprecation")]
    return min(gone) - 1 if gone else PRODUCER


def run_as_graph(case):
    if case.scale == "spread":
        case = case.copy(autodiff=False)
    built = build(case, "x")
    graph = graph_pb2.GraphDef()
    graph.ParseFromString(built.graph)
    graph.versions.producer = producer_of(case)
    with tf.Graph().as_default():
        try:
            tf1.import_graph_def(graph, name="")
        except (ValueError, errors_impl.OpError) as error:
            return Answer("INVALID_ARGUMENT", message=first_words(str(error)), refused=True)
        try:
            with tf1.Session(config=options()) as session:
                run = config_pb2.RunOptions(timeout_in_ms=STEP_LIMIT_MS)
                fetches = [[name for name, _ in built.fetches], built.targets]

                def values(change):
                    feeds = {f"{name}:0": change(np.asarray(value, numpy_type(dtype))) for name, dtype, value in built.feeds}
                    if change is not unchanged:  # constants too
                        feeds.update({f"xin{i}:0": change(np.asarray(entry[1])) for i, entry in enumerate(case.inputs)})
                    return [as_array(value) for value in session.run(fetches, feeds, options=run)[0]]
                out = Answer(None, values(unchanged), [dtype for _, dtype in built.fetches])
                if case.scale == "spread":
                    others = [values(changed(seed)) for seed in range(3)]
                    out.spreads = [spread(value, [other[i] for other in others]) for i, value in enumerate(out.values)]
                return out
        except (ValueError, TypeError, errors_impl.OpError) as error:
            return error_answer(error)


def as_array(value):
    """Bytes as one object: NumPy's own texts lose the zeros at their ends."""
    if isinstance(value, bytes):
        out = np.empty([], object)
        out[()] = value
        return out
    return np.asarray(value)


def unchanged(array):
    return array


def changed(seed):
    """A function that changes numbers by some units in the last place."""
    source = np.random.RandomState(seed)

    def change(array):
        if array.dtype.kind != "f":
            return array
        return (array * (1 + 16 * np.finfo(array.dtype).eps * source.uniform(-1, 1, array.shape))).astype(array.dtype)
    return change


def spread(value, others):
    if np.asarray(value).dtype.kind != "f":
        # What is whole may jump where a number that it came from changes a little.
        return np.max([np.asarray(value) != other for other in others], axis=0).astype(float)
    with np.errstate(all="ignore"):
        return np.max([np.abs(np.asarray(value, float) - other) for other in others], axis=0)


def answer(case):
    """The kernel's answer. Where the shape function refuses what the kernel takes, troupe may do as either: it infers shapes without
    refusing the graph."""
    if is_plain(case) and "tensor" not in [a.type for a in definition_of(case.op).attr]:
        return run_eagerly(case)
    said = run_as_graph(case)
    if not said.refused:
        return said
    blind = case.copy(fed={i for i, entry in enumerate(case.inputs) if len(entry) == 2})
    kernel = run_as_graph(blind)
    kernel.refused = True
    return kernel


def output_shape(case):
    """The shape of output 0, None where TensorFlow refuses the case."""
    said = answer(case)
    return list(np.shape(said.values[0])) if said.code is None else None

