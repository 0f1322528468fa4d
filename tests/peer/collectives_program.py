"""One of two workers: collectives of one session and of two, and a MultiWorkerMirroredStrategy, on a running cluster. Prints every value
as JSON.  usage: collectives_program.py CLUSTER_JSON INDEX"""

import json
import os
import sys

import numpy as np

spec, index = json.loads(sys.argv[1]), int(sys.argv[2])
os.environ["TF_CONFIG"] = json.dumps({"cluster": spec, "task": {"type": "worker", "index": index}})

import tensorflow.compat.v1 as tf  # noqa: E402, after its environment
from tensorflow.python.ops import collective_ops  # noqa: E402

tf.disable_v2_behavior()
LEADER = "/job:worker/replica:0/task:0"
target = "grpc://" + spec["worker"][index]


def options(key):
    return tf.RunOptions(timeout_in_ms=60000, experimental=tf.RunOptions.Experimental(collective_graph_key=key))


def config(**more):
    out = tf.ConfigProto(**more)
    out.experimental.collective_group_leader = LEADER
    return out


def of_one_session():
    """Both workers' devices are in one step."""
    with tf.Graph().as_default():
        inputs, outputs = [], []
        for i in range(2):
            with tf.device(f"/job:worker/task:{i}/device:CPU:0"):
                x = tf.placeholder(tf.float32, [None])
                inputs.append(x)
                outputs += [collective_ops.all_reduce(x, 2, 1, 1, "Add", "Div"), collective_ops.all_reduce(x, 2, 1, 2, "Max", "Id"),
                            collective_ops.all_gather(x, 2, 1, 3)]
        with tf.Session(target, config=config()) as session:
            for count in (3, 50001):
                feeds = {inputs[0]: np.arange(count) * 0.25, inputs[1]: np.ones(count)}
                yield from session.run(outputs, feeds, options=options(11))


def of_two_sessions():
    """Each worker has a session of its own; their steps meet."""
    with tf.Graph().as_default():
        with tf.device(f"/job:worker/task:{index}/device:CPU:0"):
            x = tf.placeholder(tf.int64, [None])
            total = collective_ops.all_reduce(x, 2, 3, 1, "Add", "Id")
            value = [[1.5, 2.5]] if index == 0 else None
            sent = (collective_ops.broadcast_send(tf.constant(value), [1, 2], tf.float32, 2, 3, 2) if index == 0 else
                    collective_ops.broadcast_recv([1, 2], tf.float32, 2, 3, 2))
        with tf.Session(target, config=config(device_filters=[f"/job:worker/task:{index}"])) as session:
            for step, count in enumerate((3, 70000, 1)):
                yield from session.run([total, sent], {x: np.full(count, 100 * index + step)}, options=options(12))


def mirrored():
    strategy = tf.distribute.experimental.MultiWorkerMirroredStrategy()
    with tf.Graph().as_default(), strategy.scope():
        w = tf.get_variable("w", [3], initializer=tf.constant_initializer([1.0, 2.0, 3.0]) if index == 0 else tf.zeros_initializer())
        x = tf.constant(np.arange(12).reshape(4, 3) + index, tf.float32)
        y = tf.constant([1.0, 2.0, 3.0, 4.0])
        optimizer = tf.train.GradientDescentOptimizer(0.001)

        def step():
            loss = tf.reduce_mean(tf.square(tf.linalg.matvec(x, w) - y))
            with tf.control_dependencies([optimizer.minimize(loss)]):
                return tf.identity(loss)

        loss = strategy.reduce(tf.distribute.ReduceOp.MEAN, strategy.run(step), axis=None)
        initialize = tf.global_variables_initializer()
        with tf.Session(target, config=strategy.update_config_proto(tf.ConfigProto())) as session:
            session.run(initialize)
            for _ in range(4):
                yield session.run(loss)
            yield session.run(w)


values = [*(of_one_session() if index == 0 else []), *of_two_sessions(), *mirrored()]
print("values " + json.dumps([np.asarray(value).tolist() for value in values]))
