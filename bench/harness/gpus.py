"""Rows of a GPU: single ops, and training steps of the models, beside PyTorch on the same board."""

import os
import subprocess
from dataclasses import dataclass, replace

import graph_def
from figures import Result
from graph_def import BFLOAT16, FLOAT, INT32, ShapeOf, Type
from processes import BenchError, LineServer
from steps import Row, Step
from synthetic import chain
from values import apart

PEER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "peer", "torch_rows.py")


@dataclass
class GpuRow(Row):
    step: Step = None
    copies: int = 1  # of the op in a step
    moves: int = 0  # bytes of one of them
    flops: int = 0  # of one of them
    seconds: float = 0.5
    rounds: int = 3
    config: str = "default"

    def measure(self, bench):
        result = Result("µs")
        try:
            bench.ours.restart()
            if self.step.fetches:
                self.compare(bench, result)
            bench.ours.open("gpu", self.step, self.config)
        except BenchError as error:
            result.add_error(bench.ours, error)
            return result
        for number in range(bench.rounds(self.rounds)):
            seconds = bench.seconds(self.seconds)
            bench.ours.measure(seconds / 4, ["gpu"])
            micros = bench.ours.measure(seconds, ["gpu"])[0]["median"] / self.copies
            result.ours[number] = micros
            if bench.gpu_peer:
                try:
                    result.theirs[number] = bench.gpu_peer.ask(self.name, seconds)["micros"]
                except BenchError as error:
                    result.their_error = str(error)
        best = min(result.ours.values())
        if self.moves:
            result.detail["GB/s"] = round(self.moves / best / 1e3)
        if self.flops:
            result.detail["TFLOP/s"] = round(self.flops / best / 1e6, 1)
        return result

    def compare(self, bench, result):
        """The board's values of the first steps beside the processor's: the same graph, the same initial values."""
        # Of a deep net what a step computes before any update: small differences grow from step to step, on any two machines.
        step = replace(self.step, fetches=self.step.compared, ops=[]) if self.step.compared else self.step
        both = []
        for config in (self.config, "no gpu"):
            bench.ours.open("compared", step, config)
            both.append(bench.ours.values("compared", 1)[0])
            bench.ours.close_client("compared")
        ours, on_cpu = both
        distance = max(map(apart, ours, on_cpu))
        result.detail["apart from the processor's values"] = f"{distance:.2g}"
        if distance > self.tolerance:
            result.our_error = f"the GPU's values are {distance:.2g} from the processor's, {self.tolerance:.2g} allowed"


def start_peer(python):
    """PyTorch as a program that is told a row's name and a time in seconds."""
    return LineServer([python, PEER])


def about(python):
    """The board, and the peer; BenchError without a board."""
    try:
        board = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise BenchError(f"there is no GPU here: {error}") from None
    name, driver = board.splitlines()[0].split(", ")
    peer = python and subprocess.run([python, "-c", "import torch; print(torch.__version__, torch.backends.cudnn.version())"], capture_output=True, text=True)
    if peer and peer.returncode:
        raise BenchError(f"{python} has no PyTorch: {peer.stderr.strip().splitlines()[-1:]}")
    return {"gpu": f"{name}, driver {driver}", "peer": peer and "PyTorch {}, cuDNN {}".format(*peer.stdout.split())}


def graph_of(op, shapes, more, attrs, copies, dtype, is_chain):
    """`copies` nodes of one op, one after the other, on variables of random numbers; `more`: constants after these. In a chain each works on what the one
    before gave, so that rewriting leaves none out, and y is made of the last."""
    g = graph_def.Graph()
    names, begun = [], []
    for name, dims in shapes.items():
        var = g.node(f"{name}_variable", "VarHandleOp", dtype=Type(dtype), shape=ShapeOf(dims), shared_name=name, container="")
        size = g.constant(f"{name}_shape", list(dims), INT32, (len(dims),))
        drawn = g.node(f"{name}_drawn", "RandomUniform", [size], dtype=Type(FLOAT), T=Type(INT32), seed=1, seed2=len(names))
        if dtype != FLOAT:
            drawn = g.node(f"{name}_cast", "Cast", [drawn], SrcT=Type(FLOAT), DstT=Type(dtype))
        begun.append("^" + g.node(f"{name}_assign", "AssignVariableOp", [var, drawn], dtype=Type(dtype)))
        names.append(g.node(f"{name}_read", "ReadVariableOp", [var], dtype=Type(dtype)))
    g.node("init", "NoOp", begun)
    for i, (kind, dims, values) in enumerate(more):
        names.append(g.constant(f"c{i}", values, kind, dims))
    last = []
    for k in range(copies):
        if is_chain:
            names[0] = g.node(f"n{k}", op, names, **attrs)
        else:
            last = ["^" + g.node(f"n{k}", op, [*names, *last], **attrs)]
    if is_chain:
        g.node("y", "L2Loss", [names[0]], T=Type(dtype))
    else:
        g.node("done", "NoOp", last)
    return g.bytes()


def ints(values):
    return (INT32, (len(values),), list(values))


def op_row(name, what, op, shapes, more=(), copies=20, dtype=FLOAT, moves=0, flops=0, aim=1.0, is_chain=False, **attrs):
    graph = (f"gpu_{name}", graph_of, op, shapes, more, {"T": Type(dtype), **attrs}, copies, dtype, is_chain)
    step = Step(graph, fetches=["y"] if is_chain else [], ops=[] if is_chain else ["done"], inits=["init"])
    return GpuRow(f"gpu-{name}", what, aim, step=step, copies=copies, moves=moves, flops=flops, config="default" if is_chain else "plain", tolerance=1e-4)


def op_rows():
    n, side = 1 << 26, 8192
    vector, two, matrix = {"x": (n,)}, {"x": (n,), "y": (n,)}, {"x": (side, side)}
    keep = {"Tidx": Type(INT32), "keep_dims": False}
    yield op_row("add", "AddV2 of two times 64 Mi floats", "AddV2", two, moves=12 * n)
    yield op_row("exp", "Exp of 64 Mi floats", "Exp", vector, moves=8 * n)
    yield op_row("add-row", "AddV2 of 8192 x 8192 and a row", "AddV2", {"x": (side, side), "y": (side,)}, moves=8 * n)
    for name, axes in (("rows", [1]), ("columns", [0]), ("all", [0, 1])):
        yield op_row(f"sum-{name}", f"Sum of 8192 x 8192 over {'both axes' if name == 'all' else 'its ' + name}", "Sum", matrix, [ints(axes)], moves=4 * n, **keep)
    yield op_row("softmax", "Softmax of 8192 x 8192", "Softmax", matrix, moves=8 * n)
    yield op_row("transpose", "Transpose of 8192 x 8192", "Transpose", matrix, [ints([1, 0])], moves=8 * n, Tperm=Type(INT32))
    yield op_row("transpose-0213", "Transpose (0, 2, 1, 3) of 64 x 1024 x 16 x 64", "Transpose", {"x": (64, 1024, 16, 64)}, [ints([0, 2, 1, 3])], moves=8 * n,
                 Tperm=Type(INT32))
    rows = (INT32, (side,), [i * 2654435761 % side for i in range(side)])
    yield op_row("gather", "GatherV2 of 8192 rows of 8192", "GatherV2", matrix, [rows, (INT32, (), [0])], moves=8 * n, Tparams=Type(FLOAT), Tindices=Type(INT32),
                 Taxis=Type(INT32), batch_dims=0)
    product = {"x": (side, side), "y": (side, side)}
    plain = {"transpose_a": False, "transpose_b": False}
    for name, dtype in (("f32", FLOAT), ("bf16", BFLOAT16)):
        yield op_row(f"matmul-{name}", f"MatMul of 8192 x 8192 in {name}", "MatMul", product, copies=5, dtype=dtype, flops=2 * side ** 3, aim=0.95, **plain)
    image = (32, 112, 112, 64)
    size = 32 * 112 * 112 * 64
    yield op_row("max-pool", "MaxPool 3 x 3 by 2 of 32 x 112 x 112 x 64", "MaxPool", {"x": image}, moves=5 * size, ksize=[1, 3, 3, 1], strides=[1, 2, 2, 1],
                 padding="SAME")
    channels = {"x": image, "scale": (64,), "offset": (64,)}
    yield op_row("batch-norm", "FusedBatchNormV3 of 32 x 112 x 112 x 64, training", "FusedBatchNormV3", channels, [(FLOAT, (0,), []), (FLOAT, (0,), [])],
                 moves=8 * size, U=Type(FLOAT), is_training=True, epsilon=1e-3)
    # With rewriting, since without it convolutions are plain sums.
    yield op_row("conv", "Conv2D 3 x 3 of 32 x 28 x 28 x 256 to 256", "Conv2D", {"x": (32, 28, 28, 256), "filter": (3, 3, 256, 256)}, copies=5, is_chain=True,
                 flops=2 * 32 * 28 * 28 * 9 * 256 * 256, strides=[1, 1, 1, 1], padding="SAME")
    yield GpuRow("gpu-chain", "an AddV2 of a chain of 10 000 on one float, rewriting off", aim_value=5, copies=10000, config="plain",
                 step=Step(("chain", chain), feeds=["x:float"], fetches=["y"]))


def model_rows():
    picture = {"feeds": ["x:float:128,784", "labels:int64:128"]}
    trained = {"inits": ["init"], "fetches": ["loss"], "ops": ["train"]}
    yield GpuRow("gpu-mlp-adam", "MLP training step, batch 128, Adam", 1.1, tolerance=1e-4, step=Step("mlp_adam", **picture, **trained))
    yield GpuRow("gpu-cnn-adam", "CNN training step, batch 128, Adam", 1.1, tolerance=1e-4, step=Step("cnn_adam", **picture, **trained))
    yield GpuRow("gpu-transformer-adam", "Transformer encoder, Adam step", 1.1, tolerance=1e-4,
                 step=Step("transformer_adam", feeds=["ids:int32:4,128"], **trained))
    for batch in (8, 64):
        yield GpuRow(f"gpu-resnet50-train-b{batch}", f"ResNet-50 training step, batch {batch}", 1.1, tolerance=5e-3, seconds=2,
                     step=Step(f"resnet50_train_b{batch}", feeds=[f"x:float:{batch},224,224,3", f"labels:int64:{batch}"], **trained,
                               compared=["loss", "gradients/MatMul_grad/MatMul"]))


def gpu_rows():
    rows = [*op_rows(), *model_rows()]
    return {row.name: row for row in rows}
