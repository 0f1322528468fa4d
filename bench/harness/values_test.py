"""Values of both sides, beside each other."""

import math
import unittest
from types import SimpleNamespace

from values import Fetched, apart

OURS, THEIRS = SimpleNamespace(name="troupe"), SimpleNamespace(name="TensorFlow")


def fetched(ours, theirs, leanest=None):
    out = Fetched()
    out.add(OURS, "default", [[[ours]]])
    out.add(THEIRS, "default", [[[theirs]]])
    if leanest:
        out.add(THEIRS, "caller's thread", [[[leanest]]])
    return out


class Apart(unittest.TestCase):
    def test_it_is_a_part_of_the_largest_value(self):
        self.assertAlmostEqual(apart([1.0, 99.0], [2.0, 100.0]), 0.01)

    def test_infinity_equals_itself_and_what_is_no_number_equals_nothing(self):
        self.assertEqual(apart([math.inf, 1.0], [math.inf, 1.0]), 0)
        self.assertEqual(apart([math.inf], [-math.inf]), math.inf)
        self.assertEqual(apart([math.nan], [math.nan]), math.inf)
        self.assertEqual(apart([1.0], [math.nan]), math.inf)

    def test_more_elements_are_other_values(self):
        self.assertEqual(apart([1.0, 1.0], [1.0]), math.inf)

    def test_zeros_are_alike_and_nothing_else_is_near_zero(self):
        self.assertEqual(apart([0.0], [0.0]), 0)
        self.assertEqual(apart([1e-9], [0.0]), math.inf)


class Compare(unittest.TestCase):
    def test_what_is_within_the_tolerance_is_told_how_far_it_is(self):
        distance, problem = fetched([1.001], [1.0]).compare(0.01)
        self.assertAlmostEqual(distance, 0.001)
        self.assertIsNone(problem)

    def test_what_is_not_names_both_sides_and_where(self):
        _, problem = fetched([2.5], [1.0]).compare(0.01)
        self.assertEqual(problem, "troupe (default) fetched 2.5 and TensorFlow (default) 1: client 0, run 0, fetch 0; 1.5 apart, 0.01 allowed")

    def test_every_variant_is_compared(self):
        _, problem = fetched([1.0], [1.0], leanest=[3.0]).compare(0.01)
        self.assertIn("TensorFlow (caller's thread) fetched 3", problem)

    def test_one_side_alone_or_no_fetch_says_nothing(self):
        alone = Fetched()
        alone.add(OURS, "default", [[[[1.0]]]])
        self.assertIsNone(alone.compare(0.01))
        none = Fetched()
        none.add(OURS, "default", [[[], []]])
        none.add(THEIRS, "default", [[[], []]])
        self.assertIsNone(none.compare(0.01))


if __name__ == "__main__":
    unittest.main()
