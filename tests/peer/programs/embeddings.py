"""Words as vectors: sampled losses, sparse gradients, sharded and sparse lookups, a table that maps words to rows."""

import numpy as np
import tensorflow.compat.v1 as tf
from show import show

tf.disable_v2_behavior()
random = np.random.RandomState(3)
words, size, batch = 50, 8, 16

for loss_name in ("nce", "sampled_softmax", "uniform"):
    for use_resource in (False, True):
        for make in (lambda: tf.train.AdagradOptimizer(0.5), lambda: tf.train.AdamOptimizer(0.05), lambda: tf.train.MomentumOptimizer(0.1, 0.9), lambda: tf.train.FtrlOptimizer(0.3),
                     lambda: tf.train.RMSPropOptimizer(0.05), lambda: tf.train.AdadeltaOptimizer(2.0)):
            with tf.Graph().as_default(), tf.variable_scope("", use_resource=use_resource, initializer=tf.random_uniform_initializer(-0.5, 0.5, seed=2)):
                tf.set_random_seed(11)
                centre, context = tf.placeholder(tf.int64, [batch]), tf.placeholder(tf.int64, [batch, 1])
                table = tf.get_variable("table", [words, size])
                weights = tf.get_variable("weights", [words, size])
                bias = tf.get_variable("bias", [words], initializer=tf.zeros_initializer())
                vectors = tf.nn.embedding_lookup(table, centre)
                if loss_name == "nce":
                    sampled = tf.random.log_uniform_candidate_sampler(context, 1, 6, True, words, seed=5)
                    loss = tf.nn.nce_loss(weights, bias, context, vectors, 6, words, sampled_values=sampled)
                elif loss_name == "sampled_softmax":
                    sampled = tf.random.learned_unigram_candidate_sampler(context, 1, 6, True, words, seed=5)
                    loss = tf.nn.sampled_softmax_loss(weights, bias, context, vectors, 6, words, sampled_values=sampled)
                else:
                    sampled = tf.random.uniform_candidate_sampler(context, 1, 6, True, words, seed=5)
                    loss = tf.nn.nce_loss(weights, bias, context, vectors, 6, words, sampled_values=sampled, remove_accidental_hits=True)
                loss = tf.reduce_mean(loss)
                optimizer = make()
                train = optimizer.minimize(loss)
                near = tf.nn.top_k(tf.matmul(tf.nn.l2_normalize(table, 1), tf.nn.l2_normalize(table, 1), transpose_b=True), 3)
                with tf.Session() as session:
                    session.run(tf.global_variables_initializer())
                    draw = np.random.RandomState(4)
                    for _ in range(5):
                        values = {centre: draw.randint(words, size=batch), context: draw.randint(words, size=(batch, 1))}
                        out = session.run([loss, train], values)[0]
                    show(f"{loss_name} {use_resource} {optimizer.get_name()}", [out, session.run(table), session.run(near.values)])

with tf.Graph().as_default():
    shards = tf.get_variable("shards", [10, 4], partitioner=tf.fixed_size_partitioner(3), initializer=tf.random_normal_initializer(seed=1))
    ids = tf.constant([0, 3, 9, 3, 7])
    found = {how: tf.nn.embedding_lookup(shards, ids, partition_strategy=how) for how in ("div", "mod")}
    found["norm"] = tf.nn.embedding_lookup(shards, ids, partition_strategy="div", max_norm=1.0)
    sparse = tf.SparseTensor([[0, 0], [0, 1], [2, 0], [3, 2]], tf.constant([1, 5, 9, 9], tf.int64), [4, 3])
    factors = tf.SparseTensor(sparse.indices, [0.5, 2.0, 1.0, 3.0], [4, 3])
    for combiner in ("sum", "mean", "sqrtn"):
        found["sparse_" + combiner] = tf.nn.embedding_lookup_sparse(shards, sparse, factors, partition_strategy="div", combiner=combiner)
        found["safe_" + combiner] = tf.nn.safe_embedding_lookup_sparse(list(shards), sparse, factors, combiner=combiner, default_id=2, partition_strategy="div")
    gradient = tf.gradients(tf.reduce_sum(tf.square(found["div"])), list(shards))
    found["gradients"] = [tf.convert_to_tensor(one) for one in gradient]
    found["slices"] = [one.indices for one in gradient if isinstance(one, tf.IndexedSlices)]
    texts = tf.lookup.StaticVocabularyTable(tf.lookup.KeyValueTensorInitializer(["a", "b", "c"], tf.constant([0, 1, 2], tf.int64)), num_oov_buckets=2)
    found["words"] = texts.lookup(tf.constant(["c", "a", "zebra", "b"]))
    found["back"] = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(tf.range(3), tf.constant(["a", "b", "c"])), "?").lookup(tf.constant([2, 7, 0]))
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        show("lookups", session.run(found))
