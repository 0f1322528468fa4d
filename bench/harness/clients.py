"""Rows in which TensorFlow's own client, unmodified, drives the servers of both sides over gRPC: programs of `client/`, the same processes for both."""

import json
import os
import statistics
from dataclasses import dataclass, field

from figures import Result
from processes import BenchError, LineServer
from steps import Row, in_turn

HERE = os.path.dirname(os.path.abspath(__file__))
ONE = {"worker": 1}
TRAINING = {"ps": 1, "worker": 2}
FIRST = ("worker", 0)
QUIET = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "", "GRPC_VERBOSITY": "NONE"}
NO_CLIENT = "its client is TensorFlow's own: give --peer VENV"


class Clients:
    """Client programs, each with a session at each side."""

    def __init__(self, count, python):
        self.programs = []
        try:
            for _ in range(count):
                self.programs.append(LineServer([python, "-B", os.path.join(HERE, "../client/client.py")], QUIET))
        except BaseException:
            self.close()
            raise

    def all(self, fields):
        """Each program is asked `fields` of its own, all at once."""
        for program, own in zip(self.programs, fields):
            program.send(*own)
        answers = []
        errors = []
        for program, own in zip(self.programs, fields):
            try:
                answers.append(program.receive(own[0]))
            except BenchError as error:  # every program that was asked is heard, or its answer would be taken for that to the next question
                errors.append(error)
        if errors:
            raise errors[0]
        return answers

    def close(self):
        for program in self.programs:
            program.close()


def headroom(theirs, client_cpu, at_once):
    """About how far servers alone can bring the ratio: their time a step through what the client itself computes in one, on as many processors as the clients
    can use. No bound: transport and waking take time beside it, and what a client computes is not the same with each server."""
    return theirs / (client_cpu / at_once) if client_cpu > 0 else None


@dataclass
class ClientRow(Row):
    """The median time of a step, or, with several clients at once, wall time through all their steps."""
    workload: str = ""
    settings: dict = field(default_factory=dict)
    jobs: dict = field(default_factory=lambda: ONE)
    masters: list = field(default_factory=lambda: [FIRST])  # of each client the task that it speaks to
    seconds: float = 2
    rounds: int = 5
    most = 1 << 30  # steps of a round
    compared: int = 3
    foreign: tuple = ()  # tasks of our side's cluster that are TensorFlow's servers
    writes_files: bool = False  # into a folder of the run, which the workload is told

    def measure(self, bench):
        result = Result("µs")
        if not bench.theirs:
            result.skipped = NO_CLIENT
            return result
        clusters, clients = {}, None
        try:
            clients = Clients(self.num_programs(), os.path.join(bench.theirs.venv, "bin/python"))
            ready = []
            for side in bench.sides:
                try:
                    clusters[side] = side.new_serving_cluster(self.jobs, self.foreign)
                    self.open(bench, side, clusters[side], clients, result)
                    ready.append(side)
                except BenchError as error:
                    result.add_error(side, error)
            own = {side.name: [] for side in bench.sides}
            for number in range(bench.rounds(self.rounds)):
                for side in in_turn(ready, number):
                    try:
                        self.once(bench, side, clients, result, number, own[side.name])
                    except BenchError as error:
                        result.add_error(side, error)
                        ready = [r for r in ready if r is not side]
            self.tell(result, own)
        finally:
            if clients:
                clients.close()
            for cluster in clusters.values():
                cluster.close()
        return result

    def num_programs(self):
        return len(self.masters)

    def about(self, bench, cluster, task, settings):
        if self.writes_files:
            settings = {**settings, "folder": bench.folder}
        return json.dumps({"cluster": cluster.by_job(), "task": task, **settings})

    def open(self, bench, side, cluster, clients, result):
        """The first client opens first: it is the chief where there is one."""
        fetched = []
        for program, task in zip(clients.programs, self.masters):
            program.ask("open", side.name, self.workload, cluster.targets[task], self.about(bench, cluster, task, self.settings))
        for program in clients.programs[:len(self.masters)]:
            fetched.append(program.ask("values", side.name, self.compared)["runs"])
        result.fetched.add(side, "default", fetched)

    def once(self, bench, side, clients, result, number, own):
        seconds = bench.seconds(self.seconds)
        for part in (seconds / 4, seconds):  # the first warms up
            series = clients.all([("measure", side.name, part, self.most)] * len(self.masters))
        own.append(statistics.fmean(s["cpu"] for s in series))
        result.add(side, series[0]["median"] if len(series) == 1 else max(s["wall"] for s in series) / sum(s["steps"] for s in series), number)

    def tell(self, result, own):
        """How much of a step is the client's, which is the same program on both sides."""
        cpu = {name: statistics.median(values) for name, values in own.items() if values}
        result.detail["the client's own processor time a step, µs"] = {name: round(value) for name, value in cpu.items()}
        if result.theirs and "troupe" in cpu:
            most = headroom(statistics.median(result.theirs.values()), cpu["troupe"], min(len(self.masters), len(os.sched_getaffinity(0))))
            if most:
                result.detail["TensorFlow's time by the client's own"] = f"{most:.2f}"


@dataclass
class SavingRow(ClientRow):
    """Saving, and beside it a client with a session of its own and a small step: none of its steps may wait for long."""
    writes_files: bool = True
    longest_delay: float = 50e3  # µs
    aim_text: str = "no step beside it above 50 ms"

    def num_programs(self):
        return 2

    def open(self, bench, side, cluster, clients, result):
        super().open(bench, side, cluster, clients, result)
        clients.programs[1].ask("open", side.name, "Adds", cluster.targets[FIRST], json.dumps({"cluster": cluster.by_job(), "task": FIRST}))

    def once(self, bench, side, clients, result, number, own):
        seconds = bench.seconds(self.seconds)
        clients.programs[1].ask("measure", side.name, seconds / 8, self.most)
        saved, beside = clients.all([("measure", side.name, seconds, self.most)] * 2)
        own.append(saved["cpu"])
        result.add(side, saved["median"], number)
        told = result.detail.setdefault(f"{side.name}'s steps beside it", {"longest of each round, ms": []})
        told["longest of each round, ms"].append(round(beside["max"] / 1e3, 1))
        told.update({"median µs": round(beside["median"]), "99 % below, µs": round(beside["p99"]), "steps": beside["steps"], "saves": saved["steps"]})
        if side.name == "troupe":
            result.verdict = result.verdict is not False and beside["max"] <= self.longest_delay


def client_rows():
    yield ClientRow("client-one-op", "TensorFlow's client over gRPC: a scalar fed, added to, fetched", 2, workload="Adds")
    yield ClientRow("client-100-feeds", "TensorFlow's client: 100 scalars fed, added to, fetched", 1.5, workload="Adds", settings={"feeds": 100})
    yield ClientRow("client-64MiB", "TensorFlow's client: 64 MiB fed, added to, fetched", 1.5, workload="Adds", settings={"elements": 1 << 24}, seconds=4)
    yield ClientRow("client-10", "10 client processes at once, a scalar fed, added to, fetched; wall time a step", 2, workload="Adds", masters=[FIRST] * 10)
    yield ClientRow("client-monitored-mlp", "MLP by MonitoredTrainingSession, batch 128, 1 ps + 2 workers, both's steps", 2.5, workload="MonitoredMlp", jobs=TRAINING,
                    masters=[FIRST, ("worker", 1)], tolerance=1e-4)
    for name, foreign, words in (("ps", (("ps", 0),), "our workers on a ps of TensorFlow's"), ("workers", (("worker", 0), ("worker", 1)), "workers of TensorFlow's on our ps")):
        yield ClientRow(f"mixed-{name}", f"the same in a mixed cluster: {words}; beside TensorFlow's alone", 1, workload="MonitoredMlp", jobs=TRAINING,
                        masters=[FIRST, ("worker", 1)], tolerance=1e-4, foreign=foreign)
    yield SavingRow("client-saver", "tf.train.Saver writes 1 GiB of variables, beside small steps of another session", 1.5, workload="Saving", rounds=3, seconds=6,
                    compared=1)
    yield ClientRow("client-queue", "QueueRunners, RandomShuffleQueue, a batch of 128 dequeued a step", 2, workload="Shuffling")
    yield ClientRow("client-rnn", "dynamic_rnn over 50 times, batch 32, LSTM of 128: loss and gradient", 1.5, workload="Rnn", tolerance=1e-4)
    yield ClientRow("client-embedding", "embedding of 10^6 x 64 on a ps: lookup of 1 024, sparse gradient, SGD", 2, workload="Embedding", jobs={"ps": 1, "worker": 1},
                    tolerance=1e-4)
