"""What graphs print on standard output comes there, before what the program prints after the step."""

import sys

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()


def main():
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    total = tf.reduce_sum(x, axis=1)
    each = tf.print("rows", tf.shape(x), "sums", total, {"of": x, "names": tf.constant(["a", "b"])}, output_stream=sys.stdout, summarize=2)
    unended = tf.print("no end of a line", output_stream=sys.stdout, end="; ")
    after = tf.print("later", output_stream=sys.stdout)
    sparse = tf.print(tf.SparseTensor([[0, 1]], [2.5], [1, 3]), output_stream=sys.stdout)
    with tf.control_dependencies([each]):
        loss = tf.reduce_mean(tf.square(total))
    loop = tf.while_loop(lambda i: i < 3, lambda i: tf.tuple([i + 1], control_inputs=[tf.print("round", i, output_stream=sys.stdout)])[0], [0])
    with tf.Session() as session:
        print("loss", session.run(loss, {x: np.arange(12.0).reshape([4, 3])}), flush=True)
        session.run(unended)
        session.run(after)
        session.run(sparse)
        print("loop", session.run(loop), flush=True)
        show = session.make_callable(after)
        show()
        print("done", flush=True)


main()
