#!/usr/bin/env python3
"""Writes dataset_values.tsv: numbers that TensorFlow's random datasets give, for datasets made with one op each.

Columns: op, its inputs without the first dataset (int64, or float for a rate) separated by blanks, attributes, how many
numbers 0, 1 … the first dataset has (empty: there is none), how often the whole is repeated, the elements. The first
line names the source.
"""
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf  # noqa: E402

raw = tf.raw_ops
ELEMENTS = dict(output_types=[tf.int64], output_shapes=[[]])


def number(value):
    return tf.constant(value, tf.int64)


def elements(dataset, limit=60):
    """Without the rewriting that iter(dataset) asks for."""
    iterator = raw.AnonymousIteratorV3(**ELEMENTS)
    raw.MakeIterator(dataset=dataset, iterator=iterator)
    out = []
    while len(out) < limit:
        try:
            out.append(int(raw.IteratorGetNext(iterator=iterator, **ELEMENTS)[0]))
        except tf.errors.OutOfRangeError:
            break
    return out


def of_range(count):
    return raw.RangeDataset(start=number(0), stop=number(count), step=number(1), **ELEMENTS)


def shuffled(buffer, seed, seed2, reshuffle, count, rounds):
    made = raw.ShuffleDataset(input_dataset=of_range(count), buffer_size=number(buffer), seed=number(seed), seed2=number(seed2),
                              reshuffle_each_iteration=reshuffle, **ELEMENTS)
    made = raw.RepeatDataset(input_dataset=made, count=number(rounds), **ELEMENTS)
    yield "ShuffleDataset", [buffer, seed, seed2], reshuffle, count, rounds, elements(made)


def repeated(buffer, seed, seed2, times, reshuffle, count):
    made = raw.ShuffleAndRepeatDataset(input_dataset=of_range(count), buffer_size=number(buffer), seed=number(seed), seed2=number(seed2),
                                       count=number(times), reshuffle_each_iteration=reshuffle, **ELEMENTS)
    yield "ShuffleAndRepeatDataset", [buffer, seed, seed2, times], reshuffle, count, 1, elements(made)


def drawn(seed, seed2):
    made = raw.RandomDataset(seed=number(seed), seed2=number(seed2), **ELEMENTS)
    yield "RandomDataset", [seed, seed2], "", "", 1, elements(made, 12)


def sampled(rate, seed, seed2, count):
    made = raw.SamplingDataset(input_dataset=of_range(count), rate=tf.constant(rate, tf.float32), seed=number(seed), seed2=number(seed2), **ELEMENTS)
    yield "SamplingDataset", [rate, seed, seed2], "", count, 1, elements(made)


def rows():
    for seeds in ((1, 2), (0, 5), (-3, 7), (2**40, -(2**41))):
        for buffer, count in ((1, 6), (3, 10), (10, 10), (100, 12)):
            for reshuffle in (True, False):
                yield from shuffled(buffer, *seeds, reshuffle, count, 3)
                yield from repeated(buffer, *seeds, 3, reshuffle, count)
        yield from repeated(4, *seeds, -1, True, 5)
        yield from drawn(*seeds)
        yield from sampled(0.3, *seeds, 40)


here = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(here, "dataset_values.tsv"), "w", encoding="utf-8") as out:
    out.write(f"# TensorFlow {tf.__version__}\n")
    for op, inputs, reshuffle, count, rounds, values in rows():
        attrs = "" if reshuffle == "" else f"reshuffle_each_iteration={str(reshuffle).lower()}"
        out.write("\t".join([op, " ".join(map(str, inputs)), attrs, str(count), str(rounds), " ".join(map(str, values))]) + "\n")
