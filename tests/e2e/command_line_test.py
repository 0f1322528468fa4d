"""The command line: help, exit codes, and what `troupe check` says of bad files."""

import json
import os
import re
import shutil
import subprocess
import unittest

from support import Case, run

class CommandLine(Case):
    def test_every_command_helps_with_examples(self):
        code, out, _ = run("--help")
        self.assertEqual(code, 0)
        commands = re.findall(r"^  (\w+)  ", out.split("Subcommands:\n")[1], re.MULTILINE)
        self.assertGreater(len(commands), 7, out)
        for command in commands:
            code, out, _ = run(command, "--help")
            self.assertEqual(code, 0, command)
            self.assertIn(f"  troupe {command} ", out)

    def test_called_wrongly(self):
        for arguments in ([], ["nonsense"], ["check"], ["check", "--nonsense", "x"], ["node", "--job=a"], ["status", "nowhere"],
                          ["run", "local"], ["graph", "--place", "ps=x", self.file("empty.graph", "# nothing\na = NoOp()\n")], ["node", "--config-file=x", "--job=a", "--task=two"]):
            code, _, err = run(*arguments)
            self.assertEqual(code, 2, arguments)
            self.assertTrue(err, arguments)

    def test_an_unknown_command_is_told_with_the_nearest(self):
        code, out, err = run("stauts", "127.0.0.1:1")
        self.assertEqual((code, out), (2, ""))
        self.assertEqual(err, "troupe: there is no command 'stauts'; did you mean 'status'?\n")
        self.assertIn("the commands are check, completion, graph, ", run("elephant")[2])

    def test_an_unknown_option_is_told_with_the_nearest(self):
        for words, sentence in ((["run", "local", "x", "--fetc", "y"], "`troupe run` has no option '--fetc'; did you mean '--fetch' or '--feed'?"),
                                (["status", "--elephants", "x"], "`troupe status` has no option '--elephants'; its options are --config-file, "),
                                (["check", "a", "b"], "'b' is a word too many; call it as `troupe check [FILE] [OPTIONS]`"),
                                (["node", "--job=a"], "`troupe node` wants --config-file, "),
                                (["--json", "status", "x"], "--json belongs to "),
                                (["--vresion"], "did you mean '--version'?"),
                                ([], "name a command")):
            code, out, err = run(*words)
            self.assertEqual((code, out), (2, ""))
            self.assertIn(sentence, err)

    def test_help_is_a_command_too(self):
        self.assertEqual(run("help")[:2], run("--help")[:2])
        self.assertEqual(run("help", "run")[:2], run("run", "--help")[:2])
        code, _, err = run("help", "rnu")
        self.assertEqual(code, 2)
        self.assertIn("did you mean 'run'", err)
        self.assertEqual(run("-V"), run("--version"))

    def test_shells_complete_what_commands_declare(self):
        bash = shutil.which("bash")
        script = self.file("troupe.bash", run("completion", "bash")[1])
        for words, expected in ((["ru"], "run"), (["status", "--js"], "--json"), (["run", "loc"], "local"), (["help", "stat"], "status")):
            line = " ".join(["troupe", *words])
            done = subprocess.run([bash, "-c", f'. {script}; COMP_WORDS=({line}); COMP_CWORD={len(words)}; COMP_LINE="{line}"; COMP_POINT={len(line)}; _troupe; echo "${{COMPREPLY[*]}}"'],
                                  capture_output=True, text=True, cwd=self.folder, timeout=60)
            self.assertEqual((done.stdout, done.stderr), (expected + "\n", ""), line)
        for shell in ("zsh", "fish"):
            text = run("completion", shell)[1]
            self.assertIn("device-filter", text)
            if shutil.which(shell):
                done = subprocess.run([shell, "-n", self.file(shell, text)], capture_output=True, text=True, timeout=60)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
        code, _, err = run("completion", "tcsh")
        self.assertEqual(code, 2)
        self.assertIn("bash, zsh and fish", err)

    def test_manual_pages_are_printed(self):
        self.assertIn(".SH COMMANDS", run("man")[1])
        self.assertIn(".B troupe run TARGET GRAPH [OPTIONS]", run("man", "run")[1])
        self.assertEqual(run("man", "rnu")[0], 2)

    def test_an_option_without_its_value_takes_no_other_word(self):
        code, out, err = run("status", "--timeout=", "--json", "127.0.0.1:1")
        self.assertEqual((code, out), (2, ""))
        self.assertEqual(err, "troupe: after --timeout= stands no value; write one, or leave the option out\n")

    def test_numbers_that_are_none(self):
        for number in ("two", "1.5", "99999999999", "-99999999999", "nan", "1e3"):
            code, _, err = run("node", "--config-file=x", "--job=a", f"--task={number}")
            self.assertEqual(code, 2)
            self.assertEqual(err, f"troupe: --task = {number} is no number that can be; write a whole number up to 2147483647\n")

    def test_results_that_cannot_be_written_are_no_success(self):
        for shell in ('exec "$@" >/dev/full', 'exec "$@" >&-'):
            for arguments in (["ops"], ["--help"], ["check", self.cluster()[0]]):
                code, _, err = run(*arguments, shell=shell)
                self.assertEqual(code, 1, (shell, arguments))
                self.assertIn("standard output cannot be written", err)

    def test_what_is_no_file_of_ours(self):
        with open(os.path.join(self.folder, "garbage"), "wb") as file:
            file.write(b"[\x01\x02\xff\xfe\x00garbage\xc3" * 100)
        for name, text in (("empty", ""), ("blank", " \n\t\n"), ("words.txt", "once upon a time\n")):
            self.file(name, text)
        for name in (".", "none", "none/at/all", "empty", "blank", "words.txt", "garbage"):
            path = os.path.join(self.folder, name)
            for command in (["check"], ["graph"], ["run", "local", "--fetch", "y"], ["up", "--config-file"]):
                code, out, err = run(*command, path)
                self.assertEqual((code, out), (1, ""), (command, name, err))
                self.assertIn(path, err)

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

        code, out, err = run("check", "--json", path)
        self.assertEqual((code, err), (1, ""))
        problems = json.loads(out)["problems"]
        self.assertEqual([f"{path}:{p['line']}: {p['message']}" for p in problems], lines)
        code, out, _ = run("check", "--json", path + ".none")
        self.assertEqual((code, [p["line"] for p in json.loads(out)["problems"]]), (1, [0]))

    def test_the_reference_of_keys_is_that_of_the_documents(self):
        code, out, _ = run("check", "--keys")
        self.assertEqual(code, 0)
        with open(os.path.join(os.path.dirname(__file__), "../../docs/config.md")) as file:
            self.assertIn(f"```\n{out}```\n", file.read(), "copy what `troupe check --keys` prints into docs/config.md")
        keys = {key["key"]: key for key in json.loads(run("check", "--keys", "--json")[1])}
        self.assertEqual(keys["lease"]["default"], "5s")
        for words in (["check"], ["check", "--keys", "x"]):
            code, _, err = run(*words)
            self.assertEqual(code, 2)
            self.assertIn("name a config file, or write --keys", err)

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
        self.assertIn("did you mean 'MatMul'", err)


if __name__ == "__main__":
    unittest.main()
