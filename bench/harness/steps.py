"""Rows that time steps of a graph on both sides, in turn."""

from dataclasses import dataclass, field, replace

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
    shares: bool = False  # the session of the row's first step, which is the same
    master: tuple = None
    compared: list = None  # fetched in place of `fetches`, by a client of its own that runs no `ops`, where those say too little or too much


@dataclass
class Row:
    name: str
    what: str
    aim: float = None  # theirs : ours, at least
    aim_share: float = None  # of the machine's limit, at least
    aim_value: float = None  # ours at most, in the row's unit
    tolerance: float = 1e-5  # how far fetched values may be from the other side's, as a part of the largest


@dataclass
class Variant:
    """Settings under which a side is tried; of several the best one counts."""
    name: str = "default"
    config: str = "default"
    run_options: bytes = b""


DEFAULT = [Variant()]
PLAIN = [Variant("rewriting off", "plain")]
CALLERS_THREAD = graph_def.run_options(True)
# TensorFlow in one process: its default, and what it has against handing a step from thread to thread.
LOCAL = [*DEFAULT, Variant("caller's thread", "default", CALLERS_THREAD), Variant("caller's thread, 1 thread", "1 thread", CALLERS_THREAD)]
LOCAL_PLAIN = [*PLAIN, Variant("rewriting off, 1 thread", "plain, 1 thread"), Variant("rewriting off, caller's thread", "plain", CALLERS_THREAD),
               Variant("rewriting off, caller's thread, 1 thread", "plain, 1 thread", CALLERS_THREAD)]
HOPELESS = 3  # a variant of the settings that takes so many times as long as the best one is not tried again


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
    compared: int = 3  # steps whose fetched values are compared with the other side's
    limit: tuple = None  # (name, command …)
    our_environment: dict = None
    is_short: bool = True  # short steps are warmed up before each measurement; of long ones the first steps do that

    def measure(self, bench):
        result = Result("µs")
        ready = []
        for side in bench.sides:
            side.restart(self.our_environment if side is bench.ours else None)
            try:
                ready.append((side, self.open(side, result)))
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
        if result.quickest:
            name, yardstick = (self.limit[0], min(result.limit.values())) if self.limit else ("multiply-adds of a core", bench.core_micros())
            result.quickest = {"micros": result.quickest, "yardstick": yardstick, "is": name}
        return result

    def open(self, side, result):
        variants = (self.ours if side.name == "troupe" else self.theirs) or DEFAULT
        out = []
        for variant in variants:
            clients = [f"{variant.name}/{i}" for i in range(len(self.steps))]
            for i, step in enumerate(self.steps):
                if step.shares:
                    side.open_again(clients[i], clients[0])
                    continue
                side.open(clients[i], step, variant.config, variant.run_options)
            # Before another variant's clients begin anew with variables that tasks share.
            result.fetched.add(side, variant.name, [self.values(side, client, step, variant) for client, step in zip(clients, self.steps)])
            out.append((variant.name, clients))
        return out

    def values(self, side, client, step, variant):
        if not step.compared:
            return side.values(client, self.compared)
        side.open("compared", replace(step, fetches=step.compared, ops=[]), variant.config, variant.run_options)
        try:
            return side.values("compared", 1)
        finally:
            side.close_client("compared")

    def once(self, bench, side, variants, result):
        values = {}
        for name, clients in variants:
            seconds = bench.seconds(self.seconds) / len(variants)
            if self.is_short:
                side.measure(seconds / 4, clients)
            series = side.measure(seconds, clients)
            values[name] = series[0]["median"] if len(clients) == 1 else max(s["wall"] for s in series) / sum(s["steps"] for s in series)
            if side is bench.ours and len(clients) == 1:
                result.quickest = min(series[0]["min"], result.quickest or series[0]["min"])
        best = min(values, key=values.get)
        if len(variants) > 1:
            result.detail[f"{side.name}'s best"] = best
        variants[:] = [variant for variant in variants if values[variant[0]] <= HOPELESS * values[best]]
        return values[best]


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
                    result.fetched.add(side, self.variant.name, [side.values("first", 1)])
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
                result.fetched.add(side, "plain", [side.values("memory", 1)])
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
                result.fetched.add(side, "plain", [side.values("large", 1)])
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
