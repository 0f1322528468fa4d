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
    """A variable on one task, read on another; `init` fills it."""
    g = Graph()
    name = f"v{elements}"
    g.node(name, "VariableV2", (), source, dtype=Type(FLOAT), shape=ShapeOf([elements]), container="", shared_name="")
    g.constant("length", [elements], INT32, [1], source)
    g.constant("start", [0.5], FLOAT, (), source)
    g.node("fill", "Fill", ["length", "start"], source, index_type=Type(INT32), **T)
    g.node("init", "Assign", [name, "fill"], source, use_locking=True, validate_shape=True, **T)
    g.node("y", "Identity", [name], sink, **T)
    g.node("done", "NoOp", ["^y"], sink)
    return g.bytes()
