"""The module `troupe` of python/, as far as it needs no TensorFlow: children that are servers."""

import os
import subprocess
import sys
import unittest

from support import TROUPE, Case, free_ports

PYTHON = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python")
sys.path.insert(0, PYTHON)
from troupe.server import Child, ServerError, placed  # noqa: E402

HOLD = """
import sys
from troupe.server import Child
child = Child({"worker": {"0": sys.argv[1]}}, "worker", 0)
print(child.process.pid, flush=True)
sys.stdin.read()
"""


class Module(Case):
    def script(self, program, *words):
        process = subprocess.Popen([sys.executable, "-B", "-c", program, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                   env={**os.environ, "PYTHONPATH": PYTHON, "TROUPE": TROUPE})

        def end():
            process.kill()
            process.wait()
            process.stdin.close()
            process.stdout.close()

        self.addCleanup(end)
        return process

    def test_a_child_ends_with_its_script(self):
        for end in ("killed", "in order"):
            with self.subTest(end):
                (port,) = free_ports(1)
                script = self.script(HOLD, f"127.0.0.1:{port}")
                child = self.watch(int(script.stdout.readline()))
                script.kill() if end == "killed" else script.stdin.close()
                self.assert_gone(child)

    def test_a_child_ends_when_it_is_told(self):
        (port,) = free_ports(1)
        child = Child({"worker": {"0": f"127.0.0.1:{port}"}}, "worker", 0)
        self.assertIsNone(child.process.poll())
        child.end()
        self.assertEqual(child.process.returncode, 0)
        child.end()

    def test_a_child_that_cannot_start_is_an_error(self):
        with self.assertRaisesRegex(ServerError, "ended with code 2"):
            Child({"worker": {"0": "127.0.0.1:1"}}, "chief", 0)
        before = os.environ.get("TROUPE")
        os.environ["TROUPE"] = "/nowhere/troupe"
        try:
            with self.assertRaisesRegex(ServerError, "cannot run '/nowhere/troupe'"):
                Child({"worker": {"0": "127.0.0.1:1"}}, "worker", 0)
        finally:
            os.environ["TROUPE"] = before or TROUPE

    def test_the_own_port_may_be_any(self):
        tasks = {"ps": {0: "h:1"}, "worker": {0: "localhost:0", 1: "h:0"}}
        out, address = placed(tasks, "worker", 0)
        self.assertRegex(address, r"^localhost:[1-9]\d+$")
        self.assertEqual(out, {"ps": {"0": "h:1"}, "worker": {"0": address, "1": "h:0"}})
        self.assertEqual(tasks["worker"][0], "localhost:0")
        with self.assertRaisesRegex(ValueError, "task 7 is not defined in job 'worker'"):
            placed(tasks, "worker", 7)

    def test_a_wrong_call_tells_the_right_one(self):
        for words in ([], ["-m"], ["--help"]):
            done = subprocess.run([sys.executable, "-B", "-m", "troupe", *words], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": PYTHON})
            self.assertEqual(done.returncode, 2)
            self.assertIn("usage: python -m troupe SCRIPT", done.stderr)


if __name__ == "__main__":
    unittest.main()
