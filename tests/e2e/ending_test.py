"""How a node ends: in order with a grace for its steps, at once at a second signal, and what its peers and clients hear."""

import json
import signal
import unittest

from support import Case, endless_graph, run

SMALL = 'x = Const[dtype=DT_FLOAT, value=f32[] 2]() @"/job:ps"\ny = Neg(x) @"/job:ps"\n'
# One kernel that takes minutes and little memory.
LONG = """side = Const[dtype=DT_INT32, value=i32[4] 1 3000 3000 1]() @"/job:ps"
x = RandomUniform[dtype=DT_FLOAT](side) @"/job:ps"
y = MaxPool[ksize=[1, 1500, 1500, 1], strides=[1, 1, 1, 1], padding="VALID"](x) @"/job:ps"
"""
PS = "/job:ps/replica:0/task:0"


class Ending(Case):
    def start_cluster(self, settings):
        path, self.ports = self.cluster(settings=settings)
        self.ps = self.start("node", f"--config-file={path}", "--job=ps")
        self.worker = self.start("node", f"--config-file={path}", "--job=worker")
        self.ps.wait_for("ready at ")
        self.worker.wait_for("ready at ")

    def target(self, which):
        return f"caf://127.0.0.1:{self.ports[which]}"

    def counters(self, which):
        code, out, err = run("status", "--json", f"127.0.0.1:{self.ports[which]}")
        self.assertEqual(code, 0, err)
        return json.loads(out)["counters"]

    def start_endless_step(self, which):
        step = self.start("run", self.target(which), self.file("endless.graph", endless_graph("/job:ps")), "--fetch", "end")
        while not self.counters(0).get("steps"):
            self.assertIsNone(step.process.poll(), "the step has ended")
        return step

    def assert_told_that_it_left(self, step):
        self.assertEqual(step.end(), 1)
        text = "\n".join(step.rest("err"))
        self.assertIn(PS, text)
        self.assertIn("has left the cluster in order", text)

    def test_a_step_that_does_not_end_is_cancelled_after_the_grace(self):
        self.start_cluster("shutdown-grace = 300ms")
        step = self.start_endless_step(1)
        self.ps.send(signal.SIGTERM)
        self.assert_told_that_it_left(step)
        self.assertEqual(self.ps.end(), 0)
        self.worker.wait_for(f"task {PS} at 127.0.0.1:{self.ports[0]} has left the cluster in order", "err")
        code, out, _ = run("status", self.target(1))
        self.assertEqual(code, 0)
        self.assertIn("not connected (lost: left)", out)

    def test_the_clients_of_a_master_that_leaves_are_told_so(self):
        self.start_cluster("shutdown-grace = 300ms")
        step = self.start_endless_step(0)
        self.ps.send(signal.SIGTERM)
        self.assert_told_that_it_left(step)
        self.assertEqual(self.ps.end(), 0)

    def test_during_the_grace_nothing_new_is_taken_and_a_second_signal_ends_at_once(self):
        self.start_cluster("shutdown-grace = 10min")
        step = self.start_endless_step(1)
        self.ps.send(signal.SIGTERM)
        self.ps.wait_for("SIGTERM: running steps have 600000 ms to finish", "err")
        small = self.file("small.graph", SMALL)
        for which in (0, 1):
            code, _, err = run("run", self.target(which), small, "--fetch", "y")
            self.assertEqual(code, 1)
            self.assertIn(f"{PS} is shutting down", err)
        self.assertIsNone(step.process.poll())
        self.ps.send(signal.SIGTERM)
        self.assertEqual(self.ps.end(), 130)
        self.assertEqual(step.end(), 1)
        self.assertIn("closed its connection", "\n".join(step.rest("err")))

    def test_with_nothing_to_wait_for_it_ends_at_once(self):
        self.start_cluster("shutdown-grace = 10min")
        code, _, err = run("run", self.target(1), self.file("small.graph", SMALL), "--fetch", "y")
        self.assertEqual(code, 0, err)
        self.ps.send(signal.SIGTERM)
        self.assertEqual(self.ps.end(), 0)

    def test_a_task_that_is_being_dialled_does_not_keep_it(self):
        path, self.ports = self.cluster(settings="dial-timeout = 10min\nrequest-timeout = 10min\nshutdown-grace = 300ms")
        ps = self.start("node", f"--config-file={path}", "--job=ps")
        ps.wait_for("ready at ")
        client = self.start("run", self.target(0), self.file("small.graph", SMALL), "--fetch", "y")
        while not self.counters(0).get("dials"):
            self.assertIsNone(client.process.poll(), "it does not wait for the worker")
        ps.send(signal.SIGTERM)
        self.assertEqual(ps.end(), 0)
        self.assertEqual(client.end(), 1)

    def test_a_kernel_that_does_not_end_is_named_and_left_behind(self):
        self.start_cluster("shutdown-grace = 300ms")
        step = self.start("run", self.target(0), self.file("long.graph", LONG), "--fetch", "y")
        while not self.counters(0).get("executors"):
            self.assertIsNone(step.process.poll(), "the step has ended")
        self.ps.send(signal.SIGTERM)
        self.assertEqual(self.ps.end(), 0)
        self.assertIn("kernels still run: MaxPool 'y' for ", "\n".join(self.ps.rest("err")))

    def test_nothing_is_left_of_a_session_whose_client_is_killed(self):
        self.start_cluster("lease = 1s\nheartbeat = 200ms")
        step = self.start_endless_step(1)
        step.process.kill()
        while any(value for which in (0, 1) for name, value in self.counters(which).items()
                  if name in ("worker_sessions", "master_sessions", "steps", "master_steps", "executors", "graphs", "rendezvous")):
            pass  # each round asks the nodes; the test's own limit ends it


if __name__ == "__main__":
    unittest.main()
