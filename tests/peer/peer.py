"""Runs single-op graphs through TensorFlow and through troupe, and says where the answers differ."""

import os
import re
import shutil
import subprocess
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow.core.framework import graph_pb2, node_def_pb2
from tensorflow.core.protobuf import config_pb2, rewriter_config_pb2
from tensorflow.python.framework import dtypes, errors_impl, op_def_registry, tensor_util

from values import NAMES

tf1 = tf.compat.v1
CODES = {3: "INVALID_ARGUMENT", 5: "NOT_FOUND", 8: "RESOURCE_EXHAUSTED", 9: "FAILED_PRECONDITION", 11: "OUT_OF_RANGE", 12: "UNIMPLEMENTED",
         13: "INTERNAL"}
TOLERANCE = {np.dtype(np.float32): 2e-5, np.dtype(np.float64): 1e-10, np.dtype(np.float16): 4e-3}


class Case:
    """One op: inputs are (dtype name, array); `fed` are those that arrive by feeds instead of constants; `tolerance` is how many times the
    dtype's own is allowed; `outputs` is how many of the outputs count; `sizes`, of sums, what the terms of each element of output 0 are together
    without their signs: what is allowed is then a part of that."""

    def __init__(self, op, inputs, attrs=None, fed=(), tolerance=1.0, outputs=None, sizes=None):
        self.sizes = sizes
        self.op, self.inputs, self.attrs = op, inputs, dict(attrs or {})
        self.fed, self.tolerance, self.outputs = set(fed), tolerance, outputs

    def __str__(self):
        def short(dtype, x):
            text = np.array2string(np.asarray(x), threshold=40, separator=" ").replace("\n", "")
            return f"{dtype}{list(np.shape(x))} {text}"
        inputs = "; ".join(("fed " if i in self.fed else "") + short(*x) for i, x in enumerate(self.inputs))
        return f"{self.op}({inputs}) {self.attrs}"


def set_attr(attr, value, kind):
    """`kind`: what the op's definition says of the attribute, such as "type" or "list(int)"."""
    if kind == "type":
        attr.type = dtypes.as_dtype(NAMES.get(value, value)).as_datatype_enum
    elif kind == "list(type)":
        attr.list.type.extend(dtypes.as_dtype(NAMES.get(v, v)).as_datatype_enum for v in value)
        attr.list.SetInParent()
    elif kind == "int":
        attr.i = value
    elif kind == "float":
        attr.f = value
    elif kind == "bool":
        attr.b = value
    elif kind == "string":
        attr.s = value.encode()
    elif kind == "list(int)":
        attr.list.SetInParent()
        attr.list.i.extend(value)
    elif kind == "list(string)":
        attr.list.SetInParent()
        attr.list.s.extend(v.encode() for v in value)
    elif kind == "shape":
        attr.shape.CopyFrom(tf.TensorShape(value).as_proto())
    else:
        raise ValueError(kind)


def add_case(graph, case, name):
    """Adds the case's nodes; returns its number of outputs and the feeds."""
    definition = op_def_registry.get(case.op)
    feeds = {}
    node = node_def_pb2.NodeDef(name=name, op=case.op)
    kinds = {a.name: a.type for a in definition.attr}
    for key, value in case.attrs.items():
        set_attr(node.attr[key], value, kinds[key])
    # Dtypes and lengths that the inputs say.
    rest = list(case.inputs)
    for index, arg in enumerate(definition.input_arg):
        if arg.number_attr:
            later = len(definition.input_arg) - index - 1
            count = case.attrs.get(arg.number_attr, len(rest) - later)
            set_attr(node.attr[arg.number_attr], count, "int")
        elif arg.type_list_attr:
            count = len(rest) - (len(definition.input_arg) - index - 1)
            set_attr(node.attr[arg.type_list_attr], [dtype for dtype, _ in rest[:count]], "list(type)")
        else:
            count = 1
        if arg.type_attr and count:
            set_attr(node.attr[arg.type_attr], rest[0][0], "type")
        rest = rest[count:]
    for i, (dtype, value) in enumerate(case.inputs):
        source = graph.node.add(name=f"{name}_in{i}")
        kind = dtypes.as_dtype(NAMES.get(dtype, dtype))
        source.attr["dtype"].type = kind.as_datatype_enum
        if i in case.fed and dtype != "string":
            source.op = "Placeholder"
            source.attr["shape"].shape.unknown_rank = True
            feeds[source.name] = np.asarray(value)
        else:
            source.op = "Const"
            source.attr["value"].tensor.CopyFrom(tensor_util.make_tensor_proto(value, dtype=kind, shape=np.shape(value)))
        node.input.append(source.name)
    graph.node.add().CopyFrom(node)
    outputs = 0
    for arg in definition.output_arg:
        if arg.number_attr:
            outputs += node.attr[arg.number_attr].i
        elif arg.type_list_attr:
            outputs += len(node.attr[arg.type_list_attr].list.type)
        else:
            outputs += 1
    return outputs, feeds


def add_fetches(graph, name, types):
    """Adds an Identity for each output, so that each has a file of its own."""
    for i, kind in enumerate(types):
        node = graph.node.add(name=f"{name}_out{i}", op="Identity", input=[f"{name}:{i}"])
        node.attr["T"].type = kind


class Answer:
    """What TensorFlow says: values, or a code and a message. `refused` if its shape function says no before a kernel sees the inputs."""

    def __init__(self, code, values=(), types=(), message="", refused=False):
        self.code, self.values, self.types, self.message, self.refused = code, values, types, message, refused
        self.kernel_code = code  # what the kernel says of inputs whose shapes were not known


def tensorflow_answer(case):
    """The kernel's answer. Where the shape function refuses what the kernel takes, troupe may do as either: it infers shapes without
    refusing the graph."""
    answer = run_tensorflow(case)
    if not answer.refused:
        return answer
    blind = Case(case.op, case.inputs, case.attrs, range(len(case.inputs)), case.tolerance, case.outputs, case.sizes)
    kernel = run_tensorflow(blind)
    kernel.refused = True
    answer.kernel_code = kernel.code
    return kernel if kernel.code is None else answer


def run_tensorflow(case):
    graph = graph_pb2.GraphDef()
    graph.versions.producer = 1882
    outputs, feeds = add_case(graph, case, "x")
    options = config_pb2.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
    options.graph_options.optimizer_options.opt_level = -1
    options.graph_options.rewrite_options.disable_meta_optimizer = True
    options.graph_options.rewrite_options.constant_folding = rewriter_config_pb2.RewriterConfig.OFF
    with tf.Graph().as_default() as g:
        try:
            tf1.import_graph_def(graph, name="")
        except (ValueError, errors_impl.OpError) as error:
            return Answer("INVALID_ARGUMENT", message=str(error), refused=True)
        tensors = [g.get_tensor_by_name(f"x:{i}") for i in range(case.outputs or outputs)]
        types = [t.dtype.as_datatype_enum for t in tensors]
        try:
            with tf1.Session(config=options) as session:
                return Answer(None, session.run(tensors, {f"{k}:0": v for k, v in feeds.items()}), types)
        except errors_impl.OpError as error:
            return Answer(CODES.get(error.error_code, str(error.error_code)), types=types, message=" ".join(error.message.split("\n")[-6:])[:400])


def same(expected, found, tolerance, sizes=None):
    expected = np.asarray(expected)
    if expected.dtype != found.dtype or expected.shape != found.shape:
        return f"{expected.dtype}{list(expected.shape)} against {found.dtype}{list(found.shape)}"
    if expected.dtype.kind != "f":
        equal = expected == found
    else:
        allowed = TOLERANCE[expected.dtype] * tolerance
        with np.errstate(all="ignore"):
            if sizes is None:
                sizes = np.maximum(1, np.maximum(np.abs(expected), np.abs(found)))
            close = np.abs(expected - found) <= allowed * sizes
        equal = np.where(np.isfinite(expected) & np.isfinite(found), close, (expected == found) | (np.isnan(expected) & np.isnan(found)))
    if np.all(equal):
        return None
    at = tuple(int(i[0]) for i in np.nonzero(~equal)) if expected.shape else ()
    return f"at {list(at)} {expected[at]!r} against {found[at]!r}; {np.sum(~equal)} of {expected.size} elements"


class Troupe:
    """Runs cases through `troupe run local`, many in one process."""

    def __init__(self, executable, environment=None):
        self.executable = executable
        self.environment = dict(os.environ, **(environment or {}))

    def run(self, cases, answers):
        """Sentences on differences, by the case's position."""
        folder = tempfile.mkdtemp(prefix="troupe-peer-")
        try:
            return self.run_in(folder, cases, answers)
        finally:
            shutil.rmtree(folder)

    def run_in(self, folder, cases, answers):
        graph = graph_pb2.GraphDef()
        graph.versions.producer = 1882
        command = [self.executable, "run", "local", os.path.join(folder, "g.pb"), "--out", os.path.join(folder, "out"), "--timeout", "60s"]
        names = []
        for k, (case, answer) in enumerate(zip(cases, answers)):
            outputs, feeds = add_case(graph, case, f"c{k}")
            add_fetches(graph, f"c{k}", answer.types)
            for i, kind in enumerate(answer.types):
                name = f"c{k}_out{i}"
                if answer.code is None and kind == dtypes.string.as_datatype_enum:
                    expected = graph.node.add(name=f"{name}_expected", op="Const")
                    expected.attr["dtype"].type = kind
                    expected.attr["value"].tensor.CopyFrom(tensor_util.make_tensor_proto(np.asarray(answer.values[i]), dtype=tf.string))
                    equal = graph.node.add(name=f"{name}_equal", op="Equal", input=[name, expected.name])
                    equal.attr["T"].type = kind
                    name = equal.name
                names.append(name)
                command += ["--fetch", name]
            if not answer.types:
                command += ["--target", f"c{k}"] if outputs == 0 else ["--fetch", f"c{k}"]
            for key, value in feeds.items():
                path = os.path.join(folder, f"{key}.npy")
                np.save(path, value)
                command += ["--feed", f"{key}={path}"]
        with open(os.path.join(folder, "g.pb"), "wb") as file:
            file.write(graph.SerializeToString())
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.environment)
        error = done.stderr.decode(errors="replace")
        if done.returncode not in (0, 1) or "runtime error" in error or "Sanitizer" in error:
            if len(cases) == 1:
                return {0: f"troupe ends with {done.returncode}: {error[-3000:]}"}
        elif done.returncode == 0 and not any(answer.code for answer in answers):
            return self.compare(folder, cases, answers)
        elif len(cases) == 1:
            return self.compare_errors(done.returncode, error, answers[0])
        half = len(cases) // 2
        left = self.run(cases[:half], answers[:half])
        right = self.run(cases[half:], answers[half:])
        return {**left, **{k + half: v for k, v in right.items()}}

    @staticmethod
    def compare_errors(code, error, answer):
        found = re.search(r"troupe: ([A-Z_]+): (.*)", error)
        if code == 0:
            return {0: f"TensorFlow says {answer.code} {answer.message!r}, troupe computes a value"}
        if found is None:
            return {0: f"an error without a code: {error[-1000:]}"}
        if answer.refused and found[1] == "INVALID_ARGUMENT":
            return {}
        if answer.code is None:
            return {0: f"troupe says {found[1]}: {found[2]!r}, TensorFlow computes {str(answer.values)[:300]}"}
        if found[1] not in (answer.code, answer.kernel_code):
            return {0: f"TensorFlow says {answer.code} {answer.message!r}, troupe {found[1]} {found[2]!r}"}
        return {}

    @staticmethod
    def compare(folder, cases, answers):
        out = {}
        for k, (case, answer) in enumerate(zip(cases, answers)):
            for i, (value, kind) in enumerate(zip(answer.values, answer.types)):
                text = kind == dtypes.string.as_datatype_enum
                found = np.load(os.path.join(folder, "out", f"c{k}_out{i}{'_equal' if text else ''}.npy"))
                why = same(np.ones(np.shape(value), bool) if text else value, found, case.tolerance, case.sizes if i == 0 else None)
                if why:
                    out[k] = f"output {i} differs {why}"
                    break
        return out
