"""Processes that stand still or end while others wait for them: what is told, by whom, and that it does not wait for anything else.

Times that could end a wait otherwise are ten minutes long, so that an answer that comes at all comes for the reason that is tested."""

import json
import os
import pty
import signal
import subprocess
import time
import unittest

from support import DEADLINE, TROUPE, Case, run

GRAPH = """x = Const[dtype=DT_FLOAT, value=f32[] 2]() @"/job:ps/task:0"
a = Neg(x) @"/job:ps/task:0"
shape = Const[dtype=DT_INT32, value=i32[1] 2]() @"/job:worker/task:1"
r = RandomStandardNormal[dtype=DT_FLOAT](shape) @"/job:worker/task:1"
y = Mul(a, r) @"/job:worker/task:1"
"""
SLOW = "dial-timeout = 10min\nrequest-timeout = 10min\ncompile-timeout = 10min\n"
MASTER, WORKER = "/job:worker/replica:0/task:0", "/job:worker/replica:0/task:1"


class Silence(Case):
    def start_cluster(self, settings):
        self.path, self.ports = self.cluster(workers=2, settings=SLOW + settings)
        self.nodes = [self.start_node(*task) for task in (("ps", 0), ("worker", 0), ("worker", 1))]
        self.graph = self.file("y.graph", GRAPH)
        self.target = f"caf://127.0.0.1:{self.ports[1]}"

    def start_node(self, job, task):
        node = self.start("node", f"--config-file={self.path}", f"--job={job}", f"--task={task}")
        node.wait_for("ready at ")
        return node

    def stop(self, which):
        node = self.nodes[which]
        node.send(signal.SIGSTOP)
        os.waitpid(node.pid, os.WUNTRACED)  # only now every thread of it stands still
        self.addCleanup(node.send, signal.SIGCONT)

    def worker_sessions(self):
        code, out, err = run("status", "--json", f"127.0.0.1:{self.ports[1]}")
        self.assertEqual(code, 0, err)
        return json.loads(out)["counters"]["worker_sessions"]

    def run_step(self, *options):
        return run("run", self.target, self.graph, "--fetch", "y", *options)

    def told(self, answer, *words):
        code, _, err = answer
        self.assertEqual(code, 1, err)
        for word in words:
            self.assertIn(word, err)

    def test_a_frozen_task_keeps_nobody_waiting(self):
        self.start_cluster("lease = 1s\nheartbeat = 200ms")
        self.stop(2)
        self.told(self.run_step(), "UNAVAILABLE", WORKER, "frozen")  # it was never dialled
        self.nodes[2].send(signal.SIGCONT)
        while self.run_step()[0] != 0:
            pass  # each try asks the cluster; the test's own limit ends it
        self.stop(2)
        self.told(self.run_step(), "UNAVAILABLE", WORKER, "frozen")
        self.told(run("reset", self.target), "UNAVAILABLE", WORKER, "frozen")

    def test_the_time_that_is_given_is_taken(self):
        self.start_cluster("lease = 10min")
        self.assertEqual(self.run_step()[0], 0)
        self.stop(2)
        self.told(self.run_step("--timeout=500ms"), WORKER, "has not answered for")
        self.told(run("reset", "--timeout=500ms", self.target), WORKER, "has not answered for")

    def test_an_end_is_told_though_another_task_is_frozen(self):
        self.start_cluster("lease = 10min")
        self.assertEqual(self.run_step()[0], 0)
        while self.worker_sessions() != 0:
            pass  # each round asks the node; the test's own limit ends it
        self.stop(0)
        self.stop(2)
        opening = self.start("run", self.target, self.graph, "--fetch", "y", "--timeout=10min")
        while self.worker_sessions() != 1:  # the master's own task has made its part, and the others were asked
            self.assertIsNone(opening.process.poll(), "it does not wait")
        self.nodes[2].process.kill()
        self.assertEqual(opening.end(), 1)
        text = "\n".join(opening.rest("err"))
        self.assertIn(WORKER, text)
        self.assertIn("its process has ended", text)

    def test_a_frozen_master_is_named(self):
        self.start_cluster("lease = 10min")
        shell = self.prompt()
        self.say(f"load {self.graph}")
        self.say("run y")
        self.until(shell, "ran in ")
        self.stop(1)
        self.say("why")
        self.assertIn(MASTER, self.until(shell, "frozen")[-1])
        self.told(run("status", "--timeout=300ms", self.target), f"127.0.0.1:{self.ports[1]}", "frozen")
        self.told(run("reset", "--timeout=300ms", self.target), f"127.0.0.1:{self.ports[1]}", "frozen")

    def test_a_master_that_came_back_says_that_the_session_is_not_found(self):
        self.start_cluster("lease = 10min")
        shell = self.prompt()
        self.say(f"load {self.graph}")
        self.say("run y")
        self.until(shell, "ran in ")
        self.nodes[1].process.kill()
        self.nodes[1].process.wait()
        self.say("run y")
        self.assertIn("UNAVAILABLE", self.until(shell, "its process has ended")[-1])
        self.nodes[1] = self.start_node("worker", 0)
        end = time.monotonic() + DEADLINE
        said = ""
        while "ABORTED" not in said:
            self.assertLess(time.monotonic(), end, said)
            self.say("run y")
            self.say("feed")
            said = "\n".join(self.until(shell, "No feeds"))
        self.assertIn("is not found. Possibly, this master has restarted", said)
        self.assertIn(MASTER, said)
        self.say(f"connect {self.target}")
        self.until(shell, "connected to ")
        self.say(f"load {self.graph}")
        self.say("run y")
        self.until(shell, "ran in ")

    def prompt(self):
        """At a terminal: a script would end with its first error."""
        self.keyboard, terminal = pty.openpty()
        shell = subprocess.Popen([TROUPE, "repl", self.target], stdin=terminal, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                 env={**os.environ, "TERM": "dumb"})
        os.close(terminal)
        self.addCleanup(os.close, self.keyboard)
        self.addCleanup(shell.stdout.close)
        self.addCleanup(shell.wait, DEADLINE)
        self.addCleanup(shell.kill)
        return shell

    def say(self, line):
        os.write(self.keyboard, f"{line}\n".encode())

    def until(self, shell, text):
        """The lines to the first with `text`."""
        lines = []
        for line in shell.stdout:
            lines.append(line.rstrip("\n"))
            if text in line:
                return lines
        raise AssertionError(f"no line with {text!r}, but {lines}")


if __name__ == "__main__":
    unittest.main()
