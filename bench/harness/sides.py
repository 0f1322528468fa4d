"""The two sides, and what a row needs of them: graphs as files, clients, clusters, the machine's limits."""

import gzip
import os
import subprocess

from processes import BenchError, LineServer, ServingCluster, TensorFlowCluster, TroupeCluster

import graph_def

BENCH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
CONFIGS = {
    "default": graph_def.config(),
    "plain": graph_def.config(rewrite=False),
    "plain, 1 thread": graph_def.config(rewrite=False, threads=1),
    "1 thread": graph_def.config(threads=1),
    "no gpu": graph_def.config(gpus=False),
}


class Side:
    """One side of the comparison. A new client program for each row, so that no row inherits another's memory or threads."""

    def __init__(self, bench, name):
        self.bench, self.name = bench, name
        self.clusters = {}
        self.server = None

    def restart(self, more=None):
        """`more`: variables of the environment beside its own."""
        if self.server:
            self.server.close()
        self.server = LineServer(self.command(), {**self.environment(), **(more or {})})

    def command(self):
        return [self.program()]

    def cluster(self, jobs):
        key = tuple(sorted(jobs.items()))
        if key not in self.clusters:
            self.clusters[key] = self.new_cluster(jobs)
        return self.clusters[key]

    def close_clusters(self):
        for cluster in self.clusters.values():
            cluster.close()
        self.clusters = {}

    def open(self, client, step, config="default", run_options=b"", init=True):
        """Opens a client that runs `step`; microseconds until it was open and until its first step was done."""
        fields = ["graph=" + self.bench.graph_file(step.graph)]
        if step.jobs:
            fields.append("target=" + self.cluster(step.jobs).targets[step.master])
        fields.append("config=" + self.bench.bytes_file("config " + config, CONFIGS[config]))
        if run_options:
            fields.append("run_options=" + self.bench.bytes_file("run options", run_options))
        if init:
            fields += [f"init={name}" for name in step.inits]
        fields += [f"feed={feed}" for feed in step.feeds] + [f"fetch={name}" for name in step.fetches] + [f"op={name}" for name in step.ops]
        return self.server.ask("open", client, *fields)

    def open_again(self, client, other):
        """One more client of the other's session, for a thread of its own."""
        self.server.ask("again", client, other)

    def measure(self, seconds, clients, steps=1 << 20, beside=()):
        more = ["beside", *beside] if beside else []
        return self.server.ask("measure", seconds, steps, *clients, *more)["clients"]

    def values(self, client, steps):
        """What so many more steps fetch, run by run: for each fetch its elements."""
        return self.server.ask("values", client, steps)["runs"]

    def close_client(self, client):
        self.server.ask("close", client)

    def close(self):
        if self.server:
            self.server.close()
        self.close_clusters()


class Ours(Side):
    def __init__(self, bench):
        super().__init__(bench, "troupe")

    def program(self):
        return os.path.join(self.bench.build, "bench", "bench_troupe")

    def environment(self):
        return {}

    def new_cluster(self, jobs):
        return TroupeCluster(jobs, self.bench.folder, self.bench.troupe)

    def new_serving_cluster(self, jobs, foreign=()):
        return ServingCluster(jobs, self.bench.folder, self.bench.troupe, self.bench.theirs and self.bench.theirs.venv, foreign)


class Theirs(Side):
    def __init__(self, bench, venv):
        super().__init__(bench, "TensorFlow")
        self.venv = os.path.abspath(venv)
        python = os.path.join(self.venv, "bin/python")
        script = "import sysconfig, importlib.metadata as m; print(sysconfig.get_paths()['purelib']); print(m.version('tensorflow-cpu'))"
        done = subprocess.run([python, "-c", script], capture_output=True, text=True)
        if done.returncode:
            raise BenchError(f"{python} has no tensorflow-cpu: {done.stderr.strip().splitlines()[-1:]}")
        site, self.version = done.stdout.split()
        self.package = os.path.join(site, "tensorflow")
        self.binary = os.path.join(bench.folder, "bench_tensorflow")

    def build(self):
        """Compiles the runner against the wheel, if its sources are newer than it."""
        sources = [os.path.join(BENCH, "peer/tensorflow_side.cpp"), os.path.join(BENCH, "runner/runner.cpp")]
        newest = max(os.path.getmtime(path) for path in [*sources, os.path.join(BENCH, "runner/runner.hpp")])
        if os.path.exists(self.binary) and os.path.getmtime(self.binary) > newest:
            return
        libraries = [os.path.join(self.package, name) for name in ("libtensorflow_cc.so.2", "libtensorflow_framework.so.2")]
        subprocess.run(["g++", "-O2", "-std=c++20", "-isystem", os.path.join(self.package, "include"), "-I", os.path.join(BENCH, "runner"), *sources,
                        "-o", self.binary, *libraries, f"-Wl,-rpath,{self.package}", "-pthread"], check=True)

    def program(self):
        return self.binary

    def environment(self):
        return {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}

    def new_cluster(self, jobs):
        return TensorFlowCluster(jobs, self.bench.folder, self.venv)

    def new_serving_cluster(self, jobs, foreign=()):
        return self.new_cluster(jobs)


class Bench:
    """What a row's measurement is given."""

    def __init__(self, build, folder, venv=None, quick=False):
        self.build, self.folder, self.quick = build, folder, quick
        self.troupe = os.path.join(build, "tools/troupe/troupe")
        os.makedirs(folder, exist_ok=True)
        self.ours = Ours(self)
        self.theirs = Theirs(self, venv) if venv else None
        self.limits = None
        self.gpu_peer = None  # a program that answers for the rows of a GPU
        self.graphs = {}

    @property
    def sides(self):
        return [self.ours, self.theirs] if self.theirs else [self.ours]

    def rounds(self, usual):
        return 1 if self.quick else usual

    def seconds(self, usual):
        return min(usual, 0.3) if self.quick else usual

    def limit(self, *command):
        """What the machine takes for it at best, microseconds; `multiply_add_time GFLOP` on all cores."""
        if command[0] == "multiply_add_time":
            return command[1] / self.limit("multiply_add", os.cpu_count()) * 1e6
        if not self.limits:
            self.limits = LineServer([os.path.join(self.build, "bench", "bench_limits")])
        answer = self.limits.ask(*command, separator=" ")
        return next(iter(answer.values()))

    def core_micros(self):
        """What one core takes for 10^8 operations of its multiply-adds at best: how quick it is."""
        return 0.1 / self.limit("multiply_add", 1) * 1e6

    def bytes_file(self, name, data):
        path = os.path.join(self.folder, name.replace(" ", "_").replace(",", "") + ".bin")
        with open(path, "wb") as out:
            out.write(data)
        return path

    def graph_file(self, graph):
        """`graph`: a model's name, or (name, function, arguments …) of a synthetic one."""
        key = graph if isinstance(graph, str) else graph[0]
        if key not in self.graphs:
            if isinstance(graph, str):
                with gzip.open(os.path.join(BENCH, "graphs/models", graph + ".pb.gz")) as file:
                    data = file.read()
            else:
                data = graph[1](*graph[2:])
            self.graphs[key] = self.bytes_file(key, data)
        return self.graphs[key]

    def close(self):
        for side in self.sides:
            side.close()
        for program in (self.limits, self.gpu_peer):
            if program:
                program.close()
        self.limits = self.gpu_peer = None
