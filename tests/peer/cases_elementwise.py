"""Random cases of elementwise ops."""

import numpy as np

from makers import INDEX, ints, op
from peer import Case
from values import ALL_NUMBERS, ANY, BIG_INTS, FLOATS, INTS, NUMBERS

UNARY = {name: FLOATS for name in ("Sqrt Rsqrt Reciprocal Inv Exp Expm1 Log Log1p Tanh Sigmoid Sin Cos Erf Floor Ceil Rint IsNan IsInf IsFinite "
                                   "Softplus Elu").split()}
UNARY.update({"Neg": NUMBERS, "Abs": NUMBERS, "Sign": NUMBERS, "Square": NUMBERS, "Relu": NUMBERS, "Relu6": NUMBERS,
              "Round": FLOATS, "OnesLike": ALL_NUMBERS + ["bool"], "ZerosLike": ANY,
              "Identity": ANY, "Snapshot": ALL_NUMBERS, "StopGradient": ANY, "PreventGradient": ANY, "Rank": ANY, "LogicalNot": ["bool"],
              "L2Loss": FLOATS})


@op(*UNARY)
def unary(r, name):
    dtype = r.choice(UNARY[name])
    x = r.tensor(dtype, r.shape())
    if name == "Erf":  # TensorFlow's is NaN for large numbers of dtype double
        x = np.clip(x, -5, 5)
    return Case(name, [(dtype, x)])


BINARY = {name: ALL_NUMBERS for name in "AddV2 Sub Mul Maximum Minimum Less LessEqual Greater GreaterEqual".split()}
BINARY.update({name: FLOATS for name in "RealDiv DivNoNan MulNoNan Atan2".split()})
BINARY.update({name: NUMBERS for name in "Div FloorDiv TruncateDiv FloorMod TruncateMod Mod Pow SquaredDifference".split()})
BINARY.update({"Add": FLOATS + BIG_INTS + ["uint8", "int8", "int16"], "Equal": ANY, "NotEqual": ANY, "LogicalAnd": ["bool"],
               "LogicalOr": ["bool"]})


@op(*BINARY)
def binary(r, name):
    dtype = r.choice(BINARY[name])
    a = r.shape()
    b = r.broadcastable(a) if r.chance(0.7) else a
    if r.chance(0.5):
        a, b = b, a
    divides = "Div" in name or "Mod" in name
    x = r.tensor(dtype, a, "small" if name == "Pow" and dtype in INTS else "any")
    y = r.tensor(dtype, b, r.choice(["tame", "any"]) if divides else "any")
    if name.startswith("Truncate") and dtype in INTS:  # of zeros TensorFlow says INTERNAL, troupe INVALID_ARGUMENT
        y = r.tensor(dtype, b, "tame")
    if name == "Pow" and dtype in INTS and r.chance(0.8):
        y = np.abs(r.tensor(dtype, b, "small"))
    attrs = {"incompatible_shape_error": False} if "qual" in name and name in ("Equal", "NotEqual") and r.chance(0.2) else {}
    return Case(name, [(dtype, x), (dtype, y)], attrs)


GRADS = "TanhGrad SigmoidGrad SqrtGrad RsqrtGrad ReciprocalGrad InvGrad ReluGrad Relu6Grad EluGrad SoftplusGrad".split()


@op(*GRADS)
def unary_grad(r, name):
    dtype = r.choice(FLOATS)
    shape = r.shape()
    return Case(name, [(dtype, r.tensor(dtype, shape)), (dtype, r.tensor(dtype, shape if r.chance(0.95) else r.shape()))])


@op("AddN")
def add_n(r, name):
    dtype, shape = r.choice(NUMBERS), r.shape()
    return Case(name, [(dtype, r.tensor(dtype, shape if r.chance(0.98) else r.shape())) for _ in range(r.integer(1, 9))])


@op("ClipByValue")
def clip(r, name):
    dtype, shape = r.choice([t for t in ALL_NUMBERS if t not in ("uint32", "uint64")]), r.shape()
    bounds = [r.tensor(dtype, r.choice([[], [], shape, r.broadcastable(shape)])) for _ in range(2)]
    return Case(name, [(dtype, r.tensor(dtype, shape))] + [(dtype, b) for b in bounds])


@op("Select")
def select(r, name):
    dtype, shape = r.choice(ANY), r.shape()
    condition = r.choice([shape, [], shape[:1], r.shape()])
    return Case(name, [("bool", r.tensor("bool", condition)), (dtype, r.tensor(dtype, shape)), (dtype, r.tensor(dtype, shape))])


@op("SelectV2")
def select_v2(r, name):
    dtype, shape = r.choice(ANY), r.shape()
    return Case(name, [("bool", r.tensor("bool", r.broadcastable(shape))), (dtype, r.tensor(dtype, r.broadcastable(shape))),
                       (dtype, r.tensor(dtype, shape))])


@op("Cast")
def cast(r, name):
    types = ALL_NUMBERS + ["bool", "half"]
    dtype = r.choice(types)
    to = r.choice(types)
    x = r.tensor(dtype, r.shape())
    if dtype in FLOATS + ["half"] and to in INTS:  # beyond the range C++ says nothing, and TensorFlow follows the processor
        x = np.clip(np.nan_to_num(x), -100 if "u" not in to else 0, 100).astype(x.dtype)
    return Case(name, [(dtype, x)], {"DstT": to})


@op("CheckNumerics")
def check_numerics(r, name):
    dtype = r.choice(FLOATS)
    return Case(name, [(dtype, r.tensor(dtype, r.shape()))], {"message": "here"})


@op("BroadcastArgs", "BroadcastGradientArgs")
def broadcast_args(r, name):
    dtype, a = r.choice(INDEX), r.shape()
    return Case(name, [ints(a, dtype), ints(r.broadcastable(a), dtype)])
