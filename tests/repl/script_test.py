"""`troupe repl` without a terminal: commands, scripts, exit codes, a cluster, killing each actor while a step runs."""

import os
import re
import signal
import subprocess
import unittest

from support import DEADLINE, TROUPE, Case, endless_graph, run
from terminal_test import GRAPH


class Prompt(Case):
    def repl(self, *arguments, text=None):
        done = subprocess.run([TROUPE, "repl", *arguments], input=text or "", capture_output=True, text=True, timeout=DEADLINE,
                              cwd=self.folder)
        return done.returncode, done.stdout, done.stderr


class Commands(Prompt):
    def test_commands_of_the_command_line(self):
        self.file("half.graph", GRAPH)
        code, out, err = self.repl("-c", "load half.graph; feed input_values f32[2] 1 2", "-c", "run y")
        self.assertEqual((code, err), (0, ""))
        self.assertIn("y = f32[2] 2.5 3\n", out)
        self.assertNotIn("\x1b", out)

    def test_a_script_ends_at_its_first_error(self):
        code, out, err = self.repl(text="help run\n# fine\n\nrun\nhelp load\n")
        self.assertEqual(code, 2)
        self.assertIn("example: run loss", out)
        self.assertNotIn("example: load", out)
        self.assertTrue(err.startswith("error: standard input:4: `run` wants more arguments"), err)

    def test_exit_codes(self):
        for commands, expected in [("help", 0), ("quit; nonsense", 0), ("load nowhere", 1), ("nonsense", 2), ("run", 2),
                                   ("feed x 'open", 2), ("run y \\", 2), ("connect nowhere", 2)]:
            with self.subTest(commands):
                code, _, err = self.repl("-c", commands)
                self.assertEqual(code, expected, err)
        self.assertEqual(self.repl("nowhere", "-c", "help")[0], 2)
        for text in ("help > x\xff\n", "\x01\x02\n", "\xc3\xa9\n", "help\r\nnonsense\r\n"):
            self.assertEqual(self.repl(text=text)[0], 2, text)
        self.assertEqual(self.repl("--nonsense")[0], 2)
        self.assertEqual(run("repl", "--help")[0], 0)

    def test_an_interrupt_ends_a_script_and_its_step(self):
        self.file("endless.graph", endless_graph())
        process = self.start("repl", "local", "-c", f"load {self.folder}/endless.graph; devices; run end; help", shell='exec "$@"')
        process.wait_for("endless.graph")
        process.send(signal.SIGINT)
        self.assertEqual(process.end(), 130)
        self.assertIn("error: interrupted", process.rest("err"))

    def test_a_node_that_is_gone_is_named(self):
        code, _, err = self.repl("caf://127.0.0.1:1", "-c", "devices")
        self.assertEqual(code, 1)
        self.assertIn("127.0.0.1:1", err)


class Cluster(Prompt):
    def test_a_cluster_is_used_and_looked_at(self):
        config, ports = self.cluster()
        self.file("half.graph", GRAPH)
        for job, task in [("ps", 0), ("worker", 0)]:
            self.start("node", f"--config-file={config}", f"--job={job}", f"--task={task}").wait_for("", "err")
        script = ("load half.graph; feed input_values f32[2] 1 2; run y trace timeout=30s; devices; sessions; actors; "
                  "steps; place y; partitions y; timeline t.json; status")
        code, out, err = self.repl(f"caf://127.0.0.1:{ports[1]}", "-c", script)
        self.assertEqual((code, err), (0, ""), out)
        self.assertIn("y = f32[2] 2.5 3\n", out)
        self.assertIn("/job:ps/replica:0/task:0/device:CPU:0", out)
        self.assertRegex(out, r"\*  [0-9a-f]{16} +5 nodes")
        self.assertIn("/job:worker/replica:0/task:0 at caf://127.0.0.1:", out)
        self.assertTrue(os.path.getsize(os.path.join(self.folder, "t.json")) > 0)


class Kill(Prompt):
    def actors(self, repl):
        """The paths of the living actors."""
        repl.stdin.write("actors\n")
        repl.stdin.flush()
        names, paths = [], []
        for line in repl.stdout:
            if actor := re.match(r"( *)(\S+) +\d+ +\d+ waiting", line):
                names = names[:len(actor[1]) // 2] + [actor[2]]
                paths.append("/".join(names))
            if "actors; a path" in line:
                return paths
        self.fail("the prompt has ended")

    def kill_while_a_step_runs(self, pattern):
        """Kills the actor whose path matches; the step must end, with an error, and then the process."""
        self.file("endless.graph", endless_graph())
        repl = subprocess.Popen([TROUPE, "repl"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                cwd=self.folder)
        self.addCleanup(repl.stdout.close)
        self.addCleanup(repl.wait)
        self.addCleanup(repl.kill)
        repl.stdin.write("load endless.graph\nrun end &\n")
        # Until the step runs; the tree is asked of its actors one after another.
        found = {}
        while not found.keys() >= {"/executor-", "/step-", pattern}:
            found = {part: path for path in self.actors(repl) for part in ("/executor-", "/step-", pattern) if re.search(part, path)}
        repl.stdin.write(f"kill {found[pattern]}\nwait\n")
        repl.stdin.close()
        rest = repl.stdout.read()
        self.assertEqual(repl.wait(timeout=DEADLINE), 1, rest)
        self.assertIn("[1] end\nerror: ", rest)

    def test_every_kind_of_actor(self):
        for pattern in ["/step-", "/executor-", "/graph-manager$", "master/session-[^/]*$", "worker/session-[^/]*$", "/master$",
                        "/worker$", "/transport$", "/membership$"]:
            with self.subTest(pattern):
                self.kill_while_a_step_runs(pattern)


if __name__ == "__main__":
    unittest.main()
