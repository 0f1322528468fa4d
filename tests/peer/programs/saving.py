"""Checkpoints and models on disk: Saver, meta graphs, SavedModels, frozen graphs, summaries, what the files hold."""

import glob
import os
import tempfile

import numpy as np
import tensorflow.compat.v1 as tf
from show import refusal, show

tf.disable_v2_behavior()
folder = tempfile.mkdtemp()


def model():
    step = tf.train.get_or_create_global_step()
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    weights = tf.get_variable("weights", [3, 2], initializer=tf.random_normal_initializer(seed=1), partitioner=tf.fixed_size_partitioner(2))
    bias = tf.get_variable("bias", initializer=tf.constant([0.5, -0.5]), use_resource=True)
    y = tf.nn.softmax(tf.matmul(x, tf.convert_to_tensor(weights)) + bias, name="y")
    loss = -tf.reduce_mean(tf.log(y[:, 0]))
    train = tf.train.AdamOptimizer(0.1).minimize(loss, global_step=step, name="train")
    tf.summary.scalar("loss", loss)
    tf.summary.histogram("y", y)
    tf.summary.image("picture", tf.reshape(tf.tile(y[:1], [1, 8]), [1, 4, 4, 1]))
    tf.summary.text("words", tf.constant(["a", "b"]))
    return x, y, train, loss


values = np.random.RandomState(2).rand(5, 3).astype(np.float32)
path = os.path.join(folder, "run", "model.ckpt")
os.makedirs(os.path.dirname(path))
with tf.Graph().as_default() as graph:
    x, y, train, loss = model()
    saver = tf.train.Saver(max_to_keep=2)
    merged = tf.summary.merge_all()
    with tf.Session() as session, tf.summary.FileWriter(os.path.join(folder, "logs"), graph) as writer:
        session.run(tf.global_variables_initializer())
        for number in range(5):
            _, summary = session.run([train, merged], {x: values})
            writer.add_summary(summary, number)
            saver.save(session, path, global_step=number)
        saved = session.run([y, tf.global_variables()], {x: values})
        show("saved", saved)
        tf.saved_model.simple_save(session, os.path.join(folder, "simple"), {"x": x}, {"y": y})
        builder = tf.saved_model.Builder(os.path.join(folder, "built"))
        signature = tf.saved_model.build_signature_def({"in": tf.saved_model.build_tensor_info(x)}, {"out": tf.saved_model.build_tensor_info(y)}, "predict")
        builder.add_meta_graph_and_variables(session, [tf.saved_model.SERVING], {"predict": signature}, strip_default_attrs=True)
        builder.save()
        frozen = tf.graph_util.convert_variables_to_constants(session, graph.as_graph_def(), ["y"])
        tf.io.write_graph(frozen, folder, "frozen.pb", as_text=False)
        print("no folder", refusal(lambda: saver.save(session, os.path.join(folder, "none", "model"), write_meta_graph=False)))

latest = tf.train.latest_checkpoint(os.path.dirname(path))
print(os.path.basename(latest), sorted(os.path.basename(name) for name in glob.glob(path + "*")))
print(tf.train.list_variables(latest))
show("read", tf.train.load_checkpoint(latest).get_tensor("weights"))
for event in tf.train.summary_iterator(glob.glob(os.path.join(folder, "logs", "*"))[0]):
    for value in event.summary.value:
        if value.tag == "loss":
            show(f"event {event.step}", value.simple_value)
        elif value.HasField("histo"):
            show(f"histogram {event.step}", [value.histo.num, value.histo.sum, list(value.histo.bucket)])
        else:
            print(value.tag, value.metadata.plugin_data.plugin_name, value.image.height)

with tf.Graph().as_default(), tf.Session() as session:
    x, y, train, loss = model()
    tf.train.Saver().restore(session, latest)
    show("restored", session.run([y, tf.train.get_global_step()], {x: values}))
    session.run(train, {x: values})
    show("trained on", session.run(loss, {x: values}))
with tf.Graph().as_default(), tf.Session() as session:
    importer = tf.train.import_meta_graph(latest + ".meta")
    print("before it is restored", refusal(lambda: session.run("y:0", {"x:0": values})))
    importer.restore(session, latest)
    session.run("train", {"x:0": values})
    show("imported", session.run("y:0", {"x:0": values}))
with tf.Graph().as_default(), tf.Session() as session:
    whole = tf.get_variable("weights", [3, 2])
    renamed = tf.get_variable("other", [2], use_resource=False)
    late = tf.get_variable("late", [1], initializer=tf.ones_initializer())
    tf.train.Saver({"weights": whole, "bias": renamed}).restore(session, latest)
    show("some of them", session.run([whole, renamed, tf.report_uninitialized_variables()]))
    print("not in it", refusal(lambda: tf.train.Saver([late]).restore(session, latest)))
    print("no checkpoint", refusal(lambda: tf.train.Saver([whole]).restore(session, path + "-77")))
    wrong = tf.get_variable("wrong", [4])
    print("another shape", refusal(lambda: tf.train.Saver({"bias": wrong}).restore(session, latest)))
    tf.train.init_from_checkpoint(latest, {"bias": wrong}) if False else None
with tf.Graph().as_default(), tf.Session() as session:
    with tf.variable_scope("mine"):
        whole = tf.get_variable("weights", [3, 2])
    tf.train.init_from_checkpoint(latest, {"weights": "mine/weights"})
    session.run(tf.global_variables_initializer())
    show("initialised from it", session.run(whole))
for kind, inputs, outputs in (("simple", "x:0", "y:0"), ("built", "x:0", "y:0")):
    with tf.Graph().as_default(), tf.Session() as session:
        loaded = tf.saved_model.load(session, [tf.saved_model.SERVING], os.path.join(folder, kind))
        show(kind + " " + ",".join(sorted(loaded.signature_def)), session.run(outputs, {inputs: values}))
with tf.Graph().as_default(), tf.Session() as session:
    definition = tf.GraphDef()
    definition.ParseFromString(tf.gfile.GFile(os.path.join(folder, "frozen.pb"), "rb").read())
    (y,) = tf.import_graph_def(definition, return_elements=["y:0"], name="frozen")
    show("frozen", session.run(y, {"frozen/x:0": values}))
    mapped = tf.import_graph_def(definition, {"x:0": tf.constant(values)}, return_elements=["y:0"], name="mapped")[0]
    show("mapped", session.run(mapped))
with tf.Graph().as_default(), tf.Session() as session:
    text = tf.placeholder(tf.string, [])
    written = tf.io.write_file(os.path.join(folder, "note"), text)
    session.run(written, {text: "a note"})
    show("a file", session.run([tf.io.read_file(os.path.join(folder, "note")), tf.io.matching_files(os.path.join(folder, "n*"))[0]])[0])
    print("no file", refusal(lambda: session.run(tf.io.read_file(os.path.join(folder, "nothing")))))
os.chdir(folder)
os.makedirs("relative")
with tf.Graph().as_default(), tf.Session() as session:
    kept = tf.get_variable("kept", [2], initializer=tf.ones_initializer())
    session.run(tf.global_variables_initializer())
    show("a whole path", os.path.basename(tf.train.Saver().save(session, os.path.abspath("relative/kept"))))
