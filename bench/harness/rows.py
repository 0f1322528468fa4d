"""Every row of the table. A row that is not here is not measured."""

from dataclasses import replace

import synthetic
from clients import client_rows
from nodes import AddressRow, IdleRow, InFlightRow, NodeRow, TasksRow, ThreadsRow
from steps import (DEFAULT, LOCAL, LOCAL_PLAIN, PLAIN, DelayRow, FirstStepRow, MemoryRow, Step, StepRow, Variant)
from two_hosts import two_host_rows

PS, W0, W1 = "/job:ps/task:0", "/job:worker/task:0", "/job:worker/task:1"
SMALL = {"ps": 1, "worker": 2}
WIDE = {"worker": 8}
FIRST = ("worker", 0)
PLAIN_SUMS = {"TROUPE_WINOGRAD": "0"}


def executor_rows():
    plain = {"ours": PLAIN, "theirs": LOCAL_PLAIN}
    x = {"feeds": ["x:float"], "fetches": ["y"]}
    yield StepRow("chain", "chain of 10 000 adds, rewriting off", 3, steps=[Step(("chain", synthetic.chain), **x)], **plain)
    yield StepRow("fan", "fan of 10 000 Neg, rewriting off", 5, steps=[Step(("fan", synthetic.fan), feeds=["x:float"], ops=["done"])], **plain)
    yield StepRow("noops", "10 000 NoOps, rewriting off", 2, steps=[Step(("no_ops", synthetic.no_ops), ops=["done"])], **plain)
    yield StepRow("while", "while loop of 10 000 rounds, rewriting off", 5, steps=[Step(("while_loop", synthetic.while_loop), fetches=["y"])], **plain)
    one_add = Step(("one_add", synthetic.one_add), **x)
    yield StepRow("local", "local step: feed a scalar, add, fetch; TensorFlow's leanest settings", 1.2, steps=[one_add], theirs=LOCAL)
    yield StepRow("local-4-threads", "the same by 4 threads with one session, wall time a step", 1.2, theirs=LOCAL,
                  steps=[one_add, *[replace(one_add, shares=True)] * 3])
    yield InFlightRow("local-in-flight", "a step of 16 000 of one local session that are all begun before the first is waited for")
    # No aim: the ratio is the time of a wake-up, 1.7 where a virtual processor takes 5 µs to wake and 4.9 where it takes 28.
    yield StepRow("local-default", "the same beside TensorFlow's default, which wakes a thread: what waking a processor of this machine costs", steps=[one_add],
                  theirs=DEFAULT, limit=("thread wake-up", "wake"))


def parallel_rows():
    """Many small kernels that may run at once, and what the executor's rows take as users run them, with rewriting."""
    plain = {"ours": PLAIN, "theirs": LOCAL_PLAIN}
    for nodes, name in ((2000, "dag-4096"), (10000, "dag-4096-large")):
        step = Step((f"dag_{nodes}_4096", synthetic.dag, nodes, 4096), feeds=["x:float:4096"], fetches=["y"])
        what = f"random graph of {nodes // 1000} 000 mixed elementwise nodes over vectors of 4 096 floats"
        yield StepRow(name, what, 1.5, steps=[step])
        yield StepRow(name + "-plain", what + ", rewriting off", 1.5, steps=[step], **plain)
    step = Step(("dag_2000_64", synthetic.dag, 2000, 64), feeds=["x:float:64"], fetches=["y"])
    yield StepRow("dag-64", "the same of 2 000 nodes over vectors of 64 floats", 2.5, steps=[step])
    yield StepRow("dag-64-plain", "the same of 2 000 nodes over vectors of 64 floats, rewriting off", steps=[step], **plain)
    step = Step(("dag_2000_1", synthetic.dag, 2000, 1), feeds=["x:float:1"], fetches=["y"])
    yield StepRow("dag-1", "the same of 2 000 nodes over vectors of one float", steps=[step])
    yield StepRow("dag-1-plain", "the same of 2 000 nodes over vectors of one float, rewriting off", steps=[step], **plain)
    step = Step(("tiny_products", synthetic.tiny_products), feeds=["x:float:8,8"], fetches=["y"])
    yield StepRow("tiny-products", "256 products of matrices of 8 x 8, and their sum", 3, steps=[step])
    x = {"feeds": ["x:float"], "fetches": ["y"]}
    conds = Step(("conds", synthetic.conds), feeds=["x:float"], fetches=["y"])
    yield StepRow("conds", "500 conds", steps=[conds])
    yield StepRow("conds-plain", "500 conds, rewriting off", steps=[conds], **plain)
    yield StepRow("chain-rewritten", "chain of 10 000 adds, with rewriting", steps=[Step(("chain", synthetic.chain), **x)])
    yield StepRow("fan-rewritten", "fan of 10 000 Neg, with rewriting", steps=[Step(("fan", synthetic.fan), feeds=["x:float"], ops=["done"])])
    yield StepRow("noops-rewritten", "10 000 NoOps, with rewriting", steps=[Step(("no_ops", synthetic.no_ops), ops=["done"])])
    yield StepRow("while-rewritten", "while loop of 10 000 rounds, with rewriting", steps=[Step(("while_loop", synthetic.while_loop), fetches=["y"])])
    yield StepRow("large-later-rewritten", "a later step of a graph of 100 000 nodes, with rewriting", steps=[Step(("large", synthetic.large), **x)])


def hop_rows():
    hop = {"limit": ("TCP round trip", "round_trip")}
    on = {"jobs": SMALL, "master": FIRST}
    yield StepRow("null-remote", "null step on another worker", 6, steps=[Step(("null_w1", synthetic.null_on, W1), ops=["done"], **on)], **hop)
    yield StepRow("ping-pong", "ping-pong of two workers", 6,
                  steps=[Step(("ping_pong", synthetic.ping_pong, W0, W1), feeds=["x:float"], fetches=["y"], **on)], **hop)
    devices = [f"/job:worker/task:{i}" for i in range(8)]
    wide = Step(("null_w8", synthetic.null_on_all, devices), ops=[f"done{i}" for i in range(8)], jobs=WIDE, master=FIRST)
    yield StepRow("eight-workers", "step over 8 workers on this machine", 4, steps=[wide], **hop)


def transfer_step(size):
    elements = size // 4
    return Step((f"transfer_{size}", synthetic.transfer, elements, PS, W0), fetches=["sum"], inits=["init"], jobs=SMALL, master=FIRST)


def transfer_rows():
    sizes = {"4KiB": 1 << 12, "256KiB": 1 << 18, "1MiB": 1 << 20, "16MiB": 1 << 24, "64MiB": 1 << 26, "256MiB": 1 << 28, "1GiB": 1 << 30}
    for name, size in sizes.items():
        large = size > 1 << 18
        yield StepRow(f"transfer-{name}", f"tensor ps → worker, summed there, {name.replace('iB', ' iB').replace('K ', ' K').replace('M ', ' M').replace('G ', ' G')}",
                      3 if large else None, 0.9 if large else None, steps=[transfer_step(size)], ours=PLAIN, theirs=PLAIN, rounds=3 if size >= 1 << 28 else 5,
                      seconds=3 if size >= 1 << 28 else 1.2, limit=("raw TCP and a sum", "tcp_sum", size))
    gib = 1 << 30
    yield MemoryRow("transfer-memory", "most memory of either end of 1 GiB", aim_value=1024 + 64, step=transfer_step(gib), size=gib, ends=(("ps", 0), FIRST))
    null = Step(("null_ps", synthetic.null_on, PS), ops=["done"], jobs=SMALL, master=FIRST)
    yield DelayRow("transfer-delay", "longest of the null steps on the ps while 1 GiB tensors leave it", small=null, large=transfer_step(gib),
                   size=gib)


def collective_rows():
    sizes = {"1KiB": 1 << 10, "1MiB": 1 << 20, "64MiB": 1 << 26}
    for tasks in (2, 4):
        devices = [f"/job:worker/task:{i}/device:CPU:0" for i in range(tasks)]
        on = {"jobs": {"worker": tasks}, "master": FIRST}
        for name, size in sizes.items():
            step = Step((f"all_reduce_{size}_{tasks}", synthetic.all_reduce, size // 4, devices), fetches=["sum"], ops=["done"], inits=["init"], **on)
            yield StepRow(f"all-reduce-{name}-{tasks}", f"all-reduce of {size >> 10} KiB over {tasks} tasks of this host, summed on each; TensorFlow's ring over gRPC",
                          5, steps=[step], ours=PLAIN, theirs=PLAIN)


def training_rows():
    kinds = {"mlp": ("MLP", (1.3, 3, 3)), "cnn": ("CNN", (1.15, 1.4, 1.4))}
    for kind, (title, aims) in kinds.items():
        for optimizer in ("sgd", "adam"):
            def step(where="", **more):
                return Step(f"{kind}_{optimizer}{where}", feeds=["x:float:128,784", "labels:int64:128"], fetches=["loss"], ops=["train"], **more)
            what = f"{title} training step, batch 128, {'SGD' if optimizer == 'sgd' else 'Adam'}"
            limit = {"limit": ("multiply-adds at peak", "multiply_add_time", 0.308 if kind == "mlp" else 9.2)}  # without a gradient of the input
            values = {"tolerance": 2e-3 if optimizer == "adam" else 1e-4}  # Adam makes a whole step of the rounding of a gradient that is nearly zero
            seconds = {"seconds": 1.2 if kind == "mlp" else 2.5}
            yield StepRow(f"{kind}-{optimizer}-local", what + ", local", aims[0], steps=[step(inits=["init"])], theirs=LOCAL, **limit, **values, **seconds)
            if kind == "cnn" and optimizer == "sgd":
                yield StepRow("cnn-sgd-local-sums", what + ", local; ours without Winograd's filtering, as winograd = false has it", steps=[step(inits=["init"])],
                              theirs=LOCAL, our_environment=PLAIN_SUMS, **limit, **values, **seconds)
            first = step("_worker0", inits=["init"], jobs=SMALL, master=FIRST)
            second = step("_worker1", jobs=SMALL, master=("worker", 1))
            yield StepRow(f"{kind}-{optimizer}-1-worker", what + ", 1 ps + 1 worker", aims[1], steps=[first], **values, **seconds)
            yield StepRow(f"{kind}-{optimizer}-2-workers", what + ", 1 ps + 2 workers, both's steps", aims[2], steps=[first, second], **values,
                          **seconds)


def model_rows():
    def image(batch):
        return f"x:float:{batch},224,224,3"
    slow = {"seconds": 3, "rounds": 3, "theirs": LOCAL}
    ids = {"feeds": ["ids:int32:4,128"], "inits": ["init"]}
    yield StepRow("transformer-inference", "Transformer encoder, inference", 1.2, theirs=LOCAL, tolerance=1e-4,
                  steps=[Step("transformer_inference", fetches=["y"], compared=["add_52"], **ids)])  # y is a mean of normalised values: nearly zero
    yield StepRow("transformer-adam", "Transformer encoder, Adam step", 1.2, steps=[Step("transformer_adam", fetches=["loss"], ops=["train"], **ids)],
                  theirs=LOCAL, tolerance=2e-3)
    changing = [f"x:float:{batch},784" for batch in (1, 3, 8, 17, 32)]
    yield StepRow("cnn-batches", "CNN inference, a run with each of 1, 3, 8, 17 and 32 images", 1.15,
                  steps=[Step("cnn_inference", feeds=changing, inits=["init"], fetches=["y"])], theirs=LOCAL, tolerance=1e-4)
    for batch in (1, 8):
        yield StepRow(f"resnet50-b{batch}", f"ResNet-50 inference, batch {batch}", 1.2,
                      steps=[Step(f"resnet50_inference_b{batch}", feeds=[image(batch)], inits=["init"], fetches=["y"])], tolerance=1e-4, compared=1, **slow)
    yield StepRow("resnet50-b8-sums", "the same; ours without Winograd's filtering", our_environment=PLAIN_SUMS, tolerance=1e-4, compared=1, **slow,
                  steps=[Step("resnet50_inference_b8", feeds=[image(8)], inits=["init"], fetches=["y"])])
    # Before any update: in the second step the losses of TensorFlow itself on one thread and on two differ by 2 %, the gradients of filters by a tenth.
    yield StepRow("resnet50-train", "ResNet-50 training step, batch 8", 1.2, tolerance=5e-3, **slow,
                  steps=[Step("resnet50_train_b8", feeds=[image(8), "labels:int64:8"], inits=["init"], fetches=["loss"], ops=["train"],
                              compared=["loss", "gradients/MatMul_grad/MatMul"])])


def large_graph_rows():
    large = Step(("large", synthetic.large), feeds=["x:float"], fetches=["y"])
    yield FirstStepRow("large-first", "first step of a graph of 100 000 nodes", 20, step=large, variant=Variant(), rounds=1)
    yield FirstStepRow("large-first-plain", "the same, rewriting off", 4, step=large, variant=PLAIN[0])
    yield StepRow("large-later", "a later step of that graph, rewriting off", 3, steps=[large], ours=PLAIN, theirs=LOCAL_PLAIN)


def session_rows():
    null = Step(("null_w0", synthetic.null_on, W0), ops=["done"], jobs={"worker": 1}, master=FIRST)
    mlp = {"feeds": ["x:float:128,784", "labels:int64:128"], "fetches": ["loss"], "ops": ["train"], "jobs": SMALL}
    yield IdleRow("node-idle", "processor time of a node in a minute, with 8 open sessions that do nothing", step=null)
    yield ThreadsRow("local-threads", "threads of a process with 100 local sessions", several=100, step=Step(("one_add", synthetic.one_add), feeds=["x:float"], fetches=["y"]))
    yield AddressRow("node-address", "address space of a ps that two workers train with (MLP)", aim_value=2,
                     steps=[Step("mlp_sgd_worker0", inits=["init"], master=FIRST, **mlp), Step("mlp_sgd_worker1", master=("worker", 1), **mlp)])


# The rows that `--guard` measures: a minute in all.
GUARDED = ["chain", "noops", "while", "local", "null-remote", "ping-pong", "transfer-1MiB", "mlp-sgd-local"]


def all_rows():
    rows = [*executor_rows(), *parallel_rows(), *hop_rows(), *transfer_rows(), *collective_rows(), *training_rows(), *model_rows(), *large_graph_rows(),
            *two_host_rows(), *client_rows(),
            NodeRow("node-resident", "a node at rest, resident", aim_value=30, key="resident"),
            NodeRow("node-disk", "a node with its gateway, on disk", aim_value=95, key="disk"),
            NodeRow("node-ready", "a node, until it is ready", aim_value=0.1, key="ready"),
            *session_rows(),
            TasksRow("tasks", "null step over up to 1 000 simulated tasks")]
    return {row.name: row for row in rows}
