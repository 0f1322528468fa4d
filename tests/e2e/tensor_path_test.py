"""Tensors between real nodes: each path moves them and says so, and neither a killed nor a stopped peer leaves anything behind."""

import ctypes.util
import json
import os
import signal
import time
import unittest

from support import DEADLINE, Case, run

PS, WORKER = "/job:ps/replica:0/task:0", "/job:worker/replica:0/task:0"
GRAPH = """zero = Const[dtype=DT_FLOAT, value=f32[] 0]()
size = Const[dtype=DT_INT32, value=i32[1] COUNT]() @"/job:ps/task:0"
first = Fill(size, zero) @"/job:ps/task:0"
v = VarHandleOp[dtype=DT_FLOAT, shape=[COUNT], shared_name="v"]() @"/job:ps/task:0"
init = AssignVariableOp[dtype=DT_FLOAT](v, first) @"/job:ps/task:0"
value = ReadVariableOp[dtype=DT_FLOAT](v) @"/job:ps/task:0"
axes = Const[dtype=DT_INT32, value=i32[1] 0]() @"/job:worker/task:0"
y = Max(value, axes) @"/job:worker/task:0"
there = Identity(value) @"/job:worker/task:0"
"""
# Of UCX's transports the one that every machine has.
os.environ["UCX_TLS"] = "tcp"
BESIDE_MESSAGES = ("shared-memory", "stream", *(["ucx"] if ctypes.util.find_library("ucp") else []))
COUNTERS = ("transport_offers", "transport_pulls", "shared_bytes", "data_connections_in", "data_connections_out")


class TensorPath(Case):
    def start_nodes(self, settings):
        path, self.ports = self.cluster(settings=settings)
        self.nodes = {}
        for job in ("ps", "worker"):
            self.nodes[job] = self.start("node", f"--config-file={path}", f"--job={job}", "--task=0")
            self.nodes[job].wait_for("ready at ")

    def graph(self, megabytes):
        return self.file("move.graph", GRAPH.replace("COUNT", str(megabytes << 18)))

    def status(self, job):
        code, out, err = run("status", "--json", f"127.0.0.1:{self.ports[job == 'worker']}")
        self.assertEqual(code, 0, err)
        return json.loads(out)

    def until(self, what, predicate):
        end = time.monotonic() + DEADLINE
        while not (seen := predicate()):
            self.assertLess(time.monotonic(), end, what)
        return seen

    def assert_freed(self, job):
        def freed():
            counters = self.status(job)["counters"]
            return all(counters.get(name, 0) == 0 for name in COUNTERS)
        self.until(f"{job} has freed everything", freed)

    def test_each_path_moves_tensors_and_says_so(self):
        for path in ("messages", *BESIDE_MESSAGES):
            with self.subTest(path):
                self.start_nodes(f'tensor-path = "{path}"')
                trace = os.path.join(self.folder, f"{path}.json")
                code, out, err = run("run", f"caf://127.0.0.1:{self.ports[1]}", self.graph(3), "--init", "init", "--fetch", "y",
                                     "--steps", "3", "--trace", trace)
                self.assertEqual(code, 0, err)
                (line,) = [line for line in self.status("worker")["tensors"] if line.startswith(f"from {PS}")]
                self.assertIn(f"from {PS}: {path}, ", line)
                self.assertIn(" MiB, ", line)
                self.assertIn(" GB/s", line)
                with open(trace) as file:
                    details = [event["args"].get("detail", "") for event in json.load(file)["traceEvents"] if "args" in event]
                said = f"{path}, 3.0 MiB" + (", read where it lies" if path == "shared-memory" else " in ")
                self.assertTrue(any(detail.startswith(said) for detail in details), details)
                for node in self.nodes.values():
                    node.close()

    def test_auto_takes_shared_memory_on_one_host(self):
        self.start_nodes("")
        code, _, err = run("run", f"caf://127.0.0.1:{self.ports[1]}", self.graph(1), "--init", "init", "--fetch", "y")
        self.assertEqual(code, 0, err)
        self.assertTrue(any(line.startswith(f"from {PS}: shared-memory, ") for line in self.status("worker")["tensors"]))

    def test_a_limit_on_file_sizes_is_told_and_ends_nobody(self):
        path, self.ports = self.cluster(settings='tensor-path = "shared-memory"')
        for job in ("ps", "worker"):
            self.start("node", f"--config-file={path}", f"--job={job}", shell='ulimit -f 8; exec "$@"').wait_for("ready at ")
        code, _, err = run("run", f"caf://127.0.0.1:{self.ports[1]}", self.graph(1), "--init", "init", "--fetch", "y")
        self.assertEqual(code, 1)
        self.assertIn("bytes of shared memory cannot be had: File too large; is `ulimit -v` or `ulimit -f` set?", err)
        for job in ("ps", "worker"):
            self.assertEqual(self.status(job)["sessions"], [])

    def test_names_that_differ_are_an_error_that_says_so(self):
        self.start_nodes('tensor-path = "stream"\n[job.ps]\ntensor-path = "messages"')
        code, _, err = run("run", f"caf://127.0.0.1:{self.ports[1]}", self.graph(1), "--init", "init", "--fetch", "y")
        self.assertEqual(code, 1)
        self.assertIn('tensor-path is "stream" for ' + WORKER, err)
        self.assertIn('"messages" for ' + PS, err)
        self.assert_freed("worker")

    def steps_in_flight(self, master):
        """A client that moves tensors without end, once the worker is known to pull one from a stopped ps."""
        client = self.start("run", f"caf://127.0.0.1:{self.ports[master == 'worker']}", self.graph(64), "--init", "init",
                            "--target", "there", "--steps", "1000000")
        self.until("the first tensor", lambda: any("MiB" in line for line in self.status("worker")["tensors"]))

        def caught():
            self.nodes["ps"].send(signal.SIGSTOP)
            stopped = self.status("worker")["tensors"]
            if any(line.startswith("from") and "under way" in line for line in stopped):
                return True
            self.nodes["ps"].send(signal.SIGCONT)
            # It gets as far as other tensors before it is stopped again.
            self.until("another tensor", lambda: self.status("worker")["tensors"] != stopped)
            return False
        self.until("a transfer that is under way", caught)
        return client

    def assert_ends_unavailable(self, client, task):
        self.assertEqual(client.end(), 1)
        text = "\n".join(client.rest("err"))
        self.assertIn("UNAVAILABLE", text)
        self.assertIn(task, text)

    def test_a_sender_is_killed_in_the_middle(self):
        for path in BESIDE_MESSAGES:
            with self.subTest(path):
                self.start_nodes(f'tensor-path = "{path}"')
                client = self.steps_in_flight("worker")
                self.nodes["ps"].send(signal.SIGKILL)
                self.assert_ends_unavailable(client, PS)
                self.assert_freed("worker")
                self.nodes["worker"].close()

    def test_a_sender_that_stands_still_ends_with_its_lease(self):
        for path in BESIDE_MESSAGES:
            with self.subTest(path):
                self.start_nodes(f'tensor-path = "{path}"\nheartbeat = 500ms\nlease = 3s')
                client = self.steps_in_flight("worker")
                self.assert_ends_unavailable(client, PS)
                self.assert_freed("worker")
                self.nodes["ps"].send(signal.SIGKILL)
                self.nodes["worker"].close()

    def test_a_receiver_is_killed_in_the_middle(self):
        for path in BESIDE_MESSAGES:
            with self.subTest(path):
                self.start_nodes(f'tensor-path = "{path}"\nheartbeat = 500ms\nlease = 3s')
                client = self.steps_in_flight("ps")
                self.nodes["worker"].send(signal.SIGKILL)
                self.nodes["ps"].send(signal.SIGCONT)
                self.assert_ends_unavailable(client, WORKER)
                self.assert_freed("ps")
                self.nodes["ps"].close()


if __name__ == "__main__":
    if "ucx" not in BESIDE_MESSAGES:
        print("skipped: the path ucx, libucp.so.0 is not here")
    unittest.main()
