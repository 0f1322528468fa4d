"""Rows that time steps of a graph on both sides, in turn."""

from dataclasses import dataclass, field

import graph_def
from figures import Result
from processes import BenchError


@dataclass
class Step:
    """One step of one graph: the same bytes, feeds and fetches on both sides."""
    graph: object
    feeds: list = field(default_factory=list)
    fetches: list = field(default_factory=list)
    ops: list = field(default_factory=list)
    inits: list = field(default_factory=list)
    jobs: dict = None  # None: in the client's process
    master: tuple = None


@dataclass
class Row:
    name: str
    what: str
    aim: float = None  # theirs : ours, at least
    aim_share: float = None  # of the machine's limit, at least
    aim_value: float = None  # ours at most, in the row's unit


@dataclass
class Variant:
    """Settings under which a side is tried; of several the best one counts."""
    name: str = "default"
    config: str = "default"
    run_options: bytes = b""


DEFAULT = [Variant()]
PLAIN = [Variant("rewriting off", "plain")]
PLAIN_ANY_THREADS = [*PLAIN, Variant("rewriting off, 1 thread", "plain, 1 thread")]
CALLERS_THREAD = [Variant("caller's thread", "default", graph_def.run_options(True))]


def in_turn(sides, number):
    """The first place in a round alternates."""
    return list(sides) if number % 2 == 0 else list(reversed(sides))


def require_sent(series, size):
    """A tensor that nobody reads may be optimised away, and its step is then quick."""
    if series["steps"] and series["median"] < size / 100e3:  # no memory takes 100 GB/s
        raise BenchError(f"a step took {series['median']:.0f} µs: its {size >> 20} MiB were not sent")


@dataclass
class StepRow(Row):
    """The median time of a step, or, with several clients at once, wall time through all their steps."""
    steps: list = None
    ours: list = None  # variants
    theirs: list = None
    seconds: float = 1.2  # of one round on one side
    rounds: int = 5
    limit: tuple = None  # (name, command …)
    is_short: bool = True  # short steps are warmed up before each measurement; of long ones the first steps do that

    def measure(self, bench):
        result = Result("µs")
        ready = []
        for side in bench.sides:
            side.restart()
            try:
                ready.append((side, self.open(side)))
            except BenchError as error:
                result.add_error(side, error)
        for number in range(bench.rounds(self.rounds)):
            for side, variants in in_turn(ready, number):
                try:
                    result.add(side, self.once(bench, side, variants, result), number)
                except BenchError as error:
                    result.add_error(side, error)
                    ready = [r for r in ready if r[0] is not side]
            # Not before both sides have been through a round: or one would be warmed up and the other not.
            self.is_short = max([*result.ours.values(), *result.theirs.values()], default=0) < 1e5
            if self.limit:
                result.limit_name = self.limit[0]
                result.limit[number] = bench.limit(*self.limit[1:])
        return result

    def open(self, side):
        variants = (self.ours if side.name == "troupe" else self.theirs) or DEFAULT
        out = []
        for variant in variants:
            clients = [f"{variant.name}/{i}" for i in range(len(self.steps))]
            for i, step in enumerate(self.steps):
                side.open(clients[i], step, variant.config, variant.run_options)
            out.append((variant.name, clients))
        return out

    def once(self, bench, side, variants, result):
        best = None
        for name, clients in variants:
            seconds = bench.seconds(self.seconds) / len(variants)
            if self.is_short:
                side.measure(seconds / 4, clients)
            series = side.measure(seconds, clients)
            value = series[0]["median"] if len(clients) == 1 else max(s["wall"] for s in series) / sum(s["steps"] for s in series)
            if best is None or value < best:
                best = value
                if len(variants) > 1:
                    result.detail[f"{side.name}'s best"] = name
        return best


@dataclass
class FirstStepRow(Row):
    """From the GraphDef's bytes in memory to the end of the first step: session, import, optimisation, step."""
    step: Step = None
    variant: Variant = None
    rounds: int = 2

    def measure(self, bench):
        result = Result("µs")
        failed = set()
        for number in range(bench.rounds(self.rounds)):
            for side in in_turn(bench.sides, number):
                if side in failed:
                    continue
                side.restart()
                try:
                    result.add(side, side.open("first", self.step, self.variant.config)["first"], number)
                except BenchError as error:
                    result.add_error(side, error)
                    failed.add(side)
        return result


@dataclass
class MemoryRow(Row):
    """The most memory that either end of a transfer has held, in clusters of their own; shared memory counts as the receiver's, mapped or not."""
    step: Step = None
    size: int = 0
    ends: tuple = ()  # the receiver last
    passes: int = 4

    def measure(self, bench):
        result = Result("MiB")
        for side in bench.sides:
            side.restart()
            cluster = side.new_cluster(self.step.jobs)
            side.clusters, others = {tuple(sorted(self.step.jobs.items())): cluster}, side.clusters
            try:
                side.open("memory", self.step, "plain")
                require_sent(side.measure(60, ["memory"], steps=self.passes)[0], self.size)
                tasks = {f"{job}:{index}": cluster.tasks[job, index] for job, index in self.ends}
                peaks = {name: task.status("VmHWM") / 2**20 for name, task in tasks.items()}
                receiver = list(tasks)[-1]
                peaks[receiver] += max(0, tasks[receiver].shared_files() - tasks[receiver].status("RssShmem")) / 2**20
                result.detail[f"{side.name}, MiB"] = {name: round(peak) for name, peak in peaks.items()}
                result.add(side, max(peaks.values()))
            except BenchError as error:
                result.add_error(side, error)
            finally:
                side.clusters = others
                cluster.close()
        return result


@dataclass
class DelayRow(Row):
    """The longest that a small step took while large tensors went the same way."""
    small: Step = None
    large: Step = None
    size: int = 0  # of the large tensors
    seconds: float = 5
    rounds: int = 3

    def measure(self, bench):
        result = Result("µs")
        for side in bench.sides:
            side.restart()
            try:
                side.open("large", self.large, "plain")
                side.open("small", self.small, "plain")
            except BenchError as error:
                result.add_error(side, error)
                return result
        for number in range(bench.rounds(self.rounds)):
            for side in in_turn(bench.sides, number):
                try:
                    small, large = side.measure(bench.seconds(self.seconds), ["small"], beside=["large"])
                    require_sent(large, self.size)
                except BenchError as error:
                    result.add_error(side, error)
                    return result
                result.add(side, small["max"], number)
                result.detail[side.name] = {"median µs": round(small["median"]), "99 % below, µs": round(small["p99"]), "small steps": small["steps"],
                                            "large steps": large["steps"]}
        return result
