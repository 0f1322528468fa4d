"""Why a step does not end, told by real processes: one task stands still, the prompt and `troupe status` name it."""

import json
import os
import signal
import subprocess
import time
import unittest

from support import DEADLINE, TROUPE, Case, run

GRAPH = """x = Const[dtype=DT_FLOAT, value=f32[] 2]()
shape = Const[dtype=DT_INT32, value=i32[1] 2]() @"/job:worker/task:0"
a = RandomStandardNormal[dtype=DT_FLOAT](shape) @"/job:worker/task:0"
y = Mul(x, a) @"/job:ps/task:0"
"""


class Why(Case):
    def prompt(self, port):
        shell = subprocess.Popen([TROUPE, "repl", f"caf://127.0.0.1:{port}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, text=True)
        self.addCleanup(shell.stdout.close)
        self.addCleanup(shell.stdin.close)
        self.addCleanup(shell.wait, DEADLINE)
        self.addCleanup(shell.kill)
        return shell

    def say(self, shell, line):
        shell.stdin.write(line + "\n")
        shell.stdin.flush()

    def until(self, shell, text):
        """The lines to the first with `text`."""
        lines = []
        for line in shell.stdout:
            lines.append(line.rstrip("\n"))
            if text in line:
                return lines
        raise AssertionError(f"no line with {text!r}, but {lines}")

    def explained(self, shell, command, cause):
        """What `command` prints, once the step has come so far that this is the cause."""
        end = time.monotonic() + DEADLINE
        while True:
            self.say(shell, command + "; feed")
            lines = self.until(shell, "No feeds")
            if any(cause in line for line in lines):
                return lines
            self.assertLess(time.monotonic(), end, lines)

    def test_a_task_that_stands_still(self):
        path, ports = self.cluster(settings="lease = 60s")
        nodes = []
        for job in ("ps", "worker"):
            node = self.start("node", f"--config-file={path}", f"--job={job}", "--task=0")
            node.wait_for("ready at ")
            nodes.append(node)
        shell = self.prompt(ports[0])
        self.say(shell, f"load {self.file('wait.graph', GRAPH)}")
        self.say(shell, "run y")
        self.until(shell, "ran in ")
        self.assertEqual(json.loads(run("status", "--steps", "--json", f"127.0.0.1:{ports[0]}")[1])["sessions"][0]["steps"], [])

        nodes[1].send(signal.SIGSTOP)
        os.waitpid(nodes[1].pid, os.WUNTRACED)  # only now every thread of it stands still
        self.addCleanup(nodes[1].send, signal.SIGCONT)
        self.say(shell, "run y &")
        self.until(shell, "runs in the background")
        cause = "'a' from /job:worker/replica:0/task:0/device:CPU:0: /job:worker/replica:0/task:0 does not answer"
        for command in ("why", "step why"):
            lines = self.explained(shell, command, cause)
            self.assertTrue(any(line.startswith("step ") for line in lines))
        code, out, _ = run("status", "--steps", f"127.0.0.1:{ports[0]}")
        self.assertEqual(code, 0)
        self.assertIn(cause, out)
        code, out, _ = run("status", "--steps", "--json", f"127.0.0.1:{ports[0]}")
        self.assertEqual(code, 0)
        (step,) = json.loads(out)["sessions"][0]["steps"]
        self.assertIn(cause, step["cause"])
        self.assertIn(cause, step["tree"][-1])
        self.assertGreater(step["running_us"], 0)

        self.say(shell, "run y timeout=200ms")
        self.assertIn("; waiting for " + cause, self.until(shell, "longer than its deadline of 200 ms")[-1])


if __name__ == "__main__":
    unittest.main()
