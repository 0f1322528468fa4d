"""Programs that answer a line with a line, and clusters of either side, all started and ended by us."""

import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ANSWER_DEADLINE = 400  # seconds; a first step of a large graph takes the other side half a minute
READY_DEADLINE = 90


priority = 0  # nice value of what is measured, on either side; below 0 only for root


def set_priority():
    """In the new process. Where Linux shares the machine out by session, the session's share counts, not the process's."""
    os.setpriority(os.PRIO_PROCESS, 0, priority)
    if os.path.exists("/proc/self/autogroup"):
        with open("/proc/self/autogroup", "w") as file:
            file.write(str(priority))


class BenchError(Exception):
    """A sentence that becomes the row's result."""


class LineServer:
    """A program that reads a command a line and answers each with a line of JSON."""

    def __init__(self, command, environment=None):
        self.name = os.path.basename(command[0])
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        env=dict(os.environ, **(environment or {})), preexec_fn=set_priority if priority else None)
        self.tail = []
        threading.Thread(target=self._keep_errors, daemon=True).start()
        self.pending = b""

    def _keep_errors(self):
        for line in self.process.stderr:
            self.tail = [*self.tail[-9:], line.decode(errors="replace").rstrip()]

    def ask(self, *fields, separator="\t"):
        self.send(*fields, separator=separator)
        return self.receive(fields[0])

    def send(self, *fields, separator="\t"):
        try:
            self.process.stdin.write((separator.join(map(str, fields)) + "\n").encode())
            self.process.stdin.flush()
        except BrokenPipeError:
            raise BenchError(self._end()) from None

    def receive(self, command):
        """The answer to a command that was sent."""
        deadline = time.monotonic() + ANSWER_DEADLINE
        while b"\n" not in self.pending:
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, deadline - time.monotonic()))
            if not ready:
                self.close()
                raise BenchError(f"{self.name} gave no answer within {ANSWER_DEADLINE} s to: {command}")
            data = os.read(self.process.stdout.fileno(), 1 << 16)
            if not data:
                raise BenchError(self._end())
            self.pending += data
        line, self.pending = self.pending.split(b"\n", 1)
        answer = json.loads(line)
        if "error" in answer:
            raise BenchError(answer["error"].strip().split("\n")[0][:400])
        return answer

    def _end(self):
        code = self.process.wait()
        return f"{self.name} ended with {code}: {' '.join(self.tail[-3:])[:400]}"

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            try:
                stream.close()
            except BrokenPipeError:
                pass


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def is_shared_memory(file):
    return os.path.exists(file) and os.readlink(file).startswith("/memfd:")


class Task:
    """A process that says a word on standard output once it is ready."""

    def __init__(self, command, word, log, environment=None):
        self.begun = time.monotonic()
        self.log = open(log, "wb")
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.log, env=dict(os.environ, **(environment or {})),
                                        preexec_fn=set_priority if priority else None)
        self.word = word

    def wait_ready(self):
        """Seconds from the start to the word."""
        seen = b""
        while self.word.encode() not in seen:
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, self.begun + READY_DEADLINE - time.monotonic()))
            data = os.read(self.process.stdout.fileno(), 1 << 16) if ready else b""
            if not data:
                self.close()
                raise BenchError(f"{os.path.basename(self.process.args[0])} did not become ready; its log is {self.log.name}")
            seen += data
        return time.monotonic() - self.begun

    def status(self, key):
        """Bytes of VmRSS, VmHWM …"""
        with open(f"/proc/{self.process.pid}/status") as file:
            return next(int(line.split()[1]) * 1024 for line in file if line.startswith(key + ":"))

    def processor_seconds(self):
        """Of all threads that it has, since each began."""
        folder = f"/proc/{self.process.pid}/task"
        total = 0
        for thread in os.listdir(folder):
            with open(os.path.join(folder, thread, "schedstat")) as file:
                total += int(file.read().split()[0])
        return total / 1e9

    def shared_files(self):
        """Bytes of shared memory that it holds open as files. The kernel counts those pages as nobody's until somebody maps them."""
        folder = f"/proc/{self.process.pid}/fd"
        files = [os.path.join(folder, name) for name in os.listdir(folder)]
        shared = {(found.st_dev, found.st_ino): found.st_blocks * 512 for found in map(os.stat, filter(is_shared_memory, files))}
        return sum(shared.values())

    def close(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.process.stdout.close()
        self.log.close()


class Cluster:
    """Tasks of {"job": count} on this machine; `targets["worker", 0]` is where a client of that task connects."""

    scheme = ""

    def __init__(self, jobs, folder):
        names = [(job, index) for job, count in jobs.items() for index in range(count)]
        self.addresses = {name: self.address(name, port) for name, port in zip(names, free_ports(len(names)))}
        self.targets = {name: self.scheme + address for name, address in self.addresses.items()}
        self.folder = folder
        self.tasks = {}
        try:
            self.start()
            self.seconds = {name: task.wait_ready() for name, task in self.tasks.items()}
        except BaseException:
            self.close()
            raise

    def address(self, name, port):
        """Where a task listens, by ("job", index)."""
        return f"127.0.0.1:{port}"

    def place(self, name, command):
        """The command that starts a task where it belongs."""
        return command

    def by_job(self):
        jobs = {}
        for (job, _), address in self.addresses.items():
            jobs.setdefault(job, []).append(address)
        return jobs

    def log_of(self, name):
        return os.path.join(self.folder, f"{type(self).__name__.lower()}_{name[0]}_{name[1]}.log")

    def close(self):
        for task in self.tasks.values():
            if task.process.poll() is None:
                task.process.send_signal(signal.SIGTERM)
        for task in self.tasks.values():
            task.close()


class TroupeCluster(Cluster):
    scheme = "caf://"

    def __init__(self, jobs, folder, troupe, settings=""):
        self.troupe, self.settings = troupe, settings
        super().__init__(jobs, folder)

    def start(self):
        path = os.path.join(self.folder, f"cluster_{id(self)}.conf")
        with open(path, "w") as out:
            out.write("[cluster]\n")
            for job, addresses in self.by_job().items():
                out.write(f"{job} = {json.dumps(addresses)}\n")
            out.write('[troupe]\nlog-level = "warning"\n' + self.settings)
        for name in self.addresses:
            command = [self.troupe, "node", f"--config-file={path}", f"--job={name[0]}", f"--task={name[1]}"]
            self.tasks[name] = Task(self.place(name, command), "ready at", self.log_of(name))


class TensorFlowCluster(Cluster):
    scheme = "grpc://"

    def __init__(self, jobs, folder, venv):
        self.venv = venv
        super().__init__(jobs, folder)

    def start(self):
        for name in self.addresses:
            self.start_server(name)

    def start_server(self, name):
        quiet = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
        command = [os.path.join(self.venv, "bin/python"), os.path.join(HERE, "..", "peer", "server.py"), json.dumps(self.by_job()), name[0], str(name[1])]
        self.tasks[name] = Task(self.place(name, command), "ready", self.log_of(name), quiet)


class ServingCluster(TensorFlowCluster):
    """Tasks of ours that TensorFlow's clients speak to; the `foreign` ones are TensorFlow's servers."""

    def __init__(self, jobs, folder, troupe, venv=None, foreign=()):
        self.troupe, self.foreign = troupe, foreign
        super().__init__(jobs, folder, venv)

    def start(self):
        cluster = json.dumps(self.by_job())
        for name in self.addresses:
            if name in self.foreign:
                self.start_server(name)
                continue
            command = [self.troupe, "serve", f"--cluster={cluster}", f"--job={name[0]}", f"--task={name[1]}", f"--files={self.folder}"]
            self.tasks[name] = Task(self.place(name, command), "ready at", self.log_of(name))


def fail(sentence):
    print(f"bench: {sentence}", file=sys.stderr)
    raise SystemExit(1)
