"""A server's config, which its sessions get where theirs says nothing; functions whose effects nobody reads."""

import tensorflow.compat.v1 as tf
from show import refusal, show
from tensorflow.python.framework import function

tf.disable_v2_behavior()
tf.logging.set_verbosity(tf.logging.ERROR)

impatient = tf.distribute.Server.create_local_server(tf.ConfigProto(operation_timeout_in_ms=500, allow_soft_placement=True))
with tf.Graph().as_default():
    never = tf.FIFOQueue(1, tf.float32).dequeue()
    with tf.device("/device:GPU:3"):
        elsewhere = tf.constant(2.0) * 3
    for config in (None, tf.ConfigProto(operation_timeout_in_ms=100)):
        with tf.Session(impatient.target, config=config) as session:
            show("elsewhere", session.run(elsewhere))
            print("blocked", refusal(lambda: session.run(never)))

strict = tf.distribute.Server.create_local_server()
with tf.Graph().as_default():
    with tf.device("/device:GPU:3"):
        elsewhere = tf.constant(2.0) * 3
    with tf.Session(strict.target) as session:
        print("elsewhere", refusal(lambda: session.run(elsewhere)))

for noinline in (False, True):
    with tf.Graph().as_default(), tf.Session() as session:
        total = tf.Variable(1.0, use_resource=True)
        session.run(total.initializer)

        @function.Defun(tf.float32, noinline=noinline)
        def counted(x):
            total.assign_add(x)
            return x

        @function.Defun(tf.float32, noinline=noinline)
        def checked(x):
            tf.Assert(x > 0, [x])
            return x

        @function.Defun(tf.float32, noinline=noinline)
        def both(x):
            return tf.cond(x > 10, lambda: counted(x), lambda: checked(x))

        x = tf.placeholder(tf.float32)
        y, z = both(x), tf.map_fn(counted, tf.constant([1.0, 2.0]))
        for value in (1.0, 11.0):
            show("both", session.run(y, {x: value}))
            show("total", session.run(total))
        print("checked", refusal(lambda: session.run(y, {x: -1.0})))
        show("mapped", session.run(z))
        show("total", session.run(total))
