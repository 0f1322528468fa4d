"""The wires between the processes of a test cluster, which can be cut, slowed down and healed.

Two ways with one interface. `Namespaces`: each process has a network namespace of its own around one switch; needs root.
`Proxies`: all processes share this machine's loopback, and each of them dials every other through a proxy of its own;
works for everybody. What differs: a proxy's machine acknowledges what a process behind a cut never gets, so the others
cannot tell a peer that is cut off from one that is frozen."""

import contextlib
import random
import socket
import subprocess
import threading
import time

PORT = 7100


def ip(*arguments):
    return subprocess.run(["ip", *arguments], check=True, capture_output=True, text=True)


class Namespaces:
    NAME = "network namespaces"
    CUT_WORDS = ("cut off",)

    def __init__(self, name, roles):
        self.hub = f"{name}-hub"
        self.spaces = {role: f"{name}-{role}" for role in roles}
        self.hosts = {role: f"10.77.0.{i + 1}" for i, role in enumerate(roles)}
        self.made = []
        try:
            self._make()
        except BaseException:
            self.close()
            raise

    @staticmethod
    def refusal():
        """Why there can be none here; None if there can."""
        name = f"chaos-try-{random.getrandbits(32):x}"
        try:
            network = Namespaces(name, ("a",))
        except FileNotFoundError as error:
            return f"there is no {error.filename} here"
        except subprocess.CalledProcessError as error:
            return f"`{' '.join(error.cmd)}`: {(error.stderr or '').strip()}"
        try:
            network.slow_down("a", 1_000_000)
        except (FileNotFoundError, subprocess.CalledProcessError) as error:
            return f"tc: {error}"
        finally:
            network.close()
        return None

    def _make(self):
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
            ip("-n", space, "addr", "add", f"{self.hosts[role]}/24", "dev", "wire")
            ip("-n", space, "link", "set", "wire", "up")

    def command(self, role, *words):
        """The command that runs `words` where `role` lives; without a role, where everybody can be reached."""
        return ["ip", "netns", "exec", self.spaces.get(role, self.hub), *words]

    def address(self, role, seen_by=None):
        return f"{self.hosts[role]}:{PORT}"

    def cut(self, role):
        """The switch forgets the wire: whatever is sent either way vanishes, and nobody is told."""
        ip("-n", self.hub, "link", "set", f"to-{role}", "nomaster")

    def heal(self, role):
        ip("-n", self.hub, "link", "set", f"to-{role}", "master", "switch")

    def _ends(self, role):
        return (self.hub, f"to-{role}"), (self.spaces[role], "wire")

    def slow_down(self, role, bits_per_second):
        for space, device in self._ends(role):
            subprocess.run(["tc", "-n", space, "qdisc", "replace", "dev", device, "root", "tbf", "rate", f"{bits_per_second}bit",
                            "burst", "16k", "latency", "4s"], check=True, capture_output=True, text=True)

    def speed_up(self, role):
        for space, device in self._ends(role):
            subprocess.run(["tc", "-n", space, "qdisc", "del", "dev", device, "root"], check=True, capture_output=True, text=True)

    def close(self):
        for space in self.made:
            subprocess.run(["ip", "netns", "del", space], capture_output=True)


class Link:
    """What all wires of one process share in one direction: whether it carries, and how fast."""

    def __init__(self):
        self.open = threading.Event()
        self.open.set()
        self.lock = threading.Lock()
        self.rate = 0  # bytes a second; 0: as fast as it goes
        self.free_at = 0.0

    def take(self, size):
        """Waits until `size` more bytes may go."""
        with self.lock:
            if not self.rate:
                return
            begin = max(time.monotonic(), self.free_at)
            self.free_at = begin + size / self.rate
        time.sleep(max(0.0, begin - time.monotonic()))


PIECE, SLOW_PIECE = 256 << 10, 4 << 10
BACKLOG = 16


def is_reset(sock):
    """Whether the other end threw away what it had not sent yet; then nothing of it may arrive any more."""
    return bool(sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR))


def shut(sock, at_once):
    if at_once:  # a reset, not an orderly end
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
    sock.close()


class Proxy:
    """A port that stands for another one, for one process that dials it. `links`: those that must be open for a byte to pass."""

    def __init__(self, target, there, back):
        self.target, self.there, self.back = target, there, back
        self.listener = socket.socket()
        self.listener.bind(("127.0.0.1", 0))
        self.listener.listen(BACKLOG)
        self.port = self.listener.getsockname()[1]
        self.sockets = set()
        self.lock = threading.Lock()
        self.closed = False
        threading.Thread(target=self._serve, daemon=True).start()

    def hold(self):
        """From now on who dials finds nobody, not even one who refuses, once the queue of the kernel is full."""
        self.listener.listen(0)

    def release(self):
        self.listener.listen(BACKLOG)

    def _wait(self, links):
        while not all(link.open.is_set() for link in links):
            for link in links:
                link.open.wait()

    def _serve(self):
        while True:
            self._wait(self.there)
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._connect, args=(near,), daemon=True).start()

    def _connect(self, near):
        self._wait(self.there)
        far = socket.socket()
        try:
            far.connect(("127.0.0.1", self.target))
        except OSError:  # nobody listens: the dialler learns it at once
            shut(near, at_once=True)
            far.close()
            return
        pair = Pair(near, far)
        with self.lock:
            if self.closed:
                pair.end(at_once=True)
                return
            self.sockets.add(pair)
        for source, sink, links in ((near, far, self.there), (far, near, self.back)):
            threading.Thread(target=self._carry, args=(pair, source, sink, links), daemon=True).start()

    def _carry(self, pair, source, sink, links):
        at_once = False
        try:
            while True:
                slow = any(link.rate for link in links)
                data = source.recv(SLOW_PIECE if slow else PIECE)
                for link in links:
                    link.take(len(data))
                self._wait(links)
                if is_reset(source):
                    at_once = True
                    break
                if not data:
                    sink.shutdown(socket.SHUT_WR)
                    break
                sink.sendall(data)
        except OSError:
            self._wait(links)
            at_once = True
        if pair.one_less(at_once):
            with self.lock:
                self.sockets.discard(pair)

    def close(self):
        with self.lock:
            self.closed = True
            pairs = list(self.sockets)
        self.listener.shutdown(socket.SHUT_RDWR)  # wakes who accepts
        self.listener.close()
        for pair in pairs:
            pair.wake()


class Pair:
    """The two sockets of a connection through a proxy; closed when nobody uses them any more."""

    def __init__(self, near, far):
        self.both = (near, far)
        self.users = 2
        self.at_once = False
        self.lock = threading.Lock()
        for sock in self.both:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def wake(self):
        for sock in self.both:
            try:
                sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def one_less(self, at_once):
        """A direction has ended; a reset ends the other one too. True for the last."""
        with self.lock:
            self.users -= 1
            self.at_once = self.at_once or at_once
            last = self.users == 0
        if last:
            self.end(self.at_once)
        elif at_once:
            self.wake()
        return last

    def end(self, at_once):
        for sock in self.both:
            shut(sock, at_once)


class Proxies:
    NAME = "proxies on loopback"
    CUT_WORDS = ("cut off", "frozen")

    def __init__(self, name, roles):
        self.ports = {role: port for role, port in zip(roles, self._free_ports(len(roles)))}
        self.out = {role: Link() for role in roles}
        self.into = {role: Link() for role in roles}
        self.proxies = {}
        for dialler in roles:
            for role in roles:
                if role != dialler:
                    self.proxies[dialler, role] = Proxy(self.ports[role], (self.out[dialler], self.into[role]),
                                                        (self.out[role], self.into[dialler]))

    @staticmethod
    def refusal():
        return None

    given = set()  # to any cluster of this process, whether its tasks listen there yet or not

    @classmethod
    def _free_ports(cls, count):
        """Below those that the system gives to whoever dials, so that a process that starts again finds its own free."""
        dice, ports = random.Random(), []
        while len(ports) < count:
            port = dice.randrange(20000, 32000)
            if port in cls.given:
                continue
            cls.given.add(port)
            with socket.socket() as sock, contextlib.suppress(OSError):
                sock.bind(("127.0.0.1", port))
                ports.append(port)
        return ports

    def command(self, role, *words):
        return list(words)

    def address(self, role, seen_by=None):
        direct = seen_by is None or seen_by == role
        return f"127.0.0.1:{self.ports[role] if direct else self.proxies[seen_by, role].port}"

    def _of(self, role):
        return [proxy for pair, proxy in self.proxies.items() if role in pair]

    def cut(self, role):
        self.out[role].open.clear()
        self.into[role].open.clear()
        for proxy in self._of(role):
            proxy.hold()

    def heal(self, role):
        for proxy in self._of(role):
            proxy.release()
        self.out[role].open.set()
        self.into[role].open.set()

    def slow_down(self, role, bits_per_second):
        self.out[role].rate = self.into[role].rate = bits_per_second // 8

    def speed_up(self, role):
        self.out[role].rate = self.into[role].rate = 0

    def close(self):
        for link in (*self.out.values(), *self.into.values()):
            link.rate = 0
            link.open.set()
        for proxy in self.proxies.values():
            proxy.close()


