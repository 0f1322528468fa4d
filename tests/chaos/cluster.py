"""A small cluster of real processes with wires between them that can be broken, and its tenants."""

import contextlib
import json
import os
import queue
import re
import signal
import subprocess
import tempfile
import threading
import time

TASKS = {"ps": ("ps", 0), "master": ("worker", 0), "worker": ("worker", 1)}
TENANTS = {"client": "master", "other": "worker"}  # each with the role of its master
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
    """A tenant (chaos_client): commands go in, calls come out. Keeps what its steps have come to, for the case that it is killed."""

    def __init__(self, command):
        self.lines = Lines(command)
        self.done = {"step": 0, "large": 0}  # acknowledged since `init`
        self.maybe = {"step": 0, "large": 0}  # begun, and not acknowledged
        self.slowest = {"seconds": 0.0, "call": ""}
        self.wrong = []  # what no fault excuses

    def send(self, command):
        with contextlib.suppress(BrokenPipeError):
            self.lines.process.stdin.write(command + "\n")

    def _account(self, event):
        call = event.get("call")
        if "end" in event:
            if event["end"] - event["begin"] > self.slowest["seconds"]:
                self.slowest = {"seconds": event["end"] - event["begin"], "call": call}
            if call == "init" and event["code"] == "OK":
                self.done, self.maybe = ({name: 0 for name in self.done} for _ in range(2))
            if call in self.done and event["code"] == "OK":
                self.done[call] += 1
                self.maybe[call] -= 1
        elif call in self.maybe:
            self.maybe[call] += 1
        if event.get("wrong"):
            self.wrong.append(event["wrong"])

    def event(self, limit):
        """The next line as a record; None when there is none within `limit` seconds or ever again."""
        line = self.lines.next(limit)
        if not line:
            return None
        event = json.loads(line)
        self._account(event)
        return event

    def wait_begin(self, call, limit):
        """Waits until `call` has begun; False if its command ends first, or the time."""
        end = time.monotonic() + limit
        while event := self.event(end - time.monotonic()):
            if event.get("call") == call and "end" not in event:
                return True
            if "done" in event:
                return False
        return False

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

    def last(self, limit):
        """The last call of the command that runs; None if it is not answered within `limit` seconds."""
        call = None
        for call in self.calls(limit):
            pass
        return call

    def do(self, command, limit):
        """The last call of `command`; None if it is not answered within `limit` seconds."""
        self.send(command)
        return self.last(limit)

    def knows(self):
        """The command that tells another process what this one knows."""
        return f"expect {self.done['step']} {self.maybe['step']} {self.done['large']} {self.maybe['large']}"


class Cluster:
    """A ps and two workers with shipping defaults save `settings`, and two tenants. `network` is a class of network.py,
    `path` the one that tensors take."""

    def __init__(self, name, network, path, troupe, client, settings=()):
        self.name, self.path, self.troupe, self.client_program = name, path, troupe, client
        self.settings = (f'tensor-path = "{path}"', *settings)
        self.folder = tempfile.TemporaryDirectory(prefix="troupe-chaos-")
        self.nodes, self.tenants, self.at_rest = {}, {}, {}
        self.network = network(name, (*TASKS, *TENANTS))
        try:
            for role in TASKS:
                self.start(role, wait=False)
            for role in TASKS:
                self.wait_ready(role)
            for tenant in TENANTS:
                self.start_tenant(tenant)
        except BaseException:
            self.close()
            raise

    def _config(self, seen_by):
        """The cluster with the addresses under which `seen_by` reaches the others."""
        address = {role: f'"{self.network.address(role, seen_by)}"' for role in TASKS}
        path = os.path.join(self.folder.name, f"{seen_by}.conf")
        with open(path, "w") as out:
            out.write(f"[cluster]\nps = [{address['ps']}]\nworker = [{address['master']}, {address['worker']}]\n"
                      "[troupe]\ncluster-name = \"chaos\"\ninsecure = true\n" + "".join(line + "\n" for line in self.settings))
        return path

    def start_tenant(self, tenant):
        """In place of one that has ended, it is told what that one knew."""
        before = self.tenants.get(tenant)
        command = (self.client_program, self._config(tenant), tenant, str(TASKS[TENANTS[tenant]][1]))
        client = self.tenants[tenant] = Client(self.network.command(tenant, *command))
        if before:
            client.done, client.maybe, client.slowest, client.wrong = before.done, before.maybe, before.slowest, before.wrong
            client.do(before.knows(), START_LIMIT)

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
        lines = self.tenants[role].lines if role in TENANTS else self.nodes[role]
        lines.process.send_signal(which)

    def status(self, role):
        """What `troupe status --json` says of a task; None if it does not answer."""
        done = subprocess.run(self.network.command(None, self.troupe, "status", "--json", "--timeout=5s", self.network.address(role)),
                              capture_output=True, text=True)
        return json.loads(done.stdout) if done.returncode == 0 else None

    @staticmethod
    def paths(status):
        """The paths over which a task has had tensors from other tasks, by task."""
        found = (re.match(r"from (/job:[^:]*:\d+/task:\d+): ([a-z-]+)", line) for line in status["tensors"])
        return {match[1]: match[2] for match in found if match}

    def close(self):
        for process in (*self.nodes.values(), *(tenant.lines for tenant in self.tenants.values())):
            process.end()
        self.network.close()
        self.folder.cleanup()
