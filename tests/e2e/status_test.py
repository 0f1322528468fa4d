"""`troupe status`, `variables` and `reset` on a cluster of real processes."""

import glob
import json
import os
import re
import signal
import unittest

from support import Case, free_ports, run

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")

TRAIN = """v = VarHandleOp[dtype=DT_FLOAT, shape=[256], shared_name="v"]() @"/job:ps"
w = VarHandleOp[dtype=DT_FLOAT, shape=[64], shared_name="w", container="other"]() @"/job:ps"
ones = Const[dtype=DT_FLOAT, value=f32[256] 1]()
few = Const[dtype=DT_FLOAT, value=f32[64] 1]()
init = AssignVariableOp[dtype=DT_FLOAT](v, ones)
init_w = AssignVariableOp[dtype=DT_FLOAT](w, few)
read = ReadVariableOp[dtype=DT_FLOAT](v)
"""


class Status(Case):
    def setUp(self):
        super().setUp()
        self.config, self.ports = self.cluster(workers=2)
        self.start("up", f"--config={self.config}").wait_for("up: 3 tasks ready")
        self.targets = [f"caf://127.0.0.1:{port}" for port in self.ports]

    def status(self, *words):
        code, out, err = run("status", "--json", *words)
        self.assertEqual(code, 0, err)
        return json.loads(out)

    def initialise(self):
        graph = self.file("train.graph", TRAIN)
        code, _, err = run("run", self.targets[1], graph, "--target", "init", "--target", "init_w")
        self.assertEqual(code, 0, err)

    def test_peers_are_records_and_one_that_was_not_dialled_is_no_fault(self):
        peers = {peer["task"]: peer for peer in self.status(self.targets[1])["peers"]}
        self.assertEqual(sorted(peers), ["/job:ps/replica:0/task:0", "/job:worker/replica:0/task:1"])
        self.assertEqual(peers["/job:ps/replica:0/task:0"],
                         {"task": "/job:ps/replica:0/task:0", "address": f"127.0.0.1:{self.ports[0]}", "state": "not dialled yet"})
        self.initialise()
        peers = {peer["task"]: peer for peer in self.status(self.targets[1])["peers"]}
        self.assertEqual(peers["/job:ps/replica:0/task:0"]["state"], "alive")
        self.assertGreaterEqual(peers["/job:ps/replica:0/task:0"]["silent_us"], 0)

    def test_all_counters_are_there_from_the_beginning(self):
        names = set()
        for folder in ("actors", "net", "devices", "kernels", "core"):
            for path in glob.glob(f"{ROOT}/{folder}/**/*.[ch]pp", recursive=True):
                if not path.endswith("_test.cpp"):
                    with open(path) as file:
                        names.update(re.findall(r'\bcounter\("(\w+)"\)', file.read()))
        self.assertGreater(len(names), 10)
        self.assertLessEqual(names, set(self.status(self.targets[0])["counters"]), "name them in core/trace/counters.cpp")

    def test_variables_are_told_by_container_and_dropped_by_reset(self):
        self.initialise()
        containers = {c["container"]: c for c in self.status(self.targets[0])["containers"]}
        self.assertEqual(containers["ps"], {"container": "ps", "resources": 1, "bytes": 1024})
        self.assertEqual(containers["other"], {"container": "other", "resources": 1, "bytes": 256})
        code, out, _ = run("variables", self.targets[0])
        self.assertEqual(code, 0)
        self.assertRegex(out, r"/job:ps/replica:0/task:0/device:CPU:0 +ps +v +variable f32\[256\] +1.0 KiB\n")
        self.assertIn("2 resources, ", out)
        code, out, _ = run("variables", "--json", f"--config={self.config}")
        self.assertEqual([v["name"] for v in json.loads(out)], ["w", "v"])
        code, out, err = run("reset", self.targets[1], "other")
        self.assertEqual(code, 0, err)
        self.assertIn("container 'other' is empty on every task", out)
        self.assertEqual([c["container"] for c in self.status(self.targets[0])["containers"]], ["ps"])
        self.assertEqual(run("reset", self.targets[2])[0], 0)
        self.assertEqual(self.status(self.targets[0])["containers"], [])

    def test_all_tasks_of_a_config_and_one_that_is_gone(self):
        tasks = self.status(f"--config={self.config}")["tasks"]
        self.assertEqual([t["task"] for t in tasks],
                         ["/job:ps/replica:0/task:0", "/job:worker/replica:0/task:0", "/job:worker/replica:0/task:1"])
        self.assertEqual([t["address"] for t in tasks], [f"127.0.0.1:{port}" for port in self.ports])
        code, out, _ = run("status", f"--config={self.config}", "--job=worker")
        self.assertEqual(code, 0)
        self.assertEqual(out.count("counters\n"), 2)
        gone = free_ports(1)[0]
        path = self.file("other.conf", f'[cluster]\nps = ["127.0.0.1:{self.ports[0]}", "127.0.0.1:{gone}"]\n')
        code, out, _ = run("status", "--json", "--timeout=1s", f"--config={path}")
        self.assertEqual(code, 1)
        tasks = json.loads(out)["tasks"]
        self.assertIn("counters", tasks[0])
        self.assertEqual(tasks[1]["task"], "ps/1")
        self.assertIn(f"127.0.0.1:{gone}", tasks[1]["error"])
        self.initialise()
        code, out, err = run("variables", "--json", "--timeout=1s", f"--config={path}")
        self.assertEqual(code, 1)
        self.assertEqual([v["name"] for v in json.loads(out)], ["w", "v"])
        self.assertIn("ps/1: ", err)

    def test_a_watch_looks_again_until_it_is_interrupted(self):
        watch = self.start("status", "--watch", "--json", self.targets[0])
        first = json.loads(watch.wait_for("uptime_us"))
        second = json.loads(watch.wait_for("uptime_us"))
        self.assertGreater(second["uptime_us"], first["uptime_us"])
        watch.send(signal.SIGINT)
        self.assertEqual(watch.end(), 0)

    def test_wrong_calls(self):
        for words, sentence in ((["status"], "name one node"), (["status", "local"], "'local' is a session within one command"),
                                (["status", "--config=" + self.config, "--job=wrker"], "the jobs are ps, worker"),
                                (["status", self.targets[0], "--config=" + self.config], "name one node"),
                                (["reset"], "`troupe reset` wants TARGET")):
            code, out, err = run(*words)
            self.assertEqual((code, out), (2, ""), words)
            self.assertIn(sentence, err)


if __name__ == "__main__":
    unittest.main()
