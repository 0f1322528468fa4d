"""What the process tests share: running `troupe`, reading its lines with a deadline, free ports, config files."""

import os
import queue
import select
import signal
import socket
import subprocess
import tempfile
import threading
import unittest

TROUPE = os.environ.get("TROUPE", "troupe")
DEADLINE = 60  # seconds; only reached when something hangs


def endless_graph(device=""):
    """A loop that never ends by itself; `end` is what a step waits for."""
    nodes = """zero = Const[dtype=DT_INT32, value=i32[] 0]()
yes = Const[dtype=DT_BOOL, value=bool[] true]()
in = Enter[frame_name="w"](zero)
yes_in = Enter[frame_name="w", is_constant=true](yes)
i = Merge(in, next)
cond = LoopCond(yes_in)
switch = Switch(i, cond)
body = Identity(switch:1)
next = NextIteration(body)
end = Exit(switch:0)
"""
    return nodes.replace("\n", f' @"{device}"\n') if device else nodes


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


def run(*arguments, shell=None, text=""):
    """Runs to the end with `text` as standard input; gives (exit code, standard output, standard error). In `shell`, if given, "$@"
    stands for the command."""
    begin = ["sh", "-c", shell, "sh"] if shell else []
    done = subprocess.run([*begin, TROUPE, *arguments], input=text, capture_output=True, text=True, timeout=DEADLINE)
    return done.returncode, done.stdout, done.stderr


def children_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return [int(child) for child in file.read().split()]


class Process:
    """A running `troupe`, its lines readable as they come."""

    def __init__(self, *arguments, shell=None):
        begin = ["sh", "-c", shell, "sh"] if shell else []
        self.process = subprocess.Popen(
            [*begin, TROUPE, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
        self.lines = {"out": queue.Queue(), "err": queue.Queue()}
        self.seen = {"out": [], "err": []}
        for name, stream in (("out", self.process.stdout), ("err", self.process.stderr)):
            threading.Thread(target=self._read, args=(name, stream), daemon=True).start()

    def _read(self, name, stream):
        for line in stream:
            self.lines[name].put(line.rstrip("\n"))
        self.lines[name].put(None)

    @property
    def pid(self):
        return self.process.pid

    def wait_for(self, text, stream="out"):
        """The next line that holds `text`."""
        while True:
            try:
                line = self.lines[stream].get(timeout=DEADLINE)
            except queue.Empty:
                raise AssertionError(f"no line with {text!r} within {DEADLINE} s, but {self.seen}") from None
            if line is None:
                rest = list(self.lines["err"].queue)
                raise AssertionError(f"ended without a line with {text!r}, but {self.seen} {rest}")
            self.seen[stream].append(line)
            if text in line:
                return line

    def send(self, which):
        self.process.send_signal(which)

    def end(self):
        """Waits for the end; gives the exit code."""
        return self.process.wait(timeout=DEADLINE)

    def rest(self, stream):
        """Every line that has not been waited for; blocks until the stream ends."""
        out = []
        while (line := self.lines[stream].get(timeout=DEADLINE)) is not None:
            out.append(line)
        return out

    def close(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(timeout=DEADLINE)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()


class Case(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="troupe-e2e-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def file(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w") as out:
            out.write(text)
        return path

    def cluster(self, workers=1, settings=""):
        """A config with one ps and some workers on free ports; gives its path and the ports."""
        ports = free_ports(workers + 1)
        addresses = [f'"127.0.0.1:{port}"' for port in ports]
        text = f"[cluster]\nps = [{addresses[0]}]\nworker = [{', '.join(addresses[1:])}]\n[troupe]\ncompute-threads = 1\n{settings}\n"
        return self.file("cluster.conf", text), ports

    def start(self, *arguments, shell=None):
        """In `shell`, if given, "$@" stands for the command, which should take the shell's place: exec "$@"."""
        process = Process(*arguments, shell=shell)
        self.addCleanup(process.close)
        return process

    def watch(self, pid):
        """Something that `assert_gone` can wait for, even when the process is no child of ours."""
        handle = os.pidfd_open(pid)
        self.addCleanup(os.close, handle)
        return handle

    def assert_gone(self, handle):
        ready, _, _ = select.select([handle], [], [], DEADLINE)
        self.assertTrue(ready, "the process still runs")
