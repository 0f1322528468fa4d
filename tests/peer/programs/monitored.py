"""Training with MonitoredTrainingSession, hooks, Supervisor and metrics; a run that goes on where the last one ended."""

import os
import tempfile

import numpy as np
import tensorflow.compat.v1 as tf
from show import refusal, show

tf.disable_v2_behavior()
tf.logging.set_verbosity(tf.logging.ERROR)
folder = tempfile.mkdtemp()
random = np.random.RandomState(4)
inputs = random.rand(32, 4).astype(np.float32)
labels = (inputs.sum(1) > 2).astype(np.int64)


def model():
    x, y = tf.placeholder(tf.float32, [None, 4]), tf.placeholder(tf.int64, [None])
    weights = tf.get_variable("weights", [4, 2], initializer=tf.glorot_uniform_initializer(seed=1))
    logits = tf.matmul(x, weights) + tf.get_variable("bias", [2], initializer=tf.zeros_initializer())
    loss = tf.losses.sparse_softmax_cross_entropy(y, logits)
    tf.summary.scalar("loss", loss)
    train = tf.train.AdamOptimizer(0.05).minimize(loss, tf.train.get_or_create_global_step())
    return x, y, logits, loss, train


class Watch(tf.train.SessionRunHook):
    def begin(self):
        self.seen = []

    def before_run(self, context):
        return tf.train.SessionRunArgs({"step": tf.train.get_global_step(), "loss": tf.get_collection(tf.GraphKeys.LOSSES)[0]})

    def after_run(self, context, values):
        self.seen.append(float(values.results["loss"]))
        if len(self.seen) == 7:
            context.request_stop()


for attempt in range(3):
    with tf.Graph().as_default():
        x, y, logits, loss, train = model()
        watch = Watch()
        hooks = [watch, tf.train.StopAtStepHook(num_steps=9), tf.train.NanTensorHook(loss), tf.train.LoggingTensorHook([loss], every_n_iter=5), tf.train.StepCounterHook(5),
                 tf.train.FinalOpsHook(tf.constant(attempt))]
        with tf.train.MonitoredTrainingSession(checkpoint_dir=folder, hooks=hooks, save_checkpoint_steps=3, save_summaries_steps=2) as session:
            while not session.should_stop():
                session.run(train, {x: inputs, y: labels})
        show(f"attempt {attempt}", watch.seen)
        print(os.path.basename(tf.train.latest_checkpoint(folder)))

with tf.Graph().as_default():
    x, y, logits, loss, train = model()
    predicted = tf.argmax(logits, 1)
    probability = tf.nn.softmax(logits)[:, 1]
    metrics = {"accuracy": tf.metrics.accuracy(y, predicted), "auc": tf.metrics.auc(y, probability), "precision": tf.metrics.precision(y, predicted), "recall": tf.metrics.recall(y, predicted),
               "mean": tf.metrics.mean(probability), "rmse": tf.metrics.root_mean_squared_error(tf.cast(y, tf.float32), probability), "iou": tf.metrics.mean_iou(y, predicted, 2),
               "false": tf.metrics.false_positives(y, predicted), "at": tf.metrics.precision_at_thresholds(y, probability, [0.3, 0.6]), "recall_at_k": tf.metrics.recall_at_k(y, logits, 1),
               "per_class": tf.metrics.mean_per_class_accuracy(y, predicted, 2), "pearson": tf.metrics.mean_cosine_distance(tf.nn.l2_normalize(logits, 1), tf.nn.l2_normalize(logits + 1, 1), 1)}
    with tf.train.SingularMonitoredSession(checkpoint_dir=folder) as session:
        for part in range(4):
            session.run([update for _, update in metrics.values()], {x: inputs[part * 8:part * 8 + 8], y: labels[part * 8:part * 8 + 8]})
        show("metrics", session.run({name: value for name, (value, _) in metrics.items()}))

with tf.Graph().as_default():
    x, y, logits, loss, train = model()
    supervisor = tf.train.Supervisor(logdir=os.path.join(folder, "supervised"), save_model_secs=0, summary_op=None, global_step=tf.train.get_global_step())
    with supervisor.managed_session() as session:
        for _ in range(5):
            if supervisor.should_stop():
                break
            session.run(train, {x: inputs, y: labels})
        supervisor.saver.save(session, supervisor.save_path, global_step=tf.train.get_global_step())
        show("supervised", session.run(loss, {x: inputs, y: labels}))
with tf.Graph().as_default():
    x, y, logits, loss, train = model()
    with tf.train.Supervisor(logdir=os.path.join(folder, "supervised"), save_model_secs=0, summary_op=None).managed_session() as session:
        show("supervised again", session.run([tf.train.get_global_step(), loss], {x: inputs, y: labels}))

# What a hook and a step may do wrong.
with tf.Graph().as_default():
    x, y, logits, loss, train = model()
    bad = tf.check_numerics(tf.log(tf.reduce_sum(x) * 0 - 1), "bad")

    def train_on_nothing():
        with tf.train.MonitoredTrainingSession(hooks=[tf.train.NanTensorHook(tf.log(loss * 0 - 1))]) as session:
            session.run(train, {x: inputs, y: labels})

    print("not a number", refusal(train_on_nothing))

    def fail():
        with tf.train.MonitoredTrainingSession() as session:
            session.run(bad, {x: inputs})

    print("a failing step", refusal(fail))
    with tf.train.MonitoredTrainingSession() as session:
        show("a function of a step", session.run_step_fn(lambda step_context: step_context.run_with_hooks(loss, {x: inputs, y: labels})))

scaffold_graph = tf.Graph()
with scaffold_graph.as_default():
    ready = tf.get_variable("ready", [], initializer=tf.ones_initializer(), collections=[tf.GraphKeys.LOCAL_VARIABLES])
    fed = tf.placeholder(tf.float32, [])
    started = tf.get_variable("started", initializer=fed)
    scaffold = tf.train.Scaffold(init_feed_dict={fed: 4.0}, init_fn=lambda scaffold, session: show("in init_fn", session.run(started)))
    with tf.train.MonitoredSession(tf.train.ChiefSessionCreator(scaffold)) as session:
        show("scaffolded", session.run([started, ready]))
