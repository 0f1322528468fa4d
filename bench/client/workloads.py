"""What TensorFlow's client runs against the servers of either side. Each workload is opened with a target and its cluster; `step` is what is timed,
`values(steps)` what is compared: for each run, for each fetch, its elements as numbers. Seeds are fixed, so both sides compute the same."""

import os

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.logging.set_verbosity(tf.logging.ERROR)


def numbers(value):
    """A fetched value as numbers: all of a small one; of a large one its sum, its sum of squares and a few elements from all over it."""
    flat = np.asarray(value, np.float64).reshape(-1)
    if flat.size > 256:
        flat = np.concatenate([[flat.sum(), np.square(flat).sum()], flat[:: flat.size // 64]])
    return flat.tolist()


class Workload:
    """A graph and a session; the graph is the default one while a subclass's `build` adds to it."""

    def __init__(self, target, cluster, task, **settings):
        """`cluster`: {"job": [addresses]}; `task`: (job, number) of the target."""
        self.target, self.cluster, self.task = target, cluster, task
        self.graph = tf.Graph()
        with self.graph.as_default():
            tf.set_random_seed(7)
            self.build(**settings)
            self.session = self.open()

    def open(self):
        session = tf.Session(self.target, graph=self.graph)
        session.run(tf.global_variables_initializer())
        return session

    def step(self):
        return self.session.run(self.fetches, self.feeds)

    def values(self, steps):
        return [[numbers(value) for value in self.step()] for _ in range(steps)]

    def close(self):
        self.session.close()


class Adds(Workload):
    """So many scalars or vectors fed, one added to each, all of them fetched."""

    def build(self, feeds=1, elements=0):
        shape = [elements] if elements else []
        inputs = [tf.placeholder(tf.float32, shape) for _ in range(feeds)]
        self.fetches = [x + 1.0 for x in inputs]
        self.feeds = {x: np.linspace(0, 1 + i, elements, dtype=np.float32) if elements else np.float32(i) for i, x in enumerate(inputs)}


class MonitoredMlp(Workload):
    """An MLP that a MonitoredTrainingSession trains, its variables on the ps; task 0 of the workers is the chief."""

    def build(self, batch=128):
        job, number = self.task
        layers, value = (784, 512, 256, 10), None
        with tf.device(tf.train.replica_device_setter(worker_device=f"/job:{job}/task:{number}", cluster=tf.train.ClusterSpec(self.cluster))):
            x, labels = tf.placeholder(tf.float32, [None, layers[0]]), tf.placeholder(tf.int64, [None])
            global_step = tf.train.get_or_create_global_step()
            value = x
            for i, (inputs, outputs) in enumerate(zip(layers, layers[1:])):
                weights = tf.get_variable(f"weights{i}", [inputs, outputs], initializer=tf.glorot_uniform_initializer(seed=i))
                bias = tf.get_variable(f"bias{i}", [outputs], initializer=tf.zeros_initializer())
                value = tf.nn.bias_add(tf.matmul(value, weights), bias)
                if outputs != layers[-1]:
                    value = tf.nn.relu(value)
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=value))
            train = tf.train.GradientDescentOptimizer(0.01).minimize(loss, global_step=global_step)
        random = np.random.RandomState(number)
        self.fetches = [loss, train]
        self.feeds = {x: random.rand(batch, layers[0]).astype(np.float32), labels: random.randint(layers[-1], size=batch)}

    def open(self):
        job, number = self.task
        # A worker needs the ps and itself, as such programs say.
        config = tf.ConfigProto(device_filters=["/job:ps", f"/job:{job}/task:{number}"])
        return tf.train.MonitoredTrainingSession(master=self.target, is_chief=number == 0, config=config, save_summaries_steps=None, save_summaries_secs=None,
                                                 log_step_count_steps=None)

    def values(self, steps):
        return [[numbers(self.step()[0])] for _ in range(steps)]


class Saving(Workload):
    """Variables that tf.train.Saver writes to a checkpoint below `folder`, which the server may write to."""

    def build(self, folder, mib=1024, variables=16):
        elements = mib * 2**20 // 4 // variables
        self.variables = [tf.get_variable(f"v{i}", [elements], initializer=tf.random_uniform_initializer(seed=i)) for i in range(variables)]
        self.saver = tf.train.Saver(self.variables)
        self.path = os.path.join(folder, "saved")
        self.clear = tf.group(*[tf.assign(v, tf.zeros([elements])) for v in self.variables])
        self.sums = [tf.reduce_sum(v[:1000]) for v in self.variables] + [tf.reduce_sum(v[-1000:]) for v in self.variables]

    def step(self):
        return self.saver.save(self.session, self.path, write_meta_graph=False, write_state=False)

    def values(self, steps):
        """What is there after a save, zeros over it, and a restore."""
        out = []
        for _ in range(steps):
            self.step()
            self.session.run(self.clear)
            self.saver.restore(self.session, self.path)
            out.append([numbers(self.session.run(self.sums))])
        return out


class Shuffling(Workload):
    """A pipeline of queues, filled by QueueRunners: shuffled numbers of examples, the examples, and from a RandomShuffleQueue batches of them."""

    def build(self, examples=10000, features=32, batch=128):
        data = np.arange(examples * features, dtype=np.float32).reshape(examples, features)
        index = tf.train.range_input_producer(examples, seed=1).dequeue_many(batch)
        self.fetches = tf.train.shuffle_batch([tf.gather(tf.constant(data), index), index], batch, capacity=32 * batch, min_after_dequeue=16 * batch, seed=2,
                                              enqueue_many=True)
        self.feeds = {}
        # A queue of its own for the values that are compared: how far the runners are is different in each run.
        self.count, self.taken = 4 * batch, batch
        queue = tf.RandomShuffleQueue(self.count, 0, [tf.float32], [[]], seed=3)
        self.put, self.take = queue.enqueue_many([tf.range(self.count, dtype=tf.float32)]), queue.dequeue_many(batch)

    def open(self):
        session = super().open()
        self.coordinator = tf.train.Coordinator()
        self.threads = tf.train.start_queue_runners(session, self.coordinator)
        return session

    def values(self, steps):
        """Everything that was put into the queue, sorted, and whether it came out in another order; and how far examples are from what their number says."""
        out = []
        for _ in range(steps):
            self.session.run(self.put)
            got = np.concatenate([self.session.run(self.take) for _ in range(self.count // self.taken)])
            examples, index = self.step()
            wrong = np.abs(examples[:, 0] - index * examples.shape[1]).max()
            out.append([np.sort(got).tolist(), [float(np.any(got != np.sort(got)))], [float(wrong)]])
        return out

    def close(self):
        self.coordinator.request_stop()
        self.session.close()
        self.coordinator.join(self.threads, stop_grace_period_secs=10, ignore_live_threads=True)


class LstmCell:
    """An LSTM cell in TensorFlow's own ops, since tf.nn.rnn_cell is not there any more."""

    def __init__(self, inputs, units):
        self.units = self.output_size = units
        self.state_size = (units, units)
        self.kernel = tf.get_variable("kernel", [inputs + units, 4 * units], initializer=tf.glorot_uniform_initializer(seed=1))
        self.bias = tf.get_variable("bias", [4 * units], initializer=tf.zeros_initializer())

    def zero_state(self, batch, dtype):
        return tuple(tf.zeros([batch, size], dtype) for size in self.state_size)

    def get_initial_state(self, inputs=None, batch_size=None, dtype=None):
        return self.zero_state(batch_size, dtype)

    def __call__(self, inputs, state, scope=None):
        memory, hidden = state
        entry, new, forget, output = tf.split(tf.nn.bias_add(tf.matmul(tf.concat([inputs, hidden], 1), self.kernel), self.bias), 4, axis=1)
        memory = memory * tf.sigmoid(forget + 1.0) + tf.sigmoid(entry) * tf.tanh(new)
        hidden = tf.tanh(memory) * tf.sigmoid(output)
        return hidden, (memory, hidden)


class Rnn(Workload):
    """tf.nn.dynamic_rnn, a tf.while_loop over TensorArrays, and its gradients by the cell's variables."""

    def build(self, batch=32, times=50, inputs=64, units=128):
        x = tf.placeholder(tf.float32, [batch, times, inputs])
        cell = LstmCell(inputs, units)
        outputs, _ = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32, scope="rnn")
        loss = tf.reduce_mean(tf.square(outputs))
        self.fetches = [loss, *[tf.reduce_sum(tf.abs(gradient)) for gradient in tf.gradients(loss, [cell.kernel, cell.bias])]]
        self.feeds = {x: np.random.RandomState(1).rand(batch, times, inputs).astype(np.float32)}


class Embedding(Workload):
    """A lookup in a large variable on the ps, and its sparse gradient applied there."""

    def build(self, rows=10**6, width=64, batch=1024):
        with tf.device(tf.train.replica_device_setter(worker_device="/job:worker/task:0", cluster=tf.train.ClusterSpec(self.cluster))):
            ids, wanted = tf.placeholder(tf.int64, [batch]), tf.placeholder(tf.float32, [width])
            table = tf.get_variable("table", [rows, width], initializer=tf.random_uniform_initializer(-1, 1, seed=1))
            loss = tf.reduce_mean(tf.square(tf.nn.embedding_lookup(table, ids) - wanted))
            train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
        random = np.random.RandomState(1)
        self.fetches = [loss, train]
        self.feeds = {ids: random.randint(rows, size=batch), wanted: random.rand(width).astype(np.float32)}

    def values(self, steps):
        return [[numbers(self.step()[0])] for _ in range(steps)]


WORKLOADS = {kind.__name__: kind for kind in (Adds, MonitoredMlp, Saving, Shuffling, Rnn, Embedding)}
