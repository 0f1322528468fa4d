"""Datasets as tf.distribute uses them: dealt to devices, shared out among workers, written as graphs and made again."""

import os
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow.python.data.experimental.ops import distribute
from tensorflow.python.ops import gen_dataset_ops, gen_experimental_dataset_ops

from show import refusal, show

tf1 = tf.compat.v1
tf1.disable_eager_execution()
FOLDER = tempfile.mkdtemp()
data = tf.data.Dataset


def path(i):
    return os.path.join(FOLDER, f"part-{i}")


for i in range(4):
    with open(path(i), "w") as out:
        out.write("".join(f"{i}:{line}\n" for line in range(3)))
    with tf.io.TFRecordWriter(path(i) + ".tfrecord") as writer:
        for record in range(2):
            writer.write(f"record {i}.{record}".encode())
files = [path(i) for i in range(4)]
records = [name + ".tfrecord" for name in files]
table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer([0, 1, 2], ["none", "one", "two"]), "many")

pipelines = {
    "range": data.range(10),
    "mapped": data.range(10).map(lambda x: (x * x, tf.as_string(x))).batch(3),
    "filtered": data.range(20).filter(lambda x: x % 3 == 0).repeat(2).prefetch(2),
    "nested": data.range(4).flat_map(lambda x: data.from_tensors(x).repeat(x)).batch(2, drop_remainder=True),
    "zipped": data.zip((data.range(5), data.from_tensor_slices(np.arange(10.0).reshape(5, 2)))).skip(1),
    "shuffled": data.range(12).shuffle(5, seed=7, reshuffle_each_iteration=False).take(9),
    "looked up": data.range(5).map(lambda x: table.lookup(tf.cast(x, tf.int32))),
    "lines": data.from_tensor_slices(files).flat_map(tf.data.TextLineDataset),
    "interleaved": data.from_tensor_slices(files).interleave(lambda name: tf.data.TextLineDataset(name).map(tf.strings.length), cycle_length=2),
    "records": tf.data.TFRecordDataset(records).batch(2),
    "shuffled files": data.from_tensor_slices(files).shuffle(4, seed=3, reshuffle_each_iteration=False).flat_map(tf.data.TextLineDataset),
    "joined": data.from_tensor_slices(files[:2]).flat_map(tf.data.TextLineDataset).concatenate(
        data.from_tensor_slices(files[2:]).flat_map(tf.data.TextLineDataset)),
}


def made_again(dataset):
    graph = gen_dataset_ops.dataset_to_graph_v2(dataset._variant_tensor)
    return tf.data.experimental.from_variant(gen_experimental_dataset_ops.dataset_from_graph(graph), dataset.element_spec)


def shares(dataset, workers, policy):
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = policy
    return [distribute._AutoShardDataset(dataset.with_options(options), workers, i, 2) for i in range(workers)]


def drained(session, dataset, limit=60):
    iterator = tf1.data.make_initializable_iterator(dataset)
    element = iterator.get_next()
    session.run(iterator.initializer)
    out = []
    try:
        while len(out) < limit:
            out.append(session.run(element))
    except tf.errors.OutOfRangeError:
        pass
    except tf.errors.OpError as error:
        out.append(type(error).__name__)
    return out


def tell(name, elements):
    show(name + ", elements", len(elements))
    for element in elements:
        for value in element if isinstance(element, tuple) else (element,):
            show(name, value)


policy = tf.data.experimental.AutoShardPolicy
with tf1.Session() as session:
    session.run(tf1.tables_initializer())
    for name, dataset in pipelines.items():
        tell(f"{name}, made again", drained(session, made_again(dataset)))
        show(f"{name}, batch size", session.run(gen_experimental_dataset_ops.compute_batch_size(dataset._variant_tensor)))
        for how in (policy.AUTO, policy.DATA, policy.OFF):
            for worker, share in enumerate(shares(dataset, 2, how)):
                tell(f"{name}, {how.name}, worker {worker}", drained(session, share))
    for name in ("lines", "interleaved", "records", "joined"):
        for worker, share in enumerate(shares(pipelines[name], 4, policy.FILE)):
            tell(f"{name}, FILE, worker {worker}", drained(session, share))
    for how in (policy.FILE, policy.HINT):
        show(f"range, {how.name}", [type(x).__name__ if isinstance(x, str) else int(x) for x in
                                    [n for n in drained(session, shares(data.range(6), 1, how)[0])]])
    hinted = data.range(6).shard(tf.data.experimental.SHARD_HINT, tf.data.experimental.SHARD_HINT)
    for worker, share in enumerate(shares(hinted, 2, policy.HINT)):
        tell(f"hinted, worker {worker}", drained(session, share))

    # Begun once each and dealt to the end: TensorFlow's own waits for ever now and then where one is begun anew.
    devices = ["/job:localhost/replica:0/task:0/device:CPU:0"] * 3
    for most in (1, 4):
        handle = gen_dataset_ops.multi_device_iterator(devices, "", "", [tf.int64], [[]])
        text = gen_dataset_ops.multi_device_iterator_to_string_handle(handle)
        number = session.run(gen_dataset_ops.multi_device_iterator_init(data.range(11)._variant_tensor, handle, most))
        show("incarnation", number)
        incarnation = tf1.placeholder(tf.int64, [])
        again = gen_dataset_ops.multi_device_iterator_from_string_handle(text, [tf.int64], [[]])
        nexts = [gen_dataset_ops.multi_device_iterator_get_next_from_shard(again, i, incarnation, [tf.int64], [[]])[0] for i in range(3)]
        show("another incarnation", refusal(lambda: session.run(nexts[0], {incarnation: number + 1})))
        for _ in range(3):
            show(f"dealt, {most} ahead", session.run(nexts, {incarnation: number}))
        show(f"dealt, {most} ahead", session.run(nexts[:2], {incarnation: number}))
        for one in nexts:
            show("end of a shard", refusal(lambda: session.run(one, {incarnation: number})))

strategy = tf1.distribute.MirroredStrategy(["/cpu:0"])
batches = data.from_tensor_slices(np.arange(48, dtype=np.float32).reshape(16, 3)).repeat().batch(4).map(lambda x: (x, tf.reduce_sum(x, 1)))
with strategy.scope():
    weight = tf1.get_variable("weight", [3, 1], initializer=tf1.zeros_initializer())
    iterator = strategy.make_dataset_iterator(batches)
    optimizer = tf1.train.AdamOptimizer(0.05)

    def step(batch):
        x, y = batch
        loss = tf.reduce_mean((tf.matmul(x, weight)[:, 0] - y) ** 2)
        with tf.control_dependencies([optimizer.minimize(loss)]):
            return tf.identity(loss)

    loss = strategy.reduce(tf.distribute.ReduceOp.MEAN, strategy.run(step, args=(iterator.get_next(),)), axis=None)
    init = [tf1.global_variables_initializer(), iterator.initializer]
with tf1.Session() as session:
    session.run(init)
    for _ in range(8):
        show("loss of a mirrored step", session.run(loss))
    show("its weight", session.run(strategy.experimental_local_results(weight)[0]))
