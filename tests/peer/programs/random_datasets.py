"""Pipelines of random transformations, each drained, saved after some elements, and restored. SEED and COUNT of the environment ask for others."""

import os
import random
import tempfile

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
Dataset, experimental = tf.data.Dataset, tf.data.experimental
SAVED = os.path.join(tempfile.mkdtemp(), "iterator")
LONGEST = 200  # elements


def source(draw):
    numbers = np.array([draw.randint(-5, 9) for _ in range(draw.randint(1, 9))], np.int64)
    return draw.choice([
        lambda: Dataset.range(draw.randint(0, 12)),
        lambda: Dataset.range(draw.randint(0, 5), draw.randint(5, 15), draw.randint(1, 3)),
        lambda: Dataset.from_tensor_slices(numbers),
        lambda: Dataset.from_tensors(numbers[0]).repeat(draw.randint(0, 4))])()


def padded(x):
    return tf.reduce_sum(x) + tf.cast(tf.size(x), tf.int64)


def transformed(d, draw):
    a, b, seed, flag, more = draw.randint(1, 4), draw.randint(1, 3), draw.randint(1, 99), draw.random() < 0.5, source(draw)
    reducer = experimental.Reducer(lambda key: key, lambda state, x: state + x, lambda state: state * 2)
    return draw.choice([
        lambda: d.map(lambda x: x * a + b),
        lambda: d.map(lambda x: x - a, num_parallel_calls=b),
        lambda: d.filter(lambda x: x % (a + 1) < b),
        lambda: d.batch(a, drop_remainder=flag).map(tf.reduce_sum),
        lambda: d.batch(a).unbatch(),
        lambda: d.batch(a).rebatch(b).unbatch(),
        lambda: d.map(lambda x: tf.fill([x % 4], x)).padded_batch(b, [None]).map(padded),
        lambda: d.apply(experimental.map_and_batch(lambda x: x + a, b, drop_remainder=flag)).unbatch(),
        lambda: d.shuffle(a * 2, seed=seed, reshuffle_each_iteration=flag),
        lambda: d.repeat(b),
        lambda: d.take(a * 3),
        lambda: d.skip(a - 1),
        lambda: d.shard(a + 1, b % (a + 1)),
        lambda: d.window(a, b, 2 - flag, flag).flat_map(lambda w: w.batch(a)).map(lambda x: tf.reduce_sum(x) * 10),
        lambda: d.interleave(lambda x: Dataset.range(x % 5).map(lambda y: y + x), cycle_length=a, block_length=b),
        lambda: d.interleave(lambda x: Dataset.from_tensors(x).repeat(b), cycle_length=a, num_parallel_calls=min(a, b)),
        lambda: d.flat_map(lambda x: Dataset.from_tensors(x).repeat(a)),
        lambda: d.prefetch(a),
        lambda: d.cache(),
        lambda: Dataset.zip((d, more)).map(lambda x, y: x * 100 + y),
        lambda: d.concatenate(more),
        lambda: d.group_by_window(lambda x: x % a, lambda _, w: w.batch(b).map(tf.reduce_sum), window_size=b),
        lambda: d.apply(experimental.group_by_reducer(lambda x: x % a, reducer)),
        lambda: d.apply(experimental.scan(np.int64(0), lambda state, x: (state + x, state * 2 + x))),
        lambda: d.apply(experimental.take_while(lambda x: x < 40)),
        lambda: d.apply(experimental.unique()),
        lambda: d.enumerate().map(lambda i, x: x + i)])()


def drained(session, element, limit=LONGEST + 1):
    taken = []
    try:
        for _ in range(limit):
            taken.append(int(session.run(element)))
    except tf.errors.OutOfRangeError:
        taken.append("end")
    return taken


first = int(os.environ.get("SEED", "1"))
for number in range(first, first + int(os.environ.get("COUNT", "100"))):
    draw = random.Random(number)
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(number)
        dataset = source(draw)
        for _ in range(draw.randint(1, 6)):
            dataset = transformed(dataset, draw)
        iterator = tf.data.make_initializable_iterator(dataset.take(LONGEST))
        element, cardinality = iterator.get_next(), experimental.cardinality(dataset)
        saver = tf.train.Saver([experimental.make_saveable_from_iterator(iterator)])
        session.run(iterator.initializer)
        begun = drained(session, element, draw.randint(0, 5))
        saver.save(session, SAVED)
        rest = drained(session, element)
        session.run(iterator.initializer)
        saver.restore(session, SAVED)
        print(number, session.run(cardinality), begun, rest, "restored", drained(session, element) == rest)
