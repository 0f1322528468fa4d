"""What a user's mistake is answered with: class and whole message, without the lines that name the program's files. Not here: where ours says more
(deadlines) or other formats are known (pictures)."""

import os
import sys

import numpy as np
import tensorflow.compat.v1 as tf

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from show import refusal  # noqa: E402

tf.disable_v2_behavior()
tf.logging.set_verbosity(tf.logging.ERROR)


def message(error):
    """Python tells of its own frames after the sentence."""
    text = getattr(error, "message", None) or str(error)
    return text.split("\n\nOriginal stack trace")[0].split("\n\nErrors may have originated")[0]


def tell(name, call):
    try:
        print(name, "->", call())
    except (tf.errors.OpError, RuntimeError, ValueError, TypeError) as error:
        print(name, type(error).__name__)
        for line in message(error).splitlines():
            if "File \"" not in line and "defined at" not in line:
                print("   ", line.rstrip())


def main():
    x = tf.placeholder(tf.float32, name="x")
    y = tf.placeholder(tf.float32, name="y")
    rows = tf.placeholder(tf.float32, [None, 3], name="rows")
    index = tf.placeholder(tf.int32, name="index")
    variable = tf.get_variable("never_initialised", [2], use_resource=False)
    resource = tf.get_variable("resource", [2], use_resource=True)
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a"], [1]), -1, name="table")
    queue = tf.FIFOQueue(2, [tf.float32], shapes=[[2]], name="queue")
    steps = {
        "no feed": (rows * 2, {}),
        "shapes": (tf.add(x, y, name="sum"), {x: np.zeros([2, 3]), y: np.zeros([4, 3])}),
        "product": (tf.matmul(x, y, name="product"), {x: np.zeros([2, 3]), y: np.zeros([4, 3])}),
        "product's rank": (tf.matmul(x, rows, name="product_of_vectors"), {x: np.zeros([3]), rows: np.zeros([4, 3])}),
        "bias": (tf.nn.bias_add(rows, x, name="biased"), {x: np.zeros([4]), rows: np.zeros([4, 3])}),
        "dense": (tf.nn.relu(tf.nn.bias_add(tf.matmul(rows, y, name="inner"), x, name="inner_biased")),
                  {rows: np.zeros([1, 3]), x: np.zeros([4]), y: np.zeros([3, 5])}),
        "convolution": (tf.nn.relu(tf.nn.conv2d(x, y, [1, 1, 1, 1], "SAME", name="filtered")),
                        {x: np.zeros([1, 4, 4, 2]), y: np.zeros([3, 3, 3, 4])}),
        "elementwise, fused": (tf.tanh(tf.square(tf.subtract(x, y, name="difference"))) + 1, {x: np.zeros([2]), y: np.zeros([3])}),
        "reshape": (tf.reshape(x, [2, 4], name="reshaped"), {x: np.zeros(6)}),
        "reshape, unknown": (tf.reshape(x, [-1, 4], name="reshaped_by"), {x: np.zeros(6)}),
        "gather": (tf.gather(x, index, name="gathered"), {x: np.zeros([3]), index: [0, 7]}),
        "gather, negative": (tf.gather(x, index, name="gathered_before"), {x: np.zeros([3, 2]), index: [[-1]]}),
        "gather_nd": (tf.gather_nd(x, index, name="gathered_nd"), {x: np.zeros([3, 2]), index: [[0, 0], [1, 5]]}),
        "one hot labels": (tf.nn.sparse_softmax_cross_entropy_with_logits(labels=index, logits=x, name="loss"), {x: np.zeros([2, 3]), index: [0, 3]}),
        "labels' rank": (tf.nn.softmax_cross_entropy_with_logits_v2(labels=y, logits=x, name="dense_loss"), {x: np.zeros([2, 3]), y: np.zeros([2, 4])}),
        "concat": (tf.concat([x, y], 0, name="joined"), {x: np.zeros([2, 3]), y: np.zeros([2, 4])}),
        "stack": (tf.stack([x, y], name="stacked"), {x: np.zeros([2]), y: np.zeros([3])}),
        "split": (tf.split(x, 2, name="halves"), {x: np.zeros([3])}),
        "slice": (tf.slice(x, [1], [5], name="piece"), {x: np.zeros([3])}),
        "strided slice": (x[4], {x: np.zeros([3])}),
        "transpose": (tf.transpose(x, [0, 0], name="turned"), {x: np.zeros([2, 3])}),
        "tile": (tf.tile(x, [2], name="tiled"), {x: np.zeros([2, 3])}),
        "pad": (tf.pad(x, [[1, 1]], name="padded"), {x: np.zeros([2, 3])}),
        "reduce": (tf.reduce_sum(x, axis=index, name="total"), {x: np.zeros([2]), index: 3}),
        "assert": (tf.debugging.Assert(tf.reduce_all(x > 0), [x, "it is not positive"], name="positive"), {x: [1, -1]}),
        "assert equal": (tf.debugging.assert_equal(x, y, message="these differ", name="equal"), {x: [1, 2], y: [1, 3]}),
        "check numerics": (tf.debugging.check_numerics(x / y, "it was divided", name="checked"), {x: [1.0], y: [0.0]}),
        "division": (tf.floordiv(index, tf.constant(0), name="divided"), {index: 3}),
        "variable": (variable * 2, {}),
        "resource variable": (resource * 2, {}),
        "assign": (tf.assign(variable, x, validate_shape=True, name="assigned"), {x: np.zeros([3])}),
        "scatter": (tf.scatter_add(variable, index, tf.constant([1.0]), name="scattered"), {index: [5]}),
        "table": (table.lookup(tf.constant(["a"]), name="looked_up"), {}),
        "enqueue": (queue.enqueue(x, name="put"), {x: np.zeros([3])}),
        "cast of text": (tf.strings.to_number(tf.constant(["1", "x"]), name="number"), {}),
        "raw": (tf.io.decode_raw(tf.constant("abc"), tf.float32, name="raw"), {}),
        "csv": (tf.io.decode_csv(tf.constant(["1,2,3"]), [[1], [2]], name="csv"), {}),
        "example": (tf.io.parse_single_example(tf.constant(""), {"a": tf.io.FixedLenFeature([], tf.float32)}, name="example"), {}),
        "no file": (tf.io.read_file("/tmp/there is no such file", name="read"), {}),
        "no checkpoint": (tf.raw_ops.RestoreV2(prefix="/tmp/no such checkpoint", tensor_names=["a"], shape_and_slices=[""], dtypes=[tf.float32], name="restored"), {}),
        "segments": (tf.math.segment_sum(x, index, name="segments"), {x: np.zeros([2]), index: [1, 0]}),
        "unsorted": (tf.math.unsorted_segment_sum(x, index, 2, name="unsorted"), {x: np.zeros([2]), index: [1, 4]}),
        "sparse": (tf.sparse.to_dense(tf.SparseTensor([[0, 5]], [1.0], [2, 3]), name="dense_of"), {}),
        "inverse": (tf.linalg.inv(x, name="inverse"), {x: [[1.0, 2.0], [2.0, 4.0]]}),
        "dynamic partition": (tf.dynamic_partition(x, index, 2, name="parts"), {x: np.zeros([2]), index: [0, 2]}),
        "embedding": (tf.nn.embedding_lookup(x, index, name="embedded"), {x: np.zeros([2, 2]), index: [2]}),
        "batch norm": (tf.nn.fused_batch_norm(tf.reshape(x, [1, 2, 2, 2]), y, y, name="normed")[0], {x: np.zeros(8), y: np.zeros(3)}),
        "pooling": (tf.nn.max_pool2d(x, 3, 1, "VALID", name="pooled"), {x: np.zeros([1, 2, 2, 1])}),
        "top": (tf.nn.top_k(x, 5, name="top").values, {x: np.zeros(3)}),
        "while": (tf.while_loop(lambda i: i < 3, lambda i: tf.reshape(tf.gather(index, [i], name="in_loop"), []) + i, [0]), {index: [1]}),
        "text": (tf.strings.substr(tf.constant("abc"), 5, 1, name="part_of_text"), {}),
        "range": (tf.range(0, 5, index, name="numbers"), {index: 0}),
        "random": (tf.random.multinomial(x, 2, name="draws"), {x: np.zeros([3])}),
        "crop": (tf.image.crop_and_resize(tf.reshape(x, [1, 2, 2, 1]), [[0, 0, 1, 1]], index, [2, 2], name="crops"), {x: np.zeros(4), index: [3]}),
    }
    session = tf.Session()
    for name, (fetch, feeds) in steps.items():
        tell(name, lambda: session.run(fetch, feeds))
    session.run(queue.close())
    tell("queue that is closed", lambda: session.run(queue.dequeue(name="take")))
    tell("put after the close", lambda: session.run(queue.enqueue(np.zeros(2), name="put_late")))
    data = tf.data.make_one_shot_iterator(tf.data.Dataset.range(1)).get_next(name="element")
    session.run(data)
    tell("end of data", lambda: session.run(data))
    fresh = tf.data.make_initializable_iterator(tf.data.Dataset.range(1)).get_next(name="not_initialised")
    tell("iterator", lambda: session.run(fresh))
    tell("no such name", lambda: session.run("nowhere:0"))
    tell("feed of another shape", lambda: session.run(rows, {rows: np.zeros([2, 2])}))
    tell("feed of words", lambda: session.run(rows, {rows: [["a", "b", "c"]]}))
    waiting = tf.FIFOQueue(1, [tf.float32], name="empty")
    print("a deadline", refusal(lambda: session.run(waiting.dequeue(name="wait"), options=tf.RunOptions(timeout_in_ms=100))))
    one = session.make_callable(tf.reshape(x, [2, 4], name="by_callable"), [x])
    tell("callable", lambda: one(np.zeros(3)))
    session.close()
    tell("closed", lambda: session.run(x, {x: 1}))


main()
