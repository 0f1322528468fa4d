"""Whole models of bench/graphs/models: from the same initial values troupe infers what TensorFlow infers, and loses what it loses in training.

Needs a Python environment with TensorFlow, named by TROUPE_PEER_VENV; without it the test is skipped.
usage: models_test.py [--steps N] [MODEL ...]
"""

import argparse
import glob
import gzip
import os
import subprocess
import sys
import tempfile

SKIPPED = 77
MODELS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench", "graphs", "models")
# Adam divides a gradient by its size, so a rounding of what is nearly zero becomes a whole step: its losses drift apart.
INFERENCE, TRAINING, ADAM = 2e-5, 1e-5, 2e-3
# Each step of a deep net that normalises batches of 3 makes a rounding a hundred times as large: TensorFlow's losses with and without oneDNN differ
# by 2e-6, 8e-4 and 2e-3 after the first three.
COMPARED_STEPS = {"resnet50_train_b64": 1}


def read(name):
    """The graph; its random initial values get seeds, so that both sides draw the same."""
    from tensorflow.core.framework import graph_pb2

    graph = graph_pb2.GraphDef()
    with gzip.open(os.path.join(MODELS, name + ".pb.gz")) as file:
        graph.ParseFromString(file.read())
    seed = 0
    for node in graph.node:
        if "seed2" in node.attr:
            seed += 1
            node.attr["seed"].i, node.attr["seed2"].i = 7, seed
    return graph


def feeds_of(graph):
    import numpy as np
    from tensorflow.python.framework import dtypes

    random = np.random.RandomState(1)
    feeds = {}
    for node in graph.node:
        if node.op == "Placeholder":
            shape = [d.size if d.size >= 0 else 3 for d in node.attr["shape"].shape.dim]
            dtype = dtypes.as_dtype(node.attr["dtype"].type).as_numpy_dtype
            floating = np.issubdtype(dtype, np.floating)
            feeds[node.name] = (random.uniform(-1, 1, shape) if floating else random.randint(0, 10, shape)).astype(dtype)
    return feeds


def tensorflow_values(graph, feeds, fetch, target, steps):
    import tensorflow as tf

    with tf.Graph().as_default() as g:
        tf.import_graph_def(graph, name="")
        with tf.compat.v1.Session() as session:
            session.run(g.get_operation_by_name("init"))
            wanted = [fetch] + ([g.get_operation_by_name(target)] if target else [])
            fed = {name + ":0": value for name, value in feeds.items()}
            return [session.run(wanted, fed)[0] for _ in range(steps)]


def troupe_values(graph, feeds, fetch, target, steps):
    import numpy as np

    with tempfile.TemporaryDirectory(prefix="troupe-peer-") as folder:
        path = os.path.join(folder, "g.pb")
        with open(path, "wb") as file:
            file.write(graph.SerializeToString())
        command = [os.environ.get("TROUPE", "troupe"), "run", "local", path, "--init", "init", "--fetch", fetch, "--out", folder]
        for name, value in feeds.items():
            np.save(os.path.join(folder, name + ".npy"), value)
            command += ["--feed", f"{name}={folder}/{name}.npy"]
        if target:
            command += ["--target", target]
        out = []
        for step in range(1, steps + 1):  # the last step's values are written
            subprocess.run(command + ["--steps", str(step)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            out.append(np.load(os.path.join(folder, fetch.replace(":", "_").replace("/", "_") + ".npy")))
        return out


def compare(name, steps):
    import numpy as np

    graph = read(name)
    names = {node.name: node for node in graph.node}
    training = "train" in names
    fetch = "loss:0" if training else "y:0"
    if not training and names["y"].op == "Mean":  # of normalised values: zero
        fetch = names["y"].input[0] + ":0"
    feeds = feeds_of(graph)
    arguments = (graph, feeds, fetch, "train" if training else None, COMPARED_STEPS.get(name, steps) if training else 1)
    worst = 0.0
    for theirs, ours in zip(tensorflow_values(*arguments), troupe_values(*arguments)):
        worst = max(worst, float(np.max(np.abs(theirs - ours)) / np.max(np.abs(theirs))))
    allowed = ADAM if "adam" in name else TRAINING if training else INFERENCE
    print(f"{name}: {fetch} differs by {worst:.1e}, {allowed:.1e} is allowed", flush=True)
    return worst <= allowed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=5, help="of training")
    parser.add_argument("models", nargs="*")
    options = parser.parse_args()
    every = sorted(os.path.basename(path)[: -len(".pb.gz")] for path in glob.glob(os.path.join(MODELS, "*.pb.gz")))
    wanted = options.models or [name for name in every if "worker" not in name and name != "resnet50_train_b8"]
    return 0 if all([compare(name, options.steps) for name in wanted]) else 1


if __name__ == "__main__":
    venv = os.environ.get("TROUPE_PEER_VENV", "")
    if not venv:
        print("TROUPE_PEER_VENV names no Python environment with TensorFlow, so there is no peer to compare with.")
        sys.exit(SKIPPED)
    if os.path.realpath(sys.prefix) != os.path.realpath(venv):
        python = os.path.join(venv, "bin", "python")
        os.execve(python, [python, "-B", *sys.argv], dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="-1"))
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    import tensorflow as tf

    tf.compat.v1.disable_eager_execution()
    sys.exit(main())
