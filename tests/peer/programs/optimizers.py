"""A network with each optimizer, schedule and way to clip; moving averages."""

import numpy as np
import tensorflow.compat.v1 as tf
from show import show

tf.disable_v2_behavior()
random = np.random.RandomState(0)
inputs = random.rand(64, 5).astype(np.float32)
labels = (inputs @ random.rand(5, 3)).argmax(1)


def optimizers(step):
    yield "sgd", tf.train.GradientDescentOptimizer(tf.train.exponential_decay(0.5, step, 5, 0.9, staircase=True))
    yield "momentum", tf.train.MomentumOptimizer(tf.train.piecewise_constant(step, [4, 8], [0.2, 0.1, 0.05]), 0.9)
    yield "nesterov", tf.train.MomentumOptimizer(tf.train.cosine_decay(0.2, step, 10), 0.9, use_nesterov=True)
    yield "adam", tf.train.AdamOptimizer(tf.train.polynomial_decay(0.1, step, 8, 0.01, power=2.0))
    yield "adagrad", tf.train.AdagradOptimizer(tf.train.inverse_time_decay(0.5, step, 3, 0.5))
    yield "adagrad_da", tf.train.AdagradDAOptimizer(0.5, step, l2_regularization_strength=0.01)
    yield "adadelta", tf.train.AdadeltaOptimizer(tf.train.natural_exp_decay(5.0, step, 3, 0.1))
    yield "rmsprop", tf.train.RMSPropOptimizer(tf.train.linear_cosine_decay(0.02, step, 10))
    yield "rmsprop_centered", tf.train.RMSPropOptimizer(tf.train.cosine_decay_restarts(0.02, step, 4), momentum=0.5, centered=True)
    yield "ftrl", tf.train.FtrlOptimizer(0.5, l1_regularization_strength=0.001, l2_regularization_strength=0.01, l2_shrinkage_regularization_strength=0.001)
    yield "proximal_sgd", tf.train.ProximalGradientDescentOptimizer(0.3, l1_regularization_strength=0.001)
    yield "proximal_adagrad", tf.train.ProximalAdagradOptimizer(0.3, l1_regularization_strength=0.001, l2_regularization_strength=0.001)


def network(x):
    value = x
    for number, (rows, columns) in enumerate(((5, 8), (8, 3))):
        with tf.variable_scope(f"layer{number}"):
            weights = tf.get_variable("weights", [rows, columns], initializer=tf.glorot_normal_initializer(seed=number), regularizer=lambda w: 1e-3 * tf.nn.l2_loss(w))
            value = tf.nn.xw_plus_b(value, weights, tf.get_variable("bias", [columns], initializer=tf.constant_initializer(0.1)))
            value = tf.nn.elu(value) if number == 0 else value
    return value


def train(name, use_resource):
    with tf.Graph().as_default(), tf.variable_scope("", use_resource=use_resource):
        step = tf.train.get_or_create_global_step()
        optimizer = dict(optimizers(step))[name]
        x, y = tf.placeholder(tf.float32, [None, 5]), tf.placeholder(tf.int64, [None])
        loss = tf.losses.sparse_softmax_cross_entropy(y, network(x))
        total = tf.losses.get_total_loss()
        gradients, variables = zip(*optimizer.compute_gradients(total))
        clipped, norm = tf.clip_by_global_norm(gradients, 1.0)
        update = optimizer.apply_gradients(zip(clipped, variables), global_step=step)
        average = tf.train.ExponentialMovingAverage(0.9, step)
        averaged = average.apply(tf.trainable_variables())
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for _ in range(12):
                session.run(update, {x: inputs, y: labels})
                session.run(averaged)
            show(f"{name}/{use_resource}", session.run([loss, total, norm, step, average.average(tf.trainable_variables()[0])], {x: inputs, y: labels}))
            show("slots", {v.op.name: session.run(v) for v in optimizer.variables()})


for one in [name for name, _ in optimizers(tf.Variable(0, dtype=tf.int64))]:
    for resource in (False, True):
        if one == "adagrad_da" and resource:
            continue
        train(one, resource)
