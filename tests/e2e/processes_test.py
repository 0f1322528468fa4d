"""Nodes as processes: start, stop, and the supervision of `troupe up`."""

import json
import signal
import socket
import unittest

from support import Case, children_of, free_ports, run


class NodeProcess(Case):
    def start_node(self, path, job, task=0):
        node = self.start("node", f"--config-file={path}", f"--job={job}", f"--task={task}")
        return node, node.wait_for("ready at ")

    def test_a_signal_ends_it_in_order(self):
        path, ports = self.cluster()
        for which in (signal.SIGTERM, signal.SIGINT):
            node, line = self.start_node(path, "ps")
            self.assertEqual(line, f"ready at 127.0.0.1:{ports[0]}")
            with socket.create_connection(("127.0.0.1", ports[0])):
                pass
            node.send(which)
            self.assertEqual(node.end(), 0)
            self.assertEqual(node.rest("out"), [])

    def test_a_port_that_is_taken_is_named(self):
        path, ports = self.cluster()
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", ports[0]))
            taken.listen()
            code, out, err = run("node", f"--config-file={path}", "--job=ps")
        self.assertEqual((code, out), (1, ""))
        self.assertIn(f"cannot listen at 127.0.0.1:{ports[0]}", err)

    def test_bind_says_where_it_listens(self):
        [behind] = free_ports(1)
        path, ports = self.cluster(settings=f'[job.ps]\nbind = "127.0.0.1:{behind}"\n')
        _, line = self.start_node(path, "ps")
        self.assertEqual(line, f"ready at 127.0.0.1:{ports[0]}")
        self.assertEqual(run("status", f"127.0.0.1:{behind}")[0], 0)
        with self.assertRaises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", ports[0]))
        code, out, _ = run("check", path)
        self.assertEqual(code, 0)
        self.assertIn(f"listens at 127.0.0.1:{behind}", out)

    def test_status(self):
        path, ports = self.cluster()
        self.start_node(path, "ps")
        code, out, _ = run("status", f"caf://127.0.0.1:{ports[0]}")
        self.assertEqual(code, 0)
        self.assertIn("/job:ps/replica:0/task:0 at", out)
        code, out, _ = run("status", "--json", f"127.0.0.1:{ports[0]}")
        status = json.loads(out)
        self.assertEqual(status["devices"][0]["name"], "/job:ps/replica:0/task:0/device:CPU:0")
        self.assertEqual(status["sessions"], [])

    def test_status_of_nobody_ends_in_time(self):
        _, ports = self.cluster()
        code, _, err = run("status", "--timeout=300ms", f"127.0.0.1:{ports[0]}")
        self.assertEqual(code, 1)
        self.assertIn(f"127.0.0.1:{ports[0]}", err)


class Up(Case):
    def start_up(self, path, tasks):
        up = self.start("up", f"--config-file={path}")
        up.wait_for(f"up: {tasks} tasks ready")
        children = children_of(up.pid)
        self.assertEqual(len(children), tasks)
        return up, children

    def test_ctrl_c_ends_all_in_order(self):
        path, _ = self.cluster(workers=2)
        up, children = self.start_up(path, 3)
        watched = [self.watch(child) for child in children]
        up.send(signal.SIGINT)
        self.assertEqual(up.end(), 0)
        for child in watched:
            self.assert_gone(child)
        self.assertTrue(any(line.startswith("worker/1 | ") for line in up.rest("err")))

    def test_no_child_outlives_it(self):
        path, _ = self.cluster()
        up, children = self.start_up(path, 2)
        watched = [self.watch(child) for child in children]
        up.send(signal.SIGKILL)
        for child in watched:
            self.assert_gone(child)

    def test_a_second_signal_ends_at_once(self):
        path, _ = self.cluster()
        up, children = self.start_up(path, 2)
        watched = [self.watch(child) for child in children]
        stopped = self.watch(children[0])
        signal.pidfd_send_signal(stopped, signal.SIGSTOP)  # this one cannot end in order
        up.send(signal.SIGTERM)
        up.wait_for("SIGTERM: ending every task", "err")
        up.send(signal.SIGTERM)
        self.assertEqual(up.end(), 130)
        for child in watched:
            self.assert_gone(child)

    def test_a_terminal_that_goes_away_ends_it_unless_nohup_says_otherwise(self):
        path, _ = self.cluster()
        signal.signal(signal.SIGHUP, signal.SIG_DFL)  # these tests may run under nohup themselves
        up, _ = self.start_up(path, 2)
        up.send(signal.SIGHUP)
        up.wait_for("SIGHUP: ending every task", "err")
        self.assertEqual(up.end(), 0)
        up = self.start("up", f"--config-file={path}", shell="trap '' HUP; exec \"$@\"")
        up.wait_for("up: 2 tasks ready")
        up.send(signal.SIGHUP)
        up.send(signal.SIGTERM)
        up.wait_for("SIGTERM: ending every task", "err")
        self.assertEqual(up.end(), 0)

    def test_nobody_need_read_what_it_says(self):
        path, ports = self.cluster()
        up = self.start("up", f"--config-file={path}", shell='exec "$@" >&- 2>&-')
        while run("status", f"127.0.0.1:{ports[1]}", "--timeout=200ms")[0] != 0:
            self.assertIsNone(up.process.poll())
        up.send(signal.SIGTERM)
        self.assertEqual(up.end(), 0)

    def test_a_task_that_dies_is_reported_and_restarted(self):
        path, _ = self.cluster(settings="restarts = 1")
        up, children = self.start_up(path, 2)
        signal.pidfd_send_signal(self.watch(children[1]), signal.SIGKILL)
        up.wait_for("was killed by signal 9", "err")
        up.wait_for("worker/0 is started again", "err")
        up.wait_for("worker/0 | ready at ")
        second = [child for child in children_of(up.pid) if child not in children]
        self.assertEqual(len(second), 1)
        signal.pidfd_send_signal(self.watch(second[0]), signal.SIGKILL)
        self.assertIn("It was started again 1 times within 60 s, which is what restarts and restart-window allow; raise restarts in [troupe] of",
                      up.wait_for("worker/0 stays down", "err"))
        up.send(signal.SIGTERM)
        self.assertEqual(up.end(), 1)

    def test_a_task_that_cannot_start_ends_all(self):
        path, ports = self.cluster()
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", ports[1]))
            taken.listen()
            code, out, err = run("up", f"--config-file={path}")
        self.assertEqual(code, 1)
        self.assertNotIn("tasks ready", out)
        self.assertIn("up: worker/0 ended with exit code 1", err)
        self.assertIn(f"cannot listen at 127.0.0.1:{ports[1]}", err)


if __name__ == "__main__":
    unittest.main()
