"""Rows of single ops."""

import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "graphs"))

import kernels  # noqa: E402
import single_ops  # noqa: E402


class Kernels(unittest.TestCase):
    def test_rows_have_names_of_their_own_and_graphs_of_as_many_nodes_as_they_say(self):
        rows = [row for group in (kernels.elementwise_rows, kernels.reduction_rows, kernels.neural_rows, kernels.matrix_rows, kernels.movement_rows,
                                   kernels.family_rows, kernels.dtype_rows, kernels.shape_rows) for row in group()]
        self.assertEqual(len(kernels.kernel_rows()), len(rows))
        for row in rows:
            name, function, op, *more = row.steps[0].graph
            self.assertEqual(row.name, name)
            graph = function(op, *more)
            self.assertEqual(sum(b"\x0a" + bytes([len(f"n{k}")]) + f"n{k}".encode() + b"\x12" + bytes([len(op)]) + op.encode() in graph for k in range(row.copies)), row.copies)

    def test_a_time_is_that_of_one_node(self):
        class Side:
            name = "troupe"

            def measure(self, seconds, clients, steps=1):
                return [{"median": 30.0}]

        row = single_ops.row("neg", "Neg", "Neg", ["x"], {"x": (4,)}, 10)
        self.assertEqual(row.once(type("Bench", (), {"seconds": staticmethod(float), "ours": None}), Side(), [("plain", ["plain/0"])], None), 3.0)

    def test_the_summary_counts_what_reaches_the_aim_and_names_what_is_far_below(self):
        figures = {"a": {"ratio": {"median": 1.2}}, "b": {"ratio": {"median": 0.9}}, "c": {"ratio": {"median": 0.5}}, "d": {"ratio": None}}
        self.assertEqual(single_ops.summary(figures), ["1 of 3 rows are at least 1 times as fast as TensorFlow; below 0.8: c 0.50"])
        self.assertEqual(single_ops.summary({"d": {"ratio": None}}), [])


if __name__ == "__main__":
    unittest.main()
