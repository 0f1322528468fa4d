"""The graphs of examples/graphs do what their first lines say."""

import glob
import os
import re
import shlex
import subprocess
import unittest

from support import DEADLINE, TROUPE, Case

GRAPHS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../examples/graphs")


class Examples(Case):
    def calls(self, name):
        """The command lines in the comment at the top of a graph."""
        with open(os.path.join(GRAPHS, name)) as file:
            return [shlex.split(line) for line in re.findall(r"^#   troupe (.*)$", file.read(), re.MULTILINE)]

    def call(self, words, **places):
        for old, new in places.items():
            words = [word.replace(f"127.0.0.1:{old[1:]}", f"127.0.0.1:{new}") for word in words]
        done = subprocess.run([TROUPE, *words], capture_output=True, text=True, timeout=DEADLINE, cwd=GRAPHS)
        self.assertEqual(done.returncode, 0, done.stderr)
        return dict(line.split(" = ") for line in done.stdout.splitlines())

    def test_every_graph_says_how_it_is_run(self):
        names = [os.path.basename(path) for path in glob.glob(GRAPHS + "/*.graph")]
        self.assertGreaterEqual(len(names), 4)
        for name in names:
            self.assertTrue(self.calls(name), name)

    def test_half_plus_two(self):
        self.assertEqual(self.call(self.calls("half_plus_two.graph")[0]), {"y": "f32[2] 2.5 3"})

    def test_a_loop(self):
        self.assertEqual(self.call(self.calls("loop.graph")[0]), {"y": "f32[] 1536"})

    def test_a_line_is_fitted(self):
        values = {name: float(value.split()[1]) for name, value in self.call(self.calls("linear.graph")[0]).items()}
        self.assertAlmostEqual(values["a_now"], 2, places=3)
        self.assertAlmostEqual(values["b_now"], 1, places=3)
        self.assertLess(values["loss"], 1e-6)

    def test_a_counter_that_clients_share(self):
        path, ports = self.cluster(workers=2)
        self.start("up", f"--config={path}").wait_for("up: 3 tasks ready")
        first, second = self.calls("counter.graph")
        places = {"_7271": ports[1], "_7272": ports[2]}
        self.assertEqual(self.call(first, **places), {"count": "i64[] 10"})
        self.assertEqual(self.call(second, **places), {"count": "i64[] 11"})


if __name__ == "__main__":
    unittest.main()
