"""Writes the models' graphs, as TensorFlow's own layers, gradients and optimizers make them, to graphs/models/NAME.pb.gz.

    VENV/bin/python bench/graphs/make_models.py        made with TensorFlow 2.21.0; initial values have fixed seeds

The graphs are committed, so that both sides run the same bytes, and ours runs where there is no TensorFlow. Nodes that a
run names: x, labels, ids (fed), init, train, loss, y."""

import gzip
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""
import tensorflow as tf  # noqa: E402

t1 = tf.compat.v1
t1.disable_v2_behavior()
t1.enable_v2_tensorshape()
FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "models")


def save(name, graph):
    os.makedirs(FOLDER, exist_ok=True)
    with open(os.path.join(FOLDER, name + ".pb.gz"), "wb") as out, gzip.GzipFile("", "wb", 9, out, mtime=0) as packed:
        packed.write(graph.as_graph_def().SerializeToString(deterministic=True))


def variable(name, dims, initial, trainable=True):
    return t1.get_variable(name, dims, initializer=initial, trainable=trainable, use_resource=True)


def glorot():
    return t1.glorot_uniform_initializer(seed=7)


def dense(x, width, name, activation=None):
    y = tf.matmul(x, variable(name + "/weights", [x.shape[-1], width], glorot())) + variable(name + "/bias", [width], t1.zeros_initializer())
    return activation(y) if activation else y


def finish(loss, optimizer, **more):
    tf.identity(loss, name="loss")
    optimizer.minimize(loss, name="train", **more)


def initialise():
    t1.variables_initializer(t1.global_variables(), name="init")


def mlp_layers(x):
    return dense(dense(x, 512, "hidden1", tf.nn.relu), 256, "hidden2", tf.nn.relu)


def conv(x, channels, size, name):
    kernel = variable(name + "/kernel", [size, size, x.shape[-1], channels], glorot())
    y = tf.nn.bias_add(tf.nn.conv2d(x, kernel, strides=1, padding="SAME"), variable(name + "/bias", [channels], t1.zeros_initializer()))
    return tf.nn.max_pool2d(tf.nn.relu(y), 2, 2, "SAME")


def cnn_layers(x):
    h = conv(conv(tf.reshape(x, [-1, 28, 28, 1]), 32, 5, "conv1"), 64, 5, "conv2")
    return dense(tf.reshape(h, [x.shape[0] or -1, 7 * 7 * 64]), 512, "hidden", tf.nn.relu)


def cnn_of_any_batch():
    with tf.Graph().as_default() as graph:
        tf.identity(dense(cnn_layers(t1.placeholder(tf.float32, [None, 784], name="x")), 10, "logits"), name="y")
        initialise()
    return graph


def classifier(layers, optimizer, worker=None, batch=128):
    """`worker`: which task computes, with the variables on a ps; None: no devices."""
    place = worker is not None and t1.train.replica_device_setter(ps_device="/job:ps/task:0", worker_device=f"/job:worker/task:{worker}", ps_tasks=1)
    with tf.Graph().as_default() as graph, t1.device(place or None):
        x = t1.placeholder(tf.float32, [batch, 784], name="x")
        labels = t1.placeholder(tf.int64, [batch], name="labels")
        logits = dense(layers(x), 10, "logits")
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
        finish(loss, optimizer(), global_step=t1.train.get_or_create_global_step())
        initialise()
    return graph


def layer_norm(x, name):
    width = x.shape[-1]
    mean, variance = tf.nn.moments(x, [-1], keepdims=True)
    scale, offset = variable(name + "/scale", [width], t1.ones_initializer()), variable(name + "/offset", [width], t1.zeros_initializer())
    return (x - mean) * tf.math.rsqrt(variance + 1e-6) * scale + offset


def encoder_layer(h, heads, name):
    batch, length, width = h.shape

    def project(x, to, which, activation=None):
        flat = tf.reshape(x, [-1, x.shape[-1]])
        return tf.reshape(dense(flat, to, f"{name}/{which}", activation), [batch, length, to])

    def split(x):
        return tf.transpose(tf.reshape(x, [batch, length, heads, width // heads]), [0, 2, 1, 3])

    query, key, value = (split(project(h, width, which)) for which in ("query", "key", "value"))
    weights = tf.nn.softmax(tf.matmul(query, key, transpose_b=True) * (width // heads) ** -0.5)
    mixed = tf.reshape(tf.transpose(tf.matmul(weights, value), [0, 2, 1, 3]), [batch, length, width])
    h = layer_norm(h + project(mixed, width, "output"), name + "/norm1")
    inner = project(h, 4 * width, "wide", lambda x: 0.5 * x * (1 + tf.math.erf(x * 2 ** -0.5)))
    return layer_norm(h + project(inner, width, "narrow"), name + "/norm2")


def transformer(train, layers=4, width=256, heads=4, length=128, batch=4):
    with tf.Graph().as_default() as graph:
        ids = t1.placeholder(tf.int32, [batch, length], name="ids")
        h = tf.gather(variable("embedding", [8000, width], glorot()), ids) + variable("positions", [length, width], glorot())
        for layer in range(layers):
            h = encoder_layer(h, heads, f"layer{layer}")
        if train:
            finish(tf.reduce_mean(tf.square(h)), t1.train.AdamOptimizer(1e-4))
        else:
            tf.reduce_mean(h, name="y")
        initialise()
    return graph


def batch_norm(x, name, train):
    width = [x.shape[-1]]
    scale, offset = variable(name + "/scale", width, t1.ones_initializer()), variable(name + "/offset", width, t1.zeros_initializer())
    if train:
        return t1.nn.fused_batch_norm(x, scale, offset, is_training=True)[0]
    mean = variable(name + "/mean", width, t1.zeros_initializer(), False)
    return t1.nn.fused_batch_norm(x, scale, offset, mean, variable(name + "/variance", width, t1.ones_initializer(), False), is_training=False)[0]


def resnet50(batch, train):
    def unit(x, channels, size, stride, name):
        kernel = variable(name + "/kernel", [size, size, x.shape[-1], channels], glorot())
        return batch_norm(tf.nn.conv2d(x, kernel, strides=stride, padding="SAME"), name + "/norm", train)

    with tf.Graph().as_default() as graph:
        x = t1.placeholder(tf.float32, [batch, 224, 224, 3], name="x")
        h = tf.nn.max_pool2d(tf.nn.relu(unit(x, 64, 7, 2, "stem")), 3, 2, "SAME")
        for stage, (channels, blocks) in enumerate([(64, 3), (128, 4), (256, 6), (512, 3)]):
            for block in range(blocks):
                stride, name = (2 if stage and not block else 1), f"stage{stage}/block{block}"
                shortcut = h if block else unit(h, 4 * channels, 1, stride, name + "/shortcut")
                y = tf.nn.relu(unit(h, channels, 1, 1, name + "/reduce"))
                y = tf.nn.relu(unit(y, channels, 3, stride, name + "/middle"))
                h = tf.nn.relu(unit(y, 4 * channels, 1, 1, name + "/expand") + shortcut)
        logits = dense(tf.reduce_mean(h, [1, 2]), 1000, "logits")
        if train:
            labels = t1.placeholder(tf.int64, [batch], name="labels")
            finish(tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)), t1.train.MomentumOptimizer(0.1, 0.9))
        else:
            tf.identity(logits, name="y")
        initialise()
    return graph


def main():
    for kind, layers in (("mlp", mlp_layers), ("cnn", cnn_layers)):
        for name, optimizer in (("sgd", lambda: t1.train.GradientDescentOptimizer(0.01)), ("adam", lambda: t1.train.AdamOptimizer(1e-3))):
            save(f"{kind}_{name}", classifier(layers, optimizer))
            for worker in (0, 1):
                save(f"{kind}_{name}_worker{worker}", classifier(layers, optimizer, worker))
    save("cnn_inference", cnn_of_any_batch())
    save("transformer_inference", transformer(False))
    save("transformer_adam", transformer(True))
    for batch in (1, 8):
        save(f"resnet50_inference_b{batch}", resnet50(batch, False))
    for batch in (8, 64):
        save(f"resnet50_train_b{batch}", resnet50(batch, True))


if __name__ == "__main__":
    main()
