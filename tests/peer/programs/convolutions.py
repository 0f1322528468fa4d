"""A convolutional network: dropout, batch normalisation with its updates, separable and transposed convolutions, pools, residuals."""

import numpy as np
import tensorflow.compat.v1 as tf
from show import show

tf.disable_v2_behavior()
tf.set_random_seed(5)
random = np.random.RandomState(1)
images = random.rand(24, 12, 12, 3).astype(np.float32)
labels = random.randint(4, size=24)


def kernel(name, shape):
    return tf.get_variable(name, shape, initializer=tf.variance_scaling_initializer(2.0, seed=len(name)))


def normalised(x, training, name):
    with tf.variable_scope(name):
        channels = x.shape[-1]
        scale = tf.get_variable("scale", [channels], initializer=tf.ones_initializer())
        offset = tf.get_variable("offset", [channels], initializer=tf.zeros_initializer())
        mean = tf.get_variable("mean", [channels], initializer=tf.zeros_initializer(), trainable=False)
        variance = tf.get_variable("variance", [channels], initializer=tf.ones_initializer(), trainable=False)

        def batch():
            out, batch_mean, batch_variance = tf.nn.fused_batch_norm(x, scale, offset)
            return out, batch_mean, batch_variance

        def moving():
            out, _, _ = tf.nn.fused_batch_norm(x, scale, offset, mean, variance, is_training=False)
            return out, mean.read_value(), variance.read_value()

        out, new_mean, new_variance = tf.cond(training, batch, moving)
        tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, tf.assign_sub(mean, 0.1 * (mean - new_mean)))
        tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, tf.assign_sub(variance, 0.1 * (variance - new_variance)))
        return out


x = tf.placeholder(tf.float32, [None, 12, 12, 3])
y = tf.placeholder(tf.int64, [None])
training = tf.placeholder_with_default(False, [])
rate = tf.where(training, 0.3, 0.0)
net = tf.nn.relu(normalised(tf.nn.conv2d(x, kernel("first", [3, 3, 3, 8]), [1, 1, 1, 1], "SAME"), training, "norm1"))
net = tf.nn.max_pool(net, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
shortcut = net
net = tf.nn.depthwise_conv2d(net, kernel("depthwise", [3, 3, 8, 1]), [1, 1, 1, 1], "SAME")
net = tf.nn.relu6(normalised(tf.nn.conv2d(net, kernel("pointwise", [1, 1, 8, 8]), [1, 1, 1, 1], "VALID"), training, "norm2")) + shortcut
net = tf.nn.separable_conv2d(net, kernel("separable_depth", [3, 3, 8, 2]), kernel("separable_point", [1, 1, 16, 10]), [1, 2, 2, 1], "SAME")
net = tf.nn.lrn(tf.nn.leaky_relu(net), 3)
net = tf.nn.conv2d_transpose(net, kernel("transposed", [2, 2, 6, 10]), [tf.shape(x)[0], 6, 6, 6], [1, 2, 2, 1])
net = tf.concat([net, tf.nn.atrous_conv2d(net, kernel("atrous", [3, 3, 6, 4]), 2, "SAME")], 3)
net = tf.nn.avg_pool(net, [1, 3, 3, 1], [1, 3, 3, 1], "VALID")
flat = tf.reshape(net, [-1, int(np.prod(net.shape[1:]))])
flat = tf.nn.dropout(flat, rate=rate, seed=3)
logits = tf.matmul(flat, kernel("dense", [flat.shape[1], 4]))
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
accuracy = tf.reduce_mean(tf.cast(tf.nn.in_top_k(logits, y, 2), tf.float32))
with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
    train = tf.train.MomentumOptimizer(0.02, 0.9).minimize(loss)
saliency = tf.gradients(loss, x)[0]

with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for _ in range(8):
        show("training", session.run([loss, train], {x: images, y: labels, training: True})[:1])
    show("evaluated", session.run([loss, accuracy, logits, saliency], {x: images, y: labels}))
    show("moving", {v.op.name: session.run(v) for v in tf.global_variables() if "mean" in v.name or "variance" in v.name})
