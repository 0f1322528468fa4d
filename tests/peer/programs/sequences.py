"""Sequence models: attention with an encoder and a decoder, beam search by hand, a Transformer block, CTC, a conditional random field."""

import numpy as np
import tensorflow.compat.v1 as tf
from show import show

tf.disable_v2_behavior()
random = np.random.RandomState(6)
BATCH, LENGTH, WORDS, SIZE = 4, 6, 12, 8


def weight(name, *shape):
    with tf.variable_scope("", reuse=tf.AUTO_REUSE):
        return tf.get_variable(name, shape, initializer=tf.glorot_uniform_initializer(seed=len(name)))


def gru(x, state, name):
    gates = tf.sigmoid(tf.matmul(tf.concat([x, state], 1), weight(name + "/gates", 2 * SIZE, 2 * SIZE)))
    reset, update = tf.split(gates, 2, 1)
    candidate = tf.tanh(tf.matmul(tf.concat([x, reset * state], 1), weight(name + "/candidate", 2 * SIZE, SIZE)))
    return update * state + (1 - update) * candidate


def translate():
    source, target = tf.placeholder(tf.int32, [BATCH, LENGTH]), tf.placeholder(tf.int32, [BATCH, LENGTH])
    table = weight("table", WORDS, SIZE)
    encoded = tf.transpose(tf.scan(lambda state, x: gru(x, state, "encoder"), tf.transpose(tf.nn.embedding_lookup(table, source), [1, 0, 2]), tf.zeros([BATCH, SIZE])), [1, 0, 2])
    mask = tf.cast(tf.not_equal(source, 0), tf.float32)

    def attend(state):
        scores = tf.reduce_sum(tf.tanh(tf.tensordot(encoded, weight("keys", SIZE, SIZE), [[2], [0]]) + tf.expand_dims(tf.matmul(state, weight("query", SIZE, SIZE)), 1)) * weight("v", SIZE), 2)
        shares = tf.nn.softmax(scores + (1 - mask) * -1e9)
        return tf.squeeze(tf.matmul(tf.expand_dims(shares, 1), encoded), 1), shares

    def decode(feed_truth):
        def body(i, word, state, logits, shares):
            context, share = attend(state)
            state = gru(tf.nn.embedding_lookup(table, word) + context, state, "decoder")
            out = tf.matmul(state, weight("out", SIZE, WORDS))
            following = target[:, i] if feed_truth else tf.argmax(out, 1, output_type=tf.int32)
            return i + 1, following, state, logits.write(i, out), shares.write(i, share)

        arrays = [tf.TensorArray(tf.float32, LENGTH) for _ in range(2)]
        _, _, _, logits, shares = tf.while_loop(lambda i, *_: i < LENGTH, body, (0, tf.ones([BATCH], tf.int32), encoded[:, -1], *arrays))
        return tf.transpose(logits.stack(), [1, 0, 2]), tf.transpose(shares.stack(), [1, 0, 2])

    logits, _ = decode(True)
    cross = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=target, logits=logits)
    loss = tf.reduce_sum(cross * tf.sequence_mask([6, 4, 5, 6], LENGTH, tf.float32)) / 21
    gradients, variables = zip(*tf.train.AdamOptimizer().compute_gradients(loss))
    clipped, norm = tf.clip_by_global_norm(gradients, 5.0)
    train = tf.train.AdamOptimizer(0.05).apply_gradients(zip(clipped, variables))
    greedy, shares = decode(False)
    feeds = {source: random.randint(12, size=(BATCH, LENGTH)), target: random.randint(1, 12, size=(BATCH, LENGTH))}
    return feeds, [loss, norm], train, [tf.argmax(greedy, 2), shares]


def transformer():
    words = tf.placeholder(tf.int32, [None, LENGTH])
    positions = np.arange(LENGTH)[:, None] / 10000 ** (np.arange(SIZE) // 2 * 2 / SIZE)
    x = tf.nn.embedding_lookup(weight("table", WORDS, SIZE), words) * SIZE ** 0.5 + tf.constant(np.where(np.arange(SIZE) % 2, np.cos(positions), np.sin(positions)), tf.float32)

    def normalised(x, name):
        mean, variance = tf.nn.moments(x, [-1], keep_dims=True)
        with tf.variable_scope(name):
            return (x - mean) * tf.rsqrt(variance + 1e-6) * tf.get_variable("gamma", [SIZE], initializer=tf.ones_initializer()) + tf.get_variable("beta", [SIZE], initializer=tf.zeros_initializer())

    def heads(x, name, count=2):
        return tf.transpose(tf.reshape(tf.einsum("btd,de->bte", x, weight(name, SIZE, SIZE)), [-1, LENGTH, count, SIZE // count]), [0, 2, 1, 3])

    causal = tf.linalg.band_part(tf.ones([LENGTH, LENGTH]), -1, 0)
    for layer in range(2):
        name = f"layer{layer}"
        queries, keys, values = (heads(x, f"{name}/{part}") for part in ("q", "k", "values"))
        scores = tf.matmul(queries, keys, transpose_b=True) / (SIZE / 2) ** 0.5
        shares = tf.nn.softmax(tf.where(tf.broadcast_to(tf.cast(causal, tf.bool), tf.shape(scores)), scores, tf.fill(tf.shape(scores), -1e9)))
        joined = tf.reshape(tf.transpose(tf.matmul(shares, values), [0, 2, 1, 3]), [-1, LENGTH, SIZE])
        x = normalised(x + tf.nn.dropout(joined, rate=0.1, seed=layer), name + "/norm1")
        inner = tf.tensordot(x, weight(name + "/inner", SIZE, 4 * SIZE), 1)
        gelu = 0.5 * inner * (1 + tf.erf(inner / 2 ** 0.5))
        x = normalised(x + tf.tensordot(gelu, weight(name + "/outer", 4 * SIZE, SIZE), 1), name + "/norm2")
    logits = tf.tensordot(x, tf.transpose(weight("table", WORDS, SIZE)), 1)
    smooth = tf.one_hot(tf.roll(words, -1, 1), WORDS) * 0.9 + 0.1 / WORDS
    loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits_v2(labels=smooth, logits=logits))
    step = tf.train.get_or_create_global_step()
    rate = SIZE ** -0.5 * tf.minimum(tf.rsqrt(tf.cast(step + 1, tf.float32)), tf.cast(step + 1, tf.float32) * 4 ** -1.5)
    train = tf.train.AdamOptimizer(rate, 0.9, 0.98, 1e-9).minimize(loss, step)
    return {words: random.randint(12, size=(3, LENGTH))}, [loss, rate], train, [tf.nn.top_k(logits, 2).values, shares]


def connectionist():
    frames = tf.placeholder(tf.float32, [10, 2, 5])
    labels = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [1, 2, 3], [2, 2])
    logits = tf.tensordot(frames, weight("weights", 5, 6), 1)
    loss = tf.reduce_mean(tf.nn.ctc_loss(labels, logits, [10, 8]))
    train = tf.train.MomentumOptimizer(0.05, 0.9).minimize(loss)
    greedy, greedy_score = tf.nn.ctc_greedy_decoder(logits, [10, 8])
    beams, scores = tf.nn.ctc_beam_search_decoder(logits, [10, 8], beam_width=4, top_paths=2)
    errors = tf.edit_distance(tf.cast(beams[0], tf.int32), labels)
    return {frames: random.rand(10, 2, 5)}, [loss], train, [tf.sparse.to_dense(greedy[0]), greedy_score, tf.sparse.to_dense(beams[1], -1), scores, errors]


def conditional_random_field():
    scores = tf.placeholder(tf.float32, [3, 5, 4])
    tags = tf.constant(random.randint(4, size=(3, 5)), tf.int32)
    between = weight("between", 4, 4)
    unary = tf.reduce_sum(scores * tf.one_hot(tags, 4), [1, 2])
    binary = tf.reduce_sum(tf.gather_nd(between, tf.stack([tags[:, :-1], tags[:, 1:]], 2)), 1)
    steps = tf.transpose(scores, [1, 0, 2])
    alphas = tf.foldl(lambda a, s: tf.reduce_logsumexp(tf.expand_dims(a, 2) + between, 1) + s, steps[1:], steps[0])
    loss = tf.reduce_mean(tf.reduce_logsumexp(alphas, 1) - unary - binary)
    train = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
    best = tf.scan(lambda a, s: tf.reduce_max(tf.expand_dims(a, 2) + between, 1) + s, steps[1:], steps[0])
    return {scores: random.rand(3, 5, 4)}, [loss], train, [best, between]


for model in (translate, transformer, connectionist, conditional_random_field):
    with tf.Graph().as_default():
        tf.set_random_seed(3)
        feeds, losses, train, results = model()
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for number in range(6):
                show(f"{model.__name__} {number}", session.run(losses, feeds))
                session.run(train, feeds)
            show("results", session.run(results, feeds))
