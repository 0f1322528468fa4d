"""Random cases of elementwise ops."""

import numpy as np

from case import Case
from makers import INDEX, ints, op
from values import FLOATS, INTS, REALS

EXACT = """Neg Abs Sign Square Relu Relu6 Round OnesLike ZerosLike Identity Snapshot StopGradient PreventGradient Rank LogicalNot Floor Ceil Rint IsNan
    IsInf IsFinite Conj Real Imag Invert PopulationCount DeepCopy GuaranteeConst ToBool"""
SMOOTH = """Sqrt Rsqrt Reciprocal Inv Exp Expm1 Log Log1p Tanh Sigmoid Sin Cos Tan Asin Acos Atan Sinh Cosh Asinh Acosh Atanh Erf Erfc Erfinv Softplus
    Softsign Elu Selu LeakyRelu Angle ComplexAbs Lgamma Digamma Ndtri"""
SPECIAL = """BesselI0 BesselI0e BesselI1 BesselI1e BesselJ0 BesselJ1 BesselK0 BesselK0e BesselK1 BesselK1e BesselY0 BesselY1 Dawsn Expint FresnelCos
    FresnelSin Spence"""
# Where TensorFlow's own functions lie farther from the truth, for doubles, which have no wider truth to ask.
ULPS = {"Lgamma": 64, "Digamma": 256, "Ndtri": 64, "Erfinv": 64, "Acosh": 32, "Asinh": 32, "Atanh": 32, "Erfc": 256, "Erf": 16, "Tan": 16}


@op(EXACT)
def exact(r, name):
    dtype = "bool" if name == "LogicalNot" else r.dtype(name)
    attrs = {"Tout": {"complex64": "float", "complex128": "double"}[dtype]} if name in ("Real", "Imag") else {}
    return Case(name, [r.values(dtype, r.shape())], attrs, ulps=4 if name == "Sign" and dtype.startswith("complex") else 0)


@op(SMOOTH)
def smooth(r, name):
    dtype = r.dtype(name)
    attrs = {"Tout": {"complex64": "float", "complex128": "double"}[dtype]} if name in ("Angle", "ComplexAbs") else {}
    if name == "LeakyRelu":
        attrs["alpha"] = r.choice([0.2, 0.0, 1.5, -1.0])
    x = r.tensor(dtype, r.shape(), r.choice(["any", "any", "unit", "heavy"]) if not dtype.startswith(("int", "uint")) else "any")
    if name == "Erf" and dtype == "double":  # TensorFlow's is NaN for large numbers of that dtype
        x = np.clip(x, -5, 5)
    if dtype.startswith("complex"):  # both sides follow their C++ library where parts are not finite, or at the limits
        x = np.where(np.isfinite(x) & (np.abs(x) < 1e9) & ((np.abs(x) > 1e-9) | (x == 0)), x, 1).astype(x.dtype)
    return Case(name, [(dtype, x)], attrs, ulps=32 if dtype.startswith("complex") else ULPS.get(name) if dtype == "double" else None,
                scale="one" if dtype == "double" and name in ("Elu", "Selu", "Softplus", "Expm1", "Sigmoid", "Digamma") else None)


@op(SPECIAL)
def special(r, name):
    dtype = r.dtype(name)
    x = r.tensor(dtype, r.shape(), r.choice(["any", "unit", "small"]))
    return Case(name, [(dtype, x)], ulps=512 if dtype == "double" else 16, scale="one")


@op("L2Loss")
def l2_loss(r, name):
    dtype = r.dtype(name)
    return Case(name, [r.values(dtype, r.shape())], ulps=64, scale="sums")


ARITHMETIC = """Add AddV2 Sub Mul Maximum Minimum Less LessEqual Greater GreaterEqual Equal NotEqual RealDiv Div DivNoNan MulNoNan FloorDiv TruncateDiv
    FloorMod TruncateMod Mod SquaredDifference LogicalAnd LogicalOr BitwiseAnd BitwiseOr BitwiseXor LeftShift RightShift NextAfter Complex"""
TWO_SMOOTH = "Pow Atan2 Xdivy Xlogy Xlog1py"
TWO_SPECIAL = "Igamma Igammac IgammaGradA Zeta Polygamma RandomGammaGrad"


def two_shapes(r):
    a = r.shape()
    b = r.broadcastable(a) if r.chance(0.7) else a
    return (b, a) if r.chance(0.5) else (a, b)


@op(ARITHMETIC, TWO_SMOOTH)
def binary(r, name):
    dtype = "bool" if name in ("LogicalAnd", "LogicalOr") else r.dtype(name, but=["float8_e5m2", "float8_e4m3fn"])
    a, b = two_shapes(r)
    whole = dtype in INTS
    x, y = r.tensor(dtype, a), r.tensor(dtype, b)
    attrs = {}
    if whole and ("Div" in name or "Mod" in name) and r.chance(0.8):
        y = r.tensor(dtype, b, "tame")
    if whole and ("Div" in name or "Mod" in name) and dtype.startswith("int") and y.size:  # that quotient has no value in C++
        y = np.where(y == -1, 1, y).astype(y.dtype) if r.chance(0.9) or np.any(x == np.iinfo(x.dtype).min) else y
    if "Shift" in name and r.chance(0.8):
        y = np.abs(r.tensor(dtype, b, "tame")) % (8 * x.dtype.itemsize)
        y = y.astype(x.dtype)
    if name == "Pow" and whole:
        x = r.tensor(dtype, a, r.choice(["small", "any"]))
        y = np.abs(r.tensor(dtype, b, "small")) if r.chance(0.85) else r.tensor(dtype, b, "small")
    if dtype.startswith("complex") and name in TWO_SMOOTH.split() + ["DivNoNan", "RealDiv", "Div", "Mul", "MulNoNan", "SquaredDifference"]:
        x, y = (np.where(np.isfinite(v) & (np.abs(v) < 1e9) & ((np.abs(v) > 1e-9) | (v == 0)), v, 1).astype(v.dtype) for v in (x, y))
    if name in ("Equal", "NotEqual") and r.chance(0.2):
        attrs["incompatible_shape_error"] = False
    if name == "Complex":
        attrs["Tout"] = {"float": "complex64", "double": "complex128"}[dtype]
    loose = name in TWO_SMOOTH.split() or dtype.startswith("complex")
    return Case(name, [(dtype, x), (dtype, y)], attrs, ulps=None if not loose else 16 if not dtype.startswith("complex") else 128)


@op(TWO_SPECIAL)
def two_special(r, name):
    dtype = r.dtype(name)
    a, b = two_shapes(r)
    x, y = r.tensor(dtype, a, r.choice(["unit", "positive", "positive", "any"])), r.tensor(dtype, b, r.choice(["unit", "positive", "positive", "any"]))
    if name == "Polygamma":
        x = np.abs(np.round(x))
    return Case(name, [(dtype, x), (dtype, y)], ulps=2048 if dtype == "double" else 64, scale="one")


@op("Betainc")
def betainc(r, name):
    dtype, shape = r.dtype(name), r.shape()
    shapes = [shape if r.chance(0.7) else [] for _ in range(3)]
    a, b = (r.tensor(dtype, s, r.choice(["positive", "positive", "any"])) for s in shapes[:2])
    x = r.tensor(dtype, shapes[2] if r.chance(0.97) else r.shape(), r.choice(["unit", "unit", "any"]))
    return Case(name, [(dtype, a), (dtype, b), (dtype, x)], ulps=4096 if dtype == "double" else 64, scale="one")


GRADS = """TanhGrad SigmoidGrad SqrtGrad RsqrtGrad ReciprocalGrad InvGrad ReluGrad Relu6Grad EluGrad SeluGrad SoftplusGrad SoftsignGrad LeakyReluGrad
    FakeQuantWithMinMaxArgsGradient"""


@op(GRADS)
def unary_grad(r, name):
    dtype = "float" if name.startswith("Fake") else r.dtype(name)
    shape = r.shape()
    kind = "small" if dtype.startswith("complex") else "any"
    attrs = {"alpha": r.choice([0.2, 0.0, 1.5])} if name == "LeakyReluGrad" else fake_attrs(r) if name.startswith("Fake") else {}
    return Case(name, [r.values(dtype, shape, kind), r.values(dtype, shape if r.chance(0.95) else r.shape(), kind)], attrs,
                ulps=64 if dtype.startswith("complex") else None, scale="one" if name == "TanhGrad" and dtype == "double" else None)


@op("AddN AccumulateNV2")
def add_n(r, name):
    dtype, shape = r.dtype("AddN"), r.shape()
    attrs = {"shape": shape} if name == "AccumulateNV2" else {}
    return Case(name, [r.values(dtype, shape if r.chance(0.98) else r.shape()) for _ in range(r.integer(1, 9))], attrs, scale="sums")


@op("ClipByValue")
def clip(r, name):
    dtype, shape = r.dtype(name, but=["complex64", "complex128", "qint8", "quint8", "qint32"]), r.shape()
    bounds = [r.values(dtype, r.choice([[], [], shape, r.broadcastable(shape)])) for _ in range(2)]
    return Case(name, [r.values(dtype, shape)] + bounds)


@op("Select")
def select(r, name):
    dtype, shape = r.dtype(name), r.shape()
    condition = r.choice([shape, [], shape[:1], r.shape()])
    return Case(name, [r.values("bool", condition), r.values(dtype, shape), r.values(dtype, shape if r.chance(0.97) else r.shape())], ulps=0)


@op("SelectV2")
def select_v2(r, name):
    dtype, shape = r.dtype(name), r.shape()
    return Case(name, [r.values("bool", r.broadcastable(shape)), r.values(dtype, r.broadcastable(shape)), r.values(dtype, shape)], ulps=0)


@op("Cast")
def cast(r, name):
    but = ["qint8", "quint8", "qint32", "qint16", "quint16"]
    types = REALS + INTS + ["bool", "complex64", "complex128", "float8_e5m2", "float8_e4m3fn", "int4", "uint4"]
    dtype, to = r.dtype(name, "SrcT", but, types), r.dtype(name, "DstT", but, types)
    x = r.tensor(dtype, r.shape())
    whole = to in INTS + ["int4", "uint4"]
    if whole and dtype not in INTS + ["bool", "int4", "uint4"]:  # beyond the range C++ says nothing, and TensorFlow follows the processor
        most = 7 if to.endswith("int4") else 100
        x = np.clip(np.nan_to_num(x.astype(np.complex128).real), 0 if to.startswith("u") else -most, most).astype(x.dtype)
    if to.endswith("int4") and dtype in INTS:
        x = np.clip(x, 0, 7).astype(x.dtype)
    attrs = {"DstT": to}
    if r.chance(0.1):
        attrs["Truncate"] = True
    return Case(name, [(dtype, x)], attrs, ulps=0)


@op("CheckNumerics")
def check_numerics(r, name):
    return Case(name, [r.values(r.dtype(name), r.shape())], {"message": "here"}, ulps=0)


@op("BroadcastArgs BroadcastGradientArgs")
def broadcast_args(r, name):
    dtype, a = r.choice(INDEX), r.shape()
    return Case(name, [ints(a, dtype), ints(r.broadcastable(a), dtype)])


@op("ApproximateEqual")
def approximate(r, name):
    dtype, shape = r.dtype(name), r.shape()
    x = r.tensor(dtype, shape, "any")
    y = x.copy() if r.chance(0.5) else r.tensor(dtype, shape if r.chance(0.97) else r.shape(), "any")
    return Case(name, [(dtype, x), (dtype, y)], {"tolerance": r.choice([1e-5, 0.5, 2.0, 0.0, -1.0])})


@op("Cross")
def cross(r, name):
    dtype, shape = r.dtype(name), r.shape(0, 3) + [3 if r.chance(0.95) else 2]
    return Case(name, [r.values(dtype, shape, "small"), r.values(dtype, shape if r.chance(0.97) else r.shape(), "small")], ulps=8, scale="max")


@op("Bitcast")
def bitcast(r, name):
    names = FLOATS + INTS + ["half", "bfloat16", "complex64", "complex128"]
    dtype, to = r.dtype(name, only=names), r.choice(names)
    shape = r.shape()
    if r.chance(0.6):
        shape += [r.choice([1, 2, 4, 8, 16])]
    return Case(name, [r.values(dtype, shape)], {"type": to}, ulps=0)


def fake_attrs(r):
    attrs = {"num_bits": r.choice([8, 8, 8, 2, 4, 16, 1, 17]), "narrow_range": r.chance(0.3)}
    low = float(np.float32(r.np.randn() * 5))
    if r.chance(0.8):
        attrs.update(min=min(low, 0.0), max=max(low, 0.0) + 1.5)
    elif r.chance(0.5):
        attrs.update(min=low, max=low + r.choice([0.0, 1.0, -1.0]))
    return attrs


@op("FakeQuantWithMinMaxArgs")
def fake_args(r, name):
    return Case(name, [r.values("float", r.shape(), "small")], fake_attrs(r), ulps=16, scale="one")


@op("FakeQuantWithMinMaxVars FakeQuantWithMinMaxVarsGradient FakeQuantWithMinMaxVarsPerChannel FakeQuantWithMinMaxVarsPerChannelGradient")
def fake_vars(r, name):
    per = "PerChannel" in name
    shape = r.shape(1 if per else 0, r.choice([4, 4, 5]) if not per else 4)
    attrs = {k: v for k, v in fake_attrs(r).items() if k in ("num_bits", "narrow_range")}
    bound = [shape[-1] if r.chance(0.97) else r.dim()] if per else []
    low = -np.abs(r.tensor("float", bound, "small"))
    high = np.abs(r.tensor("float", bound, "small")) + np.float32(r.choice([0, 0.5, 1]))
    x = [r.values("float", shape, r.choice(["small", "any"]))]
    if name.endswith("Gradient"):
        x = [r.values("float", shape if r.chance(0.97) else r.shape(), "small")] + x
    return Case(name, x + [("float", low), ("float", high)], attrs, ulps=64, scale="max" if name.endswith("Gradient") else None)


@op("QuantizeAndDequantizeV2 QuantizeAndDequantizeV3 QuantizeAndDequantizeV4")
def quantize(r, name):
    dtype, shape = r.dtype(name, only=REALS), r.shape()
    axis = r.axis(len(shape), 0) if shape and r.chance(0.4) else -1
    bounds = [shape[axis]] if axis != -1 and 0 <= axis < len(shape) else []
    low = -np.abs(r.tensor(dtype, bounds, "small"))
    high = (np.abs(r.tensor(dtype, bounds, "small")) + 1).astype(low.dtype)
    attrs = {"signed_input": r.chance(0.7), "range_given": r.chance(0.5), "narrow_range": r.chance(0.3), "axis": axis}
    bits = r.choice([8, 8, 4, 2, 16]) if r.chance(0.95) else r.choice([0, 64, -1])
    inputs = [r.values(dtype, shape, "small"), (dtype, low), (dtype, high)]
    if name == "QuantizeAndDequantizeV3":
        inputs.append(ints(bits))
    else:
        attrs["num_bits"] = bits
        attrs["round_mode"] = r.choice(["HALF_TO_EVEN", "HALF_UP"])
    return Case(name, inputs, attrs)


@op("QuantizeAndDequantizeV4Grad")
def quantize_grad(r, name):
    dtype, shape = r.dtype(name), r.shape()
    axis = r.axis(len(shape), 0) if shape and r.chance(0.4) else -1
    bounds = [shape[axis]] if axis != -1 and 0 <= axis < len(shape) else []
    return Case(name, [r.values(dtype, shape, "small"), r.values(dtype, shape, "small"), (dtype, -np.abs(r.tensor(dtype, bounds, "small"))),
                       (dtype, np.abs(r.tensor(dtype, bounds, "small")))], {"axis": axis})


@op("DataFormatDimMap")
def dim_map(r, name):
    dtype = r.choice(INDEX)
    source, target = r.choice([("NHWC", "NCHW"), ("NCHW", "NHWC"), ("NDHWC", "NCDHW"), ("NHWC", "HWNC")])
    return Case(name, [ints(r.np.randint(-5, 5, r.shape(0, 2)), dtype)], {"src_format": source, "dst_format": target})


@op("DataFormatVecPermute")
def vec_permute(r, name):
    dtype = r.choice(INDEX)
    source, target = r.choice([("NHWC", "NCHW"), ("NCHW", "NHWC"), ("NHWC", "HWNC"), ("NHWC", "NHWC")])
    return Case(name, [ints(r.np.randint(-9, 9, r.choice([[4], [4, 2], [2], [2, 2], [3], []])), dtype)], {"src_format": source, "dst_format": target})



