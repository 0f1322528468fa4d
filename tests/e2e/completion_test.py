"""Completion at a real prompt: what bash, zsh and fish make of the scripts that `troupe completion` prints."""

import os
import pty
import re
import select
import shutil
import signal
import subprocess
import time
import unittest

from support import DEADLINE, TROUPE, Case, run

PROMPT = "(ready) "


class Prompt:
    """An interactive shell at a terminal of its own."""

    def __init__(self, command, folder, environment):
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.execvpe(command[0], command, {**os.environ, "TERM": "dumb", "HOME": folder, **environment})
        self.seen = ""

    def close(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.terminal)

    def type(self, text):
        os.write(self.terminal, text.encode())

    def wait_for(self, pattern):
        """What the terminal shows up to `pattern`, a regular expression."""
        end = time.monotonic() + DEADLINE
        while not (found := re.search(pattern, self.seen)):
            ready, _, _ = select.select([self.terminal], [], [], max(0, end - time.monotonic()))
            if not ready:
                raise AssertionError(f"no {pattern!r} within {DEADLINE} s, but {self.seen!r}")
            self.seen += os.read(self.terminal, 1 << 16).decode(errors="replace")
        out, self.seen = self.seen[:found.end()], self.seen[found.end():]
        return out

    def command(self, text, count=1):
        self.type(text + "\n")
        for _ in range(count):
            self.wait_for(re.escape(PROMPT))


class Completion(Case):
    """What the shells have in common; each opens its own prompt."""

    shell = None

    def setUp(self):
        super().setUp()
        if not self.shell:
            self.skipTest("what the shells have in common")
        if not shutil.which(self.shell):
            self.skipTest(f"{self.shell} is not installed")
        self.environment = {"PATH": os.path.dirname(os.path.realpath(TROUPE)) + ":" + os.environ["PATH"]}
        for name in ("cluster.conf", "step one.graph"):
            self.file(name, "")

    def script(self, name):
        code, out, err = run("completion", self.shell)
        self.assertEqual(code, 0, err)
        return self.file(name, out)


class AtAPrompt(Completion):
    def complete(self, typed, becomes):
        """`typed` and a tab: the line then ends with `becomes`, as the program sees it."""
        self.prompt.type(f"{typed}\t\n")
        self.prompt.wait_for(r"<" + re.escape(becomes) + r">")
        self.prompt.wait_for(re.escape(PROMPT))

    def choices(self, typed, *words):
        """`typed` and two tabs show these, and not the words that begin with `!`."""
        self.prompt.type(f"{typed}\t\t")
        wanted = [word for word in words if not word.startswith("!")]
        shown = self.prompt.wait_for("".join(rf"(?=[\s\S]*{re.escape(word)})" for word in wanted) + r"[\s\S]*")
        for word in words:
            self.assertFalse(word.startswith("!") and word[1:] in shown, shown)
        self.prompt.type("\x15\n")
        self.prompt.wait_for(re.escape(PROMPT))

    def check(self):
        # `troupe` itself is a function that shows its last word.
        self.prompt.command("troupe() { printf '<%s>\\n' \"${@: -1}\"; }")
        self.complete("troupe stat", "status")
        self.complete("troupe run loc", "local")
        self.complete("troupe run local step", "step one.graph")
        self.complete("troupe run local g --fee", "--feed")
        self.complete("troupe node --config clus", "cluster.conf")
        self.complete("troupe node --config=clus", "--config=cluster.conf")
        self.complete("troupe status caf", "caf://127.0.0.1:")
        self.complete("troupe status caf:", "caf://127.0.0.1:")
        self.complete("troupe help vari", "variables")
        self.complete("troupe completion fi", "fish")
        self.complete("troupe completion clus", "clus")  # no file fits there
        self.choices("troupe ", "check", "completion", "graph", "variables")
        self.choices("troupe completion ", "bash", "fish", "!cluster.conf")


class Bash(AtAPrompt):
    shell = "bash"

    def test_it_completes_commands_options_targets_and_files(self):
        self.prompt = Prompt(["bash", "--norc", "--noprofile", "-i"], self.folder, {**self.environment, "PS1": PROMPT})
        self.addCleanup(self.prompt.close)
        self.prompt.wait_for(re.escape(PROMPT))
        self.prompt.command(f"source {self.script('script')}")
        self.check()


class Zsh(AtAPrompt):
    shell = "zsh"

    def open(self, *commands):
        self.prompt = Prompt(["zsh", "-f", "-i"], self.folder, {**self.environment, "PS1": PROMPT})
        self.addCleanup(self.prompt.close)
        self.prompt.wait_for(re.escape(PROMPT))
        self.prompt.command("unsetopt zle_bracketed_paste prompt_cr prompt_sp; autoload -U compinit; zstyle ':completion:*' list-prompt ''")
        for command in commands:
            self.prompt.command(command)

    def test_it_completes_where_compinit_finds_it(self):
        self.script("_troupe")
        self.open(f"fpath=({self.folder} $fpath)", "compinit -u -D")
        self.check()

    def test_it_completes_where_it_is_read_by_source(self):
        self.open("compinit -u -D", f"source {self.script('script')}")
        self.check()


class Fish(Completion):
    shell = "fish"

    def complete(self, typed):
        done = subprocess.run(["fish", "--no-config", "-c", f"source {self.script('script')}; complete --do-complete {typed!r}"], cwd=self.folder,
                              capture_output=True, text=True, timeout=DEADLINE, env={**os.environ, **self.environment, "HOME": self.folder})
        self.assertEqual(done.stderr, "")
        return [line.split("\t")[0] for line in done.stdout.splitlines()]

    def test_it_completes_commands_options_targets_and_files(self):
        self.assertEqual(self.complete("troupe stat"), ["status"])
        self.assertEqual(self.complete("troupe run loc"), ["local"])
        self.assertEqual(self.complete("troupe run local step"), ["step one.graph"])
        self.assertEqual(self.complete("troupe run local g --fee"), ["--feed"])
        self.assertEqual(self.complete("troupe run --hel"), ["--help"])
        self.assertEqual(self.complete("troupe node --config clus"), ["cluster.conf"])
        self.assertEqual(self.complete("troupe node --config=clus"), ["--config=cluster.conf"])
        self.assertEqual(self.complete("troupe status ca"), ["caf://127.0.0.1:"])
        self.assertEqual(self.complete("troupe help vari"), ["variables"])
        self.assertEqual(self.complete("troupe completion "), ["bash", "fish", "zsh"])
        self.assertEqual(self.complete("troupe completion clus"), [])
        every = self.complete("troupe ")
        self.assertTrue({"check", "completion", "graph", "variables"} <= set(every), every)
        self.assertNotIn("cluster.conf", every)


if __name__ == "__main__":
    unittest.main()
