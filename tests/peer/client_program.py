"""A program for TensorFlow's own client, against `troupe serve` at the target that is its argument. Prints "all good" at its end."""

import sys

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_eager_execution()
target = sys.argv[1]

x = tf.placeholder(tf.float32, [None], name="x")
y = tf.add(x, [1.0, 2.0], name="y")
resource = tf.get_variable("resource", [2], initializer=tf.zeros_initializer(), use_resource=True)
reference = tf.get_variable("reference", [], initializer=tf.ones_initializer(), use_resource=False)
add = resource.assign_add([1.0, 1.0])
double = tf.assign(reference, reference * 2)
reshaped = tf.reshape(x, [3], name="reshaped")
weights = tf.get_variable("weights", [3, 1], initializer=tf.zeros_initializer(), use_resource=True)
inputs = tf.placeholder(tf.float32, [None, 3])
targets = tf.placeholder(tf.float32, [None, 1])
loss = tf.reduce_mean(tf.square(tf.matmul(inputs, weights) - targets))
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)

with tf.Session(target) as session:
    np.testing.assert_array_equal(session.run(y, {x: [3, 4]}), [4, 6])
    assert [device.device_type for device in session.list_devices()] == ["CPU"]
    try:
        session.run(add)
        raise AssertionError("an uninitialised variable was read")
    except tf.errors.NotFoundError as error:
        assert "resource" in error.message, error.message
    session.run(tf.global_variables_initializer())  # the graph grows
    first, second = session.run([add, double])
    np.testing.assert_array_equal(first, [1, 1])
    assert second == 2
    try:
        session.run(reshaped, {x: [1, 2]})
        raise AssertionError("a wrong shape was taken")
    except tf.errors.InvalidArgumentError as error:
        assert error.op is reshaped.op, error.op
        assert "Input to reshape is a tensor with 2 values, but the requested shape has 3" in error.message, error.message

    random = np.random.RandomState(1)
    data = random.rand(64, 3).astype(np.float32)
    wanted = data @ np.float32([[1], [-2], [3]])
    losses = [session.run([loss, train], {inputs: data, targets: wanted})[0] for _ in range(100)]
    assert losses[-1] < losses[0] / 20, losses

    run_again = session.make_callable([y], [x])
    np.testing.assert_array_equal(run_again([1, 1])[0], [2, 3])
    large = random.rand(4 << 20).astype(np.float32)
    np.testing.assert_array_equal(session.run(tf.identity(x), {x: large}), large)
    with tf.Session(target) as other:  # variables are the task's
        np.testing.assert_array_equal(other.run(resource), [1, 1])

hints = tf.ConfigProto(device_count={"CPU": 0, "GPU": 3}, intra_op_parallelism_threads=-1,
                       graph_options=tf.GraphOptions(enable_bfloat16_sendrecv=True))
with tf.Session(target, config=hints) as session:  # none of them changes what a server's session does
    np.testing.assert_array_equal(session.run(y, {x: [1, 1]}, options=tf.RunOptions(inter_op_thread_pool=1)), [2, 3])
threads = tf.ConfigProto(use_per_session_threads=True)
try:
    tf.Session(target, config=threads).run(y, {x: [1, 1]})
    raise AssertionError("threads of a session's own were taken")
except tf.errors.InvalidArgumentError as error:
    assert "session thread pool options" in error.message, error.message
wrong = tf.ConfigProto()
wrong.cluster_def.job.add(name="worker").tasks[0] = "127.0.0.1:1"
try:
    tf.Session(target, config=wrong).run(y, {x: [1, 1]})
    raise AssertionError("a cluster of strangers was taken")
except tf.errors.InvalidArgumentError as error:
    assert "is not included in the provided cluster_def" in error.message, error.message

tf.Session.reset(target)
with tf.Session(target) as session:
    assert session.run(tf.report_uninitialized_variables()).size == 3
print("all good")
