"""A server as TensorFlow's programs make it, that is a child process `troupe serve`."""

import ctypes
import json
import os
import queue
import signal
import socket
import subprocess
import threading

READY_WITHIN = 60  # seconds
GRACE = 10  # seconds for a child to end in order


class ServerError(RuntimeError):
    """The child could not be started, or has ended."""


def executable():
    return os.environ.get("TROUPE", "troupe")


def free_port():
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return held.getsockname()[1]


def end_with_parent():
    """In the child: SIGTERM when the thread that started it ends."""
    prctl_set_pdeathsig = 1
    ctypes.CDLL(None).prctl(prctl_set_pdeathsig, signal.SIGTERM)


def started_for_good(words):
    """A process that ends after this one, however this one ends.

    It is started by a thread that lives as long as the process. To end it earlier, at the interpreter's exit, would be too early:
    TensorFlow's sessions are collected after that, and each waits for ever for an answer to its CloseSession.
    """
    out = queue.Queue()

    def start():
        try:
            out.put(subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, preexec_fn=end_with_parent))
        except OSError as error:
            out.put(error)
        threading.Event().wait()

    threading.Thread(target=start, daemon=True).start()
    return out.get()


class Child:
    """A running `troupe serve`."""

    def __init__(self, cluster, job, task):
        words = [executable(), "serve", "--cluster=" + json.dumps(cluster), f"--job={job}", f"--task={task}"]
        started = started_for_good(words)
        if isinstance(started, OSError):
            raise ServerError(f"cannot run {words[0]!r}: {started.strerror}; put it on the PATH, or name it in the environment's TROUPE")
        self.process = started
        self.wait_until_ready()

    def wait_until_ready(self):
        lines = queue.Queue()

        def read():
            with self.process.stdout as out:
                for line in out:
                    lines.put(line)
            lines.put("")

        threading.Thread(target=read, daemon=True).start()
        try:
            line = lines.get(timeout=READY_WITHIN)
        except queue.Empty:
            line = None
        if not line or not line.startswith("ready at "):
            self.end()
            raise ServerError("`troupe serve` was not ready within {} s".format(READY_WITHIN) if line is None else
                              f"`troupe serve` ended with code {self.process.returncode}; it says why above")

    def join(self):
        self.process.wait()

    def end(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(GRACE)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


def placed(tasks, job, task):
    """A copy of {job: {task: address}} in which the own task's port 0 is a free one; and the own address."""
    out = {name: {str(number): address for number, address in addresses.items()} for name, addresses in tasks.items()}
    address = out.get(job, {}).get(str(task))
    if address is None:
        raise ValueError(f"task {task} is not defined in job {job!r}")
    host, _, port = address.rpartition(":")
    if port == "0":
        address = out[job][str(task)] = f"{host}:{free_port()}"
    return out, address


class Server:
    """In place of tf.distribute.Server; the same arguments, methods and properties."""

    def __init__(self, server_or_cluster_def, job_name=None, task_index=None, protocol=None, config=None, start=True):
        from tensorflow.python.training import server_lib
        self._server_def = server_lib._make_server_def(server_or_cluster_def, job_name, task_index, protocol, config)
        if self._server_def.protocol not in ("", "grpc"):
            raise ValueError(f"troupe speaks the protocol grpc, and not {self._server_def.protocol!r}")
        tasks = {job.name: dict(job.tasks) for job in self._server_def.cluster.job}
        self._tasks, self._address = placed(tasks, self._server_def.job_name, self._server_def.task_index)
        self._child = None
        if start:
            self.start()

    def start(self):
        if self._child is None:
            self._child = Child(self._tasks, self._server_def.job_name, self._server_def.task_index)

    def join(self):
        """Blocks until the child ends, which an interrupt makes it do."""
        self.start()
        self._child.join()

    @property
    def server_def(self):
        return self._server_def

    @property
    def target(self):
        return "grpc://" + self._address

    @staticmethod
    def create_local_server(config=None, start=True):
        return Server({"localhost": ["localhost:0"]}, protocol="grpc", config=config, start=start)


def install():
    """Puts Server in the place of TensorFlow's, under every name that programs use."""
    import tensorflow as tf
    from tensorflow.python.training import server_lib
    server_lib.Server = Server
    v1 = tf.compat.v1
    for module in (getattr(tf, "distribute", None), getattr(tf, "train", None), v1.train, getattr(v1, "distribute", None)):
        if module is not None and hasattr(module, "Server"):
            setattr(module, "Server", Server)
