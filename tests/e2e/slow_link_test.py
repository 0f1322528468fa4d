"""A link on which a graph takes longer than many leases: it is never taken for a dead one."""

import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "chaos"))

from network import Proxies  # noqa: E402
from support import Case, run  # noqa: E402

ROLES = ("ps", "worker", "client")
NUMBERS = 250_000  # 1 MB as a tensor of a graph
GRAPH = f"""c = Const[dtype=DT_INT32, value=i32[{NUMBERS}] {' '.join(str(i % 1000 + 100) for i in range(NUMBERS))}]() @"/job:ps/task:0"
x = Placeholder[dtype=DT_INT32, shape=[]]()
product = Mul(c, x) @"/job:ps/task:0"
axes = Const[dtype=DT_INT32, value=i32[1] 0]() @"/job:ps/task:0"
y = Max(product, axes) @"/job:ps/task:0"
"""


class SlowLink(Case):
    def start_nodes(self, lease):
        self.network = Proxies("slow", ROLES)
        self.addCleanup(self.network.close)
        for job in ("ps", "worker"):
            address = {role: f'"{self.network.address(role, seen_by=job)}"' for role in ("ps", "worker")}
            path = self.file(f"{job}.conf", f"[cluster]\nps = [{address['ps']}]\nworker = [{address['worker']}]\n"
                                            f"[troupe]\ncompute-threads = 1\nheartbeat = 100ms\nlease = {lease}\n")
            self.start("node", f"--config-file={path}", f"--job={job}", "--task=0").wait_for("ready at ")

    def assert_runs(self):
        code, out, err = run("run", f"caf://{self.network.address('worker', seen_by='client')}", self.file("big.graph", GRAPH),
                             "--feed", "x=i32[] 2", "--fetch", "y")
        self.assertEqual(code, 0, err)
        self.assertIn("y = i32[] 2198", out)

    def test_a_worker_keeps_a_session_whose_graph_takes_many_leases(self):
        self.start_nodes("500ms")
        self.network.slow_down("ps", 1_600_000)  # 5 s: ten leases
        self.assert_runs()

    def test_a_master_and_its_client_keep_a_session_whose_graph_takes_longer_than_their_lease(self):
        self.start_nodes("5s")
        self.network.slow_down("client", 1_200_000)  # 6.7 s; a client's lease is 5 s
        self.assert_runs()


if __name__ == "__main__":
    unittest.main()
