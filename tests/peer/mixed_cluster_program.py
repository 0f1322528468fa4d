"""A ps, a worker and a chief, each a task of troupe or a server of TensorFlow's. The same programs give the same values in every mixture; a
running MonitoredTrainingSession goes on while one task after the other is replaced; a task that ends is told of."""

import itertools
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "e2e"))
from support import free_ports  # noqa: E402

import numpy as np  # noqa: E402
import tensorflow.compat.v1 as tf  # noqa: E402

tf.disable_v2_behavior()
tf.logging.set_verbosity(tf.logging.ERROR)
JOBS = ("ps", "worker", "chief")
TF_SERVER = os.path.join(HERE, "..", "..", "bench", "peer", "server.py")


class Cluster:
    """One task a job. `kinds` are those of JOBS: "troupe" or "tf"."""

    def __init__(self, *kinds, files="."):
        self.files = files
        self.spec = {job: [f"127.0.0.1:{port}"] for job, port in zip(JOBS, free_ports(len(JOBS)))}
        self.tasks = {}
        for job, kind in zip(JOBS, kinds):
            self.start(job, kind)

    def start(self, job, kind):
        text = json.dumps(self.spec)
        command = ([os.environ["TROUPE"], "serve", "--cluster=" + text, "--job=" + job, "--task=0", "--files=" + self.files] if kind == "troupe" else
                   [sys.executable, TF_SERVER, text, job, "0"])
        task = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        assert task.stdout.readline(), f"{job} did not start"
        self.tasks[job] = task

    def replace(self, job, kind):
        self.kill(job)
        self.start(job, kind)

    def kill(self, job):
        self.tasks[job].kill()
        self.tasks.pop(job).wait()

    def target(self, job="chief"):
        return "grpc://" + self.spec[job][0]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for job in list(self.tasks):
            self.kill(job)


def on(job):
    return tf.device(f"/job:{job}/task:0")


def training():
    """Variables on the ps, the rest on the worker; what TensorFlow's rewriting fuses is in it."""
    with on("ps"):
        filters = tf.get_variable("filters", [3, 3, 2, 4], initializer=tf.random_normal_initializer(seed=1))
        weights = tf.get_variable("weights", [64, 5], initializer=tf.random_normal_initializer(seed=2), use_resource=True)
        biases = [tf.get_variable(f"bias{n}", [n], initializer=tf.zeros_initializer()) for n in (4, 5)]
    with on("worker"):
        x, y = tf.placeholder(tf.float32, [None, 4, 4, 2]), tf.placeholder(tf.float32, [None, 5])
        hidden = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, filters, 1, "SAME"), biases[0]))
        out = tf.nn.elu(tf.matmul(tf.reshape(hidden, [-1, 64]), weights) + biases[1])
        chain = tf.tanh(tf.sqrt(tf.exp(out)))
        loss = tf.reduce_mean(tf.square(out - y)) + tf.reduce_mean(chain) * 0.01
    train = tf.train.AdamOptimizer(0.01).minimize(loss)
    numbers = np.random.RandomState(0)
    feeds = {x: numbers.rand(16, 4, 4, 2), y: numbers.rand(16, 5)}
    yield tf.global_variables_initializer(), {}
    for _ in range(20):
        yield [train, loss], feeds
    yield [filters, weights] + biases, {}
    yield [hidden, out, chain], feeds


def normalisation():
    """Inference with moving averages, and its fused form."""
    with on("worker"):
        x = tf.placeholder(tf.float32, [2, 3, 3, 4])
        filters = tf.constant(np.linspace(-1, 1, 3 * 3 * 4 * 4).reshape(3, 3, 4, 4), tf.float32)
        scale, offset, mean = (tf.constant(v, tf.float32) for v in ([1, 2, 3, 4], [0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4]))
        out, _, _ = tf.nn.fused_batch_norm(tf.nn.conv2d(x, filters, 1, "SAME"), scale, offset, mean, scale, is_training=False)
        trained, batch_mean, batch_variance = tf.nn.fused_batch_norm(x, scale, offset, is_training=True)
        leaky = tf.nn.leaky_relu(out)
    yield [leaky, tf.nn.relu(trained), batch_mean, batch_variance], {x: np.random.RandomState(1).rand(2, 3, 3, 4)}


def loops():
    """A loop whose body lies on two tasks, and a branch that is not taken on one of them."""
    with on("ps"):
        v = tf.get_variable("v", [3], initializer=tf.ones_initializer())

    def body(i, a):
        with on("ps"):
            b = a * 2 + v
        with on("worker"):
            return i + 1, tf.sqrt(b)

    with on("worker"):
        n = tf.placeholder(tf.int32, [])
        total = tf.while_loop(lambda i, a: i < n, body, [tf.constant(0), tf.zeros([3])])
        outer = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a + tf.while_loop(lambda j, c: j < i, body, [tf.constant(0), a])[1]),
                              [tf.constant(0), tf.ones([3])])

    def taken():
        with on("ps"):
            return v * 10

    with on("worker"):
        branch = tf.cond(n > 3, taken, lambda: tf.zeros([3]))
    yield tf.global_variables_initializer(), {}
    for count in (0, 1, 7):
        yield [total, outer, branch], {n: count}


def kinds_of_values():
    """What crosses between the tasks: every dtype, empty and large tensors, text."""
    numbers = np.random.RandomState(2)
    values = [numbers.rand(2, 3).astype(t) for t in ("float16", "float32", "float64", "int8", "uint16", "int64", "complex64")]
    values += [np.array([True, False]), np.array([b"text", b"", b"\x00\xff"], object), np.zeros([0, 4], "float32"), np.float32(7),
               numbers.rand(1 << 20).astype("float32"), np.array([[b"a" * 100000]], object)]
    fetches, feeds = [], {}
    for value in values:
        dtype = tf.string if value.dtype == object else tf.as_dtype(value.dtype)
        x = tf.placeholder(dtype, value.shape)
        with on("ps"):
            there = tf.identity(x)
        with on("worker"):
            fetches.append(tf.stack([there, there]))
        feeds[x] = value
    yield fetches, feeds


def state():
    """A queue and a table on the ps, filled and read from the worker."""
    with on("ps"):
        queue = tf.FIFOQueue(10, [tf.int32, tf.string])
        table = tf.lookup.experimental.DenseHashTable(tf.int64, tf.float32, -1.0, -1, -2)
    with on("worker"):
        number = tf.placeholder(tf.int32, [])
        put = queue.enqueue([number, tf.as_string(number)])
        keys = tf.constant([1, 2, 3], tf.int64)
        fill = table.insert(keys, tf.cast(keys, tf.float32) * 2)
        got, found = queue.dequeue(), table.lookup(tf.constant([2, 9], tf.int64))
        size = queue.size()
    for i in range(3):
        yield put, {number: i}
    yield fill, {}
    for _ in range(3):
        yield [got, found], {}
    yield size, {}


PROGRAMS = (training, normalisation, loops, kinds_of_values, state)


def flat(value):
    return [x for part in value for x in flat(part)] if isinstance(value, (list, tuple)) else [np.asarray(value)]


def answers(target, program):
    with tf.Graph().as_default():
        steps, out = program(), []
        first = next(steps)  # the graph is whole by then
        with tf.Session(target) as session:
            for fetches, feeds in [first, *steps]:
                out += [x for x in flat(session.run(fetches, feeds)) if x.dtype != object or x.shape or x.item() is not None]
        return out


def differ(a, b):
    if a.shape != b.shape or a.dtype != b.dtype:
        return True
    return not (np.array_equal(a, b) if a.dtype.kind in "ObSiu" else np.allclose(a, b, rtol=2e-4, atol=2e-5))


def compare(target, expected):
    for program in PROGRAMS:
        got = answers(target, program)
        assert len(got) == len(expected[program]), program.__name__
        wrong = [(a, b) for a, b in zip(got, expected[program]) if differ(a, b)]
        assert not wrong, f"{program.__name__}: {wrong[0][0]} and {wrong[0][1]}"
    return sum(map(len, expected.values()))


def same_values():
    with Cluster("tf", "tf", "tf") as cluster:
        expected = {program: answers(cluster.target(), program) for program in PROGRAMS}
    for kinds in itertools.product(("troupe", "tf"), repeat=3):
        if kinds == ("tf", "tf", "tf"):
            continue
        with Cluster(*kinds) as cluster:
            count = compare(cluster.target(), expected)
            print(f"{dict(zip(JOBS, kinds))}: {count} values equal", flush=True)
            seen_by(cluster, kinds)


def seen_by(cluster, kinds):
    """Errors and traces through the master."""
    with tf.Graph().as_default():
        with on("ps"):
            v = tf.get_variable("seen", [12])
            bad = tf.reshape(v, tf.placeholder_with_default([5, 5], [2]), name="bad")
        with on("worker"):
            used = bad + 1
        with tf.Session(cluster.target()) as session:
            assert {d.name for d in session.list_devices()} >= {f"/job:{job}/replica:0/task:0/device:CPU:0" for job in JOBS}
            try:
                session.run(used)
                raise AssertionError("a variable without a value was read")
            except tf.errors.FailedPreconditionError as error:
                assert "/job:ps/replica:0/task:0" in error.message, error.message
            session.run(tf.global_variables_initializer())
            try:
                session.run(used)
                raise AssertionError("12 values became 25")
            except tf.errors.InvalidArgumentError as error:
                assert error.op is not None and error.op.name == "bad", error.message
            metadata = tf.RunMetadata()
            session.run(v, options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=metadata)
            assert any("/job:ps" in device.device and device.node_stats for device in metadata.step_stats.dev_stats)
            if kinds[1:] == ("troupe", "tf"):  # what the worker took is logged as TensorFlow's masters ask for it
                with on("worker"):
                    moved = v * 2
                session.run(moved, options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=metadata)
                nodes = [node for device in metadata.step_stats.dev_stats if "/job:worker" in device.device for node in device.node_stats]
                assert any(node.node_name == "RecvTensor" and "from /job:ps" in node.timeline_label for node in nodes), nodes


def one_task_after_the_other(*order):
    """A program that knows nothing of it goes on from its checkpoint, and its last task is troupe's, too."""
    with tempfile.TemporaryDirectory() as folder, Cluster("tf", "tf", "tf", files=folder) as cluster, tf.Graph().as_default():
        with on("ps"):
            step = tf.train.get_or_create_global_step()
            w = tf.get_variable("w", [2], initializer=tf.zeros_initializer())
        with on("worker"):
            loss = tf.reduce_sum(tf.square(w - [3.0, -1.0]))
        with on("ps"):
            train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=step)
        taken = 0
        saver = tf.train.Saver(save_relative_paths=True)
        scaffold = tf.train.Scaffold(saver=saver)
        hooks = [tf.train.CheckpointSaverHook(folder, save_steps=1, scaffold=scaffold)]
        creator = tf.train.ChiefSessionCreator(scaffold, master=cluster.target(), checkpoint_dir=folder)
        last = -1
        with tf.train.MonitoredSession(creator, hooks) as session:
            for job in order + (None,):
                for _ in range(5):
                    number, value, _ = session.run([step, w, train])
                    assert number >= last, f"step {number} after {last}: the checkpoint was not read"
                    last = number
                    taken += 1
                if job:
                    cluster.replace(job, "troupe")
        assert taken == 20 and abs(value[0] - 3) < 0.5, (taken, value)
        print(f"replaced {', '.join(order)} under a running program: {taken} steps, global step {last}, w {value}", flush=True)


never_closed = []


def a_task_that_ends_is_told_of():
    kill, freeze = signal.SIGKILL, signal.SIGSTOP  # TensorFlow's masters wait for a frozen task without an end
    for kinds, victim, fault in ((("troupe", "tf", "tf"), "ps", kill), (("tf", "troupe", "tf"), "ps", kill), (("tf", "troupe", "tf"), "worker", kill),
                                 (("tf", "tf", "troupe"), "ps", kill), (("tf", "troupe", "troupe"), "ps", kill),
                                 (("troupe", "tf", "troupe"), "worker", kill), (("troupe", "tf", "troupe"), "ps", kill),
                                 (("tf", "troupe", "troupe"), "ps", freeze), (("tf", "tf", "troupe"), "worker", freeze)):
        with Cluster(*kinds) as cluster, tf.Graph().as_default():
            with on("ps"):
                queue = tf.FIFOQueue(1, [tf.float32])
                taken = queue.dequeue()
            with on("worker"):
                out = taken + 1
            session = tf.Session(cluster.target())
            never_closed.append(session)  # TensorFlow's master would wait for the dead task
            session.run(queue.enqueue(1.0))
            session.run(out)
            # The step waits by then, or begins without the task.
            threading.Timer(1, cluster.tasks[victim].send_signal, [fault]).start()
            began = time.time()
            try:
                session.run(out)
                raise AssertionError("a step ended well whose task had ended")
            except (tf.errors.UnavailableError, tf.errors.AbortedError, tf.errors.CancelledError) as error:
                print(f"{victim} of {dict(zip(JOBS, kinds))} got {fault.name}: {type(error).__name__} after {time.time() - began - 1:.1f} s", flush=True)
                if kinds[2] == "troupe":
                    assert f"/job:{victim}/" in error.message, error.message


def again_when_cancelled(program, *arguments):
    """TensorFlow's master ends a step whose task was replaced CANCELLED now and then, in a cluster of its own servers as well (1 of 8), and
    MonitoredSession does not recover from that."""
    for _ in range(5):
        try:
            return program(*arguments)
        except tf.errors.CancelledError as error:
            print(f"again, since a step was cancelled: {error.message[-200:]}", flush=True)
    raise AssertionError("steps were cancelled five times")


try:
    same_values()
    again_when_cancelled(one_task_after_the_other, "ps", "worker", "chief")
    again_when_cancelled(one_task_after_the_other, "chief", "worker", "ps")
    a_task_that_ends_is_told_of()
except BaseException:
    traceback.print_exc()
    os._exit(1)  # a session of TensorFlow's would wait for its servers at its end
print("all good", flush=True)
os._exit(0)
