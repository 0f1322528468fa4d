"""Loops, conditions, map, scan, fold, arrays and their gradients, in both forms that TensorFlow's Python builds them in."""

import re
import sys

import numpy as np
import tensorflow.compat.v1 as tf
from show import refusal, show
from tensorflow import function

tf.disable_v2_behavior()
x_value = np.arange(6, dtype=np.float32).reshape(3, 2) / 5 - 0.4


def collatz(n):
    return tf.while_loop(lambda n, _: n > 1, lambda n, i: (tf.cond(tf.equal(n % 2, 0), lambda: n // 2, lambda: 3 * n + 1), i + 1), (n, 0))[1]


def nested(x):
    def outer(i, total):
        return i + 1, total + tf.while_loop(lambda j, _: j < i, lambda j, t: (j + 1, t * x[0, 1] + tf.to_float(j)), (0, x[0, 0]))[1]
    return tf.while_loop(lambda i, _: i < 4, outer, (0, 0.0))[1]


def growing(x):
    def body(i, rows):
        return i + 1, tf.concat([rows, tf.expand_dims(rows[-1] * 1.5 + tf.to_float(i), 0)], 0)
    return tf.while_loop(lambda i, _: i < 3, body, (0, x), shape_invariants=(tf.TensorShape([]), tf.TensorShape([None, 2])))[1]


def build(x, flag):
    size = tf.shape(x)[0]
    out = {
        "collatz": collatz(tf.constant(27)),
        "nested": nested(x),
        "growing": growing(x),
        "cond": tf.cond(flag, lambda: tf.reduce_sum(x * x), lambda: tf.reduce_sum(x)),
        "cond_values": tf.cond(flag, lambda: [x, tf.constant(1)], lambda: [x * 2, tf.constant(2)]),
        "case": tf.case([(tf.less(size, 2), lambda: tf.constant("few")), (tf.equal(size, 3), lambda: tf.constant("three"))], default=lambda: tf.constant("many")),
        "switch_case": tf.switch_case(size - 1, [lambda: x + 1, lambda: x + 2, lambda: x + 3], default=lambda: x),
        "map": tf.map_fn(lambda row: tf.reduce_prod(row) + 1, x),
        "map_two": tf.map_fn(lambda pair: (pair[0] + pair[1], tf.argmax(pair[0])), (x, x * 2), dtype=(tf.float32, tf.int64)),
        "scan": tf.scan(lambda a, row: a * 0.5 + row, x, initializer=tf.zeros([2])),
        "scan_reverse": tf.scan(lambda a, row: a * 0.5 + row, x, reverse=True),
        "foldl": tf.foldl(lambda a, row: a * 2 + row, x),
        "foldr": tf.foldr(lambda a, row: a * 2 + row, x),
        "vectorized": tf.vectorized_map(lambda row: tf.nn.softmax(row) * tf.norm(row), x),
        "maximum": tf.while_loop(lambda i: i < 100, lambda i: i + 1, [0], maximum_iterations=7),
        "back": tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, tf.tanh(v * v + x)), (0, x), back_prop=True)[1],
    }
    for name in ("nested", "growing", "cond", "switch_case", "map", "scan", "foldl", "back"):
        out["gradient of " + name] = tf.gradients(out[name], x)[0]
    array = tf.TensorArray(tf.float32, 4, element_shape=[None], clear_after_read=False).unstack(tf.concat([x, x[:1] * 10], 0))
    out["array"] = [array.gather([2, 0]), array.concat(), array.size()]
    pieces = tf.TensorArray(tf.float32, 2, infer_shape=False, clear_after_read=False).split(tf.range(5.0), [2, 3])
    out["split"] = [pieces.read(0), pieces.read(1)]
    return out


for form in (1, 2):
    with tf.Graph().as_default():
        (tf.enable_control_flow_v2 if form == 2 else tf.disable_control_flow_v2)()
        x, flag = tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.bool, [])
        out = build(x, flag)
        endless = tf.while_loop(lambda i: i >= 0, lambda i: tf.maximum(i - 1, 0), [5])
        never = tf.while_loop(lambda i: i < 3, lambda i: tf.ensure_shape(tf.reshape(tf.range(i), [2]), [2])[0] + i, [1])
        with tf.Session() as session:
            for boolean in (True, False):
                for name, value in out.items():
                    show(f"{form} {boolean} {name}", session.run(value, {x: x_value, flag: boolean}))
            print("endless", refusal(lambda: session.run(endless, options=tf.RunOptions(timeout_in_ms=300))))
            print("never", refusal(lambda: session.run(never)))
            show("after", session.run(out["collatz"]))
tf.disable_control_flow_v2()

# Functions, and variables within branches and loops.
with tf.Graph().as_default():
    counter = tf.get_variable("counter", [], initializer=tf.zeros_initializer(), use_resource=True)
    reference = tf.get_variable("reference", [], initializer=tf.zeros_initializer(), use_resource=False)

    @tf.function
    def squared(x):
        return tf.map_fn(lambda row: row * row, x)

    @tf.custom_gradient
    def clipped(x):
        return x * 3, lambda dy: tf.clip_by_value(dy * 3, -0.5, 0.5)

    x = tf.constant(x_value)
    with tf.control_dependencies([tf.cond(x[0, 0] > 0, lambda: counter.assign_add(1), lambda: counter.assign_sub(1))]):
        first = counter.read_value()
    grown = tf.while_loop(lambda i: i < 5, lambda i: tf.group(counter.assign_add(2)) and i + 1 if False else i + tf.cast(tf.identity(reference.assign_add(1)) > -1, tf.int32), [0])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        show("assigned in a branch", session.run([first, counter]))
        show("assigned in a loop", [session.run(grown), session.run(reference)])
        show("function", session.run([squared(x), tf.gradients(squared(x), x)[0], tf.gradients(clipped(x), x)[0]]))

# Reference variables that loops read: each iteration what the one before has written, and what an assignment before the loop has.
with tf.Graph().as_default():
    weight, scale = (tf.get_variable(name, [], initializer=tf.ones_initializer(), use_resource=False) for name in ("weight", "scale"))

    def train(i):
        with tf.control_dependencies([tf.train.GradientDescentOptimizer(0.1).minimize((weight - 5) ** 2)]):
            return i + 1

    with tf.control_dependencies([tf.constant(0)]):
        trained = tf.while_loop(lambda i: i < 5, train, [0], parallel_iterations=1)
    with tf.control_dependencies([scale.assign_add(1)]):
        rows = tf.identity(tf.range(3.0))
    scaled = tf.map_fn(lambda row: row * scale, rows)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        show("trained in a loop", [session.run(trained), session.run(weight)])
        show("mapped after an assignment", session.run(scaled))
tf.enable_control_flow_v2()
with tf.Graph().as_default():
    number = tf.placeholder(tf.float32, [])
    branch = tf.cond(number > 0, lambda: tf.check_numerics(tf.log(-number), "in a branch", name="checked"), lambda: number)
    body = tf.while_loop(lambda i: i < 5, lambda i: tf.gather([1, 2, 3], i, name="gathered") + 1, [0])
    with tf.Session() as session:
        for what in (branch, body):
            try:
                session.run(what, {number: 1.0})
            except tf.errors.InvalidArgumentError as error:
                print("named", re.findall(r"{{node ([^}]*)}}", error.message)[:1])
with tf.Graph().as_default():
    count = tf.get_variable("count", [], initializer=tf.zeros_initializer(), use_resource=True)

    @function(autograph=False)
    def step(after):  # reads nothing of its argument, which orders the calls
        before = count.read_value()
        count.assign(tf.linalg.matmul(tf.eye(200) * before, tf.eye(200))[0, 0] + 1)
        return before

    calls, last = [], tf.constant(0.0)
    for _ in range(6):
        last = step(last)
        calls.append(last)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        show("calls in the order of their arguments", [session.run(calls), session.run(count.read_value())])
sys.exit(0)
