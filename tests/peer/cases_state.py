"""Random cases of variables: assignments, scatter updates, optimizers. What becomes of the variables is compared."""

import numpy as np

from case import Case, Program
from cases_arrays import slice_inputs
from cases_moves import policy, scatter_parts
from graphs import definition_of
from makers import INDEX, indices, ints, op
from tensorflow_answers import output_shape
from tensors import numpy_type
from values import REALS


def held(r, name, dtype, shape, kind="small"):
    """A variable, of the kind that the op takes."""
    resource = definition_of(name).input_arg[0].type_attr == "" and not definition_of(name).input_arg[0].is_ref
    return dtype, r.tensor(dtype, shape, kind), "res" if resource else "var"


@op("Assign AssignAdd AssignSub AssignVariableOp AssignAddVariableOp AssignSubVariableOp")
def assign(r, name):
    attr = "dtype" if name.endswith("Op") else "T"
    dtype, shape = r.dtype(name, attr, but=["qint8", "quint8", "qint32", "qint16", "quint16"]), r.shape()
    value = shape if r.chance(0.93) else r.shape()
    attrs = {"dtype": dtype} if attr == "dtype" else {}
    if name in ("Assign", "AssignVariableOp") and r.chance(0.3):
        attrs["validate_shape"] = r.chance(0.5)
    kind = "small" if dtype.startswith("complex") else "any"
    return Case(name, [held(r, name, dtype, shape, kind), r.values(dtype, value, kind)], attrs)


SCATTERS = "ScatterUpdate ScatterAdd ScatterSub ScatterMul ScatterDiv ScatterMin ScatterMax"


@op(SCATTERS, " ".join("Resource" + name for name in SCATTERS.split()))
def scatter(r, name):
    attr = "dtype" if name.startswith("Resource") else "T"
    dtype, shape, index = r.dtype(name, attr, but=["qint8", "quint8", "qint32", "qint16", "quint16", "float8_e5m2", "float8_e4m3fn"]), r.shape(1), r.choice(INDEX)
    which = indices(r, r.shape(0, 2), shape[0])
    updates = list(which.shape) + shape[1:] if r.chance(0.97) else r.shape()
    if r.chance(0.15):
        updates = []
    kind = "tame" if name.endswith("Div") else "small"
    attrs = {"dtype": dtype} if attr == "dtype" else {}
    return Case(name, [held(r, name, dtype, shape), ints(which, index), r.values(dtype, updates, kind)], attrs,
                ulps=64 if dtype.startswith("complex") else 8)


ND = "ScatterNdUpdate ScatterNdAdd ScatterNdSub ScatterNdMin ScatterNdMax"


@op(ND, " ".join("Resource" + name for name in ND.split()))
def scatter_nd(r, name):
    dtype, shape, index = r.dtype(name, but=["qint8", "quint8", "qint32"]), r.shape(1), r.choice(INDEX)
    which, updates = scatter_parts(r, shape, dtype, index)
    return Case(name, [held(r, name, dtype, shape), which, updates], policy(r) if name.endswith(("Update", "Add", "Sub")) and r.chance(0.3) else {}, ulps=16)


@op("ResourceGather ResourceGatherNd")
def resource_gather(r, name):
    dtype, shape, index = r.dtype(name, "dtype", but=["qint8", "quint8", "qint32"]), r.shape(1), r.choice(INDEX)
    variable = dtype, r.tensor(dtype, shape), "res"
    if name == "ResourceGatherNd":
        depth = r.integer(0, len(shape))
        which = np.stack([indices(r, [3], d).reshape(-1)[:3] if d else np.zeros(3, int) for d in shape[:depth]], axis=-1) if depth else np.zeros([2, 0])
        return Case(name, [variable, ints(which, index)], {"dtype": dtype}, ulps=0)
    batch = r.integer(0, 1) if r.chance(0.3) else 0
    which = shape[:batch] + r.shape(0, 2)
    found = indices(r, which, shape[batch] if batch < len(shape) else 1)
    return Case(name, [variable, ints(found, index)], {"dtype": dtype, "batch_dims": batch}, ulps=0)


@op("ReadVariableOp VariableShape VarIsInitializedOp IsVariableInitialized")
def read(r, name):
    dtype, shape = r.choice(REALS + ["int32", "int64", "bool", "string", "uint8"]), r.shape()
    attrs = {"ReadVariableOp": {"dtype": dtype}, "VariableShape": {"out_type": r.choice(INDEX)}}.get(name, {})
    return Case(name, [held(r, name, dtype, shape) if name != "IsVariableInitialized" else (dtype, r.tensor(dtype, shape), "var")], attrs, ulps=0)


@op("CountUpTo ResourceCountUpTo")
def count_up(r, name):
    dtype = r.choice(INDEX)
    start, limit = r.integer(-3, 5), r.integer(-3, 5)
    kind = "res" if name.startswith("Resource") else "var"
    return Case(name, [(dtype, np.array(start, numpy_type(dtype)), kind)], {"limit": limit, "T": dtype})


@op("StridedSliceAssign ResourceStridedSliceAssign")
def strided_assign(r, name):
    dtype, shape, index = r.dtype(name, but=["qint8", "quint8", "qint32", "qint16", "quint16"]), r.shape(), r.choice(INDEX)
    spec, masks = slice_inputs(r, shape, index)
    x = r.tensor(dtype, shape)
    inner = output_shape(Case("StridedSlice", [(dtype, x)] + spec, masks))
    return Case(name, [(dtype, x, "res" if name.startswith("Resource") else "var")] + spec +
                [r.values(dtype, inner if inner is not None and r.chance(0.9) else r.shape())], masks, ulps=0)


@op("TemporaryVariable DestroyTemporaryVariable")
def temporary(r, name):
    p = Program(name, ulps=0)
    dtype, shape = r.choice(REALS + ["int32"]), r.shape()
    v = p.node("TemporaryVariable", [], {"dtype": dtype, "shape": shape, "var_name": "temporary"})
    a = p.then("Assign", [v, p.value(dtype, r.tensor(dtype, shape))])
    p.fetch(p.then("DestroyTemporaryVariable", [a], {"var_name": "temporary"}))
    return p


APPLY = """ApplyAdaMax ApplyAdadelta ApplyAdagrad ApplyAdagradDA ApplyAdagradV2 ApplyAdam ApplyAddSign ApplyCenteredRMSProp ApplyFtrl ApplyFtrlV2
    ApplyGradientDescent ApplyMomentum ApplyPowerSign ApplyProximalAdagrad ApplyProximalGradientDescent ApplyRMSProp SparseApplyAdadelta SparseApplyAdagrad
    SparseApplyAdagradDA SparseApplyAdagradV2 SparseApplyCenteredRMSProp SparseApplyFtrl SparseApplyFtrlV2 SparseApplyMomentum SparseApplyProximalAdagrad
    SparseApplyProximalGradientDescent SparseApplyRMSProp"""
RESOURCE_APPLY = " ".join("Resource" + name for name in APPLY.split()) + " ResourceApplyKerasMomentum ResourceSparseApplyKerasMomentum " + \
    "ResourceApplyAdamWithAmsgrad"


@op(APPLY, RESOURCE_APPLY)
def optimizer(r, name):
    """By the op's signature: variables, a gradient, rows where it is sparse, and numbers below one."""
    definition, dtype = definition_of(name), r.dtype(name, only=REALS)
    sparse, shape = "Sparse" in name, r.shape(1 if "Sparse" in name else 0, 3)
    rows = indices(r, [r.integer(0, 4)], shape[0]) if sparse else None
    inputs = []
    for arg in definition.input_arg:
        if arg.is_ref or arg.type == 20:
            # Accumulators are squares.
            own = shape if r.chance(0.99) else r.shape()
            inputs.append((dtype, r.tensor(dtype, own, "small" if arg.name == "var" else "positive"), "res" if arg.type == 20 else "var"))
        elif arg.name == "indices":
            inputs.append(ints(rows, r.choice(INDEX)))
        elif arg.name in ("grad", "delta") and (arg.name == "grad" or not sparse):
            of = list(rows.shape) + shape[1:] if sparse else shape
            inputs.append(r.values(dtype, of if r.chance(0.98) else r.shape(), "small"))
        elif arg.name == "global_step":
            inputs.append(ints(r.integer(1, 9), "int64"))
        elif arg.name == "lr_power":
            inputs.append((dtype, np.array(r.choice([-0.5, -0.5, -0.25, 0.0])).astype(numpy_type(dtype))))
        else:
            inputs.append(r.values(dtype, [] if r.chance(0.995) else [1], "unit"))
    if "CenteredRMSProp" in name and inputs[1][1].shape == inputs[2][1].shape:  # ms - mg², whose root divides, does not cancel out
        inputs[2] = (dtype, (inputs[2][1] + 2 * inputs[1][1] ** 2).astype(inputs[2][1].dtype)) + inputs[2][2:]
    attrs = {a.name: r.chance(0.5) for a in definition.attr if a.type == "bool" and r.chance(0.6)}
    if definition.input_arg[0].type == 20:
        attrs["T"] = dtype
    return Case(name, inputs, attrs, ulps=64 if dtype in ("float", "double") else 8, scale="one")
