"""Figures of a row: what each round gave, medians, and how far they are apart."""

import statistics


def summary(values):
    """Median, lowest and highest of what the rounds gave; None of nothing."""
    if not values:
        return None
    return {"median": statistics.median(values), "low": min(values), "high": max(values), "rounds": list(values)}


def quotients(above, below):
    """One side's figures through the other's, of the rounds that gave both."""
    return [above[number] / value for number, value in below.items() if number in above and value > 0]


class Result:
    """What a row has measured, by the number of the round. Smaller is better, unless the row says that its figure is a rate."""

    def __init__(self, unit):
        self.unit = unit
        self.ours, self.theirs, self.limit = {}, {}, {}
        self.limit_name = None
        self.our_error = self.their_error = None
        self.detail = {}
        self.verdict = None  # of a row that judges itself

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
            shares = quotients(self.limit, self.ours)
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
        if self.our_error:
            verdicts.append(False)
        out["met"] = all(verdicts) if verdicts else None
        for key, value in (("our_error", self.our_error), ("their_error", self.their_error), ("detail", self.detail)):
            if value:
                out[key] = value
        return out
