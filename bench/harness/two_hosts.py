"""Rows over a wire: two hosts, made of network namespaces, with a link of a known rate and delay between them. They need root,
`ip` and /dev/net/tun; where those are missing, the rows say so and are skipped.

The parameter server has the first host, workers and clients the second. Nothing is shared but the link, not even the kernel's names of
local sockets, so tensors take the stream. What both sides are held to is raw TCP over the same link in the same round: a byte that
asks, then the bytes, read to the end. Quicker than that nobody is: a round in which the receiver did not wait for its bytes measured
something else, and ends the row."""

import functools
import json
import os
import random
import subprocess
import time
from dataclasses import dataclass

import synthetic
from figures import Result
from processes import BenchError, Cluster, LineServer, Task, TensorFlowCluster, TroupeCluster
from sides import Ours, Theirs
from steps import PLAIN, Step, StepRow

HOSTS = {"ps": 0, "worker": 1}
PS, W0 = "/job:ps/task:0", "/job:worker/task:0"
FIRST = ("worker", 0)


def run(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True)


class Link:
    """Two namespaces and the wire between them: `rate` bits a second each way (0: as fast as this machine), `delay_us` one way. Without both
    the wire is the kernel's own (veth); else `program`, bench_link, carries the packets, which needs nothing but a kernel with tun."""

    def __init__(self, program, rate, delay_us):
        name = f"bench{os.getpid()}-{random.getrandbits(16):x}"
        self.spaces = [f"{name}-{end}" for end in "ab"]
        self.hosts = ["10.78.0.1", "10.78.0.2"]
        self.made, self.carrier = [], None
        try:
            for space in self.spaces:
                run("ip", "netns", "add", space)
                self.made.append(space)
                run("ip", "-n", space, "link", "set", "lo", "up")
            if rate or delay_us:
                self.carrier = Task([program, *self.spaces, str(rate), str(delay_us)], "ready", os.devnull)
                self.carrier.wait_ready()
            else:
                run("ip", "-n", self.spaces[0], "link", "add", "wire", "type", "veth", "peer", "name", "wire", "netns", self.spaces[1])
            for space, host in zip(self.spaces, self.hosts):
                run("ip", "-n", space, "addr", "add", f"{host}/24", "dev", "wire")
                run("ip", "-n", space, "link", "set", "wire", "up")
            for space in self.spaces:
                self.wait_until_up(space)
        except BaseException:
            self.close()
            raise

    @staticmethod
    def wait_until_up(space):
        """The kernel says so up to a second later. A wire of bench_link's has no such state."""
        end = time.monotonic() + 5
        while json.loads(run("ip", "-n", space, "-j", "link", "show", "wire").stdout)[0]["operstate"] not in ("UP", "UNKNOWN") and time.monotonic() < end:
            time.sleep(0.05)

    def command(self, host, words):
        return ["ip", "netns", "exec", self.spaces[host], *words]

    def close(self):
        if self.carrier:
            self.carrier.close()
        for space in self.made:
            subprocess.run(["ip", "netns", "del", space], capture_output=True)


@functools.lru_cache(maxsize=1)
def refusal(program):
    """Why there can be no second host here; None if there can."""
    try:
        Link(program, 1_000_000_000, 200).close()
    except FileNotFoundError as error:
        return f"there is no {error.filename} here"
    except subprocess.CalledProcessError as error:
        return f"`{' '.join(error.cmd)}`: {(error.stderr or '').strip()}"
    except BenchError:
        return "there is no wire to be had: that needs root and /dev/net/tun"
    return None


class Placed(Cluster):
    """A cluster whose jobs have hosts."""

    def address(self, name, port):
        return f"{self.link.hosts[HOSTS[name[0]]]}:{self.first_port + name[1]}"

    def place(self, name, command):
        return self.link.command(HOSTS[name[0]], command)


class PlacedTroupe(Placed, TroupeCluster):
    first_port = 7300

    def __init__(self, link, *more):
        self.link = link
        super().__init__(*more)


class PlacedTensorFlow(Placed, TensorFlowCluster):
    first_port = 7400  # beside ours, in the same namespaces

    def __init__(self, link, *more):
        self.link = link
        super().__init__(*more)


class OursThere(Ours):
    def __init__(self, side, link, settings):
        super().__init__(side.bench)
        self.link, self.settings = link, settings

    def command(self):
        return self.link.command(HOSTS["worker"], [self.program()])

    def new_cluster(self, jobs):
        # No one's address here is loopback, and all of them are this machine's own.
        return PlacedTroupe(self.link, jobs, self.bench.folder, self.bench.troupe, "insecure = true\n" + self.settings)


class TheirsThere(Theirs):
    def __init__(self, side, link, _):
        self.bench, self.name, self.venv, self.binary = side.bench, side.name, side.venv, side.binary
        self.clusters, self.server, self.link = {}, None, link

    def command(self):
        return self.link.command(HOSTS["worker"], [self.program()])

    def new_cluster(self, jobs):
        return PlacedTensorFlow(self.link, jobs, self.bench.folder, self.venv)


class There:
    """What a StepRow's measurement is given, with the sides on the link's hosts and raw TCP over it as the limit."""

    def __init__(self, bench, link, settings):
        self.bench, self.link = bench, link
        self.sides = [(OursThere if side.name == "troupe" else TheirsThere)(side, link, settings) for side in bench.sides]
        self.ours = self.sides[0]
        self.rounds, self.seconds, self.core_micros = bench.rounds, bench.seconds, bench.core_micros
        self.ends = []

    def limit(self, size):
        if not self.ends:
            program = os.path.join(self.bench.build, "bench", "bench_limits")
            self.ends = [LineServer(self.link.command(end, [program])) for end in range(2)]
            self.ends[0].ask("listen", self.link.hosts[0])
        return self.ends[1].ask("from", self.link.hosts[0], size)["micros"]

    def close(self):
        for side in self.sides:
            side.close()
        for end in self.ends:
            end.close()


@dataclass
class LinkRow(StepRow):
    """A StepRow over a link."""
    rate: int = 0
    delay_us: int = 0
    size: int = 0  # that crosses the link in a step, of a transfer
    settings: str = ""  # more of our config file

    def measure(self, bench):
        program = os.path.join(bench.build, "bench", "bench_link")
        why = refusal(program)
        if why:
            result = Result("µs")
            result.skipped = f"there are no network namespaces: {why}"
            return result
        link = Link(program, self.rate, self.delay_us)
        there = None
        try:
            there = There(bench, link, self.settings)
            if self.size:
                self.limit = ("raw TCP over the link and a sum", self.size)
            result = super().measure(there)
            if self.size and self.rate:
                seconds = sorted(result.ours.values())[len(result.ours) // 2] / 1e6 if result.ours else 0
                if seconds:
                    result.detail["share of the link's rate"] = round(self.size * 8 / self.rate / seconds, 3)
            result.detail["path"] = self.settings.strip() or "stream, troupe's preset between hosts"
            slower = [n for n, ours in result.ours.items() if result.limit.get(n, 0) > ours]
            for n in slower:
                del result.limit[n]
            if slower:
                result.detail["rounds in which raw TCP was slower, which do not count"] = len(slower)
            return result
        finally:
            if there:
                there.close()
            link.close()


def link_transfer(name, what, size, rate, delay_us, aim, share, **more):
    step = Step((f"transfer_read_{size}", synthetic.transfer_read, size // 4, PS, W0), fetches=["sum"], inits=["init"], jobs={"ps": 1, "worker": 1}, master=FIRST)
    return LinkRow(name, what, aim, share, steps=[step], ours=PLAIN, theirs=PLAIN, size=size, rate=rate, delay_us=delay_us, **more)


KINDS = {"1ms": ("1 ms each way", 0, 1000), "near": ("no delay", 0, 0), "1g": ("1 Gbit/s, 0.2 ms", 10**9, 200), "10g": ("10 Gbit/s, 0.2 ms", 10**10, 200)}


def two_host_rows():
    for mib, name in ((0.25, "256KiB"), (1, "1MiB"), (4, "4MiB"), (16, "16MiB"), (64, "64MiB")):
        for kind, share in (("1ms", 0.9), ("near", None)):
            what, rate, delay = KINDS[kind]
            yield link_transfer(f"link-{kind}-{name}", f"tensor ps → worker on another host ({what}), {name.replace('MiB', ' MiB').replace('KiB', ' KiB')}, by stream", int(mib * 2**20), rate, delay,
                                1.3 if kind == "1ms" else 2 if mib == 16 else None, share)
    for kind, size, name in (("1g", 16 << 20, "16MiB"), ("10g", 16 << 20, "16MiB"), ("10g", 256 << 20, "256MiB")):
        what, rate, delay = KINDS[kind]
        yield link_transfer(f"link-{kind}-{name}", f"tensor ps → worker on another host ({what}), {name.replace('MiB', ' MiB').replace('KiB', ' KiB')}, by stream", size, rate, delay, None, 0.95,
                            rounds=3, seconds=2)
    for mib in (16, 256):
        yield link_transfer(f"link-near-{mib}MiB-ucx", f"tensor ps → worker on another host (no delay), {mib} MiB, by UCX over TCP", mib << 20, 0, 0, None, None,
                            settings='tensor-path = "ucx"\n', rounds=3, seconds=2)
    for kind in ("1g", "10g"):
        what, rate, delay = KINDS[kind]
        for model in ("mlp", "cnn"):
            def step(where, **more):
                return Step(f"{model}_sgd{where}", feeds=["x:float:128,784", "labels:int64:128"], fetches=["loss"], ops=["train"], **more)
            for workers in (1, 2):
                jobs = {"ps": 1, "worker": workers}
                steps = [step("_worker0", inits=["init"], jobs=jobs, master=FIRST)]
                if workers == 2:
                    steps.append(step("_worker1", jobs=jobs, master=("worker", 1)))
                title = f"{model.upper()} training step, batch 128, SGD, 1 ps + {workers} worker{'s' * (workers > 1)} on another host ({what}), by stream"
                yield LinkRow(f"link-{kind}-{model}-{workers}-worker{'s' * (workers > 1)}", title, 1.4, steps=steps, rate=rate, delay_us=delay, rounds=3, seconds=3)
