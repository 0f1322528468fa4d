"""Standard streams that nobody reads: a node and `troupe up` with a full pipe go on, answer, and end on a signal."""

import fcntl
import json
import os
import signal
import subprocess
import time
import unittest

from support import DEADLINE, TROUPE, Case, children_of, run


class UnreadPipe(Case):
    def start_unread(self, *arguments):
        """Both streams are a pipe of one page without room for a byte; gives the process and the pipe's end to read from."""
        reader, writer = os.pipe()
        self.addCleanup(os.close, reader)
        fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
        os.write(writer, b"." * 4095 + b"\n")
        process = subprocess.Popen([TROUPE, *arguments], stdout=writer, stderr=writer, start_new_session=True)
        os.close(writer)
        self.addCleanup(process.wait, timeout=DEADLINE)
        self.addCleanup(process.kill)
        return process, reader

    def status(self, port):
        """The node's state, as soon as it answers; the test's own limit ends it."""
        end = time.monotonic() + DEADLINE
        while time.monotonic() < end:
            code, out, err = run("status", "--json", f"127.0.0.1:{port}")
            if code == 0:
                return json.loads(out)
        raise AssertionError(err)

    def test_a_node_answers_and_ends(self):
        path, ports = self.cluster(settings='log-level = "debug"')
        node, _ = self.start_unread("node", f"--config-file={path}", "--job=ps")
        for _ in range(5):  # each client that comes and goes may write lines
            self.assertEqual(self.status(ports[0])["counters"]["dropped_log_lines"], 0)
        node.send_signal(signal.SIGTERM)
        self.assertEqual(node.wait(timeout=DEADLINE), 0)

    def test_up_answers_and_ends_with_its_tasks(self):
        path, ports = self.cluster()
        up, _ = self.start_unread("up", f"--config-file={path}")
        for port in ports:
            self.status(port)
        children = [self.watch(child) for child in children_of(up.pid)]
        self.assertEqual(len(children), 2)
        up.send_signal(signal.SIGTERM)
        self.assertEqual(up.wait(timeout=DEADLINE), 0)
        for child in children:
            self.assert_gone(child)

    def test_what_was_queued_comes_when_somebody_reads(self):
        path, ports = self.cluster()
        up, reader = self.start_unread("up", f"--config-file={path}")
        for port in ports:
            self.status(port)
        with os.fdopen(os.dup(reader), encoding="utf-8") as lines:
            for line in lines:
                if line == "up: 2 tasks ready\n":
                    break
            else:
                self.fail("it ended without the line")
        up.send_signal(signal.SIGTERM)
        self.assertEqual(up.wait(timeout=DEADLINE), 0)


if __name__ == "__main__":
    unittest.main()
