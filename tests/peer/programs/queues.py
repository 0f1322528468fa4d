"""Input by queues: batches in order, shuffled and padded; runners, coordinators, capacities, ends and errors."""

import os
import tempfile
import threading

import numpy as np
import tensorflow.compat.v1 as tf
from show import refusal, show

tf.disable_v2_behavior()
folder = tempfile.mkdtemp()
for number in range(3):
    with open(os.path.join(folder, f"lines{number}.csv"), "w") as file:
        file.writelines(f"{number},{row},{row * 0.5}\n" for row in range(4))
    with tf.python_io.TFRecordWriter(os.path.join(folder, f"{number}.tfrecord")) as writer:
        for row in range(4):
            writer.write(tf.train.Example(features=tf.train.Features(feature={
                "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[number * 10 + row])),
                "values": tf.train.Feature(float_list=tf.train.FloatList(value=[row, row / 2])),
                "words": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"w"] * row))})).SerializeToString())


def drained(build, limit=100):
    """What a pipeline gives until its input ends."""
    with tf.Graph().as_default():
        tf.set_random_seed(1)
        out = build()
        with tf.Session() as session:
            session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
            coordinator = tf.train.Coordinator()
            threads = tf.train.start_queue_runners(session, coordinator)
            taken = []
            try:
                while not coordinator.should_stop() and len(taken) < limit:
                    taken.append(session.run(out))
            except tf.errors.OutOfRangeError:
                taken.append("end")
            finally:
                coordinator.request_stop()
            coordinator.join(threads)
            return taken


def lines():
    names = tf.train.string_input_producer(tf.train.match_filenames_once(os.path.join(folder, "*.csv")), num_epochs=2, shuffle=False)
    _, value = tf.TextLineReader().read(names)
    row = tf.decode_csv(value, [[0], [0], [0.0]])
    return tf.train.batch([row[0], row[1], row[2]], 5, allow_smaller_final_batch=True)


def records():
    names = tf.train.string_input_producer(sorted(os.path.join(folder, f"{i}.tfrecord") for i in range(3)), num_epochs=1, shuffle=False)
    _, value = tf.TFRecordReader().read(names)
    row = tf.parse_single_example(value, {"label": tf.FixedLenFeature([], tf.int64), "values": tf.FixedLenFeature([2], tf.float32), "words": tf.VarLenFeature(tf.string)})
    return tf.train.batch([row["label"], row["values"], tf.size(row["words"].values)], 3)


def shuffled():
    number = tf.train.range_input_producer(20, num_epochs=1, shuffle=True, seed=3).dequeue()
    return tf.train.shuffle_batch([number, number * 2], 6, capacity=30, min_after_dequeue=10, num_threads=2, allow_smaller_final_batch=True)


def sliced():
    images, labels = tf.train.slice_input_producer([tf.constant(np.arange(12.0).reshape(6, 2)), tf.range(6)], num_epochs=2, shuffle=False)
    return tf.train.batch([images, labels], 4, enqueue_many=False)


def padded():
    number = tf.train.range_input_producer(6, num_epochs=1, shuffle=False).dequeue()
    return tf.train.batch([tf.range(number)], 3, dynamic_pad=True)


for pipeline in (lines, records, sliced, padded):
    for place, value in enumerate(drained(pipeline)):
        show(f"{pipeline.__name__} {place}", value)
every = drained(shuffled)
print("shuffled", sorted(np.concatenate([one[0] for one in every[:-1]]).tolist()), every[-1], all((one[1] == one[0] * 2).all() for one in every[:-1]))

with tf.Graph().as_default(), tf.Session() as session:
    fifo = tf.FIFOQueue(3, [tf.int32, tf.string], shapes=[[], []], shared_name="shared")
    ranked = tf.PriorityQueue(10, tf.float32, [[]])
    mixed = tf.RandomShuffleQueue(10, 2, tf.int32, [[]], seed=1)
    ragged = tf.PaddingFIFOQueue(5, tf.int32, [[None]])
    put, take, size = fifo.enqueue_many([[1, 2, 3], ["a", "b", "c"]]), fifo.dequeue(), fifo.size()
    session.run(put)
    show("size", session.run(size))
    print("full", refusal(lambda: session.run(fifo.enqueue([4, "d"]), options=tf.RunOptions(timeout_in_ms=200))))
    show("taken", [session.run(take), session.run(fifo.dequeue_many(2))])
    waiting = []
    taker = threading.Thread(target=lambda: waiting.append(session.run(take)))
    taker.start()
    session.run(fifo.enqueue([9, "late"]))
    taker.join()
    show("waited for", waiting)
    session.run(ranked.enqueue_many([np.array([3, 1, 2], np.int64), [30.0, 10.0, 20.0]]))
    show("ranked", session.run([ranked.dequeue_many(3)]))
    session.run([mixed.enqueue_many([[5, 6, 7, 8]])])
    show("mixed", sorted(session.run([mixed.dequeue() for _ in range(2)])))
    session.run([mixed.close()])
    show("the rest", sorted(session.run(mixed.dequeue_up_to(9)).tolist()))
    for row in ([1], [1, 2, 3], []):
        session.run(ragged.enqueue([np.array(row, np.int32)]))
    show("padded", session.run(ragged.dequeue_many(3)))
    session.run(fifo.enqueue([5, "x"]))
    session.run(fifo.close())
    print("closed", refusal(lambda: session.run(put)), refusal(lambda: session.run(fifo.dequeue_many(2))))
    show("after the close", session.run([take, fifo.is_closed()]))
    print("empty", refusal(lambda: session.run(take)))
    gate = tf.FIFOQueue(1, tf.int32, [[]])
    waiter = threading.Thread(target=lambda: print("cancelled", refusal(lambda: session.run(gate.dequeue()))))
    waiter.start()
    while waiter.is_alive():
        session.run(gate.close(cancel_pending_enqueues=True))
        waiter.join(0.1)

# A runner whose thread fails tells the coordinator.
with tf.Graph().as_default(), tf.Session() as session:
    queue = tf.FIFOQueue(10, tf.float32)
    runner = tf.train.QueueRunner(queue, [queue.enqueue(tf.check_numerics(tf.log(-1.0), "bad"))] * 2)
    coordinator = tf.train.Coordinator()
    threads = runner.create_threads(session, coordinator, daemon=True, start=True)
    coordinator.wait_for_stop(60)
    print("a runner fails", coordinator.should_stop(), refusal(lambda: coordinator.join(threads)))
