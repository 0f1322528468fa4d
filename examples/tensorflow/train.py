"""A TensorFlow 1.x program for a cluster, as thousands were written: variables on the ps, a MonitoredTrainingSession on each worker.

    TF_CONFIG='{"cluster": …, "task": {"type": "ps", "index": 0}}' python -m troupe examples/tensorflow/train.py

Nothing in it knows of troupe: with `python examples/tensorflow/train.py` it runs on TensorFlow's own servers. Ten clusters of points
in the plane stand for pictures of ten digits, so that nothing has to be downloaded.
"""

import json
import os

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.logging.set_verbosity(tf.logging.WARN)

CLASSES, INPUTS, HIDDEN, BATCH, STEPS = 10, 16, 32, 64, int(os.environ.get("STEPS", "300"))


def batches(seed):
    centres = np.random.RandomState(0).normal(size=(CLASSES, INPUTS)).astype(np.float32)
    random = np.random.RandomState(seed)
    while True:
        labels = random.randint(CLASSES, size=BATCH)
        yield centres[labels] + random.normal(scale=0.4, size=(BATCH, INPUTS)).astype(np.float32), labels


def model(cluster, task):
    with tf.device(tf.train.replica_device_setter(worker_device=f"/job:worker/task:{task}", cluster=cluster)):
        x = tf.placeholder(tf.float32, [None, INPUTS], name="x")
        labels = tf.placeholder(tf.int64, [None], name="labels")
        global_step = tf.train.get_or_create_global_step()

        def layer(name, value, inputs, outputs):
            weights = tf.get_variable(name + "/weights", [inputs, outputs], initializer=tf.glorot_uniform_initializer(seed=1))
            bias = tf.get_variable(name + "/bias", [outputs], initializer=tf.zeros_initializer())
            return tf.nn.bias_add(tf.matmul(value, weights), bias)

        hidden = tf.nn.relu(layer("hidden", x, INPUTS, HIDDEN))
        logits = layer("output", hidden, HIDDEN, CLASSES)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
        accuracy = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), labels), tf.float32))
        train = tf.train.AdamOptimizer(0.01).minimize(loss, global_step=global_step)
    return x, labels, train, accuracy


def main():
    config = json.loads(os.environ["TF_CONFIG"])
    job, task = config["task"]["type"], config["task"]["index"]
    cluster = tf.train.ClusterSpec(config["cluster"])
    server = tf.train.Server(cluster, job_name=job, task_index=task)
    if job == "ps":
        server.join()
        return
    x, labels, train, accuracy = model(cluster, task)
    # A worker needs the ps and itself: another worker may come later, or have ended.
    options = tf.ConfigProto(device_filters=["/job:ps", f"/job:worker/task:{task}"])
    stop = tf.train.StopAtStepHook(last_step=STEPS)
    reached = 0.0
    with tf.train.MonitoredTrainingSession(master=server.target, is_chief=task == 0, config=options, hooks=[stop],
                                           save_summaries_steps=None, save_summaries_secs=None, log_step_count_steps=None) as session:
        for values, wanted in batches(seed=1 + task):
            if session.should_stop():
                break
            _, reached = session.run([train, accuracy], {x: values, labels: wanted})
    print(f"worker {task}: accuracy of the last batch {reached:.3f}", flush=True)


if __name__ == "__main__":
    main()
