"""A small cluster of real processes with wires between them that can be broken, and its training client."""

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
START_LIMIT = 60  # seconds; only reached when something hangs


def task_name(role):
    job, task = TASKS[role]
    return f"/job:{job}/replica:0/task:{task}"


class Lines:
    """A process whose standard output is read line by line; the end of its standard error is kept."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        text=True, bufsize=1)
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

    def __init__(self, command):
        self.lines = Lines(command)

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
    """A ps and two workers with shipping defaults. `network` is a class of network.py."""

    def __init__(self, name, network, troupe, client):
        self.name, self.troupe = name, troupe
        self.folder = tempfile.TemporaryDirectory(prefix="troupe-chaos-")
        self.nodes = {}
        self.client = None
        self.network = network(name, (*TASKS, "client"))
        try:
            for role in TASKS:
                self.start(role, wait=False)
            for role in TASKS:
                self.wait_ready(role)
            self.client = Client(self.network.command("client", client, self._config("client")))
        except BaseException:
            self.close()
            raise

    def _config(self, seen_by):
        """The cluster with the addresses under which `seen_by` reaches the others."""
        address = {role: f'"{self.network.address(role, seen_by)}"' for role in TASKS}
        path = os.path.join(self.folder.name, f"{seen_by}.conf")
        with open(path, "w") as out:
            out.write(f"[cluster]\nps = [{address['ps']}]\nworker = [{address['master']}, {address['worker']}]\n"
                      "[troupe]\ninsecure = true\n")
        return path

    def start(self, role, wait=True):
        job, task = TASKS[role]
        self.nodes[role] = Lines(self.network.command(role, self.troupe, "node", f"--config-file={self._config(role)}",
                                                      f"--job={job}", f"--task={task}"))
        if wait:
            self.wait_ready(role)

    def wait_ready(self, role):
        line = self.nodes[role].next(START_LIMIT)
        if not line or not line.startswith("ready at "):
            raise RuntimeError(f"{self.name}: {role} did not start: {line} {self.nodes[role].log[-5:]}")

    def signal(self, role, which):
        self.nodes[role].process.send_signal(which)

    def status(self, role):
        """What `troupe status --json` says of a task; None if it does not answer."""
        done = subprocess.run(self.network.command(None, self.troupe, "status", "--json", "--timeout=5s", self.network.address(role)),
                              capture_output=True, text=True)
        return json.loads(done.stdout) if done.returncode == 0 else None

    def close(self):
        for process in (*self.nodes.values(), *([self.client.lines] if self.client else [])):
            process.end()
        self.network.close()
        self.folder.cleanup()
