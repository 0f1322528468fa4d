"""Recurrent networks: static, dynamic, both directions, several layers, with lengths; a loop that writes to a TensorArray."""

import numpy as np
import tensorflow.compat.v1 as tf
from show import show
from tensorflow.python.keras.layers.legacy_rnn import rnn_cell_impl as cell  # tf.nn.rnn_cell, which a TensorFlow with Keras 3 hides

tf.disable_v2_behavior()
random = np.random.RandomState(2)
values = random.rand(6, 7, 4).astype(np.float32)
lengths = np.array([7, 5, 3, 7, 1, 2], np.int32)
targets = random.rand(6, 10).astype(np.float32)


def cells(kind):
    start = tf.random_uniform_initializer(-0.2, 0.2, seed=4)
    return {"basic": lambda: cell.BasicRNNCell(5), "gru": lambda: cell.GRUCell(5, kernel_initializer=start), "basic_lstm": lambda: cell.BasicLSTMCell(5),
            "lstm": lambda: cell.LSTMCell(5, use_peepholes=True, num_proj=5, cell_clip=3.0, initializer=start),
            "layers": lambda: cell.MultiRNNCell([cell.ResidualWrapper(cell.LSTMCell(4, initializer=start)), cell.LSTMCell(5, initializer=start)]),
            "dropout": lambda: cell.DropoutWrapper(cell.GRUCell(5, kernel_initializer=start), output_keep_prob=0.8, seed=6)}[kind]()


def outputs_of(kind, how, x, n):
    if how == "dynamic":
        return tf.nn.dynamic_rnn(cells(kind), x, n, dtype=tf.float32)[0]
    if how == "static":
        return tf.stack(tf.nn.static_rnn(cells(kind), tf.unstack(x, axis=1), dtype=tf.float32, sequence_length=n)[0], 1)
    if how == "time_major":
        return tf.transpose(tf.nn.dynamic_rnn(cells(kind), tf.transpose(x, [1, 0, 2]), n, dtype=tf.float32, time_major=True)[0], [1, 0, 2])
    return sum(tf.nn.bidirectional_dynamic_rnn(cells(kind), cells(kind), x, n, dtype=tf.float32)[0])


for kind in ("basic", "gru", "basic_lstm", "lstm", "layers", "dropout"):
    for how in ("dynamic", "static", "time_major", "both"):
        if kind == "dropout" and how != "static":
            continue  # which iteration of a loop draws its numbers first is open
        with tf.Graph().as_default():
            tf.set_random_seed(7)
            x, n, y = tf.placeholder(tf.float32, [None, 7, 4]), tf.placeholder(tf.int32, [None]), tf.placeholder(tf.float32, [None, 10])
            with tf.variable_scope("net", initializer=tf.glorot_uniform_initializer(seed=8)):
                out = outputs_of(kind, how, x, n)
                last = tf.gather_nd(out, tf.stack([tf.range(tf.shape(n)[0]), n - 1], 1))
                loss = tf.losses.mean_squared_error(y, tf.matmul(last, tf.get_variable("out", [5, 10])))
            train = tf.train.AdamOptimizer(0.05).minimize(loss)
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                losses = [session.run([loss, train], {x: values, n: lengths, y: targets})[0] for _ in range(6)]
                show(f"{kind} {how}", losses)
                show("outputs", session.run(out, {x: values, n: lengths}))

with tf.Graph().as_default():
    x = tf.placeholder(tf.float32, [None, 4])
    weights = tf.get_variable("weights", [4, 4], initializer=tf.random_normal_initializer(seed=9))
    steps = tf.shape(x)[0]

    def body(i, state, array):
        state = tf.tanh(tf.matmul(state, weights) + tf.reshape(x[i], [1, 4]))
        return i + 1, state, array.write(i, state)

    _, final, written = tf.while_loop(lambda i, *_: i < steps, body, (0, tf.zeros([1, 4]), tf.TensorArray(tf.float32, size=0, dynamic_size=True, clear_after_read=False)),
                                      parallel_iterations=3, swap_memory=True)
    gradient = tf.gradients(tf.reduce_sum(written.concat()), [weights, x])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for length in (1, 7):
            show("loop", session.run([final, written.stack(), gradient], {x: values[0][:length]}))
