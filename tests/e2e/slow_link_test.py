"""A link on which a graph takes longer than many leases: it is never taken for a dead one."""

import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "chaos"))

from network import Proxies  # noqa: E402
from support import Case, run  # noqa: E402

NUMBERS = 250_000  # 1 MB as a tensor of a graph
GRAPH = f"""c = Const[dtype=DT_INT32, value=i32[{NUMBERS}] {' '.join(str(i % 1000 + 100) for i in range(NUMBERS))}]() @"/job:ps/task:0"
x = Placeholder[dtype=DT_INT32, shape=[]]()
product = Mul(c, x) @"/job:ps/task:0"
axes = Const[dtype=DT_INT32, value=i32[1] 0]() @"/job:ps/task:0"
y = Max(product, axes) @"/job:ps/task:0"
"""


# Each of the two needs a value of the other, and has not talked to it yet.
MUTUAL = """x = Placeholder[dtype=DT_INT32, shape=[]]()
a = Neg(x) @"/job:ps/task:0"
b = Neg(x) @"/job:worker/task:1"
c = Add(a, b) @"/job:ps/task:0"
d = Sub(a, b) @"/job:worker/task:1"
"""


class SlowLink(Case):
    def start_nodes(self, lease, tasks=("ps", "worker")):
        """`tasks` by role: a ps, the master and perhaps another worker."""
        self.network = Proxies("slow", (*tasks, "client"))
        self.addCleanup(self.network.close)
        self.nodes = []
        for i, role in enumerate(tasks):
            ps, *workers = [f'"{self.network.address(other, seen_by=role)}"' for other in tasks]
            path = self.file(f"{role}.conf", f"[cluster]\nps = [{ps}]\nworker = [{', '.join(workers)}]\n"
                                             f"[troupe]\ncluster-name = \"slow\"\ncompute-threads = 1\nheartbeat = 100ms\nlease = {lease}\n")
            job, task = ("ps", 0) if i == 0 else ("worker", i - 1)
            self.nodes.append(self.start("node", f"--config-file={path}", f"--job={job}", f"--task={task}"))
            self.nodes[-1].wait_for("ready at ")

    def assert_runs(self, graph, *arguments, prints):
        code, out, err = run("run", f"caf://{self.network.address('worker', seen_by='client')}", self.file("a.graph", graph), *arguments)
        self.assertEqual(code, 0, err)
        for line in prints:
            self.assertIn(line, out)

    def test_a_worker_keeps_a_session_whose_graph_takes_many_leases(self):
        self.start_nodes("500ms")
        self.network.slow_down("ps", 1_600_000)  # 5 s: ten leases
        self.assert_runs(GRAPH, "--feed", "x=i32[] 2", "--fetch", "y", prints=["y = i32[] 2198"])

    def test_a_master_and_its_client_keep_a_session_whose_graph_takes_longer_than_their_lease(self):
        self.start_nodes("5s")
        self.network.slow_down("client", 1_200_000)  # 6.7 s; a client's lease is 5 s
        self.assert_runs(GRAPH, "--feed", "x=i32[] 2", "--fetch", "y", prints=["y = i32[] 2198"])

    def test_tasks_that_dial_each_other_at_the_same_moment_meet(self):
        for _ in range(10):
            self.start_nodes("5s", ("ps", "worker", "other"))
            for role in ("ps", "other"):
                self.network.slow_down(role, 300_000)
            self.assert_runs(MUTUAL, "--feed", "x=i32[] 3", "--fetch", "c", "--fetch", "d", prints=["c = i32[] -6", "d = i32[] 0"])
            for node in self.nodes:
                node.close()


if __name__ == "__main__":
    unittest.main()
