"""Figures of rounds, paired by their numbers."""

import unittest
from types import SimpleNamespace

from figures import Result

OURS, THEIRS = SimpleNamespace(name="troupe"), SimpleNamespace(name="TensorFlow")


def row(aim=None, aim_share=None):
    return SimpleNamespace(what="what", aim=aim, aim_share=aim_share, aim_value=None)


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
