"""Figures of rounds, paired by their numbers."""

import unittest
from types import SimpleNamespace

from figures import Result, slope

OURS, THEIRS = SimpleNamespace(name="troupe"), SimpleNamespace(name="TensorFlow")


def row(aim=None, aim_share=None):
    return SimpleNamespace(what="what", aim=aim, aim_share=aim_share, aim_value=None, tolerance=1e-3)


class Figures(unittest.TestCase):
    def test_a_round_that_only_one_side_has_been_through_gives_no_ratio(self):
        result = Result("µs")
        for number, (ours, theirs) in enumerate([(None, 100), (10, 20), (10, 30), (10, None)]):
            if theirs:
                result.add(THEIRS, theirs, number)
            if ours:
                result.add(OURS, ours, number)
        out = result.to_json(row(aim=2))
        self.assertEqual(out["ratio"]["rounds"], [2, 3])
        self.assertEqual(out["ours"]["rounds"], [10, 10, 10])
        self.assertEqual(out["theirs"]["rounds"], [100, 20, 30])
        self.assertTrue(out["met"])

    def test_a_share_of_the_limit_is_taken_within_a_round(self):
        result = Result("µs")
        result.limit_name = "copy"
        result.limit = {0: 1, 1: 8}
        result.add(OURS, 10, 1)
        out = result.to_json(row(aim_share=0.8))
        self.assertEqual(out["share"]["rounds"], [0.8])
        self.assertTrue(out["met"])

    def test_who_is_quicker_than_the_limit_has_no_more_than_all_of_it(self):
        result = Result("µs")
        result.limit_name = "raw TCP"
        result.limit = {0: 10, 1: 10, 2: 10}
        for number, ours in enumerate([1, 20, 40]):
            result.add(OURS, ours, number)
        out = result.to_json(row(aim_share=0.9))
        self.assertEqual(out["share"]["rounds"], [1, 0.5, 0.25])
        self.assertFalse(out["met"])

    def test_other_values_than_the_other_side_s_meet_no_aim(self):
        result = Result("µs")
        for side, value, time in ((OURS, 1.0, 10), (THEIRS, 2.0, 100)):
            result.add(side, time)
            result.fetched.add(side, "default", [[[[value]]]])
        out = result.to_json(row(aim=2))
        self.assertFalse(out["met"])
        self.assertIn("troupe (default) fetched 1 and", out["values_error"])

    def test_the_slope_is_the_exponent(self):
        self.assertAlmostEqual(slope([50, 100, 1000], [10, 20, 200]), 1)
        self.assertAlmostEqual(slope([50, 100, 1000], [size ** 1.5 for size in (50, 100, 1000)]), 1.5)

    def test_without_the_other_side_there_is_no_ratio(self):
        result = Result("MiB")
        result.add(OURS, 3)
        result.add_error(THEIRS, "it did not start")
        out = result.to_json(row(aim=1))
        self.assertIsNone(out["ratio"])
        self.assertIsNone(out["theirs"])
        self.assertIsNone(out["met"])


if __name__ == "__main__":
    unittest.main()
