"""The module `troupe` of python/, as far as it needs no TensorFlow: children that are servers."""

import contextlib
import io
import os
import signal
import subprocess
import sys
import tempfile
import unittest

from support import TROUPE, Case, free_ports

PYTHON = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python")
sys.path.insert(0, PYTHON)
from troupe.child import Child, ServerError, folders  # noqa: E402
from troupe.server import NoPort, NoSuchTask, placed  # noqa: E402
from troupe.session import OwnNode, OwnNodes, cpu_devices_of, local_message, refusal_of_pool  # noqa: E402

HOLD = """
import sys
from troupe.child import Child
child = Child({"worker": {"0": sys.argv[1]}}, "worker", 0)
print(child.process.pid, flush=True)
sys.stdin.read()
"""


# What a program does at an interrupt needs its node still.
INTERRUPTED = """
import sys
from troupe.child import Child
child = Child({"worker": {"0": sys.argv[1]}}, "worker", 0)
try:
    print(child.process.pid, flush=True)
    sys.stdin.read()
except KeyboardInterrupt:
    print("interrupted", flush=True)
    sys.stdin.read()
"""

SCRIPT = """
import pickle, sys, threading
class Named:
    pass
if __name__ == "__main__":
    assert type(pickle.loads(pickle.dumps(Named()))) is Named
    assert sys.modules["__main__"].Named is Named
    threading.Thread(target=lambda: (threading.main_thread().join(), pickle.dumps(Named()), print(__file__, sys.argv[1:], flush=True))).start()
    sys.exit(7)
"""


LATER = """
import os, sys
sys.path.insert(0, os.getcwd())
from troupe import AfterImport
sys.meta_path.insert(0, AfterImport("later", lambda: print("then", sys.modules["later"].SAID)))
sys.meta_path.insert(0, AfterImport("nowhere", lambda: print("never")))
assert "later" not in sys.modules
os.environ["SAID"] = "what the program set before"
import later
import later
try:
    import nowhere
except ModuleNotFoundError as error:
    print(error)
"""


class Module(Case):
    def script(self, program, *words):
        process = subprocess.Popen([sys.executable, "-B", "-c", program, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                   env={**os.environ, "PYTHONPATH": PYTHON, "TROUPE": TROUPE}, start_new_session=True)

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

    def test_an_interrupt_is_for_the_script_alone(self):
        (port,) = free_ports(1)
        script = self.script(INTERRUPTED, f"127.0.0.1:{port}")
        child = self.watch(int(script.stdout.readline()))
        os.killpg(script.pid, signal.SIGINT)
        self.assertEqual(script.stdout.readline(), "interrupted\n")
        os.kill(child, 0)
        script.stdin.close()
        self.assert_gone(child)

    def test_sessions_without_a_target_share_a_node(self):
        node = OwnNode()
        target = node.target()
        self.addCleanup(node._child.end)
        self.assertRegex(target, r"^grpc://127\.0\.0\.1:\d+$")
        self.assertEqual(node.target(), target)

    def test_sessions_with_more_processors_have_a_node_of_their_own(self):
        nodes = OwnNodes()
        one, two = nodes.target(), nodes.target(2)
        for node in nodes._nodes.values():
            self.addCleanup(node._child.end)
        self.assertNotEqual(one, two)
        self.assertEqual((nodes.target(1), nodes.target(2)), (one, two))
        self.assertIn("--cpu-devices=2", nodes._nodes[os.getcwd(), 2]._child.process.args)

        class Config:
            device_count = {}

        for given, count in (({}, 1), ({"GPU": 3}, 1), ({"CPU": 0}, 1), ({"CPU": 4}, 4)):
            Config.device_count = given
            self.assertEqual(cpu_devices_of(Config), count)

    def test_sessions_in_another_working_folder_have_a_node_that_works_there(self):
        nodes, before = OwnNodes(), os.getcwd()
        here = nodes.target()
        with tempfile.TemporaryDirectory() as folder:
            try:
                os.chdir(folder)
                there = nodes.target()
                for node in nodes._nodes.values():
                    self.addCleanup(node._child.end)
                self.assertNotEqual(here, there)
                child = nodes._nodes[os.getcwd(), 1]._child.process.pid
                self.assertEqual(os.readlink(f"/proc/{child}/cwd"), os.path.realpath(folder))
            finally:
                os.chdir(before)
        self.assertEqual(nodes.target(), here)

    def test_errors_of_own_sessions_read_as_local_ones(self):
        self.assertEqual(local_message("From /job:localhost/replica:0/task:0:\nno", False), "no")
        self.assertEqual(local_message("From /job:ps/replica:0/task:0:\nno", False), "From /job:ps/replica:0/task:0:\nno")
        self.assertEqual(local_message("step 3 took long", True), "Timed out waiting for notification: step 3 took long")
        self.assertEqual(local_message("Must run PartialRunSetup before performing partial runs", False),
                         "Must run 'setup' before performing partial runs!")

    def test_a_thread_pool_that_is_not_there_is_refused(self):
        for pool, pools in ((-1, 0), (0, 0), (-1, 2), (0, 2), (1, 2)):
            self.assertIsNone(refusal_of_pool(pool, pools))
        for pool, pools in ((-2, 0), (1, 0), (7, 0), (1, 1), (2, 2)):
            self.assertEqual(refusal_of_pool(pool, pools), f"Invalid inter_op_thread_pool: {pool}")

    def test_a_node_that_was_killed_is_started_anew_for_the_next_session(self):
        node = OwnNode()
        first = node.target()
        node._child.process.kill()
        node._child.process.wait(timeout=20)
        with contextlib.redirect_stderr(io.StringIO()) as said:
            second = node.target()
        self.addCleanup(node._child.end)
        self.assertIn("has ended (code -9)", said.getvalue())
        self.assertNotEqual(first, second)
        self.assertFalse(node._child.has_ended())
        self.assertEqual(second, node.target())

    def test_graphs_may_use_the_folders_of_the_program(self):
        with tempfile.TemporaryDirectory(dir=os.getcwd()) as here:
            here = os.path.realpath(here)
            before = list(sys.argv)
            try:
                sys.argv[:] = [os.path.join(here, "a", "train.py"), f"--train_dir={here}/runs/1", "--name=x", f"{here}", "/none/there", "relative/b", "--data=../beside/x"]
                os.makedirs(os.path.join(here, "a"))
                os.makedirs(os.path.join(here, "runs"))
                out = folders()
                self.assertEqual(out[:2], [os.path.realpath(os.getcwd()), os.path.join(here, "a")])
                self.assertEqual(out[-3:], [os.path.join(here, "runs"), here, os.path.dirname(os.path.realpath(os.getcwd()))])
                self.assertIn(os.path.realpath("/tmp"), out)
                self.assertNotIn("/", out)
                os.environ["TROUPE_FILES"] = "/data:/models"
                self.assertEqual(folders(), ["/data", "/models"])
            finally:
                os.environ.pop("TROUPE_FILES", None)
                sys.argv[:] = before

    def test_a_script_is_the_main_module_to_its_end(self):
        with tempfile.TemporaryDirectory() as here:
            path = os.path.join(here, "script.py")
            with open(path, "w") as file:
                file.write(SCRIPT)
            run = f"import sys; from troupe.__main__ import run_script; sys.argv = sys.argv[1:]; run_script({path!r})"
            done = subprocess.run([sys.executable, "-B", "-c", run, path, "--a", "b"], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": PYTHON})
            self.assertEqual((done.returncode, done.stdout), (7, f"{path} ['--a', 'b']\n"), done.stderr)

    def test_tensorflow_is_replaced_when_the_program_has_imported_it(self):
        with tempfile.TemporaryDirectory() as here:
            with open(os.path.join(here, "later.py"), "w") as file:
                file.write("import os\nSAID = os.environ['SAID']\n")
            done = subprocess.run([sys.executable, "-B", "-c", LATER], capture_output=True, text=True, cwd=here, env={**os.environ, "PYTHONPATH": PYTHON})
            self.assertEqual(done.stdout, "then what the program set before\nNo module named 'nowhere'\n", done.stderr)
            with open(os.path.join(here, "script.py"), "w") as file:
                file.write("import sys; print('tensorflow' in sys.modules)")
            done = subprocess.run([sys.executable, "-B", "-m", "troupe", "script.py"], capture_output=True, text=True, cwd=here, env={**os.environ, "PYTHONPATH": PYTHON})
            self.assertEqual(done.stdout, "False\n", done.stderr)

    def test_a_child_ends_when_it_is_told(self):
        (port,) = free_ports(1)
        child = Child({"worker": {"0": f"127.0.0.1:{port}"}}, "worker", 0)
        self.assertIsNone(child.process.poll())
        child.end()
        self.assertEqual(child.process.returncode, 0)
        child.end()

    def test_a_child_that_cannot_start_is_an_error(self):
        with self.assertRaisesRegex(ServerError, "ended with code 2") as wrongly_called:
            Child({"worker": {"0": "127.0.0.1:1"}}, "chief", 0)
        self.assertEqual(wrongly_called.exception.code, 2)
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
        with self.assertRaisesRegex(NoSuchTask, 'Task 7 was not defined in job "worker"'):
            placed(tasks, "worker", 7)
        with self.assertRaisesRegex(NoSuchTask, 'Job "chief" was not defined in cluster'):
            placed(tasks, "chief", 0)
        for address in ("localhost", "localhost:", "localhost:xx", "localhost:2147483648", "localhost:-1", ""):
            with self.assertRaisesRegex(NoPort, f'Could not parse port for local server from "{address}".'):
                placed({"local": {0: address}}, "local", 0)

    def test_ports_are_those_that_tensorflow_takes(self):
        for address, plain in (("localhost:99999", "localhost:34463"), (":7", "localhost:7"), ("7", "localhost:7"), ("h: +07 ", "h:7"), ("[::1]:2147483647", "[::1]:65535")):
            self.assertEqual(placed({"local": {0: address}}, "local", 0)[1], plain)
            self.assertEqual(placed({"local": {0: "h:9", 1: address}}, "local", 0)[0], {"local": {"0": "h:9", "1": plain}})
        self.assertRegex(placed({"local": {0: "localhost:65536"}}, "local", 0)[1], r"^localhost:[1-9]\d+$")
        for address in ("localhost", "", "localhost:-1", "http://localhost:7"):
            with self.assertRaisesRegex(NoPort, f'Could not interpret "{address}" as a host-port pair.'):
                placed({"local": {0: "h:9", 1: address}}, "local", 0)
        for address in ("localhost:", "localhost:7x", "localhost:4294967296"):
            with self.assertRaisesRegex(NoPort, f"Failed to parse port.{address}"):
                placed({"local": {0: "h:9", 1: address}}, "local", 0)

    def test_a_wrong_call_tells_the_right_one(self):
        for words in ([], ["-m"], ["--help"]):
            done = subprocess.run([sys.executable, "-B", "-m", "troupe", *words], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": PYTHON})
            self.assertEqual(done.returncode, 2)
            self.assertIn("usage: python -m troupe SCRIPT", done.stderr)
        done = subprocess.run([sys.executable, "-B", "-m", "troupe", "none.py"], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": PYTHON})
        self.assertEqual((done.returncode, done.stderr), (2, "troupe: there is no script 'none.py'\n"))


if __name__ == "__main__":
    unittest.main()
