"""Where figures go: a file of their own, or the documents, where rows that were not measured keep theirs."""

import os

import report


class Record:
    def __init__(self, out, is_kept, about, rows, names, folder):
        """`rows`: all there are, in their order; `names`: those that will be measured. ValueError if the documents' other rows are of another machine or
        peer, beside which these would mean nothing."""
        self.out, self.is_kept, self.about, self.order = out, is_kept, about, list(rows)
        self.document, self.path = (os.path.join(folder, "benchmarks" + ending) for ending in (".md", ".json"))
        self.old = {}
        if out or not is_kept or not os.path.exists(self.path):
            return
        data = report.load(self.path)
        other = [f"{key} ({data.get(key)}; here {value})" for key, value in about.items() if data.get(key) != value]
        if not other:
            self.old = data["rows"]
        elif set(data["rows"]) - set(names):
            raise ValueError(f"{self.path} has figures of another {' and another '.join(other)}: measure all rows, or give --out FILE.json")

    def keep(self, figures):
        """Called after each row, so that a run that is stopped has not been for nothing."""
        if not self.is_kept:
            return
        all_figures = {**self.old, **figures}
        data = {**self.about, "rows": {name: all_figures[name] for name in self.order if name in all_figures}}
        report.save(self.out or self.path, data)
        if not self.out:
            report.write_document(self.document, data)
