"""A small cluster of real processes, each in a network namespace of its own around one switch, and its training client."""

import contextlib
import json
import os
import queue
import signal
import subprocess
import tempfile
import threading
import time

TASKS = {"ps": ("ps", 0), "master": ("worker", 0), "worker": ("worker", 1)}
PORT = 7100
START_LIMIT = 60  # seconds; only reached when something hangs


def task_name(role):
    job, task = TASKS[role]
    return f"/job:{job}/replica:0/task:{task}"


def ip(*arguments):
    subprocess.run(["ip", *arguments], check=True, capture_output=True)


class Lines:
    """A process whose standard output is read line by line; the end of its standard error is kept."""

    def __init__(self, namespace, *command):
        self.process = subprocess.Popen(["ip", "netns", "exec", namespace, *command], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1)
        self.lines = queue.Queue()
        self.log = []
        threading.Thread(target=self._read, daemon=True).start()
        threading.Thread(target=self._keep, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(line.rstrip("\n"))
        self.lines.put(None)

    def _keep(self):
        for line in self.process.stderr:
            self.log.append(line.rstrip("\n"))
            del self.log[:-200]

    def next(self, limit):
        """The next line; None when there is none within `limit` seconds or ever again."""
        try:
            return self.lines.get(timeout=max(limit, 0.001))
        except queue.Empty:
            return None

    def end(self):
        for which in (signal.SIGCONT, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError):
                self.process.send_signal(which)
        self.process.wait()


class Client:
    """The training client: commands go in, calls come out."""

    def __init__(self, namespace, program, config):
        self.lines = Lines(namespace, program, config)

    def send(self, command):
        self.lines.process.stdin.write(command + "\n")

    def event(self, limit):
        line = self.lines.next(limit)
        return json.loads(line) if line else None

    def calls(self, limit):
        """Ended calls until the command is done; the last item is None if `limit` seconds pass first."""
        end = time.monotonic() + limit
        while True:
            event = self.event(end - time.monotonic())
            if event is None:
                yield None
                return
            if "done" in event:
                return
            if "end" in event:
                yield event

    def do(self, command, limit):
        self.send(command)
        return list(self.calls(limit))


class Cluster:
    def __init__(self, name, troupe, client):
        self.name, self.troupe = name, troupe
        self.folder = tempfile.TemporaryDirectory(prefix="troupe-chaos-")
        self.hub = f"{name}-hub"
        self.spaces = {role: f"{name}-{role}" for role in (*TASKS, "client")}
        self.address = {role: f"10.77.0.{i + 1}" for i, role in enumerate(self.spaces)}
        self.nodes = {}
        self.made = []
        try:
            self._make_network()
            address = {role: f'"{self.address[role]}:{PORT}"' for role in TASKS}
            self.config = os.path.join(self.folder.name, "cluster.conf")
            with open(self.config, "w") as out:
                out.write(f"[cluster]\nps = [{address['ps']}]\nworker = [{address['master']}, {address['worker']}]\n"
                          "[troupe]\ninsecure = true\n")
            for role in TASKS:
                self.start(role, wait=False)
            for role in TASKS:
                self.wait_ready(role)
            self.client = Client(self.spaces["client"], client, self.config)
        except BaseException:
            self.close()
            raise

    def _make_network(self):
        for space in (self.hub, *self.spaces.values()):
            ip("netns", "add", space)
            self.made.append(space)
            ip("-n", space, "link", "set", "lo", "up")
        ip("-n", self.hub, "link", "add", "switch", "type", "bridge")
        ip("-n", self.hub, "addr", "add", "10.77.0.100/24", "dev", "switch")
        ip("-n", self.hub, "link", "set", "switch", "up")
        for role, space in self.spaces.items():
            ip("-n", self.hub, "link", "add", f"to-{role}", "type", "veth", "peer", "name", "wire", "netns", space)
            ip("-n", self.hub, "link", "set", f"to-{role}", "master", "switch", "up")
            ip("-n", space, "addr", "add", f"{self.address[role]}/24", "dev", "wire")
            ip("-n", space, "link", "set", "wire", "up")

    def start(self, role, wait=True):
        job, task = TASKS[role]
        self.nodes[role] = Lines(self.spaces[role], self.troupe, "node", f"--config-file={self.config}", f"--job={job}", f"--task={task}")
        if wait:
            self.wait_ready(role)

    def wait_ready(self, role):
        line = self.nodes[role].next(START_LIMIT)
        if not line or not line.startswith("ready at "):
            raise RuntimeError(f"{self.name}: {role} did not start: {line} {self.nodes[role].log[-5:]}")

    def signal(self, role, which):
        self.nodes[role].process.send_signal(which)

    def cut(self, role):
        """The switch forgets the wire: whatever is sent either way vanishes, and nobody is told."""
        ip("-n", self.hub, "link", "set", f"to-{role}", "nomaster")

    def heal(self, role):
        ip("-n", self.hub, "link", "set", f"to-{role}", "master", "switch")

    def slow_down(self, role, rate):
        for space, device in ((self.hub, f"to-{role}"), (self.spaces[role], "wire")):
            subprocess.run(["tc", "-n", space, "qdisc", "replace", "dev", device, "root", "tbf", "rate", rate,
                            "burst", "16k", "latency", "4s"], check=True, capture_output=True)

    def speed_up(self, role):
        for space, device in ((self.hub, f"to-{role}"), (self.spaces[role], "wire")):
            subprocess.run(["tc", "-n", space, "qdisc", "del", "dev", device, "root"], check=True, capture_output=True)

    def status(self, role):
        """What `troupe status --json` says of a task; None if it does not answer."""
        done = subprocess.run(["ip", "netns", "exec", self.hub, self.troupe, "status", "--json", "--timeout=5s",
                               f"{self.address[role]}:{PORT}"], capture_output=True, text=True)
        return json.loads(done.stdout) if done.returncode == 0 else None

    def close(self):
        for process in (*self.nodes.values(), *([self.client.lines] if hasattr(self, "client") else [])):
            process.end()
        for space in self.made:
            subprocess.run(["ip", "netns", "del", space], capture_output=True)
        self.folder.cleanup()
