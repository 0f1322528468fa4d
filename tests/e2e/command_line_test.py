"""The command line: help, exit codes, and what `troupe check` says of bad files."""

import json
import unittest

from support import Case, run

COMMANDS = ["check", "graph", "node", "ops", "run", "status", "up"]


class CommandLine(Case):
    def test_every_command_helps_with_examples(self):
        for command in COMMANDS:
            code, out, _ = run(command, "--help")
            self.assertEqual(code, 0, command)
            self.assertIn(f"  troupe {command} ", out)

    def test_called_wrongly(self):
        for arguments in ([], ["nonsense"], ["check"], ["check", "--nonsense", "x"], ["node", "--job=a"], ["status", "nowhere"],
                          ["run", "local"], ["graph", "--place", "ps=x", self.file("empty.graph", "# nothing\na = NoOp()\n")], ["node", "--config-file=x", "--job=a", "--task=two"]):
            code, _, err = run(*arguments)
            self.assertEqual(code, 2, arguments)
            self.assertTrue(err, arguments)

    def test_a_bad_file_is_told_with_all_its_lines(self):
        path = self.file("bad.conf", '[cluster]\nps = ["127.0.0.1:70000"]\nworker = ["127.0.0.1:7001", "127.0.0.1:7001"]\n'
                                     '[troupe]\nheartbeet = 1s\nlease = "x"\n[middleman]\nworkers = 4\n')
        for arguments in (["check", path], ["node", f"--config-file={path}", "--job=ps"], ["up", f"--config-file={path}"]):
            code, out, err = run(*arguments)
            self.assertEqual(code, 1)
            self.assertEqual(out, "")
            lines = err.splitlines()
            self.assertEqual([line.split(": ")[0] for line in lines], [f"{path}:{n}" for n in (2, 3, 5, 6, 8)])
            self.assertIn("'70000' in '127.0.0.1:70000' is no port", lines[0])
            self.assertIn("has the address 127.0.0.1:7001", lines[1])
            self.assertIn("did you mean 'heartbeat'?", lines[2])
            self.assertIn("it wants a duration", lines[3])
            self.assertIn("may not be set", lines[4])

    def test_a_missing_file(self):
        code, _, err = run("check", self.folder + "/none.conf")
        self.assertEqual(code, 1)
        self.assertIn("none.conf: cannot be opened", err)

    def test_a_good_file(self):
        path, ports = self.cluster(workers=2)
        code, out, _ = run("check", path)
        self.assertEqual(code, 0)
        self.assertTrue(out.startswith(f"{path}: 3 tasks\n"), out)
        code, out, _ = run("check", "--json", path)
        tasks = json.loads(out)["tasks"]
        self.assertEqual([(t["job"], t["task"], t["address"]) for t in tasks],
                         [("ps", 0, f"127.0.0.1:{ports[0]}"), ("worker", 0, f"127.0.0.1:{ports[1]}"), ("worker", 1, f"127.0.0.1:{ports[2]}")])

    def test_a_job_that_is_not_there(self):
        path, _ = self.cluster()
        code, _, err = run("node", f"--config-file={path}", "--job=wrker")
        self.assertEqual(code, 2)
        self.assertIn("there is no job 'wrker'; the jobs are ps, worker", err)

    def test_ops(self):
        code, out, _ = run("ops", "MatMul")
        self.assertEqual(code, 0)
        self.assertTrue(out.startswith("MatMul("), out)
        code, out, _ = run("ops", "--json")
        self.assertIn("MatMul", [op["name"] for op in json.loads(out)])
        code, _, err = run("ops", "MatMull")
        self.assertEqual(code, 1)
        self.assertIn("MatMul", err)


if __name__ == "__main__":
    unittest.main()
