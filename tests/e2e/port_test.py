"""A node's port under strangers: garbage, half messages, messages that are none of ours, crowds. The node lives, stays small and serves others."""

import os
import random
import resource
import select
import socket
import struct
import unittest

from support import DEADLINE, Case, run

SERVER_HANDSHAKE, CLIENT_HANDSHAKE, DIRECT, ROUTED, MONITOR, DOWN, HEARTBEAT = range(7)
NAMED = 1
REQUEST, ANSWER, PLAIN = 1 << 60 | 7, 9 << 60 | 7, 1 << 60  # numbers of messages
MIB = 1 << 20


def header(operation, length, flags=0, data=0, source=0, target=0):
    return struct.pack(">BBBBIQQQ", operation, 0, 0, flags, length, data, source, target)


def list_of_types(names):
    text = ("@<>" + "".join("+" + name for name in names)).encode()
    assert len(text) < 128
    return b"\0\0" + bytes([len(text)]) + text


def message(target, *names, body=b"", number=REQUEST):
    payload = b"\0" + list_of_types(names) + body
    return header(DIRECT, len(payload), data=number, source=99, target=target) + payload


class Stranger:
    """A connection by hand."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=DEADLINE)

    def say(self, data):
        try:
            self.socket.sendall(data)
        except (BrokenPipeError, ConnectionResetError):
            pass

    def read(self, count):
        out = b""
        while len(out) < count:
            piece = self.socket.recv(count - len(out))
            if not piece:
                raise EOFError
            out += piece
        return out

    def shake_hands(self):
        """Gives the number of the actor at the port."""
        head = self.read(32)
        payload = self.read(struct.unpack(">I", head[4:8])[0])
        at = 32 + 1 + 1 + payload[33]  # the node, one application's name
        self.node = payload[:32]
        self.identity = payload[:12] + os.urandom(20)
        self.say(header(CLIENT_HANDSHAKE, 32) + self.identity)
        return struct.unpack(">Q", payload[at:at + 8])[0]

    def answer(self):
        """The number and the content of the first answer that comes."""
        while True:
            head = self.read(32)
            payload = self.read(struct.unpack(">I", head[4:8])[0])
            number = struct.unpack(">Q", head[8:16])[0]
            if head[0] == DIRECT and number >> 63:
                return number, payload

    def is_closed(self, within=DEADLINE):
        while True:
            ready, _, _ = select.select([self.socket], [], [], within)
            if not ready:
                return False
            try:
                if not self.socket.recv(65536):
                    return True
            except ConnectionResetError:
                return True

    def close(self):
        self.socket.close()


class Port(Case):
    settings = ""

    def setUp(self):
        super().setUp()
        path, ports = self.cluster(settings=self.settings)
        self.port = ports[0]
        self.node = self.start("node", f"--config-file={path}", "--job=ps")
        self.node.wait_for("ready at ")
        self.before = self.memory()

    def stranger(self):
        out = Stranger(self.port)
        self.addCleanup(out.close)
        return out

    def memory(self, what="VmRSS"):
        with open(f"/proc/{self.node.pid}/status") as file:
            for line in file:
                if line.startswith(what):
                    return int(line.split()[1]) * 1024
        raise AssertionError(f"no {what}")

    def assert_serves(self):
        self.assertIsNone(self.node.process.poll(), "the node ended")
        code, out, err = run("status", f"caf://127.0.0.1:{self.port}")
        self.assertEqual(code, 0, err)
        self.assertIn("/job:ps/replica:0/task:0", out)

    def assert_small(self, more):
        self.assertLess(self.memory("VmHWM") - self.before, more)


class Garbage(Port):
    def test_random_bytes(self):
        seed = 20261121
        source = random.Random(seed)
        for _ in range(100):
            stranger = self.stranger()
            stranger.say(source.randbytes(source.choice([32, 33, 100, 5000])))
            self.assertTrue(stranger.is_closed())
        self.assert_small(64 * MIB)
        self.assert_serves()

    def test_every_operation_with_four_gigabytes(self):
        for operation in range(256):
            stranger = self.stranger()
            stranger.say(header(operation, 0xffffffff))
            self.assertTrue(stranger.is_closed())
        self.assert_small(64 * MIB)
        self.assert_serves()

    def test_four_gigabytes_after_the_handshake(self):
        for operation in (DIRECT, ROUTED, MONITOR, DOWN, CLIENT_HANDSHAKE):
            stranger = self.stranger()
            actor = stranger.shake_hands()
            stranger.say(header(operation, 0xffffffff, target=actor))
            self.assertTrue(stranger.is_closed())
        self.assert_small(64 * MIB)
        self.assert_serves()

    def test_bytes_in_a_small_message_that_claim_gigabytes(self):
        claim = b"\xff\xff\xff\xff\x0f"
        for names, body in (
            (["@charbuf"], claim),
            (["@u32str"], claim),
            (["@error"], b"\x03" + b"\0\0\0\xfe\x77\xd3\xad\x6a" + list_of_types(["@charbuf"]) + claim),
            (["troupe::GraphRun"], b"\1\0" + struct.pack(">iBq", 1, 1, 1 << 30) + b"1234"),
            (["troupe::GraphRun"], b"\1\0" + struct.pack(">iBq", 7, 1, 1 << 40) + b"1234"),
            (["troupe::TensorChunk"], struct.pack(">Q", 1 << 32) + b"1234"),
            (["troupe::KillActor"], claim),
            (["troupe::EdgesSent"], claim),
        ):
            stranger = self.stranger()
            actor = stranger.shake_hands()
            stranger.say(message(actor, *names, body=body))
            stranger.say(message(actor, "troupe::GetNodeStatus"))
        self.assert_serves()
        self.assert_small(64 * MIB)


class HalfMessages(Port):
    def test_announced_and_never_sent(self):
        strangers = [self.stranger() for _ in range(40)]
        for stranger in strangers:
            actor = stranger.shake_hands()
            stranger.say(header(DIRECT, 60 * MIB, target=actor) + bytes(1000))
        self.assert_serves()
        self.assert_small(128 * MIB)  # and not 2.4 GiB
        for stranger in strangers:
            self.assertFalse(stranger.is_closed(0))

    def test_a_trickle(self):
        stranger = self.stranger()
        actor = stranger.shake_hands()
        whole = message(actor, "troupe::GetNodeStatus")
        for i in range(len(whole)):
            stranger.say(whole[i:i + 1])
            if i % 20 == 0:
                self.assert_serves()
        number, payload = stranger.answer()  # it was understood
        self.assertEqual(number, REQUEST | 1 << 63)
        self.assertIn(b"troupe::NodeStatus", payload)


class Strangers(Port):
    settings = "handshake-deadline = 1s"

    def test_a_thousand_idle_connections(self):
        strangers = [self.stranger() for _ in range(1000)]
        self.assert_serves()
        self.assert_small(64 * MIB)
        self.assertLess(len(os.listdir(f"/proc/{self.node.pid}/fd")), 200)
        for stranger in strangers:
            self.assertTrue(stranger.is_closed())
        self.assert_serves()


class Messages(Port):
    def refused(self, data):
        stranger = self.stranger()
        stranger.shake_hands()
        stranger.say(data)
        self.assertTrue(stranger.is_closed(), data)

    def test_what_is_none_of_ours_closes_the_connection(self):
        stranger = self.stranger()
        actor = stranger.shake_hands()
        me = struct.pack(">Q", 99)
        kill = stranger.identity + me + b"\x03" + b"\0\0\0\0\0\0\0\0" + b"\0\0\x03@<>"
        for number in (REQUEST, ANSWER, PLAIN, 0):
            self.refused(message(actor, "@exit", body=kill, number=number))
            self.refused(message(actor, "@down", body=kill, number=number))
        self.refused(message(actor, "@atom", "@strong_actor_ptr", body=bytes(8) + stranger.identity + me))
        spawn = b"\0" + list_of_types(["@atom", "@str", "@message", "@strset"])
        self.refused(header(DIRECT, len(spawn), flags=NAMED, target=0x3ddd66f3376adfb) + spawn)
        routed = stranger.identity * 2 + b"\0" + list_of_types(["troupe::GetNodeStatus"])
        self.refused(header(ROUTED, len(routed), target=actor) + routed)
        self.assert_serves()

    def test_errors_and_atoms_that_answer_nothing_close_the_connection(self):
        stranger = self.stranger()
        actor = stranger.shake_hands()
        error = b"\x03" + struct.pack(">Q", 0x6f9ad6d) + b"\0\0\x03@<>"
        for number in (REQUEST, PLAIN, 0):
            self.refused(message(actor, "@error", body=error, number=number))
            self.refused(message(actor, "@atom", body=bytes(8), number=number))
            self.refused(message(actor, number=number))
        self.assert_serves()

    def test_answers_that_nobody_asked_for_are_dropped(self):
        stranger = self.stranger()
        actor = stranger.shake_hands()
        for name, body in (("@error", b"\0" + bytes(8)), ("@atom", bytes(8)), ("troupe::Hello", b"\0\0\0\1\0")):
            for target in range(1, 40):
                stranger.say(message(target, name, body=body, number=ANSWER))
        stranger.say(message(actor, "troupe::GetNodeStatus"))
        self.assertEqual(stranger.answer()[0], REQUEST | 1 << 63)
        self.assert_serves()

    def test_messages_of_streams_close_the_connection(self):
        stranger = self.stranger()
        actor = stranger.shake_hands()
        for category in (2, 3, 4, 6, 10, 15):
            self.refused(message(actor, "troupe::GetNodeStatus", number=category << 60 | 7))
        self.assert_serves()

    def test_what_stays_within_its_process_closes_the_connection(self):
        stranger = self.stranger()
        actor = stranger.shake_hands()
        for name in ("OfferTensor", "FetchTensor", "WatchPeer", "GetPeer", "RunPart", "Continue", "OpenSession", "Nothing"):
            self.refused(message(actor, f"troupe::{name}", body=bytes(64)))
        self.assert_serves()

    def test_notices_in_the_name_of_others_close_the_connection(self):
        stranger = self.stranger()
        stranger.shake_hands()
        other = stranger.identity[:12] + os.urandom(20)
        for operation in (MONITOR, DOWN):
            for ends in (other + stranger.node, stranger.node * 2):
                self.refused(header(operation, 64, source=1, target=1) + ends)
        self.assert_serves()

    def test_kinds_that_the_actor_does_not_know(self):
        stranger = self.stranger()
        actor = stranger.shake_hands()
        for name in ("troupe::GetSteps", "troupe::RenewLease"):
            for number in (REQUEST, PLAIN):
                stranger.say(message(actor, name, number=number))
        for target in list(range(1, 40)) + [1 << 40, (1 << 64) - 1]:
            stranger.say(message(target, "troupe::GetSteps"))
            stranger.say(message(target, "troupe::Hello", body=b"\0"))
        stranger.say(message(actor, "troupe::GetNodeStatus"))
        self.assert_serves()
        self.assertFalse(stranger.is_closed(0))


class NoDescriptors(Port):
    def test_a_node_without_file_descriptors_refuses_each_new_connection(self):
        used = len(os.listdir(f"/proc/{self.node.pid}/fd"))
        resource.prlimit(self.node.pid, resource.RLIMIT_NOFILE, (used + 3, 4096))
        strangers = [self.stranger() for _ in range(40)]
        for stranger in strangers[3:]:  # nobody waits in the queue, so the node has nothing to turn for
            self.assertTrue(stranger.is_closed())
        self.node.wait_for("this process has no file descriptor left", "err")
        for stranger in strangers:
            stranger.close()
        resource.prlimit(self.node.pid, resource.RLIMIT_NOFILE, (4096, 4096))
        self.assert_serves()


if __name__ == "__main__":
    unittest.main()
