"""Random cases of serialised tensors, summaries and names of files."""

import numpy as np

from case import Case, Program
from makers import ints, op, real, text, texts
from values import INTS, NUMBERS, REALS


@op("ShardedFilename ShardedFilespec")
def sharded(r, name):
    inputs = [text(r.choice(["", "a", "dir/file"])), ints(r.integer(-1, 12)), ints(r.choice([1, 5, 100000]))]
    return Case(name, inputs if name == "ShardedFilename" else [inputs[0], inputs[2]])


@op("SerializeTensor ParseTensor")
def serialized(r, name):
    dtype = r.dtype("SerializeTensor", "T", only=REALS + INTS + ["bool", "string", "complex64", "complex128"])
    if name == "SerializeTensor":
        return Case(name, [r.values(dtype, r.shape())], ulps=0)
    p = Program(name, ulps=0)
    data = p.node("SerializeTensor", [p.value(dtype, r.tensor(dtype, r.shape()))])
    p.fetch(p.node(name, [data], {"out_type": dtype if r.chance(0.9) else r.choice(REALS)}))
    return p


@op("ScalarSummary")
def scalar_summary(r, name):
    dtype, shape = r.dtype(name, only=REALS + INTS), r.shape(0, 2)
    tags = r.np.randint(0, 9, shape)
    out = np.empty(shape, object)
    for at in np.ndindex(*shape):
        out[at] = f"t{tags[at]}".encode()
    return Case(name, [("string", out if r.chance(0.97) else np.array([b"x"] * 2, object)), r.values(dtype, shape, "small")])


@op("HistogramSummary")
def histogram(r, name):
    dtype = r.dtype(name, only=REALS + INTS)
    return Case(name, [text("tag"), r.values(dtype, r.shape(), r.choice(["small", "small", "any"]))])


@op("TensorSummaryV2")
def tensor_summary(r, name):
    dtype = r.choice(REALS + INTS + ["string", "bool"])
    return Case(name, [text("tag"), r.values(dtype, r.shape()), text("")])


@op("MergeSummary")
def merge_summary(r, name):
    p = Program(name)
    parts = [p.node("ScalarSummary", [p.text(r.choice("abc") * 3 if r.chance(0.1) else f"tag{i}"), p.value("float", r.np.randn())]) for i in range(r.integer(1, 3))]
    p.fetch(p.node(name, parts))
    return p


@op("ImageSummary")
def image_summary(r, name):
    """The pictures are files, which need not be alike: of as many, only that both are made or refused."""
    p = Program(name)
    dtype = r.choice(["uint8", "float"])
    shape = [r.integer(1, 2), r.integer(1, 3), r.integer(1, 3), r.choice([1, 3, 4]) if r.chance(0.95) else 2]
    s = p.node(name, [p.text("tag"), p.value(dtype, r.tensor(dtype, shape, "small"))], {"max_images": r.integer(1, 3)})
    p.fetch(p.node("Shape", [s]))
    return p


@op("AudioSummary AudioSummaryV2")
def audio_summary(r, name):
    shape = [r.integer(1, 2), r.integer(1, 4), r.integer(1, 2)][:r.integer(2, 3) if r.chance(0.97) else 1]
    inputs = [text("tag"), r.values("float", shape, "unit")]
    if name == "AudioSummaryV2":
        return Case(name, inputs + [real(r.choice([8000.0, 44100.0, 0.0]))], {"max_outputs": r.integer(1, 3)}, ulps=0)
    return Case(name, inputs, {"sample_rate": 8000.0, "max_outputs": r.integer(1, 3)}, ulps=0)


@op("Assert")
def assertion(r, name):
    data = [r.values(r.choice(NUMBERS + ["string"]), r.shape(0, 2)) for _ in range(r.integer(1, 3))]
    return Case(name, [("bool", np.array(r.chance(0.5)) if r.chance(0.95) else np.array([True]))] + data, {"summarize": r.choice([3, 1, -1])})


@op("Print")
def printed(r, name):
    dtype = r.choice(NUMBERS)
    return Case(name, [r.values(dtype, r.shape()), texts(["x"])], {"message": "", "first_n": 0}, ulps=0)


@op("Const")
def const(r, name):
    dtype = r.choice(REALS + INTS + ["bool", "string", "complex64", "complex128"])
    value = r.tensor(dtype, r.shape())
    return Case(name, [], {"dtype": dtype, "value": (dtype, value)}, ulps=0)
