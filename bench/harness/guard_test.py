"""What is said about a row that has become slower, and when nothing is."""

import contextlib
import io
import subprocess
import sys
import unittest

import guard
import report

MACHINE = {"cpu": "a cpu", "cores": 2, "instruction_set": "AVX2", "memory_gib": 23, "kernel": "6.1", "hypervisor": True}


def row(micros, yardstick=10, name="TCP round trip"):
    return {"quickest": {"micros": micros, "yardstick": yardstick, "is": name}}


def old(**rows):
    return {"machine": MACHINE, "rows": rows}


class Slower(unittest.TestCase):
    def slower(self, before, now):
        return list(report.slower({"rows": {"chain": before}}, {"rows": {"chain": now}}))

    def test_a_machine_that_is_slower_in_all_has_not_made_a_row_slower(self):
        self.assertEqual(self.slower(row(40, 10), row(120, 30)), [])
        self.assertEqual(len(self.slower(row(40, 10), row(120, 10))), 1)

    def test_twice_as_much_is_allowed(self):
        self.assertEqual(self.slower(row(40), row(79)), [])
        self.assertIn("12 µs", self.slower(row(5), row(12))[0])

    def test_another_yardstick_measures_nothing(self):
        self.assertEqual(self.slower(row(40), row(400, name="raw TCP")), [])


class Guard(unittest.TestCase):
    def test_figures_of_another_machine_are_not_compared(self):
        figures = old(chain=row(40))
        self.assertIsNone(guard.reason_to_skip(figures, {"machine": {**MACHINE, "kernel": "6.2"}}, ["chain"]))
        self.assertIn("another machine", guard.reason_to_skip(figures, {"machine": {**MACHINE, "cores": 64}}, ["chain"]))
        self.assertIn("no quickest steps", guard.reason_to_skip(old(chain={}), {"machine": MACHINE}, ["chain"]))

    def test_only_a_row_that_is_slow_each_time_is_told(self):
        asked = []

        def measure(names):
            asked.append(list(names))
            figures = {"chain": row(400), "fan": row(400 if len(asked) < 3 else 40)}
            return {name: figures[name] for name in names}, 0.1

        told = guard.problems(old(chain=row(40), fan=row(40), noops=row(4)), ["chain", "fan"], measure)
        self.assertEqual(asked, [["chain", "fan"]] * 3)
        self.assertEqual([sentence.split(":")[0] for sentence in told], ["chain"])

    def test_nothing_slow_is_measured_once(self):
        asked = []
        self.assertEqual(guard.problems(old(chain=row(40)), ["chain"], lambda names: asked.append(names) or ({"chain": row(41)}, 0.1)), [])
        self.assertEqual(len(asked), 1)

    def test_on_a_machine_that_others_use_nothing_is_said(self):
        with contextlib.redirect_stdout(io.StringIO()) as told:
            self.assertEqual(guard.problems(old(chain=row(40)), ["chain"], lambda names: ({"chain": row(400)}, 0.6)), [])
        self.assertIn("skipped: others had 60% of the processors", told.getvalue())

    def test_own_work_is_not_that_of_others(self):
        processors = guard.Processors()
        subprocess.run([sys.executable, "-c", "sum(range(3_000_000))"], check=True)
        self.assertGreater(processors.ours(), processors.own)
        self.assertTrue(0 <= processors.share_of_others() <= 1.1)

    def test_a_row_that_fails_is_told_at_once(self):
        self.assertEqual(guard.problems(old(chain=row(40)), ["chain"], lambda names: ({"chain": {"our_error": "it ended"}}, 0.1)), ["chain: it ended"])


if __name__ == "__main__":
    unittest.main()
