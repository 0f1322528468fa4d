"""`troupe serve` as its users start and end it. What it says to TensorFlow's clients: tests/integration/gateway_test.cpp, tests/peer/client_test.py."""

import json
import re
import signal
import socket
import unittest

from support import Case, free_ports, run


class Serve(Case):
    def test_it_says_where_it_listens_and_ends_in_order(self):
        (port,) = free_ports(1)
        node = self.start("serve", f"--grpc=127.0.0.1:{port}")
        self.assertEqual(node.wait_for("ready at "), f"ready at grpc://127.0.0.1:{port}")
        with socket.create_connection(("127.0.0.1", port), timeout=30) as client:
            client.sendall(b"GET / HTTP/1.1\r\n\r\n")  # whoever speaks no gRPC is sent away
            while client.recv(4096):
                pass
        node.send(signal.SIGTERM)
        self.assertEqual(node.end(), 0)

    def test_a_connection_that_says_nothing_is_closed(self):
        node = self.start("serve", "--grpc=127.0.0.1:0")
        port = int(node.wait_for("ready at ").removeprefix("ready at grpc://127.0.0.1:"))
        with socket.create_connection(("127.0.0.1", port), timeout=60) as client:
            while client.recv(4096):  # what gRPC says by itself; gRPC would wait two minutes
                pass
        node.send(signal.SIGTERM)
        self.assertEqual(node.end(), 0)

    def test_port_0_is_any_free_one(self):
        node = self.start("serve", "--grpc=127.0.0.1:0")
        port = int(node.wait_for("ready at ").removeprefix("ready at grpc://127.0.0.1:"))
        self.assertGreater(port, 0)
        socket.create_connection(("127.0.0.1", port), timeout=30).close()
        node.send(signal.SIGTERM)
        self.assertEqual(node.end(), 0)

    def test_what_cannot_be_read_says_where_it_stands(self):
        code, _, err = run("serve", "--cluster={")
        self.assertEqual(code, 2)
        self.assertIn("--cluster: ", err)
        code, _, err = run("serve", shell='TF_CONFIG="{" exec "$@"')
        self.assertEqual(code, 2)
        self.assertIn("the environment's TF_CONFIG: ", err)
        code, _, err = run("serve", "--message-limit=5")
        self.assertEqual(code, 2)
        self.assertIn("write 64 KiB or more", err)
        code, _, err = run("serve", "--session-config=operation_time: 1")
        self.assertEqual(code, 2)
        self.assertIn("--session-config: this is not the text of a tensorflow.ConfigProto", err)

    def test_a_port_that_is_taken_is_named(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            code, out, err = run("serve", f"--grpc=127.0.0.1:{port}")
        self.assertEqual(code, 1)
        self.assertIn(f"cannot listen at 127.0.0.1:{port} for gRPC clients", err)
        self.assertEqual(out, "")

    def test_an_address_that_is_none_is_a_wrong_call(self):
        for address in ("here", "127.0.0.1:-1", "127.0.0.1:99999", ":"):
            code, _, err = run("serve", f"--grpc={address}")
            self.assertEqual(code, 2, err)
            self.assertIn(address, err)

GRAPH = """x = Placeholder[dtype=DT_FLOAT, shape=[?]]() @"/job:worker/task:0"
half = Const[dtype=DT_FLOAT, value=f32[] 0.5]() @"/job:ps/task:0"
y = Mul(x, half) @"/job:ps/task:0"
z = Neg(y) @"/job:worker/task:1"
"""


class ServeCluster(Case):
    """1 ps + 2 workers that know each other's gRPC addresses alone."""

    def setUp(self):
        super().setUp()
        ports = free_ports(3)
        self.addresses = {("ps", 0): ports[0], ("worker", 0): ports[1], ("worker", 1): ports[2]}
        self.spec = json.dumps({"ps": {"0": f"127.0.0.1:{ports[0]}"}, "worker": [f"127.0.0.1:{port}" for port in ports[1:]]})

    def serve(self, job, task, *arguments):
        node = self.start("serve", *(arguments or (f"--cluster={self.spec}", f"--job={job}", f"--task={task}")))
        ready = node.wait_for("ready at ")
        self.assertEqual(ready, f"ready at grpc://127.0.0.1:{self.addresses[job, task]}")
        line = node.wait_for(" for troupe's commands")
        self.assertIn(f"/job:{job}/replica:0/task:{task} is at caf://127.0.0.1:", line)
        return node, re.search("caf://[0-9.:]+", line)[0]

    def test_tasks_in_any_order_find_each_other_and_again(self):
        graph = self.file("half.graph", GRAPH)
        worker, target = self.serve("worker", 0)
        other, _ = self.serve("worker", 1, f"--cluster=@{self.file('cluster.json', self.spec)}", "--job=worker", "--task=1")
        ps, first = self.serve("ps", 0)
        words = ["run", target, graph, "--feed", "x=f32[1] 6", "--fetch", "z"]
        code, out, err = run(*words)
        self.assertEqual((code, out), (0, "z = f32[1] -3\n"), err)
        ps.send(signal.SIGTERM)
        self.assertEqual(ps.end(), 0)
        ps, second = self.serve("ps", 0)
        self.assertNotEqual(first, second)  # the port is another, and found all the same
        code, out, err = run(*words)
        self.assertEqual((code, out), (0, "z = f32[1] -3\n"), err)
        for node in (worker, other, ps):
            node.send(signal.SIGTERM)
        self.assertEqual([node.end() for node in (worker, other, ps)], [0, 0, 0])

    def test_a_task_has_as_many_processors_as_it_is_told(self):
        graph = self.file("second.txt", 'x = Const[dtype=DT_FLOAT, value=f32[] 3]() @"/device:CPU:1"\ny = Neg(x) @"/device:CPU:1"\n')
        (port,) = free_ports(1)
        node = self.start("serve", "--cluster=" + json.dumps({"worker": [f"127.0.0.1:{port}"]}), "--job=worker", "--cpu-devices=2")
        target = re.search("caf://[0-9.:]+", node.wait_for("/job:worker/replica:0/task:0 is at "))[0]
        code, out, err = run("run", target, graph, "--fetch", "y")
        self.assertEqual(code, 0, err)
        self.assertIn("-3", out)
        for count in ("0", "65"):
            code, _, err = run("serve", f"--cpu-devices={count}")
            self.assertEqual(code, 2)
            self.assertIn("--cpu-devices wants a number from 1 to 64", err)

    def test_a_task_whose_listed_address_is_none_of_this_machine_is_reached_at_every_address(self):
        graph = self.file("one.txt", "x = Const[dtype=DT_FLOAT, value=f32[] 3]()\ny = Neg(x)\n")
        (port,) = free_ports(1)
        for host in ("192.0.2.1", "no-such-host.invalid"):  # an address for documentation, as one that a router translates; a service's name
            node = self.start("serve", "--cluster=" + json.dumps({"worker": [f"{host}:{port}"]}), "--job=worker")
            self.assertEqual(node.wait_for("ready at "), f"ready at grpc://0.0.0.0:{port}")
            at = re.search("caf://0.0.0.0:([0-9]+)", node.wait_for("/job:worker/replica:0/task:0 is at "))[1]
            self.assertIn(f"'{host}'", node.wait_for("listening at every address", "err"))
            code, out, err = run("run", f"caf://127.0.0.1:{at}", graph, "--fetch", "y")
            self.assertEqual((code, out), (0, "y = f32[] -3\n"), err)
            node.send(signal.SIGTERM)
            self.assertEqual(node.end(), 0)

    def test_what_graphs_print_goes_to_the_streams_as_it_is(self):
        graph = self.file("prints.txt", """text = Const[dtype=DT_STRING, value=str[] "said\\nthere"]()
here = PrintV2[output_stream="stdout"](text)
there = PrintV2(text) ^here
logged = PrintV2[output_stream="log(warning)"](text) ^there
number = Const[dtype=DT_INT32, value=i32[2] 3 4]()
old = Print[U=[DT_INT32], message="old: "](number, number) ^logged
""")
        (port,) = free_ports(1)
        node = self.start("serve", "--cluster=" + json.dumps({"worker": [f"127.0.0.1:{port}"]}), "--job=worker")
        target = re.search("caf://[0-9.:]+", node.wait_for("/job:worker/replica:0/task:0 is at "))[0]
        code, out, err = run("run", target, graph, "--fetch", "old")
        self.assertEqual((code, out), (0, "old = i32[2] 3 4\n"), err)
        node.send(signal.SIGTERM)
        self.assertEqual(node.end(), 0)
        self.assertEqual(node.rest("out"), ["said", "there"])
        printed = node.rest("err")
        self.assertEqual(printed[:2], ["said", "there"])
        self.assertRegex(printed[2], "^2.* W serve said")
        self.assertIn("old: [3 4]", printed)

    def test_the_line_that_it_is_ready_goes_to_a_descriptor_that_is_named(self):
        (port,) = free_ports(1)
        node = self.start("serve", f"--grpc=127.0.0.1:{port}", "--ready-fd=7", shell='exec 7>&2; exec "$@"')
        self.assertEqual(node.wait_for("ready at ", "err"), f"ready at grpc://127.0.0.1:{port}")
        node.send(signal.SIGTERM)
        self.assertEqual(node.end(), 0)
        self.assertEqual(node.rest("out"), [])
        code, out, err = run("serve", f"--grpc=127.0.0.1:{port}", "--ready-fd=77")
        self.assertEqual((code, out), (2, ""))
        self.assertIn("--ready-fd=77 names no open descriptor", err)

    def test_a_task_of_another_cluster_is_refused(self):
        graph = self.file("half.graph", GRAPH)
        _, target = self.serve("worker", 0)
        self.serve("worker", 1)
        spec = json.loads(self.spec)
        spec["worker"][0] = "127.0.0.1:1"  # there it knows the worker, and nowhere else
        self.serve("ps", 0, f"--cluster={json.dumps(spec)}", "--job=ps")
        code, out, err = run("run", target, graph, "--feed", "x=f32[1] 6", "--fetch", "z", "--timeout", "20s")
        self.assertEqual((code, out), (1, ""))
        self.assertIn("the ClusterSpec of each must have both tasks, with the ports that they have", err)

    def test_a_task_may_know_a_part_of_the_cluster(self):
        graph = self.file("part.graph", GRAPH.replace("worker/task:1", "ps/task:0").replace("worker/task:0", "worker/task:1"))
        ps, _ = self.serve("ps", 0)
        known = {"ps": json.loads(self.spec)["ps"], "worker": {"1": f"localhost:{self.addresses['worker', 1]}"}}  # its own by another name
        worker = self.start("serve", f"--cluster={json.dumps(known)}", "--job=worker", "--task=1")
        target = re.search("caf://([a-z0-9.:]+)", worker.wait_for("/job:worker/replica:0/task:1 is at "))[0]
        code, out, err = run("run", target, graph, "--feed", "x=f32[1] 6", "--fetch", "z", "--timeout", "20s")
        self.assertEqual((code, out), (0, "z = f32[1] -3\n"), err)
        for node in (worker, ps):  # each tells the other that it leaves, in order
            node.send(signal.SIGTERM)
            self.assertEqual(node.end(), 0)
        self.assertEqual([line for line in ps.rest("err") if " W " in line], [])

    def test_the_environment_may_say_who_it_is(self):
        config = json.dumps({"cluster": json.loads(self.spec), "task": {"type": "worker", "index": 1}})
        node = self.start("serve", shell=f"TF_CONFIG='{config}' exec \"$@\"")
        self.assertEqual(node.wait_for("ready at "), f"ready at grpc://127.0.0.1:{self.addresses['worker', 1]}")

    def test_clusters_that_are_none_are_wrong_calls(self):
        for words, text in (
            (["--cluster={"], "no JSON"),
            (["--cluster=@/nowhere"], "/nowhere"),
            ([f"--cluster={self.spec}"], "--job is missing"),
            ([f"--cluster={self.spec}", "--job=chief"], "/job:chief/replica:0/task:0 is not in the cluster"),
            ([f"--cluster={self.spec}", "--job=ps", "--task=1"], "/job:ps/replica:0/task:1 is not in the cluster"),
            (["--job=ps"], "need a cluster"),
        ):
            code, _, err = run("serve", *words)
            self.assertEqual(code, 2, err)
            self.assertIn(text, err)


if __name__ == "__main__":
    unittest.main()
