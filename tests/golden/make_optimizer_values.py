#!/usr/bin/env python3
"""Writes optimizer_values.tsv: what TensorFlow's optimizer ops do to small variables, in the format of dtype_values.tsv.

    make_optimizer_values.py       with a Python that has tensorflow-cpu

Every CPU kernel of the optimizers in RULES, dense and sparse, by reference and by handle, with every dtype it is registered for.
"""
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import numpy as np
import tensorflow.compat.v1 as tf
from tensorflow.python.framework import kernels

from make_cpu_dtypes import LITERALS, literal

HERE = os.path.dirname(os.path.abspath(__file__))
VARIABLES = {"var", "accum", "accum_update", "linear", "gradient_accumulator", "gradient_squared_accumulator", "m", "v", "vhat", "ms", "mg", "mom"}
SCALARS = {"lr": 0.25, "rho": 0.75, "epsilon": 0.125, "l1": 0.5, "l2": 0.25, "l2_shrinkage": 0.125, "lr_power": -0.75, "momentum": 0.5,
           "beta1": 0.75, "beta2": 0.875, "beta1_power": 0.5, "beta2_power": 0.75, "alpha": 0.5, "logbase": 0.5, "sign_decay": 0.75,
           "beta": 0.75, "global_step": 3}
RULES = ["AdaMax", "Adadelta", "Adagrad", "AdagradDA", "AdagradV2", "AdamWithAmsgrad", "AddSign", "CenteredRMSProp", "Ftrl", "FtrlV2",
         "PowerSign", "ProximalAdagrad", "ProximalGradientDescent", "RMSProp"]
SPARSE_ONLY = ["Momentum", "KerasMomentum"]
FLAGS = {"Adagrad": [{"update_slots": True}, {"update_slots": False}], "AdagradV2": [{"update_slots": True}, {"update_slots": False}],
         "Ftrl": [{"multiply_linear_by_lr": False}, {"multiply_linear_by_lr": True}],
         "FtrlV2": [{"multiply_linear_by_lr": False}, {"multiply_linear_by_lr": True}],
         "Momentum": [{"use_nesterov": False}, {"use_nesterov": True}], "KerasMomentum": [{"use_nesterov": False}, {"use_nesterov": True}]}


class Eager:
    """What `literal` wants of a tensor."""

    def __init__(self, array):
        self.array = array
        self.dtype = array.dtype

    def numpy(self):
        return self.array


def text(array):
    return literal(Eager(np.asarray(array)))


def dtypes(op):
    found = set()
    for kernel in kernels.get_registered_kernels_for_op(op).kernel:
        if kernel.device_type == "CPU":
            for constraint in kernel.constraint:
                if constraint.name == "T":
                    found.update(constraint.allowed_values.list.type)
    return [tf.as_dtype(t) for t in sorted(found)]


def run(op, dtype, flags, index_dtype):
    """One row."""
    definition = tf.raw_ops.__dict__[op].__signature__.parameters
    names = [n for n in definition if n not in ("use_locking", "name", "update_slots", "multiply_linear_by_lr", "use_nesterov")]
    sparse, resource = "indices" in names, op.startswith("Resource")
    random = np.random.RandomState(7)
    first = np.asarray([[-0.5, 1.0], [1.25, 0.25], [0.5, -2.0]])
    with tf.Graph().as_default(), tf.Session() as session:
        arguments, texts, variables = {}, [], []
        for name in names:
            if name in VARIABLES and name not in ("beta",):
                value = first if name == "var" else np.round(random.uniform(0.5, 2.0, (3, 2)) * 8) / 8
                if name in ("mg",):
                    value = value / 8
                value = value.astype(dtype.as_numpy_dtype)
                variable = tf.Variable(value, dtype=dtype, use_resource=resource)
                variables.append(variable)
                arguments[name] = variable.handle if resource else variable._ref()
                texts.append(("res " if resource else "var ") + text(value))
            elif name in ("grad", "delta"):
                value = np.asarray([[0.75, -0.25], [0.5, 1.0], [-1.75, 0.0]]).astype(dtype.as_numpy_dtype)
                if dtype.is_complex:
                    value = value + np.asarray(0.5j, dtype.as_numpy_dtype)
                arguments[name] = tf.constant(value)
                texts.append(text(value))
            elif name == "indices":
                arguments[name] = tf.constant([2, 0, 2], index_dtype)
                texts.append(text(np.asarray([2, 0, 2], index_dtype.as_numpy_dtype)))
            else:
                value = np.asarray(SCALARS[name], np.int64 if name == "global_step" else dtype.as_numpy_dtype)
                arguments[name] = tf.constant(value)
                texts.append(text(value))
        update = tf.raw_ops.__dict__[op](**arguments, **flags)
        session.run(tf.global_variables_initializer())
        session.run(update.op if hasattr(update, "op") else update)
        after = " ; ".join(text(session.run(v)) for v in variables)
    attrs = " ".join(f"{k}={'true' if v else 'false'}" for k, v in flags.items())
    return f"{op}\t{attrs}\t{' ; '.join(texts)}\t{after}"


def main():
    lines = ["# Written by make_optimizer_values.py with TensorFlow " + tf.__version__ + ". Do not edit."]
    for rule in RULES + SPARSE_ONLY:
        for form in ("Apply", "ResourceApply", "SparseApply", "ResourceSparseApply"):
            op = form + rule
            if op not in tf.raw_ops.__dict__ or (rule in SPARSE_ONLY and "Sparse" not in form):
                continue
            for dtype in dtypes(op):
                for flags in FLAGS.get(rule, [{}]):
                    lines.append(run(op, dtype, flags, tf.int64 if dtype == tf.float64 else tf.int32))
    with open(os.path.join(HERE, "optimizer_values.tsv"), "w") as file:
        file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
