"""Rows about a node as a process, and about many simulated ones."""

import os
import shutil
import subprocess
from dataclasses import dataclass

from figures import Result
from processes import BenchError, LineServer
from steps import Row

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
    Linear: as many events for each task of the largest cluster as of the smallest, and at most twice their time (their memory is not in the cache
    any more)."""
    aim_text: str = "linear"

    def measure(self, bench):
        result = Result("µs")
        table = {}
        for size in [50, 100] if bench.quick else [50, 100, 200, 500, 1000]:
            server = LineServer([os.path.join(bench.build, "bench", "bench_tasks"), str(size)])
            try:
                answer = server.ask("step", 3 if bench.quick else 21, separator=" ")
            except BenchError as error:
                result.our_error = f"{size} tasks: {error}"
                break
            finally:
                server.close()
            table[size] = {"events": answer["events"], "a task": round(answer["events"] / size, 2), "handlers, µs": round(answer["median"]),
                           "µs a task": round(answer["median"] / size, 1), "resident, MiB": round(answer["resident"])}
            result.ours = {0: answer["median"]}
        result.detail["tasks"] = table
        if table:
            first, last = table[min(table)], table[max(table)]
            result.verdict = last["a task"] <= 1.02 * first["a task"] and last["µs a task"] <= 2 * first["µs a task"]
        return result
