"""`troupe graph` and `troupe run`: a graph from a file, here and on a cluster, with NumPy files in and out."""

import json
import os
import signal
import struct
import time
import unittest
from xml.etree import ElementTree

from support import DEADLINE, Case, endless_graph, run

GRAPH = """# y = x / 2 + 2
x = Placeholder[dtype=DT_FLOAT, shape=[?]]()
half = Const[dtype=DT_FLOAT, value=f32[] 0.5]()
two = Const[dtype=DT_FLOAT, value=f32[] 2]()
product = Mul(x, half)
y = AddV2(product, two)
"""


def npy(values):
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({len(values)},), }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{len(values)}f", *values)


def numbers(path):
    with open(path, "rb") as file:
        data = file.read()
    begin = 10 + struct.unpack("<H", data[8:10])[0]
    return list(struct.unpack(f"<{(len(data) - begin) // 4}f", data[begin:]))


class Graph(Case):
    def test_counts_text_dot_and_placement(self):
        path = self.file("half.graph", GRAPH)
        code, out, _ = run("graph", "--json", path)
        self.assertEqual(code, 0)
        self.assertEqual({op["op"]: op["nodes"] for op in json.loads(out)["ops"]}, {"Placeholder": 1, "Const": 2, "Mul": 1, "AddV2": 1})
        code, out, _ = run("graph", "--text", path)
        self.assertIn("y = AddV2(product, two)", out)
        code, out, _ = run("graph", "--dot", "--place", "ps=1", path)
        self.assertEqual(out.count("->"), 4)
        self.assertIn("/job:ps/replica:0/task:0/device:CPU:0", out)

    def test_what_is_no_graph(self):
        path = self.file("not.pb", "hello")
        code, _, err = run("graph", path)
        self.assertEqual(code, 1)
        self.assertIn(path, err)
        code, _, err = run("graph", self.folder)
        self.assertEqual(code, 1)
        self.assertIn("saved_model.pb", err)


    def test_forms_of_output_exclude_each_other(self):
        path = self.file("half.graph", GRAPH)
        for flags in (["--text", "--dot"], ["--json", "--text"]):
            code, out, err = run("graph", *flags, path)
            self.assertEqual((code, out), (2, ""))
            self.assertIn("choose one", err)

    def test_the_session_s_own_task_gets_what_asks_for_no_task(self):
        path = self.file("half.graph", GRAPH)
        code, out, err = run("graph", "--text", "--place", "ps=1,worker=2", "--master", "/job:worker/task:1", path)
        self.assertEqual(code, 0, err)
        self.assertIn('product = Mul(x, half) on "/job:worker/replica:0/task:1/device:CPU:0"', out)
        for master in ("/job:worker/task:2", "worker/1", "/job:worker"):
            code, _, err = run("graph", "--place", "ps=1,worker=2", "--master", master, path)
            self.assertEqual(code, 2, master)
            self.assertIn(f"--master is '{master}', which is none of the tasks of --place", err)

    def test_jobs_to_place_on_are_checked(self):
        path = self.file("half.graph", GRAPH)
        for jobs in ("=3", "ps=0", "ps=99999999999999999999", "ps=1,ps=2", "p s=1", "ps=-1", "ps=1,"):
            code, _, err = run("graph", "--place", jobs, path)
            self.assertEqual(code, 2, jobs)
            self.assertIn("write each job once", err)

    def test_a_pipe_is_read(self):
        code, out, err = run("graph", "--json", "/dev/stdin", shell='cat | "$@"', text=GRAPH)
        self.assertEqual(code, 0, err)
        self.assertEqual(json.loads(out)["nodes"], 5)

    def test_text_nested_without_end_is_refused(self):
        begin, end = "func { name: 'g' attr { key: 'a' value { ", "} } } "
        text = "node { name: 'x' op: 'NoOp' attr { key: '_f' value { " + begin * 100000 + end * 100000 + "} } }"
        code, _, err = run("graph", self.file("deep.pbtxt", text))
        self.assertEqual(code, 1)
        self.assertIn("deep.pbtxt: is no GraphDef in text: ", err)


class Run(Case):
    def check_half_plus_two(self, target):
        graph = self.file("half.graph", GRAPH)
        feed = os.path.join(self.folder, "x.npy")
        with open(feed, "wb") as file:
            file.write(npy([1, 2, 4]))
        out_folder = os.path.join(self.folder, "out")
        code, out, err = run("run", target, graph, "--feed", f"x={feed}", "--fetch", "y:0", "--steps", "3", "--out", out_folder)
        self.assertEqual(code, 0, err)
        self.assertEqual(out, "y:0 = f32[3] 2.5 3 4\n")
        self.assertIn("3 steps in ", err)
        self.assertEqual(numbers(os.path.join(out_folder, "y_0.npy")), [2.5, 3, 4])

    def test_what_runs_once_is_fed_too(self):
        graph = self.file("start.graph", """v = VarHandleOp[dtype=DT_FLOAT, shape=[2], shared_name="v"]()
start = Placeholder[dtype=DT_FLOAT, shape=[2]]()
init = AssignVariableOp[dtype=DT_FLOAT](v, start)
y = ReadVariableOp[dtype=DT_FLOAT](v)
""")
        code, out, err = run("run", "local", graph, "--init", "init", "--feed", "start=f32[2] 3 4", "--fetch", "y")
        self.assertEqual((code, out), (0, "y = f32[2] 3 4\n"), err)

    def test_in_this_process(self):
        self.check_half_plus_two("local")

    def test_on_a_cluster(self):
        path, ports = self.cluster()
        up = self.start("up", f"--config-file={path}")
        up.wait_for("up: 2 tasks ready")
        self.check_half_plus_two(f"caf://127.0.0.1:{ports[1]}")

    def test_a_traced_step_as_a_table_and_as_a_picture(self):
        path, ports = self.cluster()
        up = self.start("up", f"--config-file={path}")
        up.wait_for("up: 2 tasks ready")
        graph = self.file("half.graph", GRAPH.replace("Mul(x, half)", 'Mul(x, half) @"/job:ps"'))
        trace, svg = os.path.join(self.folder, "step.json"), os.path.join(self.folder, "step.svg")
        code, _, err = run("run", f"caf://127.0.0.1:{ports[1]}", graph, "--feed", "x=f32[2] 1 2", "--fetch", "y", "--trace", trace)
        self.assertEqual(code, 0, err)
        code, out, err = run("timeline", trace)
        self.assertEqual(code, 0, err)
        for part in ("client: 1 spans", "Session::run", "RunGraph", "/job:ps/replica:0/task:0/device:CPU:0", "_Recv"):
            self.assertIn(part, out)
        code, _, err = run("timeline", trace, "--svg", svg, "--title", "half & two")
        self.assertEqual(code, 0, err)
        names = [title.text for title in ElementTree.parse(svg).iter("{http://www.w3.org/2000/svg}title")]
        self.assertTrue(any(name.startswith("product (Mul) at ") for name in names), names)
        code, _, err = run("timeline", graph)
        self.assertEqual(code, 1)
        self.assertIn("is no trace", err)

    def test_mistakes_are_told(self):
        graph = self.file("half.graph", GRAPH)
        code, _, err = run("run", "local", graph)
        self.assertEqual(code, 2)
        self.assertIn("name something to run", err)
        code, _, err = run("run", "local", graph, "--fetch", "z")
        self.assertEqual(code, 1)
        self.assertIn("z", err)
        code, _, err = run("run", "local", graph, "--fetch", "y", "--feed", "x=none.npy")
        self.assertEqual(code, 1)
        self.assertIn("none.npy: cannot be opened", err)

    def test_a_session_that_cannot_be_opened_in_time_says_whom_it_waits_for(self):
        path, ports = self.cluster()
        worker = self.start("node", f"--config={path}", "--job=worker")
        worker.wait_for("ready at")
        graph = self.file("half.graph", GRAPH)
        words = ["run", f"caf://127.0.0.1:{ports[1]}", graph, "--feed", "x=f32[1] 2", "--fetch", "y", "--timeout", "1s"]
        code, out, err = run(*words)
        self.assertEqual((code, out), (1, ""))
        self.assertIn(f"has no connection to /job:ps/replica:0/task:0 at 127.0.0.1:{ports[0]}", err)
        self.assertIn("--device-filter", err)
        code, out, err = run(*words, "--device-filter", "/job:worker")
        self.assertEqual((code, out), (0, "y = f32[1] 3\n"), err)

    def test_only_what_the_run_needs_has_to_be_there(self):
        extra = "node { name: 'save' op: 'SaveV9' input: 'y' }\nnode { name: 'loop' op: 'LoopV9' input: 'y' }\n"
        text = "node { name: 'y' op: 'Const' attr { key: 'dtype' value { type: DT_FLOAT } } attr { key: 'value' value { tensor { dtype: DT_FLOAT tensor_shape { } float_val: 2 } } } }\n"
        graph = self.file("extra.pbtxt", text + extra)
        code, out, err = run("run", "local", graph, "--fetch", "y")
        self.assertEqual((code, out), (0, "y = f32[] 2\n"), err)
        code, _, err = run("run", "local", graph, "--target", "save", "--target", "loop")
        self.assertEqual(code, 1)
        self.assertIn("2 ops that this build lacks: LoopV9 ('loop'), SaveV9 ('save')", err)
        code, _, err = run("run", "local", graph, "--fetch", "yy")
        self.assertIn("the graph has no node 'yy'; did you mean 'y'?", err)

    def test_ctrl_c_tells_the_count_and_the_last_values(self):
        graph = self.file("half.graph", GRAPH)
        process = self.start("run", "local", graph, "--feed", "x=f32[1] 4", "--fetch", "y", "--steps", "2000000000", "--out", self.folder)
        self.assert_eventually_busy(process.pid)
        process.send(signal.SIGINT)
        self.assertEqual(process.end(), 130)
        self.assertEqual(process.rest("out"), ["y = f32[1] 4"])
        self.assertRegex("\n".join(process.rest("err")), r"interrupted after \d+ of 2000000000 steps\n\d+ steps in ")
        self.assertEqual(numbers(os.path.join(self.folder, "y.npy")), [4])

    def test_ctrl_c_ends_a_step_that_does_not_end(self):
        graph = self.file("endless.graph", endless_graph())
        process = self.start("run", "local", graph, "--target", "end")
        self.assert_eventually_busy(process.pid)
        process.send(signal.SIGINT)
        self.assertEqual(process.end(), 130)
        self.assertIn("interrupted after 0 of 1 steps", process.rest("err"))

    def assert_eventually_busy(self, pid):
        """It has computed for 0.2 s of its own time, so it has begun."""
        deadline = time.monotonic() + DEADLINE
        while time.monotonic() < deadline:
            with open(f"/proc/{pid}/stat") as file:
                fields = file.read().rsplit(")", 1)[1].split()
            if int(fields[11]) + int(fields[12]) >= os.sysconf("SC_CLK_TCK") // 5:
                return
            time.sleep(0.01)
        self.fail("it does nothing")

    def test_arguments_that_are_wrong_in_themselves(self):
        graph = self.file("half.graph", GRAPH)
        good = ["local", graph, "--fetch", "y", "--feed", "x=f32[1] 2"]
        self.assertEqual(run("run", *good)[0], 0)
        for wrong in ([*good, "--feed", "x"], [*good, "--feed", "=f32[1] 2"], ["http://nowhere", *good[1:]], [*good, "--timeout", "0"],
                      [*good, "--timeout", "0.0001ms"], [*good, "--timeout", "nan"], [*good, "--steps", "0"], [*good, "--steps", "1e3"],
                      [*good, "--steps", "99999999999"], [*good, "--out", self.folder, "--fetch", "a/b", "--fetch", "a_b"]):
            code, out, err = run("run", *wrong)
            self.assertEqual((code, out), (2, ""), (wrong, err))

    def test_a_place_for_results_that_cannot_be_is_told_before_the_steps(self):
        graph = self.file("half.graph", GRAPH)
        for option in (["--out", graph], ["--out", "/proc/nowhere"], ["--trace", self.folder], ["--trace", "/proc/nowhere"]):
            code, out, err = run("run", "local", graph, "--fetch", "y", "--feed", "x=f32[1] 2", *option)
            self.assertEqual((code, out), (1, ""))
            self.assertIn(option[1], err)
            self.assertNotIn("step in ", err)


if __name__ == "__main__":
    unittest.main()
