#!/usr/bin/env python3
"""Writes checkpoints/ here: small checkpoints as TensorFlow writes them, for storage/checkpoint. Needs TensorFlow; the version is recorded.

all_dtypes: a tensor of each dtype, and strings. slices: a variable in two slices of each of two ways. merged: of two parts.
v1_all_dtypes and v1_slices, in two files: the same in the first format. variants: tensors of variants.
"""
import os

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_eager_execution()
FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "checkpoints")
DTYPES = ["float32", "float64", "float16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool", "complex64", "complex128"]


def save(session, name, tensors, slices=None):
    names = [key for key, _ in tensors]
    op = tf.raw_ops.SaveV2(prefix=os.path.join(FOLDER, name), tensor_names=names, shape_and_slices=slices or [""] * len(names),
                           tensors=[value for _, value in tensors])
    session.run(op)


def save_v1(session, name, tensors, slices=None):
    names = [key for key, _ in tensors]
    values = [value for _, value in tensors]
    path = os.path.join(FOLDER, name)
    if slices:
        session.run(tf.raw_ops.SaveSlices(filename=path, tensor_names=names, shapes_and_slices=slices, data=values))
    else:
        session.run(tf.raw_ops.Save(filename=path, tensor_names=names, data=values))


def quantized():
    numbers = tf.constant([[-1.0, 0.0], [0.5, 1.0]])
    return [(name, tf.raw_ops.QuantizeV2(input=numbers, min_range=-1.0, max_range=1.0, T=dtype).output)
            for name, dtype in [("qint8", tf.qint8), ("quint8", tf.quint8), ("qint32", tf.qint32)]]


def main():
    os.makedirs(FOLDER, exist_ok=True)
    with tf.Session() as session:
        tensors = [(dtype, tf.constant(np.arange(6).reshape(2, 3).astype(dtype))) for dtype in DTYPES]
        tensors.append(("bfloat16", tf.cast(tf.constant([0.0, 1, 2, 3, 4, 5], shape=[2, 3]), tf.bfloat16)))
        tensors.append(("string", tf.constant([b"", b"a", b"x" * 200, b"\0\xff"], shape=[2, 2])))
        tensors.append(("scalar", tf.constant(7.0)))
        tensors.append(("empty", tf.zeros([0, 3])))
        save(session, "all_dtypes", sorted(tensors))
        rows = tf.constant(np.arange(12).reshape(4, 3).astype("float32"))
        save(session, "slices", [("v", rows[:1]), ("v", rows[1:])], ["4 3 0,1:-", "4 3 1,3:-"])
        save(session, "part-0", [("a", tf.constant([1, 2])), ("v", rows[:, :2])], ["", "4 3 -:0,2"])
        save(session, "part-1", [("b", tf.constant(["text"])), ("v", rows[:, 2:])], ["", "4 3 -:2,1"])
        session.run(tf.raw_ops.MergeV2Checkpoints(checkpoint_prefixes=[os.path.join(FOLDER, "part-%d" % i) for i in (0, 1)],
                                                  destination_prefix=os.path.join(FOLDER, "merged"), delete_old_dirs=False))
        old = [(name, value) for name, value in tensors if name not in ("bfloat16", "uint32", "uint64")]
        save_v1(session, "v1_all_dtypes", old + quantized())
        save_v1(session, "v1_slices-00000-of-00002", [("a", tf.constant([1, 2])), ("v", rows[:, :2])], ["", "4 3 -:0,2"])
        save_v1(session, "v1_slices-00001-of-00002", [("v", rows[:, 2:])], ["4 3 -:2,1"])
        lists = tf.raw_ops.TensorListFromTensor(tensor=rows, element_shape=tf.constant([3]))
        save(session, "variants", [("list", lists), ("lists", tf.stack([lists, lists]))])
    with open(os.path.join(FOLDER, "VERSION"), "w", encoding="utf-8") as file:
        file.write("TensorFlow %s\n" % tf.__version__)


main()
