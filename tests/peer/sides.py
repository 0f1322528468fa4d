"""The two sides of the comparison, as long-lived processes: TensorFlow (tensorflow_child.py) and troupe (case_runner)."""

import os
import pickle
import select
import struct
import subprocess
import sys

import numpy as np

from tensors import NUMBERS, OBJECTS, number_of, numpy_type

HERE = os.path.dirname(os.path.abspath(__file__))
# Longer than any step may take on either side.
PATIENCE_S = 120
CODES = ("OK CANCELLED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND ALREADY_EXISTS PERMISSION_DENIED RESOURCE_EXHAUSTED FAILED_PRECONDITION "
         "ABORTED OUT_OF_RANGE UNIMPLEMENTED INTERNAL UNAVAILABLE DATA_LOSS UNAUTHENTICATED").split()


class Ended(Exception):
    """The process ended, or said nothing for too long."""


class Child:
    """A process that is asked and answers in messages with their lengths before them; it is started anew when it has ended."""

    def __init__(self, command, environment=None):
        self.command, self.environment, self.process = command, dict(os.environ, **(environment or {})), None

    def start(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.environment)
        os.set_blocking(self.process.stderr.fileno(), False)
        self.said = b""

    def send(self, data):
        if self.process is None:
            self.start()
        try:
            self.process.stdin.write(struct.pack("<I", len(data)) + data)
            self.process.stdin.flush()
        except OSError:
            raise Ended(self.end()) from None

    def receive(self):
        size, = struct.unpack("<I", self.read(4))
        return self.read(size)

    def read(self, size):
        out, fd = bytearray(), self.process.stdout.fileno()
        while len(out) < size:
            ready = select.select([fd, self.process.stderr.fileno()], [], [], PATIENCE_S)[0]
            if not ready:
                self.process.kill()
                self.end()
                raise Ended(f"no answer in {PATIENCE_S} s")
            if fd not in ready or len(ready) == 2:
                text = self.process.stderr.read()
                self.said = (self.said + (text or b""))[-20000:]
                if text == b"" and fd not in ready:
                    raise Ended(self.end())
            if fd in ready:
                piece = os.read(fd, min(size - len(out), 1 << 20))
                if not piece:
                    raise Ended(self.end())
                out += piece
        return bytes(out)

    def end(self):
        """Waits for a process that has closed its pipes, or is to close them; its last words."""
        if self.process is None:
            return ""
        self.process.stdin.close()
        try:
            code = self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = self.process.wait()
        rest = self.process.stderr.read() or b""
        self.process.stdout.close()
        self.process.stderr.close()
        self.process = None
        return f"exit status {code}: " + (self.said + rest)[-6000:].decode(errors="replace")


class TensorFlow:
    """Makes cases and answers them. A case that ends the process has the answer None, and its last words instead of what was built."""

    def __init__(self):
        environment = dict(TF_CPP_MIN_LOG_LEVEL="2", TF_ENABLE_ONEDNN_OPTS="0", CUDA_VISIBLE_DEVICES="-1", OMP_NUM_THREADS="1")
        self.child = Child([sys.executable, "-B", os.path.join(HERE, "tensorflow_child.py")], environment)
        self.ops = None

    def begin(self):
        """Starts the process where there is none; the ops that have makers."""
        if self.child.process is None:
            self.child.start()
            self.ops = pickle.loads(self.child.receive())[1]
        return self.ops

    def ask(self, request):
        self.begin()
        self.child.send(pickle.dumps(request, protocol=pickle.HIGHEST_PROTOCOL))

    def message(self):
        return pickle.loads(self.child.receive())

    def make(self, wanted):
        """For each (op, seed): case, answer, built. What the makers themselves get wrong is a case of None with the traceback."""
        wanted = list(wanted)
        while wanted:
            case = None
            try:
                self.ask(("make", wanted))
                while wanted:
                    message = self.message()
                    if message[0] == "made":
                        case = message[1]
                        continue
                    op_seed = wanted.pop(0)
                    if message[0] == "answered":
                        yield case, message[1], message[2]
                    else:
                        yield None, op_seed, message[1]
                    case = None
            except Ended as words:
                op_seed = wanted.pop(0)
                yield case, None, f"{op_seed}: {words}"

    def answer(self, case, as_graph=False):
        """`as_graph`: with what its shape functions refuse, too."""
        try:
            self.ask(("answer", case, as_graph))
            message = self.message()
        except Ended as words:
            return None, str(words)
        return message[1:] if message[0] == "answered" else (None, message[1])

    def graph(self, seed, kind):
        try:
            self.ask(("graph", seed, kind))
            return self.message()
        except Ended as words:
            return "failed", str(words)

    def end(self):
        self.child.end()


class Said:
    """What troupe answers: a code ("OK"), a message, names, and values with their dtypes' names."""

    def __init__(self, data):
        self.data, self.at = data, 0
        self.code = CODES[self.number("B")]
        self.message = self.text().decode(errors="replace")
        self.names = [self.text().decode() for _ in range(self.number("I"))]
        pairs = [self.tensor() for _ in range(self.number("I"))]
        self.types, self.values = [p[0] for p in pairs], [p[1] for p in pairs]

    def number(self, kind):
        out, = struct.unpack_from("<" + kind, self.data, self.at)
        self.at += struct.calcsize("<" + kind)
        return out

    def text(self):
        size = self.number("I")
        self.at += size
        return self.data[self.at - size:self.at]

    def tensor(self):
        dtype = NUMBERS.get(self.number("i"), "?")
        shape = [self.number("q") for _ in range(self.number("B"))]
        count = int(np.prod(shape, dtype=np.int64))
        if dtype == "string":
            array = np.array([self.text() for _ in range(count)] + [None], object)[:-1]
        elif dtype in OBJECTS or dtype == "?":
            return dtype, None
        else:
            kind = numpy_type(dtype)
            array = np.frombuffer(self.data, kind, count, self.at)
            self.at += count * kind.itemsize
        return dtype, array.reshape(shape)


def packed(text):
    text = text.encode() if isinstance(text, str) else text
    return struct.pack("<I", len(text)) + text


def packed_list(texts):
    return struct.pack("<I", len(texts)) + b"".join(map(packed, texts))


def packed_tensor(dtype, value):
    value = np.asarray(value, numpy_type(dtype))
    head = struct.pack("<iB", number_of(dtype), value.ndim) + struct.pack(f"<{value.ndim}q", *value.shape)
    if dtype == "string":
        return head + b"".join(map(packed, value.ravel().tolist()))
    return head + np.ascontiguousarray(value).tobytes()


VERSIONS = b"\x22\x03\x08\xe0\x12"  # GraphDef.versions.producer: 2400


class Troupe:
    """Runs graphs in one process after the other."""

    def __init__(self, executable):
        self.child = Child([executable])

    def call(self, data):
        self.child.send(data)
        return Said(self.child.receive())

    def graph(self, data, plain=False):
        return self.call(b"g" + bytes([plain]) + packed(data + VERSIONS))

    def gradients(self, ys, xs):
        return self.call(b"d" + packed_list(ys) + packed_list(xs))

    def run(self, feeds, fetches, targets=()):
        fed = struct.pack("<I", len(feeds)) + b"".join(packed(name) + packed_tensor(dtype, value) for name, dtype, value in feeds)
        return self.call(b"r" + fed + packed_list(fetches) + packed_list(list(targets)))

    def alone(self, built, plain=False):
        """One case in a session of its own."""
        said = self.graph(built.graph, plain)
        if said.code != "OK":
            return said
        names = [name for name, _ in built.fetches]
        if built.ys:
            said = self.gradients(built.ys, built.xs)
            if said.code != "OK":
                return said
            names = said.names
            if "" in names:
                said.code, said.message = "INTERNAL", f"no gradient by {built.xs[names.index('')]}"
                return said
        return self.run(built.feeds, names, built.targets)

    def together(self, many):
        """The values of several cases in one step, or None if one of them fails."""
        if self.graph(b"".join(b.graph for b in many)).code != "OK":
            return None
        said = self.run([f for b in many for f in b.feeds], [name for b in many for name, _ in b.fetches], [t for b in many for t in b.targets])
        if said.code != "OK":
            return None
        out, at = [], 0
        for b in many:
            end = at + len(b.fetches)
            out.append((said.types[at:end], said.values[at:end]))
            at = end
        return out

    def end(self):
        return self.child.end()
