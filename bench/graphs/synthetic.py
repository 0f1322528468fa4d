"""The graphs that need no model: what a node, an edge, a hop and a byte cost. Each function gives a GraphDef's bytes."""

import random

from graph_def import FLOAT, INT32, Graph, ShapeOf, Type

T = {"T": Type(FLOAT)}


def one_add():
    g = Graph()
    g.placeholder("x")
    g.constant("one", [1.0])
    g.node("y", "AddV2", ["x", "one"], **T)
    return g.bytes()


def chain(length=10000):
    g = Graph()
    g.constant("one", [1.0])
    last = g.placeholder("x")
    for i in range(length):
        last = g.node(f"n{i}", "AddV2", [last, "one"], **T)
    g.node("y", "Identity", [last], **T)
    return g.bytes()


def fan(width=10000):
    g = Graph()
    g.placeholder("x")
    controls = ["^" + g.node(f"n{i}", "Neg", ["x"], **T) for i in range(width)]
    g.node("done", "NoOp", controls)
    return g.bytes()


def no_ops(width=10000):
    g = Graph()
    g.node("root", "NoOp")
    controls = ["^" + g.node(f"n{i}", "NoOp", ["^root"]) for i in range(width)]
    g.node("done", "NoOp", controls)
    return g.bytes()


def while_loop(rounds=10000):
    g = Graph()
    i32 = {"T": Type(INT32)}
    frame = {**i32, "frame_name": "loop", "parallel_iterations": 1}
    g.constant("zero", [0], INT32)
    g.node("enter", "Enter", ["zero"], is_constant=False, **frame)
    g.node("merge", "Merge", ["enter", "next"], N=2, **i32)
    g.constant("limit", [rounds], INT32, inputs=["^merge"])
    g.node("less", "Less", ["merge", "limit"], **i32)
    g.node("cond", "LoopCond", ["less"])
    g.node("switch", "Switch", ["merge", "cond"], **i32)
    g.node("body", "Identity", ["switch:1"], **i32)
    g.constant("one", [1], INT32, inputs=["^body"])
    g.node("add", "AddV2", ["body", "one"], **i32)
    g.node("next", "NextIteration", ["add"], **i32)
    g.node("exit", "Exit", ["switch"], **i32)
    g.node("y", "Identity", ["exit"], **i32)
    return g.bytes()


def large(nodes=100000):
    """Sums, each of the one before and of one of the thousand before that."""
    g = Graph()
    g.placeholder("x")
    dice = random.Random(0)
    for i in range(nodes):
        before = f"n{i - 1}" if i else "x"
        other = f"n{dice.randrange(max(0, i - 1000), i)}" if i >= 2 else "x"
        g.node(f"n{i}", "AddV2", [before, other], **T)
    g.node("y", "Identity", [f"n{nodes - 1}"], **T)
    return g.bytes()


def dag(nodes, length, window=1000, seed=7):
    """Mixed elementwise nodes over vectors of `length` floats, each of two of the `window` nodes before it on average; y is the sum of
    all that no other node reads."""
    g = Graph()
    dice = random.Random(seed)
    known = [g.placeholder("x", [length])]
    small = ["x"]  # between -1 and 1
    unread = {}

    def of(among=known):
        name = among[-dice.randint(1, min(window, len(among)))]
        unread.pop(name, None)
        return name

    def node(op, *inputs, **attrs):
        name = g.node(f"n{len(known)}", op, inputs, **T, **attrs)
        known.append(name)
        unread[name] = True
        return name

    for _ in range(nodes):
        kind = dice.random()
        if kind < 0.12:
            small.append(node(dice.choice(["Tanh", "Sigmoid"]), of()))
        elif kind < 0.22:
            node(dice.choice(["Neg", "Relu"]), of())
        elif kind < 0.26:
            node("Sqrt", node("Abs", of()))
        elif kind < 0.36:
            small.append(node("Mul", of(small), of(small)))
        elif kind < 0.74:
            node(dice.choice(["AddV2", "Sub", "Maximum", "Minimum"]), of(), of())
        else:
            node("AddN", of(), of(), of(), N=3)
    left = list(unread)
    while len(left) > 1:
        left = [*left[8:], g.node(f"sum{len(left)}", "AddN", left[:8], N=len(left[:8]), **T)]
    g.node("y", "Identity", left, **T)
    return g.bytes()


def conds(count=500):
    """Conditionals of version 1 over scalars, each on what the one before gave, with three nodes in either branch."""
    g = Graph()
    last = g.placeholder("x")
    g.constant("limit", [0.25])
    g.constant("half", [0.5])
    for i in range(count):
        less = g.node(f"less{i}", "Less", [last, "limit"], **T)
        g.node(f"switch{i}", "Switch", [last, less], **T)
        yes = g.node(f"yes{i}", "AddV2", [g.node(f"twice{i}", "AddV2", [f"switch{i}:1"] * 2, **T), "half"], **T)
        no = g.node(f"no{i}", "Mul", [g.node(f"square{i}", "Square", [f"switch{i}"], **T), "half"], **T)
        both = [g.node(f"neg_no{i}", "Tanh", [no], **T), g.node(f"neg_yes{i}", "Tanh", [yes], **T)]
        last = g.node(f"merge{i}", "Merge", both, N=2, **T)
    g.node("y", "Identity", [last], **T)
    return g.bytes()


def tiny_products(count=256, size=8):
    """Products of one matrix with a different one each, and their sum."""
    g = Graph()
    dice = random.Random(11)
    g.placeholder("x", [size, size])
    names = []
    for i in range(count):
        g.constant(f"w{i}", [dice.uniform(-1, 1) for _ in range(size * size)], FLOAT, [size, size])
        names.append(g.node(f"p{i}", "MatMul", ["x", f"w{i}"], transpose_a=False, transpose_b=False, **T))
    sums = [g.node(f"s{i}", "AddN", names[i:i + 16], N=16, **T) for i in range(0, count, 16)]
    g.node("y", "AddN", sums, N=len(sums), **T)
    return g.bytes()


def null_on(device):
    g = Graph()
    g.node("done", "NoOp", (), device)
    return g.bytes()


def null_on_all(devices):
    g = Graph()
    for i, device in enumerate(devices):
        g.node(f"done{i}", "NoOp", (), device)
    return g.bytes()


def ping_pong(here, there):
    g = Graph()
    g.placeholder("x", (), here)
    g.node("a", "Identity", ["x"], here, **T)
    g.node("b", "Neg", ["a"], there, **T)
    g.node("y", "Neg", ["b"], here, **T)
    return g.bytes()


def transfer(elements, source, sink):
    """A variable on one task, every element of it read on another, for their sum; `init` fills it."""
    g = Graph()
    name = f"v{elements}"
    g.node(name, "VariableV2", (), source, dtype=Type(FLOAT), shape=ShapeOf([elements]), container="", shared_name="")
    g.constant("length", [elements], INT32, [1], source)
    g.constant("start", [0.5], FLOAT, (), source)
    g.node("fill", "Fill", ["length", "start"], source, index_type=Type(INT32), **T)
    g.node("init", "Assign", [name, "fill"], source, use_locking=True, validate_shape=True, **T)
    g.constant("axis", [0], INT32, [1], sink)
    g.node("sum", "Sum", [name, "axis"], sink, keep_dims=False, Tidx=Type(INT32), **T)
    return g.bytes()


def transfer_read(elements, source, sink):
    """The same, and what has come is read to its end; `sum` is fetched."""
    g = Graph()
    name = f"v{elements}"
    g.node(name, "VariableV2", (), source, dtype=Type(FLOAT), shape=ShapeOf([elements]), container="", shared_name="")
    g.constant("length", [elements], INT32, [1], source)
    g.constant("start", [0.5], FLOAT, (), source)
    g.node("fill", "Fill", ["length", "start"], source, index_type=Type(INT32), **T)
    g.node("init", "Assign", [name, "fill"], source, use_locking=True, validate_shape=True, **T)
    g.node("y", "Identity", [name], sink, **T)
    g.constant("axis", [0], INT32, [1], sink)
    g.node("sum", "Sum", ["y", "axis"], sink, keep_dims=False, Tidx=Type(INT32), **T)
    return g.bytes()


def all_reduce(elements, devices):
    """A variable on each device, their sum over all devices, of which each reads every element; `sum` is the first one's, `done` runs
    all of them, `init` fills the variables."""
    g = Graph()
    fills, sums = [], []
    for i, device in enumerate(devices):
        name = g.node(f"v{i}", "VariableV2", (), device, dtype=Type(FLOAT), shape=ShapeOf([elements]), container="",
                      shared_name=f"all_reduce_{elements}_{len(devices)}_{i}")
        g.constant(f"length{i}", [elements], INT32, [1], device)
        g.constant(f"start{i}", [0.5 + i], FLOAT, (), device)
        g.node(f"fill{i}", "Fill", [f"length{i}", f"start{i}"], device, index_type=Type(INT32), **T)
        fills.append("^" + g.node(f"init{i}", "Assign", [name, f"fill{i}"], device, use_locking=True, validate_shape=True, **T))
        g.node(f"y{i}", "CollectiveReduce", [name], device, group_size=len(devices), group_key=elements + len(devices), instance_key=1,
               merge_op="Add", final_op="Id", subdiv_offsets=[0], wait_for=[], communication_hint="auto", timeout_seconds=0.0, **T)
        g.constant(f"axis{i}", [0], INT32, [1], device)
        sums.append(g.node("sum" if i == 0 else f"sum{i}", "Sum", [f"y{i}", f"axis{i}"], device, keep_dims=False, Tidx=Type(INT32), **T))
    g.node("init", "NoOp", fills, devices[0])
    g.node("done", "NoOp", ["^" + name for name in sums], devices[0])
    return g.bytes()
