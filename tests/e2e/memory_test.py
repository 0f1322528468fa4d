"""What real nodes take of their machine: addresses as they use them, and of a step that is over nothing."""

import unittest

from support import Case, run

MOVES = """zero = Const[dtype=DT_FLOAT, value=f32[] 0]()
size = Const[dtype=DT_INT32, value=i32[1] 500000]() @"/job:ps/task:0"
first = Fill(size, zero) @"/job:ps/task:0"
v = VarHandleOp[dtype=DT_FLOAT, shape=[500000], shared_name="v"]() @"/job:ps/task:0"
init = AssignVariableOp[dtype=DT_FLOAT](v, first) @"/job:ps/task:0"
value = ReadVariableOp[dtype=DT_FLOAT](v) @"/job:ps/task:0"
axes = Const[dtype=DT_INT32, value=i32[1] 0]()
y0 = Max(value, axes) @"/job:worker/task:0"
y1 = Max(value, axes) @"/job:worker/task:1"
back = Fill(size, y0) @"/job:worker/task:0"
y = Max(back, axes) @"/job:ps/task:0"
"""
LONG = """shape = Placeholder[dtype=DT_INT32]() @"/job:ps/task:0"
seed = Const[dtype=DT_INT64, value=i64[2] 1 2]() @"/job:ps/task:0"
large = StatelessTruncatedNormal[dtype=DT_HALF](shape, seed) @"/job:ps/task:0"
axes = Const[dtype=DT_INT32, value=i32[1] 0]() @"/job:ps/task:0"
y = Max(large, axes) @"/job:ps/task:0"
"""
TASKS = (("ps", 0), ("worker", 0), ("worker", 1))
LIMIT_KIB = 8_000_000


def kib_of(pid, key):
    with open(f"/proc/{pid}/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith(key + ":"))


def machine_kib():
    with open("/proc/meminfo") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("MemTotal:"))


class Memory(Case):
    def start_nodes(self, settings="", shell=None):
        path, self.ports = self.cluster(workers=2, settings=settings)
        self.nodes = []
        for job, task in TASKS:
            self.nodes.append(self.start("node", f"--config-file={path}", f"--job={job}", f"--task={task}", shell=shell))
            self.nodes[-1].wait_for("ready at ")

    def run_graph(self, text, *arguments):
        graph = self.file("a.graph", text)
        return run("run", f"caf://127.0.0.1:{self.ports[1]}", graph, *arguments)

    def assert_moves(self):
        code, out, err = self.run_graph(MOVES, "--init", "init", "--fetch", "y0", "--fetch", "y1", "--fetch", "y", "--steps", "5")
        self.assertEqual(code, 0, err)

    def test_the_tasks_of_one_host_do_not_each_claim_its_memory(self):
        self.start_nodes()
        self.assert_moves()
        for node in self.nodes:
            self.assertLess(kib_of(node.pid, "VmSize"), LIMIT_KIB)
        self.assertLess(sum(kib_of(node.pid, "VmSize") for node in self.nodes), max(2 * machine_kib(), 3 * LIMIT_KIB))

    def test_nodes_with_few_addresses_compute_and_move_values(self):
        self.start_nodes('memory-limit = "1GiB"', shell=f'ulimit -v {LIMIT_KIB} && exec "$@"')
        self.assert_moves()

    def test_a_kernel_that_takes_long_ends_with_its_deadline_and_gives_its_memory_back(self):
        self.start_nodes('memory-limit = "4GiB"')
        for step in range(2):  # the second has no room beside the first
            code, _, err = self.run_graph(LONG, "--feed", "shape=i32[1] 1500000000", "--fetch", "y", "--timeout", "4s")
            self.assertEqual(code, 1, (step, err))
            self.assertIn("DEADLINE_EXCEEDED", err)
            self.assertNotIn("RESOURCE_EXHAUSTED", err)
        self.assert_moves()


if __name__ == "__main__":
    unittest.main()
