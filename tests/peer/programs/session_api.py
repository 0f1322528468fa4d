"""What a session takes and gives: structures, callables, steps in pieces, traces, timeouts, threads, errors."""

import collections
import threading
import time

import numpy as np
import tensorflow.compat.v1 as tf
from show import refusal, show
from tensorflow.core.protobuf import config_pb2
from tensorflow.python.client import timeline

tf.disable_v2_behavior()
Pair = collections.namedtuple("Pair", "sum product")
a, b = tf.placeholder(tf.float32, [None], name="a"), tf.placeholder(tf.float32, [None], name="b")
total, product = tf.add(a, b, name="total"), tf.multiply(a, b, name="product")
sparse = tf.sparse_placeholder(tf.float32, [3, 4])
doubled = tf.SparseTensor(sparse.indices, sparse.values * 2, sparse.dense_shape)
slices = tf.IndexedSlices(a * 3, tf.constant([4, 2], tf.int64), tf.constant([9], tf.int64))
ragged = tf.ragged.constant([[1, 2], [], [3]])
counter = tf.get_variable("counter", [], tf.int32, initializer=tf.zeros_initializer(), use_resource=True)
increment = counter.assign_add(1)
feeds = {a: [1, 2], b: [3, 4]}

with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    show("structures", session.run({"pair": Pair(total, product), "list": [[a], (b, "total:0")], "name": "product:0"}, feeds))
    print(type(session.run(Pair(total, product), feeds)).__name__, session.run([], feeds), session.run(tf.no_op()), session.run([[], {}, total.op], feeds))
    show("sparse", tuple(session.run(doubled, {sparse: tf.SparseTensorValue([[0, 1], [2, 3]], [5, 6], [3, 4])})))
    show("sparse fed as a tuple", tuple(session.run(doubled, {sparse: ([[0, 1]], [5], [3, 4])})))
    show("slices", tuple(session.run(slices, {a: [1, 2]})))
    print(session.run(ragged * 2).to_list(), session.run(ragged.row_lengths()).tolist())
    show("a fed inner tensor", session.run(total * 2, {total: [7, 8]}))
    show("a fed string tensor name", session.run("total:0", {"a:0": [1], "b:0": [2]}))
    show("a fetched feed", session.run([a, a], {a: [1, 2]}))
    show("a fed constant", session.run(tf.identity(tf.constant(3.0, name="three")) + 1, {"three:0": 10}))
    show("a fed variable", session.run(tf.add(counter, 1), {counter: 5}) if False else session.run(counter))
    call = session.make_callable([total, increment], [a, b])
    show("callable", [call([1], [2]), call([3], [4])])
    traced = tf.RunMetadata()
    show("callable with options", session.make_callable(total, [a, b], accept_options=True)([1], [1], options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=traced))
    print("nodes traced", any(node.node_name == "total" for device in traced.step_stats.dev_stats for node in device.node_stats))

    handle = session.partial_run_setup([total, product * 2], [a, b])
    doubled_product = session.graph.get_tensor_by_name(session.graph.get_operations()[-1].name + ":0")
    show("first piece", session.partial_run(handle, total, {a: [1, 2], b: [3, 4]}))
    show("second piece", session.partial_run(handle, doubled_product))
    c = tf.placeholder(tf.float32, [])
    chained = total * c
    handle = session.partial_run_setup([total, chained], [a, b, c])
    print("too early", refusal(lambda: session.partial_run(handle, chained, {a: [1, 2]})))
    handle = session.partial_run_setup([total, chained], [a, b, c])
    before = session.partial_run(handle, total, feeds)
    show("fed back", session.partial_run(handle, chained, {c: before[0]}))

    metadata = tf.RunMetadata()
    session.run(product, feeds, options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE, output_partition_graphs=True), run_metadata=metadata)
    text = timeline.Timeline(metadata.step_stats).generate_chrome_trace_format(show_dataflow=True, show_memory=True)
    print("timeline", '"product"' in text, len(metadata.partition_graphs) > 0)

    print("unfed", refusal(lambda: session.run(total)))
    print("a wrong shape", refusal(lambda: session.run(total, {a: [[1]], b: [2]})))
    print("shapes that do not fit", refusal(lambda: session.run(total, {a: [1, 2], b: [1, 2, 3]})))
    print("another graph's tensor", refusal(lambda: session.run(tf.Graph().as_graph_element if False else "none:0")))
    print("uninitialised", refusal(lambda: session.run(tf.get_variable("late", [2]))))
    print("an assertion", refusal(lambda: session.run(tf.Assert(a[0] > 0, [a, "is not above"]), {a: [-1]})))
    queue = tf.FIFOQueue(1, tf.float32)
    print("a timeout", refusal(lambda: session.run(queue.dequeue(), options=tf.RunOptions(timeout_in_ms=200))))
    shown = tf.Print(total, [total, tf.shape(total)], "printed: ")
    show("printed", session.run(shown, feeds))
    with tf.control_dependencies([tf.print("to the log", total)]):
        show("printed too", session.run(tf.identity(total), feeds))

    def work(number):
        for _ in range(20):
            session.run(increment)
            np.testing.assert_array_equal(session.run(total, {a: [number], b: [1]}), [number + 1])

    threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    show("counted by threads", session.run(counter))

    blocked = threading.Thread(target=lambda: print("a step when its session closes", refusal(lambda: session.run(queue.dequeue()))))
    blocked.start()
    time.sleep(0.5)
session.close()
blocked.join()
print("closed", refusal(lambda: session.run(total, feeds)))

with tf.Session(config=tf.ConfigProto(operation_timeout_in_ms=200, allow_soft_placement=True, device_count={"CPU": 1}, intra_op_parallelism_threads=1)) as session:
    print("the session's own timeout", refusal(lambda: session.run(tf.FIFOQueue(1, tf.float32).dequeue())))
    with tf.device("/gpu:0"):
        soft = tf.identity(total)
    show("soft placement", session.run(soft, feeds))
with tf.Session() as session:
    print("no such device", refusal(lambda: session.run(soft, feeds)))
with tf.Session() as session:
    print("state of its own", refusal(lambda: session.run(counter)))

weights = tf.placeholder_with_default(tf.ones([3]), [None])  # what tf.keras feeds with scalars
scaled, empty = weights * tf.ones([3]), tf.get_variable("empty", [2], use_resource=True)
with tf.Session(config=tf.ConfigProto(use_per_session_threads=True, allow_soft_placement=True)) as session:
    options = config_pb2.CallableOptions(feed=[weights.name], fetch=[scaled.name])
    show("a feed of another shape", session._make_callable_from_options(options)(np.float32(2)))
    for what in (empty.read_value(), empty.assign_add([1, 1]), tf.gather(empty, [0]), tf.raw_ops.ResourceApplyGradientDescent(var=empty.handle, alpha=0.1, delta=[1.0, 1.0])):
        print("without value", refusal(lambda what=what: session.run(what)))

interactive = tf.InteractiveSession()  # which places only what a step runs
show("eval", [tf.constant([1.0, 2.0]).eval(), total.eval(feeds)])
tf.global_variables_initializer().run()
interactive.close()
