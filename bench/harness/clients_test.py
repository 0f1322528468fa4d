"""Rows that TensorFlow's own client drives: what is made of its figures."""

import os
import sys
import unittest
from types import SimpleNamespace
from unittest import mock

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../graphs"))

import clients
from clients import ClientRow, SavingRow, headroom
from figures import Result
from processes import BenchError

OURS, THEIRS = SimpleNamespace(name="troupe"), SimpleNamespace(name="TensorFlow")
BENCH = SimpleNamespace(seconds=lambda wanted: wanted)


def series(median=10.0, wall=1000.0, steps=100, cpu=4.0, longest=20.0):
    return {"median": median, "min": median, "max": longest, "p99": longest, "wall": wall, "cpu": cpu, "steps": steps}


class Programs:
    """Client programs whose answers to "measure" are given."""

    def __init__(self, *answers):
        self.answers = answers
        self.programs = [SimpleNamespace(ask=lambda *fields: series()) for _ in answers]

    def all(self, fields):
        return list(self.answers)


class Rows(unittest.TestCase):
    def test_headroom_is_their_time_by_the_clients_own(self):
        self.assertEqual(headroom(100, 50, 1), 2)
        self.assertEqual(headroom(100, 50, 2), 4)
        self.assertIsNone(headroom(100, 0, 1))

    def test_one_client_counts_by_its_median_step_and_several_by_their_wall_time(self):
        one, several = Result("µs"), Result("µs")
        ClientRow("one", "", 2).once(BENCH, OURS, Programs(series(median=7)), one, 0, [])
        self.assertEqual(one.ours[0], 7)
        row = ClientRow("several", "", 2, masters=[("worker", 0)] * 2)
        row.once(BENCH, OURS, Programs(series(wall=1000, steps=100), series(wall=900, steps=150)), several, 0, [])
        self.assertEqual(several.ours[0], 4)

    def test_a_step_that_waits_for_long_beside_a_save_misses_the_aim(self):
        for longest, met in ((49e3, True), (51e3, False)):
            result = Result("µs")
            SavingRow("save", "", 1.5).once(BENCH, OURS, Programs(series(), series(longest=longest)), result, 0, [])
            self.assertEqual(result.verdict, met)
        result = Result("µs")
        SavingRow("save", "", 1.5).once(BENCH, THEIRS, Programs(series(), series(longest=1e9)), result, 0, [])
        self.assertIsNot(result.verdict, False)  # only ours is judged

    def test_all_programs_are_heard_though_one_fails(self):
        heard = []

        def program(name, error):
            def receive(command):
                heard.append(name)
                if error:
                    raise BenchError("gone")
                return {}
            return SimpleNamespace(send=lambda *fields: None, receive=receive, close=lambda: None)

        with mock.patch.object(clients, "LineServer", side_effect=[program("a", True), program("b", False)]):
            both = clients.Clients(2, "python")
        with self.assertRaises(BenchError):
            both.all([("measure",), ("measure",)])
        self.assertEqual(heard, ["a", "b"])


if __name__ == "__main__":
    unittest.main()
