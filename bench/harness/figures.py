"""Figures of a row: what each round gave, medians, and how far they are apart."""

import math
import statistics

from values import Fetched


def summary(values):
    """Median, lowest and highest of what the rounds gave; None of nothing."""
    if not values:
        return None
    return {"median": statistics.median(values), "low": min(values), "high": max(values), "rounds": list(values)}


def quotients(above, below):
    """One side's figures through the other's, of the rounds that gave both."""
    return [above[number] / value for number, value in below.items() if number in above and value > 0]


def slope(sizes, values):
    """The exponent of the power of its size that a value grows with: a line through the logarithms, by least squares."""
    x, y = [math.log(size) for size in sizes], [math.log(value) for value in values]
    x_mean, y_mean = statistics.fmean(x), statistics.fmean(y)
    return sum((a - x_mean) * (b - y_mean) for a, b in zip(x, y)) / sum((a - x_mean) ** 2 for a in x)


class Result:
    """What a row has measured, by the number of the round. Smaller is better, unless the row says that its figure is a rate."""

    def __init__(self, unit):
        self.unit = unit
        self.ours, self.theirs, self.limit = {}, {}, {}
        self.limit_name = None
        self.our_error = self.their_error = None
        self.detail = {}
        self.verdict = None  # of a row that judges itself
        self.fetched = Fetched()
        self.quickest = None  # {"micros": our quickest step, "yardstick": what the machine takes for something at best, "is": its name}
        self.skipped = None  # why this machine cannot measure it

    def add(self, side, value, number=0):
        (self.ours if side.name == "troupe" else self.theirs)[number] = value

    def add_error(self, side, error):
        if side.name == "troupe":
            self.our_error = str(error)
        else:
            self.their_error = str(error)

    def to_json(self, row):
        out = {"what": row.what, "unit": self.unit, "aim": row.aim, "ours": summary(self.ours.values()),
               "theirs": summary(self.theirs.values())}
        ratios = quotients(self.theirs, self.ours)
        out["ratio"] = summary(ratios)
        verdicts = []
        if row.aim and ratios:
            verdicts.append(out["ratio"]["median"] >= row.aim)
        if self.limit:
            # Who is quicker than the limit does without it, by shared memory or by fewer products: that is no share of it above 1.
            shares = [min(1, share) for share in quotients(self.limit, self.ours)]
            out["limit"] = {"name": self.limit_name, **summary(self.limit.values())}
            out["share"] = summary(shares)
            if row.aim_share and shares:
                out["aim_share"] = row.aim_share
                verdicts.append(out["share"]["median"] >= row.aim_share)
        if row.aim_value and self.ours:
            out["aim_value"] = row.aim_value
            verdicts.append(out["ours"]["median"] <= row.aim_value)
        if self.verdict is not None:
            verdicts.append(self.verdict)
            out["aim_text"] = row.aim_text
        compared = self.fetched.compare(row.tolerance)
        if compared:
            out["values"] = {"apart": compared[0], "tolerance": row.tolerance}
            if compared[1]:
                out["values_error"] = compared[1]
        if self.our_error or "values_error" in out:
            verdicts.append(False)
        out["met"] = all(verdicts) if verdicts else None
        for key, value in (("skipped", self.skipped), ("our_error", self.our_error), ("their_error", self.their_error), ("detail", self.detail), ("quickest", self.quickest)):
            if value:
                out[key] = value
        return out
