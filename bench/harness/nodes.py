"""Rows about a node as a process, and about many simulated ones."""

import json
import os
import shutil
import statistics
import subprocess
import time
from dataclasses import dataclass

from figures import Result, slope
from processes import BenchError, LineServer
from steps import Row, Step

ONE = {"worker": 1}


@dataclass
class NodeRow(Row):
    """One task of a cluster of one: started, ready, at rest; or its files."""
    key: str = ""

    def measure(self, bench):
        result = Result({"resident": "MiB", "disk": "MiB", "ready": "s"}[self.key])
        for side in bench.sides:
            try:
                if self.key == "disk":
                    result.add(side, self.on_disk(bench, side, result))
                else:
                    for number in range(bench.rounds(5 if side.name == "troupe" else 2)):
                        result.add(side, self.started(side), number)
            except BenchError as error:
                result.add_error(side, error)
        return result

    def started(self, side):
        cluster = side.new_cluster(ONE)
        try:
            return cluster.seconds["worker", 0] if self.key == "ready" else cluster.tasks["worker", 0].status("VmRSS") / 2**20
        finally:
            cluster.close()

    @staticmethod
    def on_disk(bench, side, result):
        if side.name != "troupe":
            total = sum(os.lstat(os.path.join(folder, name)).st_size for folder, _, names in os.walk(side.package) for name in names)
            result.detail["TensorFlow"] = "the Python package tensorflow alone, without those it needs and without Python"
            return total / 2**20
        stripped = os.path.join(bench.folder, "troupe_stripped")
        shutil.copy(bench.troupe, stripped)
        subprocess.run(["strip", stripped], check=True)
        own = os.path.getsize(stripped)
        loaded = subprocess.run(["ldd", bench.troupe], capture_output=True, text=True, check=True).stdout
        paths = [line.split("=>")[1].split()[0] for line in loaded.splitlines() if "=>" in line and "/" in line]
        libraries = {os.path.basename(path): os.path.getsize(os.path.realpath(path)) for path in paths}
        result.detail["troupe"] = {"executable, stripped, MiB": round(own / 2**20, 1), "all shared libraries that it loads, MiB":
                                   round(sum(libraries.values()) / 2**20, 1), "largest library": max(libraries, key=libraries.get)}
        os.remove(stripped)
        return (own + sum(libraries.values())) / 2**20


@dataclass
class TasksRow(Row):
    """Messages and processor time of a null step on every task of a cluster, in one process under virtual time; only our side can do this.
    Events and time grow with a power of the number of tasks: the slope of a line through their logarithms. 1 is linear; a little more is allowed to the
    time, since the memory of many tasks is not in the caches. The clusters take turns, so that what others do on the machine meets all of them."""
    most_events: float = 1.01
    most_time: float = 1.1
    aim_text: str = "slope ≤ 1.1"

    def measure(self, bench):
        result = Result("µs")
        sizes = [50, 100] if bench.quick else [50, 100, 200, 500, 1000]
        answers = {size: [] for size in sizes}
        servers = {}
        try:
            for size in sizes:
                servers[size] = LineServer([os.path.join(bench.build, "bench", "bench_tasks"), str(size)])
                servers[size].ask("step", 3, separator=" ")
            for _ in range(bench.rounds(9)):
                for size in sizes:
                    answers[size].append(servers[size].ask("step", 5, separator=" "))
        except BenchError as error:
            result.our_error = f"{size} tasks: {error}"
            return result
        finally:
            for server in servers.values():
                server.close()
        median = {size: statistics.median(answer["median"] for answer in answers[size]) for size in sizes}
        table = {size: {"events": answers[size][-1]["events"], "a task": round(answers[size][-1]["events"] / size, 2),
                        "handlers, µs": round(median[size]), "µs a task": round(median[size] / size, 1),
                        "resident, MiB": round(answers[size][-1]["resident"])} for size in sizes}
        slopes = sorted(slope(sizes, [answers[size][number]["median"] for size in sizes]) for number in range(len(answers[sizes[0]])))
        events = slope(sizes, [answers[size][-1]["events"] for size in sizes])
        result.ours = {number: answer["median"] for number, answer in enumerate(answers[sizes[-1]])}
        result.detail["tasks"] = table
        result.detail["slope"] = {"of the time": f"{statistics.median(slopes):.3f} ({slopes[0]:.3f} – {slopes[-1]:.3f})", "of the events": f"{events:.3f}"}
        result.verdict = events <= self.most_events and statistics.median(slopes) <= self.most_time
        return result


@dataclass
class SessionsRow(Row):
    """What open sessions cost that do nothing: one, and several, which are to cost no more than `most` times as much."""
    step: Step = None
    several: int = 8
    most: float = 1.0
    aim_text: str = ""
    unit: str = ""

    def cost(self, bench, side):
        raise NotImplementedError

    def measure(self, bench):
        result = Result(self.unit)
        costs = {}
        for side in bench.sides:
            side.restart()
            try:
                for count in range(1, self.several + 1):
                    side.open(f"client {count}", self.step, init=False)
                    if count in (1, self.several):
                        costs[side.name, count] = self.cost(bench, side)
            except BenchError as error:
                result.add_error(side, error)
                continue
            result.add(side, costs[side.name, self.several])
            result.detail[side.name] = {f"{count} sessions" if count > 1 else "1 session": round(costs[side.name, count], 1) for count in (1, self.several)}
        if result.ours:
            result.verdict = costs["troupe", self.several] <= self.most * costs["troupe", 1]
        return result


@dataclass
class IdleRow(SessionsRow):
    """Processor time of a node in a minute. Twice one session's is allowed, since both are a few milliseconds of a machine that others use."""
    most: float = 2.0
    aim_text: str = "≤ 2 × with one session"
    unit: str = "ms"

    def cost(self, bench, side):
        task = side.cluster(self.step.jobs).tasks[self.step.master]
        seconds = bench.seconds(15)
        time.sleep(1)  # what opening has left to do is no part of it
        before = task.processor_seconds()
        time.sleep(seconds)
        return (task.processor_seconds() - before) * 60e3 / seconds


@dataclass
class ThreadsRow(SessionsRow):
    """Threads of a process that has local sessions."""
    aim_text: str = "as with one session"
    unit: str = "threads"

    def cost(self, bench, side):
        with open(f"/proc/{side.server.process.pid}/status") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("Threads:"))


@dataclass
class AddressRow(Row):
    """Address space of a task that has sent and received, by the machine's memory: 1 is as much as it has."""
    steps: list = None
    task: tuple = ("ps", 0)
    unit: str = "of the memory"

    def measure(self, bench):
        result = Result(self.unit)
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        for side in bench.sides:
            side.restart()
            try:
                clients = []
                for step in self.steps:
                    clients.append(f"client {len(clients)}")
                    side.open(clients[-1], step)
                side.measure(bench.seconds(1), clients)
                result.add(side, side.cluster(self.steps[0].jobs).tasks[self.task].status("VmSize") / memory)
            except BenchError as error:
                result.add_error(side, error)
        return result


@dataclass
class InFlightRow(Row):
    """Steps of a local session that are all begun before the first is waited for, by `run_async`; TensorFlow's C API has nothing like it. The time
    of all grows with a power of their number: 1 is flat for each, and a little more is allowed to caches that no longer hold what the steps need."""
    most: float = 1.1
    aim_text: str = "slope ≤ 1.1"

    def measure(self, bench):
        result = Result("µs")
        sizes = [100, 1000, 16000]
        command = [os.path.join(bench.build, "bench", "bench_session"), "--benchmark_filter=^run_async/(100|1000|16000)/", "--benchmark_format=json",
                   f"--benchmark_min_time={0.1 if bench.quick else 0.5}"]
        if not os.path.exists(command[0]):
            result.our_error = f"{command[0]} is not there: it needs Google Benchmark (libbenchmark-dev)"
            return result
        rounds = []
        for _ in range(bench.rounds(5)):
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode != 0:
                result.our_error = f"{command[0]} ended with {done.returncode}: {done.stderr.strip()[-200:]}"
                return result
            rounds.append([case["real_time"] / 1e3 for case in json.loads(done.stdout)["benchmarks"]])  # of all steps
        slopes = sorted(slope(sizes, times) for times in rounds)
        result.ours = {number: times[-1] / sizes[-1] for number, times in enumerate(rounds)}
        result.detail["µs a step"] = {size: round(statistics.median(times[place] for times in rounds) / size, 2) for place, size in enumerate(sizes)}
        result.detail["slope"] = f"{statistics.median(slopes):.3f} ({slopes[0]:.3f} – {slopes[-1]:.3f})"
        result.verdict = statistics.median(slopes) <= self.most
        return result
