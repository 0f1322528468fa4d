"""Pictures of traced steps for docs/performance.md, made by `troupe run --trace` and `troupe timeline`."""

import json
import os
import random
import shutil
import struct
import subprocess

import machine
from processes import BenchError

DOCS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "pictures")
WARM_STEPS = 200  # the last one is traced
TRIES = 5  # the quickest traced step is drawn: the one that others on the machine cut into least


def npy(path, kind, shape, values):
    """A NumPy file; kind: f for float32, q for int64."""
    descr = {"f": "<f4", "q": "<i8"}[kind]
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': ({', '.join(map(str, shape))},), }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    with open(path, "wb") as out:
        out.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{len(values)}{kind}", *values))


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise BenchError(f"{' '.join(command[:3])}: {done.stderr.strip()}")


def draw(bench, name, target, graph, title):
    dice = random.Random(1)
    x, labels = os.path.join(bench.folder, "x.npy"), os.path.join(bench.folder, "labels.npy")
    npy(x, "f", [128, 784], [dice.random() - 0.5 for _ in range(128 * 784)])
    npy(labels, "q", [128], [dice.randrange(10) for _ in range(128)])
    trace, attempt = os.path.join(bench.folder, name + ".json"), os.path.join(bench.folder, name + "_attempt.json")
    quickest = None
    for _ in range(TRIES):
        run(bench.troupe, "run", target, bench.graph_file(graph), "--init", "init", "--feed", f"x={x}", "--feed", f"labels={labels}", "--fetch", "loss",
            "--target", "train", "--steps", str(WARM_STEPS), "--trace", attempt)
        with open(attempt) as file:
            took = next(event["dur"] for event in json.load(file)["traceEvents"] if event["name"] == "Session::run")
        if quickest is None or took < quickest:
            quickest = took
            shutil.move(attempt, trace)
    os.makedirs(DOCS, exist_ok=True)
    run(bench.troupe, "timeline", trace, "--svg", os.path.join(DOCS, name + ".svg"), "--title", title)


def draw_all(bench):
    about = machine.describe()
    where = f" ({about['cores']} cores, {about['instruction_set']}, {machine.today()})"
    draw(bench, "step_local", "local", "mlp_sgd", "MLP 784-512-256-10, batch 128, SGD: one step in one process" + where)
    cluster = bench.ours.cluster({"ps": 1, "worker": 2})
    draw(bench, "step_two_nodes", cluster.targets["worker", 0], "mlp_sgd_worker0",
         "The same step with its variables on /job:ps and its arithmetic on /job:worker/task:0" + where)
