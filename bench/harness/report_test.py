"""Against older figures, and into the documents."""

import json
import os
import tempfile
import types
import unittest

import report
from figures import Result
from record import Record

MACHINE = {"cpu": "a cpu", "cores": 2, "instruction_set": "AVX2", "memory_gib": 23, "kernel": "6.1", "hypervisor": True}
ABOUT = {"machine": MACHINE, "peer": "TensorFlow 1"}
ROWS = ["chain", "fan", "node-disk"]


def figures(*rounds):
    return {"median": sorted(rounds)[len(rounds) // 2], "low": min(rounds), "high": max(rounds), "rounds": list(rounds)}


def row(*ratios, met=True, **more):
    return {"what": "what", "unit": "µs", "aim": 3, "ours": figures(10), "theirs": figures(40), "ratio": figures(*ratios) if ratios else None, "met": met,
            "date": "2026-01-01", "load": 0.5, "commit": "abc", **more}


def problems(old, new):
    return list(report.worse({"rows": {"chain": old}}, {"rows": {"chain": new}}))


class Worse(unittest.TestCase):
    def test_a_fall_within_half_the_spread_is_none(self):
        self.assertEqual(problems(row(4, 5, 6), row(4.1, 4.1, 4.1)), [])
        self.assertEqual(len(problems(row(4, 5, 6), row(3.9, 3.9, 3.9))), 1)

    def test_a_row_of_one_round_has_a_spread_too(self):
        self.assertEqual(problems(row(10), row(9.6)), [])
        self.assertIn("from 10.00 to 9.40, by 0.60; its spread allows 0.50", problems(row(10), row(9.4))[0])

    def test_noise_does_not_excuse_everything(self):
        self.assertEqual(len(problems(row(5, 5, 5), row(1, 3, 9))), 1)
        self.assertEqual(len(problems(row(1, 5, 20), row(3, 3, 3))), 1)

    def test_an_aim_that_is_not_met_any_more_is_told_whatever_the_ratio(self):
        disk = {"aim": None, "aim_value": 60, "unit": "MiB"}
        self.assertEqual(problems(row(5, **disk), row(5, met=False, **disk)), ["chain: met its aim, ≤ 60 MiB, and does not now"])
        self.assertEqual(problems(row(5, met=False), row(5, met=False)), [])

    def test_a_ratio_that_is_gone_says_why(self):
        self.assertIn("has none now: it ended", problems(row(5), row(our_error="it ended"))[0])

    def test_rows_that_were_not_measured_are_not_judged(self):
        self.assertEqual(list(report.worse({"rows": {"fan": row(5)}}, {"rows": {"chain": row(1)}})), [])


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.json, self.md = (os.path.join(self.folder, "benchmarks" + ending) for ending in (".json", ".md"))
        with open(self.md, "w") as file:
            file.write(f"# Benchmarks\nbefore\n{report.BEGIN}\nold\n{report.END}\nafter\n")

    def record(self, names, about=None, out=None):
        return Record(out, True, about or ABOUT, ROWS, names, self.folder)

    def test_rows_that_are_not_measured_keep_their_figures(self):
        self.record(ROWS).keep({"chain": row(4), "fan": row(6)})
        self.record(["fan"]).keep({"fan": row(7, commit="def")})
        rows = report.load(self.json)["rows"]
        self.assertEqual([rows["chain"]["ratio"]["median"], rows["fan"]["ratio"]["median"]], [4, 7])
        with open(self.md) as file:
            text = file.read()
        self.assertTrue(text.startswith("# Benchmarks\nbefore\n") and text.endswith("after\n"))
        self.assertIn("load 0.5, abc |", text)
        self.assertIn("load 0.5, def |", text)
        self.assertNotIn("old", text)

    def test_figures_of_two_machines_are_not_put_into_one_table(self):
        self.record(ROWS).keep({"chain": row(4), "fan": row(6)})
        other = {**ABOUT, "machine": {**MACHINE, "cores": 64}}
        with self.assertRaisesRegex(ValueError, "of another machine .*: measure all rows, or give --out"):
            self.record(["fan"], other)
        self.record(ROWS, other).keep({"chain": row(9)})
        self.assertEqual(list(report.load(self.json)["rows"]), ["chain"])
        self.record(["fan"], ABOUT, os.path.join(self.folder, "own.json")).keep({"fan": row(1)})
        self.assertEqual(list(report.load(os.path.join(self.folder, "own.json"))["rows"]), ["fan"])

    def test_what_is_no_record_is_refused_with_its_name(self):
        for text in ("", "[]", "{}", json.dumps({"rows": {}})):
            with open(self.json, "w") as file:
                file.write(text)
            with self.assertRaisesRegex(ValueError, "benchmarks.json: "):
                report.load(self.json)
        with self.assertRaisesRegex(ValueError, "No such file"):
            report.load(os.path.join(self.folder, "none.json"))


class Skipped(unittest.TestCase):
    def test_a_row_that_this_machine_cannot_measure_says_why_and_is_no_failure(self):
        result = Result("µs")
        result.skipped = "there is no tc here"
        row = {**result.to_json(types.SimpleNamespace(what="a tensor", aim=1.3, aim_share=None, aim_value=None, tolerance=1e-5)), "date": "2026-01-01", "load": 0}
        self.assertIsNone(row["met"])
        self.assertIn("skipped: there is no tc here", report.line("link", row))


if __name__ == "__main__":
    unittest.main()
