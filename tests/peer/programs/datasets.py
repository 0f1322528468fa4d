"""Input by datasets: every transformation, the kinds of iterators, files, saved iterators, a model that is trained from one, ends and errors."""

import os
import tempfile

import numpy as np
import tensorflow.compat.v1 as tf
from show import refusal, show

tf.disable_v2_behavior()
data, experimental, Dataset = tf.data, tf.data.experimental, tf.data.Dataset
numbers, auto = Dataset.range, tf.data.AUTOTUNE
folder = tempfile.mkdtemp()


def path(name):
    return os.path.join(folder, name)


with open(path("a.txt"), "w") as file:
    file.write("one\ntwo\n\nfour")
with open(path("b.txt"), "w") as file:
    file.write("x\r\ny\r\n")
with open(path("table.csv"), "w") as file:
    file.write('n,x,t\n1,2.5,"a, b"\n2,,c\n3,0.5,"d ""e"""\n')
with open(path("fixed"), "wb") as file:
    file.write(b"HHabcdefghiF")
for kind in ("", "GZIP", "ZLIB"):
    with tf.python_io.TFRecordWriter(path("records" + kind), tf.python_io.TFRecordOptions(kind)) as writer:
        for number in range(4):
            writer.write(b"%s%d" % (kind.encode(), number))
with tf.python_io.TFRecordWriter(path("examples")) as writer:
    for number in range(5):
        writer.write(tf.train.Example(features=tf.train.Features(feature={
            "n": tf.train.Feature(int64_list=tf.train.Int64List(value=[number])),
            "words": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"w"] * number))})).SerializeToString())


def filled(x):
    return tf.fill([x], x)


def inverse(x):
    return tf.check_numerics(1 / tf.to_float(x), "inverse")


def options(change):
    out = data.Options()
    change(out)
    return numbers(5).map(lambda x: x + 1, num_parallel_calls=2).with_options(out)


def threads(out):
    out.threading.private_threadpool_size, out.threading.max_intra_op_parallelism = 2, 1


def not_tuned(out):
    out.autotune.enabled = out.experimental_optimization.apply_default_optimizations = False


def table():
    return tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(tf.constant([0, 1], tf.int64), tf.constant(["a", "b"])), "none")


def looked_up():
    words = table()
    return numbers(3).map(words.lookup)


sparse = tf.SparseTensorValue(np.array([[0, 0], [1, 2], [2, 1]]), np.array([1, 2, 3], np.float32), (3, 3))
pipelines = {
    "range": lambda: numbers(10, 0, -3),
    "tensors": lambda: Dataset.from_tensors({"a": [1, 2], "b": "x"}).repeat(2),
    "slices": lambda: Dataset.from_tensor_slices((np.arange(6.0).reshape(3, 2), np.array([True, False, True]), ["a", "b", "c"], np.array([1, 2j, 3]))),
    "list": lambda: experimental.from_list([(1, "a"), (2, "b")]),
    "map": lambda: numbers(4).map(lambda x: (x * x, tf.as_string(x))),
    "map at once": lambda: numbers(9).map(lambda x: x * x, num_parallel_calls=3),
    "map as it likes": lambda: numbers(9).map(lambda x: x * x, num_parallel_calls=auto, deterministic=True),
    "map with state": lambda: numbers(4).map(lambda x: tf.random.uniform([2], seed=3)),
    "map with a table": looked_up,
    "map with a loop": lambda: numbers(4).map(lambda x: tf.while_loop(lambda i: i < 10, lambda i: i * 2 + 1, [x])),
    "map with a branch": lambda: numbers(4).map(lambda x: tf.cond(x > 1, lambda: x * 10, lambda: x)),
    "map with a map": lambda: numbers(4).map(lambda x: tf.map_fn(lambda y: y * y, tf.range(x))),
    "map and batch": lambda: numbers(7).apply(experimental.map_and_batch(lambda x: x * 2, 3, num_parallel_calls=2)),
    "batch": lambda: numbers(7).batch(3),
    "batch at once": lambda: numbers(7).batch(3, num_parallel_calls=2),
    "batch, whole": lambda: numbers(7).batch(3, drop_remainder=True),
    "batch, padded": lambda: numbers(5).map(lambda x: (filled(x), x)).padded_batch(2, ([None], [])),
    "batch, padded so": lambda: numbers(5).map(filled).padded_batch(2, [6], tf.constant(-1, tf.int64)),
    "batch, padded too little": lambda: numbers(5).map(filled).padded_batch(2, [2]),
    "batch, ragged": lambda: numbers(5).map(filled).apply(experimental.dense_to_ragged_batch(2)).map(lambda x: x.to_tensor(7)),
    "batch, sparse": lambda: numbers(5).map(filled).apply(experimental.dense_to_sparse_batch(2, [5])).map(tf.sparse.to_dense),
    "batch of other shapes": lambda: numbers(3).flat_map(lambda x: Dataset.from_tensors(filled(x))).batch(2),
    "unbatch": lambda: numbers(7).batch(3).unbatch(),
    "rebatch": lambda: numbers(8).batch(4).rebatch([3, 2, 1]),
    "shuffle": lambda: numbers(10).shuffle(4, seed=3),
    "shuffle, repeat": lambda: numbers(5).shuffle(9, seed=3).repeat(2),
    "shuffle once, repeat": lambda: numbers(5).shuffle(9, seed=3, reshuffle_each_iteration=False).repeat(2),
    "repeat, shuffle": lambda: numbers(4).repeat(3).shuffle(5, seed=2),
    "shuffle and repeat": lambda: numbers(4).apply(experimental.shuffle_and_repeat(5, 2, seed=2)),
    "prefetch": lambda: numbers(4).prefetch(2).prefetch(auto),
    "interleave": lambda: numbers(4).interleave(lambda x: Dataset.from_tensors(x).repeat(3), cycle_length=2, block_length=2),
    "interleave at once": lambda: numbers(4).interleave(lambda x: Dataset.from_tensors(x).repeat(3), cycle_length=3, num_parallel_calls=2),
    "interleave, the older": lambda: numbers(4).apply(experimental.parallel_interleave(lambda x: Dataset.from_tensors(x).repeat(3), cycle_length=2)),
    "flat_map": lambda: numbers(5).flat_map(numbers),
    "window": lambda: Dataset.zip((numbers(7), numbers(7, 14))).window(3, shift=2).flat_map(lambda a, b: Dataset.zip((a.batch(3), b.batch(3)))),
    "window, whole": lambda: numbers(7).window(3, shift=2, stride=2, drop_remainder=True).flat_map(lambda a: a.batch(3)),
    "group_by_window": lambda: numbers(10).apply(experimental.group_by_window(lambda x: x % 3, lambda _, a: a.batch(2), window_size=2)),
    "group_by_window of sizes": lambda: numbers(10).group_by_window(lambda x: x % 2, lambda _, a: a.batch(9), window_size_func=lambda key: key + 2),
    "group_by_reducer": lambda: numbers(10).apply(experimental.group_by_reducer(
        lambda x: x % 3, experimental.Reducer(lambda key: key, lambda state, x: state + x, lambda state: state * 10))),
    "buckets": lambda: numbers(10).map(filled).apply(experimental.bucket_by_sequence_length(tf.size, [3, 6], [2, 2, 2])),
    "cache": lambda: numbers(4).map(lambda x: x + 1).cache().repeat(2),
    "zip": lambda: Dataset.zip({"a": numbers(3), "b": numbers(5).map(tf.as_string)}),
    "concatenate": lambda: numbers(2).concatenate(numbers(5, 7)),
    "take": lambda: numbers(5).take(2).concatenate(numbers(2).take(-1)),
    "skip": lambda: numbers(5).skip(3).concatenate(numbers(2).skip(-1)),
    "shard": lambda: numbers(7).shard(3, 1),
    "filter": lambda: numbers(7).filter(lambda x: x % 2 > 0),
    "take_while": lambda: numbers(7).apply(experimental.take_while(lambda x: x < 3)),
    "scan": lambda: numbers(5).apply(experimental.scan(tf.constant(0, tf.int64), lambda state, x: (state + x, (state, x)))),
    "unique": lambda: Dataset.from_tensor_slices([1, 2, 1, 3]).apply(experimental.unique()),
    "enumerate": lambda: numbers(3).enumerate(5),
    "ignore_errors": lambda: numbers(-2, 3).map(inverse).apply(experimental.ignore_errors()),
    "errors": lambda: numbers(-2, 3).map(inverse),
    "sample": lambda: experimental.sample_from_datasets([numbers(5), numbers(10, 15)], [0.3, 0.7], seed=4),
    "choose": lambda: experimental.choose_from_datasets([numbers(5), numbers(10, 15)], Dataset.from_tensor_slices(np.array([0, 1, 1, 0]))),
    "resample": lambda: numbers(20).map(lambda x: (x % 2, x)).apply(
        experimental.rejection_resample(lambda a, _: tf.to_int32(a), [0.2, 0.8], [0.5, 0.5], seed=3)),
    "random": lambda: experimental.RandomDataset(seed=3).take(4),
    "counter": lambda: experimental.Counter(3, 2).take(4),
    "sparse slices": lambda: Dataset.from_tensor_slices(tf.SparseTensor(*sparse)).batch(2).map(tf.sparse.to_dense),
    "sparse rows": lambda: Dataset.from_sparse_tensor_slices(tf.SparseTensor(*sparse)),
    "ragged slices": lambda: Dataset.from_tensor_slices(tf.ragged.constant([[1], [2, 3], []])).batch(2).map(lambda x: x.to_tensor()),
    "optionals": lambda: numbers(3).map(experimental.Optional.from_value).map(lambda x: x.get_value()),
    "datasets": lambda: Dataset.from_tensors(0).map(lambda _: numbers(3)).flat_map(lambda a: a),
    "reduce": lambda: Dataset.from_tensors(numbers(5).reduce(np.int64(0), lambda a, x: a + x)),
    "cardinality": lambda: Dataset.from_tensors([experimental.cardinality(a) for a in (numbers(5).batch(2), numbers(2).repeat(), numbers(3).filter(lambda x: x > 1))]),
    "too few": lambda: numbers(3).apply(experimental.assert_cardinality(5)),
    "one element": lambda: Dataset.from_tensors(experimental.get_single_element(numbers(5).skip(2).take(1))),
    "two elements": lambda: Dataset.from_tensors(experimental.get_single_element(numbers(2))),
    "threads": lambda: options(threads),
    "not tuned": lambda: options(not_tuned),
    "text": lambda: data.TextLineDataset([path("a.txt"), path("b.txt")]),
    "records": lambda: data.TFRecordDataset(path("records")),
    "compressed records": lambda: data.TFRecordDataset(path("recordsGZIP"), "GZIP").concatenate(data.TFRecordDataset([path("recordsZLIB")], "ZLIB", 100, 2)),
    "fixed": lambda: data.FixedLengthRecordDataset(path("fixed"), 3, 2, 1),
    "csv": lambda: experimental.CsvDataset(path("table.csv"), [tf.int32, tf.constant([9.5]), tf.string], header=True),
    "csv in batches": lambda: experimental.make_csv_dataset(path("table.csv"), 2, label_name="t", shuffle=False, num_epochs=1),
    "files": lambda: Dataset.list_files(path("*.txt"), shuffle=False).map(lambda name: tf.strings.regex_replace(name, ".*/", "")),
    "no file": lambda: data.TextLineDataset(path("none")),
    "no records": lambda: data.TFRecordDataset(path("a.txt")),
    "not compressed": lambda: data.TFRecordDataset(path("a.txt"), "GZIP"),
    "no size": lambda: numbers(3).batch(tf.constant(0, tf.int64)),
    "no place": lambda: numbers(3).shuffle(tf.constant(0, tf.int64)),
    "no step": lambda: numbers(0, 3, tf.constant(0, tf.int64)),
    "no shard": lambda: numbers(3).shard(tf.constant(2, tf.int64), tf.constant(5, tf.int64)),
    "no window": lambda: numbers(3).window(tf.constant(0, tf.int64)),
}


def drained(session, element, limit=40):
    taken = []
    try:
        while len(taken) < limit:
            taken.append(session.run(element))
        taken.append("more")
    except tf.errors.OutOfRangeError:
        taken.append("end")
    except tf.errors.OpError as error:
        taken.append(type(error).__name__)
    return taken


for name, build in pipelines.items():
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(7)
        iterator = data.make_initializable_iterator(build())
        element = iterator.get_next()
        session.run(tf.tables_initializer())
        why = refusal(lambda: session.run(iterator.initializer))
        show(name, why if why != "nothing" else drained(session, element))

# One-shot iterators: what they capture, their ends, handles.
with tf.Graph().as_default(), tf.Session() as session:
    three = tf.constant(3, tf.int64)
    once = data.make_one_shot_iterator(numbers(3).map(lambda x: x + three))
    show("once", drained(session, once.get_next()) + drained(session, once.get_next()))
    show("once, an error inside", drained(session, data.make_one_shot_iterator(numbers(-1, 3).map(inverse)).get_next()))

# The same iterator from the beginning; another dataset for it.
with tf.Graph().as_default(), tf.Session() as session:
    count = tf.placeholder(tf.int64, [])
    iterator = data.make_initializable_iterator(numbers(count))
    element = iterator.get_next()
    print("not initialised", refusal(lambda: session.run(element)))
    for size in (2, 0, 1):
        session.run(iterator.initializer, {count: size})
        show(f"of {size}", drained(session, element))
    either = data.Iterator.from_structure(tf.int64, [])
    element, first, second = either.get_next(), either.make_initializer(numbers(3)), either.make_initializer(numbers(10, 12))
    for start in (first, second, first):
        session.run(start)
        show("either", [session.run(element) for _ in range(2)])
    iterators = [data.make_initializable_iterator(numbers(10), shared_name="shared") for _ in range(2)]
    named = [iterator.get_next() for iterator in iterators]
    session.run(iterators[0].initializer)
    show("shared", [session.run(named[0]), session.run(named[1]), session.run(named[0])])
    other = data.make_initializable_iterator(Dataset.from_tensors("a"), shared_name="shared")
    print("shared, of another type", refusal(lambda: session.run(other.initializer)))

# Fed by handles.
with tf.Graph().as_default(), tf.Session() as session:
    handle = tf.placeholder(tf.string, [])
    element = data.Iterator.from_string_handle(handle, tf.int64, []).get_next()
    one, two = data.make_one_shot_iterator(numbers(10)), data.make_initializable_iterator(numbers(100, 110))
    handles = session.run([one.string_handle(), two.string_handle()])
    print("not initialised", refusal(lambda: session.run(element, {handle: handles[1]})))
    session.run(two.initializer)
    show("by handle", [session.run(element, {handle: each}) for each in handles * 2])
    print("no handle", refusal(lambda: session.run(element, {handle: b"none"})))
    for name, build in (("type", lambda: Dataset.from_tensors("a")), ("shape", lambda: numbers(4).batch(2))):
        iterator = data.make_initializable_iterator(build())
        session.run(iterator.initializer)
        print("a handle of another", name, refusal(lambda: session.run(element, {handle: session.run(iterator.string_handle())})))

# Optionals instead of an end.
with tf.Graph().as_default(), tf.Session() as session:
    iterator = data.make_initializable_iterator(numbers(2))
    session.run(iterator.initializer)
    perhaps = experimental.get_next_as_optional(iterator)
    value = tf.cond(perhaps.has_value(), perhaps.get_value, lambda: tf.constant(-1, tf.int64))
    show("perhaps", [session.run([perhaps.has_value(), value]) for _ in range(4)])
    print("none", refusal(lambda: session.run(perhaps.get_value())))

# Saved, and restored into another session of the same graph.
SAVED = ("map", "map at once", "batch, padded", "shuffle", "shuffle, repeat", "shuffle once, repeat", "prefetch", "interleave",
         "interleave at once", "flat_map", "window", "group_by_window", "group_by_reducer", "cache", "zip", "filter", "scan", "unbatch", "sample", "text",
         "compressed records", "csv", "list", "batch, sparse")
for name in SAVED:
    with tf.Graph().as_default():
        tf.set_random_seed(7)
        iterator = data.make_initializable_iterator(pipelines[name]())
        element = iterator.get_next()
        saver = tf.train.Saver([experimental.make_saveable_from_iterator(iterator)])
        with tf.Session() as session:
            session.run(iterator.initializer)
            taken = [session.run(element) for _ in range(2)]
            saved = saver.save(session, path("iterator"))
            rest = drained(session, element)
        with tf.Session() as session:
            session.run(iterator.initializer)
            saver.restore(session, saved)
            again = drained(session, element)
        show("saved, " + name, taken + rest)
        print("restored", repr(again) == repr(rest))

with tf.Graph().as_default(), tf.Session() as session:
    iterator = data.make_initializable_iterator(pipelines["map with state"]())
    saver = tf.train.Saver([experimental.make_saveable_from_iterator(iterator)])
    print("not there to be saved", refusal(lambda: saver.save(session, path("iterator"))))
    session.run(iterator.initializer)
    print("a state of its own", refusal(lambda: saver.save(session, path("iterator"))))

# Whole datasets: a table, a file.
with tf.Graph().as_default(), tf.Session() as session:
    words = experimental.table_from_dataset(numbers(3).map(lambda x: (x, tf.as_string(x))), default_value="none")
    session.run(tf.tables_initializer())
    show("a table", session.run(words.lookup(tf.constant([0, 2, 5], tf.int64))))
    session.run(experimental.TFRecordWriter(path("written")).write(Dataset.from_tensor_slices(["a", "", "b"])))
    show("a file", list(tf.python_io.tf_record_iterator(path("written"))))

# One shuffle in two places; lines with returns in them; what functions of windows, scans and filters say.
def divided(x, name):
    return tf.debugging.check_numerics(1 / tf.cast(x - 1, tf.float32), name)


def shuffled():
    return numbers(6).shuffle(6, seed=1)


def in_two_places():
    places = shuffled()
    return Dataset.zip((places.map(lambda x: x), places))


def one_behind_the_other():
    places = shuffled()
    return places.concatenate(places)


with open(path("returns"), "wb") as file:
    file.write(b"a\r\nb\rc\n\r\nd\r\re\n\r")
for name, pipeline in {
        "two places": in_two_places, "one behind the other": one_behind_the_other, "repeated": lambda: shuffled().repeat(2),
        "returns": lambda: data.TextLineDataset(path("returns")),
        "a window that fails": lambda: numbers(6).apply(experimental.group_by_window(
            lambda x: x % 2, lambda key, window: window.batch(tf.cast(divided(key, "in a window"), tf.int64)), 2)),
        "a scan that fails": lambda: numbers(6).apply(experimental.scan(0.0, lambda state, x: (state, divided(x, "in a scan"))))}.items():
    with tf.Graph().as_default(), tf.Session() as session:
        iterator = data.make_initializable_iterator(pipeline())
        element = iterator.get_next()
        session.run(iterator.initializer)
        if "fails" in name:
            print(name, refusal(lambda: [session.run(element) for _ in range(5)]))
        else:
            show(name, drained(session, element))

# A model that is trained from shuffled batches.
with tf.Graph().as_default():
    tf.set_random_seed(1)
    inputs = np.random.RandomState(0).randn(64, 3).astype(np.float32)
    outputs = inputs @ np.array([[1], [-2], [0.5]], np.float32)
    pairs = Dataset.from_tensor_slices((inputs, outputs)).shuffle(64, seed=1).repeat().batch(8).prefetch(2)
    x, y = data.make_one_shot_iterator(pairs).get_next()
    weights = tf.get_variable("weights", [3, 1], initializer=tf.zeros_initializer())
    loss = tf.reduce_mean(tf.square(x @ weights - y))
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    with tf.train.MonitoredSession() as session:
        losses = [session.run([train, loss])[1] for _ in range(60)]
        show("losses", losses[::10])
        show("weights", session.run(weights))
