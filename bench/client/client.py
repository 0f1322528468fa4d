"""TensorFlow's own client, unmodified, as a program that the harness drives: a command a line, each answered with a line of JSON.

    open NAME WORKLOAD TARGET JSON     builds a workload's graph and opens its session at TARGET; JSON: its cluster, its task and its settings
    values NAME STEPS                  what so many steps fetch
    measure NAME SECONDS MOST          steps for so long, and no more of them: times in µs
    close NAME
"""

import json
import os
import statistics
import sys
import time

# Answers go to what standard output was; whatever else prints goes to standard error.
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)

from workloads import WORKLOADS  # noqa: E402


def measured(step, seconds, most):
    """At least one step. `cpu`: the processor time of this whole process, a step."""
    times = []
    cpu, begun = time.process_time(), time.perf_counter()
    now = begun
    while not times or (now - begun < seconds and len(times) < most):
        before = now
        step()
        now = time.perf_counter()
        times.append(now - before)
    cpu = time.process_time() - cpu
    times.sort()
    micros = {"median": statistics.median(times), "min": times[0], "max": times[-1], "p99": times[int(0.99 * (len(times) - 1))], "wall": now - begun,
              "cpu": cpu / len(times)}
    return {"steps": len(times), **{name: value * 1e6 for name, value in micros.items()}}


class Client:
    def __init__(self):
        self.workloads = {}

    def open(self, name, workload, target, about):
        self.workloads[name] = WORKLOADS[workload](target, **json.loads(about))
        return {}

    def values(self, name, steps):
        return {"runs": self.workloads[name].values(int(steps))}

    def measure(self, name, seconds, most):
        return measured(self.workloads[name].step, float(seconds), int(most))

    def close(self, name):
        self.workloads.pop(name).close()
        return {}


def main():
    client = Client()
    for line in sys.stdin:
        command, *fields = line.rstrip("\n").split("\t")
        try:
            answer = getattr(client, command)(*fields)
        except Exception as error:  # whatever it is, the row tells it
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
    os._exit(0)  # threads of sessions whose servers are gone would be waited for
