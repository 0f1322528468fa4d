"""A child process `troupe serve`, which ends with the process that started it."""

import json
import os
import queue
import shutil
import socket
import subprocess
import sys
import tempfile
import threading

READY_WITHIN = 60  # seconds
GRACE = 10  # seconds for a child to end in order


class ServerError(RuntimeError):
    """The child could not be started, or has ended, with `code` where it ran."""

    def __init__(self, message, code=None):
        super().__init__(message)
        self.code = code


def executable():
    """What TROUPE names, else `troupe` on the PATH, else that of the build folder beside this package."""
    named = os.environ.get("TROUPE") or shutil.which("troupe")
    built = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "build", "tools", "troupe", "troupe")
    return named or (os.path.normpath(built) if os.path.exists(built) else "troupe")


def existing(path):
    """The folder, or the nearest one above it that is there."""
    path = os.path.abspath(path)
    while not os.path.isdir(path):
        path = os.path.dirname(path)
    return path


def named_paths(words):
    """The paths among a command's words, such as those of --train_dir=/data/run and --data=../data."""
    for word in words:
        value = word.partition("=")[2] if word.startswith("-") else word
        value = os.path.expanduser(value)
        if os.sep in value or value == os.pardir:
            yield value


def folders():
    """The folders whose files the graphs of this program may read and write, in order and without doubles.

    Those of TROUPE_FILES, if it names some. Else the working folder, the script's, those for temporary files, and those that the
    program's arguments name by paths: what lies directly below the root is not allowed for the sake of an argument.
    """
    given = os.environ.get("TROUPE_FILES")
    if given:
        return given.split(os.pathsep)
    out = [os.getcwd(), os.path.dirname(os.path.abspath(sys.argv[0] or ".")), tempfile.gettempdir(), "/tmp"]
    out += [folder for folder in map(existing, named_paths(sys.argv[1:])) if folder != "/"]
    return list(dict.fromkeys(os.path.realpath(folder) for folder in out if os.path.isdir(folder)))


def free_port():
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return held.getsockname()[1]


def started_for_good(words, ready):
    """A process that ends after this one, however this one ends, and what it writes to the descriptor of its option --ready-fd.

    Its standard output and error are this process's: what graphs print (tf.print) comes where TensorFlow has it.

    It is started by a thread that lives as long as the process. The child must outlive the interpreter's exit: TensorFlow's sessions are
    collected after it, and each waits without a bound for the answer to CloseSession. It has a session of its own: an interrupt at the
    terminal is for the program, which may want to save something first.
    """
    out = queue.Queue()
    environment = {**os.environ, "TROUPE_PARENT": str(os.getpid())}  # the child asks the kernel for a signal when this process ends

    def start():
        try:
            out.put(subprocess.Popen([*words, f"--ready-fd={ready}"], stdin=subprocess.DEVNULL, pass_fds=[ready], start_new_session=True, env=environment))
        except OSError as error:
            out.put(error)
        threading.Event().wait()

    threading.Thread(target=start, daemon=True).start()
    return out.get()


class Child:
    """A running `troupe serve`."""

    def __init__(self, cluster, job, task, cpu_devices=1, session_config=""):
        words = [executable(), "serve", "--cluster=" + json.dumps(cluster), f"--job={job}", f"--task={task}"]
        if cpu_devices != 1:
            words.append(f"--cpu-devices={cpu_devices}")
        if session_config:
            words.append(f"--session-config={session_config}")
        words += ["--files=" + folder for folder in folders()]
        from_child, ready = os.pipe()
        self._ready = os.fdopen(from_child)
        started = started_for_good(words, ready)
        os.close(ready)
        if isinstance(started, OSError):
            self._ready.close()
            raise ServerError(f"cannot run {words[0]!r}: {started.strerror}; put it on the PATH, or name it in the environment's TROUPE")
        self.process = started
        self.wait_until_ready()

    def wait_until_ready(self):
        lines = queue.Queue()

        def read():
            with self._ready as out:
                for line in out:
                    lines.put(line)
            lines.put("")

        threading.Thread(target=read, daemon=True).start()
        try:
            line = lines.get(timeout=READY_WITHIN)
        except queue.Empty:
            line = None
        self._reached = line
        if not line or not line.startswith("ready at "):
            self.end()
            raise ServerError("`troupe serve` was not ready within {} s".format(READY_WITHIN) if line is None else
                              f"`troupe serve` ended with code {self.process.returncode}; it says why above", self.process.returncode)

    def listens_everywhere(self):
        return self._reached.startswith("ready at grpc://0.0.0.0:")

    def has_ended(self):
        return self.process.poll() is not None

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


