"""Writes tensorflow.GraphDef and ConfigProto bytes without TensorFlow: as much of the wire format as the synthetic graphs need."""

import struct

FLOAT, INT32, INT64, BFLOAT16, HALF = 1, 3, 9, 14, 19


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field, value):
    return varint(field << 3) + varint(value)


def block(field, data):
    return varint(field << 3 | 2) + varint(len(data)) + data


def text(field, value):
    return block(field, value.encode())


def shape(dims):
    return b"".join(block(2, number(1, d)) for d in dims)


class Type(int):
    """A dtype as an attribute's value."""


class ShapeOf(tuple):
    """A shape as an attribute's value."""


class Value:
    """A small constant: a dtype, a shape, and its elements."""

    def __init__(self, dtype, dims, values):
        content = struct.pack(f"<{len(values)}{'f' if dtype == FLOAT else 'i' if dtype == INT32 else 'q'}", *values)
        self.bytes = number(1, dtype) + block(2, shape(dims)) + block(4, content)


def attr(value):
    if isinstance(value, Value):
        return block(8, value.bytes)
    if isinstance(value, ShapeOf):
        return block(7, shape(value))
    if isinstance(value, Type):
        return number(6, value)
    if isinstance(value, bool):
        return number(5, value)
    if isinstance(value, int):
        return number(3, value)
    if isinstance(value, float):
        return varint(4 << 3 | 5) + struct.pack("<f", value)
    if isinstance(value, list):
        return block(1, b"".join(text(2, i) if isinstance(i, str) else number(3, i) for i in value))
    return text(2, value)


class Graph:
    """Nodes in the order in which they are added."""

    def __init__(self):
        self.parts = []

    def node(self, name, op, inputs=(), device="", **attrs):
        body = text(1, name) + text(2, op) + b"".join(text(3, i) for i in inputs)
        if device:
            body += text(4, device)
        for key, value in attrs.items():
            body += block(5, text(1, key) + block(2, attr(value)))
        self.parts.append(block(1, body))
        return name

    def constant(self, name, value, dtype=FLOAT, dims=(), device="", inputs=()):
        return self.node(name, "Const", inputs, device, dtype=Type(dtype), value=Value(dtype, dims, value))

    def placeholder(self, name, dims=(), device=""):
        return self.node(name, "Placeholder", (), device, dtype=Type(FLOAT), shape=ShapeOf(dims))

    def bytes(self):
        return b"".join(self.parts) + block(4, number(1, 1987))


def config(rewrite=True, threads=0, gpus=True):
    """A ConfigProto: graph rewriting on or off, how many threads (0: as many as the runtime thinks best), and whether GPUs are used."""
    out = b""
    if not gpus:
        out += block(1, text(1, "GPU") + number(2, 0))
    if threads:
        out += number(2, threads) + number(5, threads)
    if not rewrite:
        out += block(10, block(3, number(3, -1)) + block(10, number(19, 1)))
    return out


def run_options(callers_thread):
    """RunOptions; on the caller's thread alone, or as usual."""
    return number(3, -1) if callers_thread else b""
