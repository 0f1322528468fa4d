"""`troupe repl` at a real terminal, which tmux keeps: typing, completion, several lines, colour, history, Ctrl-C."""

import os
import re
import shutil
import subprocess
import time
import unittest

from support import DEADLINE, TROUPE, Case, endless_graph

GRAPH = """# y = x / 2 + 2
input_values = Placeholder[dtype=DT_FLOAT, shape=[?]]()
half = Const[dtype=DT_FLOAT, value=f32[] 0.5]()
two = Const[dtype=DT_FLOAT, value=f32[] 2]()
product = Mul(input_values, half)
y = AddV2(product, two)
"""
PROMPT = "local>"  # tmux leaves out blanks at the end of a line


class Terminal(Case):
    def setUp(self):
        if not shutil.which("tmux"):
            self.skipTest("tmux is not installed")
        super().setUp()
        self.prompts = 0
        self.file("half.graph", GRAPH)
        self.file("endless.graph", endless_graph())
        self.environment = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "TMUX", "INPUTRC")}
        self.environment.update(HOME=self.folder, SHELL="/bin/sh", LC_ALL="C.UTF-8")

    def tmux(self, *arguments):
        return subprocess.run(["tmux", "-S", self.socket, "-f", "/dev/null", *arguments], env=self.environment, check=True,
                              capture_output=True, text=True, timeout=DEADLINE).stdout

    def open(self, environment="", arguments="local"):
        """A fresh prompt. The shell around it outlives an interrupt, and says the exit code at the end."""
        self.prompts += 1
        self.socket = socket = os.path.join(self.folder, f"tmux-{self.prompts}")
        command = f"trap : INT; cd '{self.folder}'; {environment} '{TROUPE}' repl {arguments}; echo \"exit code $?\"; exec cat"
        self.tmux("new-session", "-d", "-x", "120", "-y", "50", command)
        self.addCleanup(lambda: subprocess.run(["tmux", "-S", socket, "kill-server"], capture_output=True))
        self.wait_for(PROMPT)

    def keys(self, *keys):
        self.tmux("send-keys", *keys)

    def type(self, text):
        self.tmux("send-keys", "-l", text)

    def screen(self, colours=False):
        return self.tmux("capture-pane", "-p", *(["-e"] if colours else []))

    def wait_for(self, text, count=1):
        """Until the screen holds `text` that many times."""
        end = time.monotonic() + DEADLINE
        while True:
            screen = self.screen()
            if screen.count(text) >= count:
                return screen
            if time.monotonic() > end:
                self.fail(f"{text!r} is not {count} times on the screen within {DEADLINE} s:\n{screen}")

    def enter(self, line, expected, count=1):
        self.type(line)
        self.keys("Enter")
        return self.wait_for(expected, count)

    def quit(self):
        self.enter("quit", "exit code 0")

    def test_a_graph_is_loaded_and_run(self):
        self.open()
        self.enter("load half.graph", "5 nodes; the graph has 5")
        self.enter("feed input_values f32[2] 1 2", "input_values = f32[2] 1 2")
        self.enter("run y", "y = f32[2] 2.5 3")
        self.quit()

    def test_an_error_ends_nothing(self):
        self.open()
        self.enter("rnu y", "error: there is no command 'rnu'; did you mean 'run'?")
        self.enter("load 'nowhere.graph'", "nowhere.graph: cannot be opened")
        self.enter("run )", "the bracket ) closes nothing")
        self.quit()

    def test_tab_completes_commands_files_and_nodes(self):
        self.open()
        self.type("loa")
        self.keys("Tab")
        self.wait_for("local> load")
        self.type("hal")
        self.keys("Tab")
        self.wait_for("local> load half.graph")
        self.keys("Enter")
        self.wait_for("5 nodes")
        self.type("feed inp")
        self.keys("Tab")
        self.wait_for("local> feed input_values")
        self.type("f32[1] 8")
        self.keys("Enter")
        self.wait_for("input_values = f32[1] 8")
        self.type("ops MatMu")
        self.keys("Tab", "Enter")
        self.wait_for("MatMul(")
        self.type("place /job")
        self.keys("Tab")
        self.wait_for("local> place /job:localhost/replica:0/task:0/device:CPU:0")
        self.keys("Enter")
        self.wait_for("5 nodes", 2)
        # Two commands begin so: a second Tab lists them.
        self.type("st")
        self.keys("Tab", "Tab")
        self.wait_for("steps")
        self.assertRegex(self.screen(), r"status +step +steps")
        self.keys("C-u")
        self.quit()

    def test_open_brackets_quotes_and_backslashes_go_on(self):
        self.open()
        self.enter("load half.graph", "5 nodes")
        self.enter("feed input_values f32[2,", "  ...")
        self.enter("2] 1 2 \\", "  ...", 2)
        self.enter("3 4", "input_values = f32[2,2] 1 2 3 4")
        self.enter("load 'half", "  ...", 3)
        self.keys("C-c")
        self.wait_for("^C")
        # The whole statement is one line of the history.
        self.keys("Up")
        self.wait_for("local> feed input_values f32[2, 2] 1 2  3 4")
        self.keys("C-u")
        self.quit()

    def test_history_is_kept_from_one_prompt_to_the_next(self):
        self.open()
        self.enter("load half.graph", "5 nodes")
        self.enter("help run", "example: run loss")
        self.keys("Up")
        self.wait_for("local> help run", 2)
        self.keys("Up")
        self.wait_for("local> load half.graph", 2)
        self.keys("C-u")
        self.quit()
        with open(os.path.join(self.folder, ".troupe_history")) as file:
            self.assertEqual(file.read().splitlines(), ["load half.graph", "help run", "quit"])
        self.open()
        self.keys("Up", "Up")
        self.wait_for("local> help run")
        self.keys("C-u")
        self.quit()

    def test_two_prompts_keep_the_history_of_both(self):
        self.open()
        self.enter("load half.graph", "5 nodes")
        first = self.socket
        self.open()
        self.enter("help run", "example: run loss")
        self.quit()
        self.socket = first
        self.quit()
        with open(os.path.join(self.folder, ".troupe_history")) as file:
            self.assertEqual(file.read().splitlines(), ["help run", "quit", "load half.graph", "quit"])

    def test_colour_only_where_it_is_wanted(self):
        self.open()
        self.enter("nonsense", "error: there is no command")
        self.assertRegex(self.screen(colours=True), re.escape("\x1b[31m") + "error:")
        self.assertIn("\x1b[32mlocal", self.screen(colours=True))
        self.quit()
        self.open(environment="NO_COLOR=1")
        self.enter("nonsense", "error: there is no command")
        self.assertNotIn("\x1b[3", self.screen(colours=True))
        self.quit()

    def test_interrupts_leave_a_step_in_the_background(self):
        self.open()
        self.enter("load endless.graph", "10 nodes")
        self.type("half a line")
        self.wait_for("local> half a line")
        self.keys("C-c")
        self.wait_for("^C")
        self.type("run end")
        self.keys("Enter")
        self.wait_for("still runs; Ctrl-C leaves it in the background")
        self.keys("C-c")
        self.wait_for("[1] end runs in the background")
        self.enter("steps", "running")
        # The step has not stopped the prompt from ending.
        self.quit()

    def test_the_end_of_the_input_leaves(self):
        self.open()
        self.keys("C-d")
        self.wait_for("exit code 0")


if __name__ == "__main__":
    unittest.main()
