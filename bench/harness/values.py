"""Fetched values: what one side computed beside what the other did. A row that computes something else is quick for nothing."""

import math


def apart(ours, theirs):
    """How far two lists of numbers are apart, as a part of the largest finite number of the second; infinite where only one of two is a number."""
    if len(ours) != len(theirs):
        return math.inf
    largest = max((abs(value) for value in theirs if math.isfinite(value)), default=0)
    furthest = 0.0
    for mine, other in zip(ours, theirs):
        if math.isfinite(mine) and math.isfinite(other):
            furthest = max(furthest, abs(mine - other))
        elif mine != other:  # also where both are no number: a step that computes nothing is not to be timed
            return math.inf
    return furthest / largest if largest else (0.0 if furthest == 0 else math.inf)


def shown(elements):
    text = ", ".join(f"{value:.7g}" for value in elements[:3])
    return text + ", …" if len(elements) > 3 else text


class Fetched:
    """What the clients of a row have fetched: for each side and each variant of its settings, of each client, run by run."""

    def __init__(self):
        self.sides = {}

    def add(self, side, variant, clients):
        self.sides.setdefault(side.name, {})[variant] = clients

    def compare(self, tolerance):
        """(the furthest apart, None or a sentence), every variant beside the other side's first; None where there is nothing to compare."""
        ours, theirs = self.sides.get("troupe"), self.sides.get("TensorFlow")
        if not ours or not theirs:
            return None
        reference_name, reference = next(iter(theirs.items()))
        furthest, count = 0.0, 0
        for side, variants in self.sides.items():
            for variant, clients in variants.items():
                for (client, run, fetch), values in numbered(clients):
                    others = reference[client][run][fetch]
                    count += 1
                    distance = apart(values, others)
                    if distance > tolerance:
                        return distance, (f"{side} ({variant}) fetched {shown(values)} and TensorFlow ({reference_name}) {shown(others)}: client {client}, run "
                                          f"{run}, fetch {fetch}; {distance:.2g} apart, {tolerance:.2g} allowed")
                    furthest = max(furthest, distance)
        return (furthest, None) if count else None


def numbered(clients):
    for client, runs in enumerate(clients):
        for run, fetches in enumerate(runs):
            for fetch, values in enumerate(fetches):
                yield (client, run, fetch), values
