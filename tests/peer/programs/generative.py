"""A variational autoencoder, a GAN with two optimizers, and an autoencoder with tied weights."""

import numpy as np
import tensorflow.compat.v1 as tf
from show import show

tf.disable_v2_behavior()
random = np.random.RandomState(5)
pictures = (random.rand(40, 16) > 0.6).astype(np.float32)


def dense(x, units, name, activation=None):
    with tf.variable_scope(name, reuse=tf.AUTO_REUSE):
        weights = tf.get_variable("weights", [x.shape[1], units], initializer=tf.glorot_uniform_initializer(seed=units))
        out = tf.nn.bias_add(tf.matmul(x, weights), tf.get_variable("bias", [units], initializer=tf.zeros_initializer()))
    return activation(out) if activation else out


def autoencoder(x):
    weights = tf.get_variable("weights", [16, 6], initializer=tf.truncated_normal_initializer(stddev=0.2, seed=3))
    noisy = x * tf.cast(tf.random_uniform(tf.shape(x), seed=4) > 0.3, tf.float32)
    hidden = tf.sigmoid(tf.matmul(noisy, weights))
    out = tf.sigmoid(tf.matmul(hidden, weights, transpose_b=True))
    sparsity = tf.reduce_mean(tf.square(tf.reduce_mean(hidden, 0) - 0.1))
    loss = tf.reduce_mean(tf.squared_difference(out, x)) + 0.1 * sparsity
    return [loss], [tf.train.AdamOptimizer(0.05).minimize(loss)], out


def variational(x):
    hidden = dense(x, 12, "encoder", tf.nn.softplus)
    mean, log_variance = dense(hidden, 3, "mean"), dense(hidden, 3, "variance")
    code = mean + tf.exp(log_variance / 2) * tf.random_normal(tf.shape(mean), seed=8)
    logits = dense(dense(code, 12, "decoder", tf.nn.selu), 16, "pixels")
    distance = tf.reduce_sum(tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=logits), 1)
    divergence = -0.5 * tf.reduce_sum(1 + log_variance - tf.square(mean) - tf.exp(log_variance), 1)
    loss = tf.reduce_mean(distance + divergence)
    return [loss, tf.reduce_mean(divergence)], [tf.train.RMSPropOptimizer(0.02).minimize(loss)], tf.sigmoid(logits)


def adversarial(x):
    noise = tf.random_uniform([tf.shape(x)[0], 4], -1, 1, seed=9)
    with tf.variable_scope("generator"):
        fake = dense(dense(noise, 10, "hidden", tf.nn.relu), 16, "out", tf.tanh)
    with tf.variable_scope("discriminator") as scope:
        real_score = dense(dense(x, 10, "hidden", tf.nn.leaky_relu), 1, "out")
        scope.reuse_variables()
        fake_score = dense(dense(fake, 10, "hidden", tf.nn.leaky_relu), 1, "out")
        mixed = x + 0.5 * (fake - x)
        penalty = tf.reduce_mean(tf.square(tf.norm(tf.gradients(dense(dense(mixed, 10, "hidden", tf.nn.leaky_relu), 1, "out"), mixed)[0], axis=1) - 1))
    cross = tf.nn.sigmoid_cross_entropy_with_logits
    judge = tf.reduce_mean(cross(labels=tf.ones_like(real_score), logits=real_score) + cross(labels=tf.zeros_like(fake_score), logits=fake_score)) + penalty
    forge = tf.reduce_mean(cross(labels=tf.ones_like(fake_score), logits=fake_score))
    steps = [tf.train.AdamOptimizer(0.01, beta1=0.5).minimize(loss, var_list=tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope=name))
             for loss, name in ((judge, "discriminator"), (forge, "generator"))]
    return [judge, forge, penalty], steps, fake


for model in (autoencoder, variational, adversarial):
    with tf.Graph().as_default():
        tf.set_random_seed(6)
        x = tf.placeholder(tf.float32, [None, 16])
        losses, steps, sample = model(x)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for number in range(10):
                for step in steps:
                    out = session.run([losses, step], {x: pictures})[0]
                show(f"{model.__name__} {number}", out)
            show("sample", session.run(sample, {x: pictures[:3]}))
