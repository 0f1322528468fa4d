"""Random cases of every op that has a maker, and random graphs, through TensorFlow and through troupe, for as long as asked.

usage: differential.py [--minutes N | --cases N] [--seed S] [--graphs PART] [--texts] [--runner PATH] [OP ...]

Each class of mismatches (op, kind, dtype or codes) is shown once: the case that was found is made smaller and written as a row of the
op's table. Classes that differences.tsv lists count as agreement. Exit code 1 if there is another.
"""

import argparse
import collections
import os
import random
import re
import sys
import time
import zlib

import numpy as np

import differences
from compare import Mismatch, compare_answer, compare_values
from sides import Ended, Said, TensorFlow, Troupe
from shrink import as_row, shrink

BATCH = 48


def ended(words):
    said = object.__new__(Said)
    said.code, said.message, said.names, said.types, said.values = "ENDS", words, [], [], []
    return said


class Differential:
    def __init__(self, runner, texts=False, out=print):
        self.tensorflow, self.troupe, self.out, self.texts = TensorFlow(), Troupe(runner), out, texts
        self.listed = differences.rules()
        self.classes, self.known, self.cases = collections.Counter(), collections.Counter(), collections.Counter()
        self.lacking, self.waits = collections.Counter(), collections.Counter()
        self.ends, self.sentences, self.failed, self.examples = collections.Counter(), collections.Counter(), collections.Counter(), {}

    # One case

    def ask(self, case):
        return self.tensorflow.answer(case)[0] if case is not None else None

    def troupe_says(self, built):
        try:
            return self.troupe.alone(built)
        except Ended as words:
            return ended(str(words))

    def judge(self, case, answer, said):
        if said.code == "ENDS":
            return Mismatch("ends", f"troupe's process ends: {said.message}")
        if answer is None or (case.ys and answer.code is None and not answer.types):  # no y depends on an x: nothing is fetched
            return None
        return compare_answer(case, answer, said, self.ask)

    def mismatch_of(self, case):
        answer, built = self.tensorflow.answer(case)
        if built is None or isinstance(built, str) or (answer is not None and answer.code == "DEADLINE_EXCEEDED"):
            return None
        return self.judge(case, answer, self.troupe_says(built))

    def node_values(self, case):
        """(dtype, value) of each node of a program with one output, by name."""
        out = {}
        answer = self.ask(case.copy(fetches=[node[0] for node in case.nodes], ys=(), xs=(), scale=None))
        if answer is not None and answer.code is None:
            for node, dtype, value in zip(case.nodes, answer.types, answer.values):
                out[node[0]] = dtype, np.asarray(value)
        return out

    # Many

    def run(self, made):
        """`made`: (case, answer, built) as TensorFlow.make gives them."""
        fine, others = [], []
        for case, answer, built in made:
            if isinstance(answer, tuple):
                self.fail(*answer, built)
            elif answer is None:
                self.tensorflow_ended(case, built)
            elif answer.code == "DEADLINE_EXCEEDED":  # it waits for what no other step brings
                self.waits[case.op] += 1
            else:
                self.cases[case.op] += 1
                (fine if answer.code is None and not built.ys else others).append((case, answer, built))
        if fine:
            self.run_together(fine)
        if others:
            self.run_each(others)

    def fail(self, op, seed, words):
        self.failed[op] += 1
        if self.failed[op] == 1:
            self.out(f"the maker of {op} fails with seed {seed}:\n{words}")

    def tensorflow_ended(self, case, words):
        op = case.op if case is not None else re.findall(r"\('(\w+)'", words)[0]
        self.ends[op] += 1
        if self.ends[op] == 1:
            reason = re.findall(r"F\d+ .*|.*[Cc]heck failed.*|.*\b(?:terminate|Assertion|no answer|bad_alloc).*", words)
            self.out(f"TensorFlow ends its process: {reason[-1] if reason else words[:300]}\n    {as_row(case, None) if case is not None else ''}")
        if case is None:
            return
        from_case = self.tensorflow_built(case)
        if from_case is not None:
            said = self.troupe_says(from_case)
            if said.code == "ENDS":
                self.report(case, None, Mismatch("ends", f"troupe's process ends: {said.message}"))

    def tensorflow_built(self, case):
        try:
            self.tensorflow.ask(("build", case))
            message = self.tensorflow.message()
            return message[1] if message[0] == "built" else None
        except Ended:
            return None

    def run_together(self, group):
        try:
            found = self.troupe.together([built for _, _, built in group])
        except Ended:
            found = None
        if found is None:
            self.run_each(group)
            return
        for (case, answer, built), (types, values) in zip(group, found):
            mismatch = compare_values(case, answer.values, values, answer.types, types, self.ask, answer.spreads)
            if mismatch is None:
                continue
            alone = self.judge(case, answer, self.troupe_says(built))
            if alone is None:
                mismatch = Mismatch("together", f"beside other cases, not alone: {mismatch.detail}", mismatch.label)
            self.report(case, answer, alone or mismatch)

    def run_each(self, group):
        said = []
        try:
            if len(group) > 1 and not any(built.ys for _, _, built in group) and self.troupe.graph(b"".join(built.graph for _, _, built in group)).code == "OK":
                for _, _, built in group:
                    said.append(self.troupe.run(built.feeds, [name for name, _ in built.fetches], built.targets))
        except Ended:
            pass
        for i, (case, answer, built) in enumerate(group):
            here = said[i] if i < len(said) else self.troupe_says(built)
            mismatch = self.judge(case, answer, here)
            if mismatch is not None and i < len(said):
                here = self.troupe_says(built)
                mismatch = self.judge(case, answer, here) or Mismatch("together", f"beside other cases, not alone: {mismatch.detail}", mismatch.label)
            if mismatch is not None:
                self.report(case, answer, mismatch)
            elif self.texts and answer.code is not None and here.code == answer.code and not answer.refused:
                self.compare_texts(case, answer.message, here.message)

    def compare_texts(self, case, theirs, ours):
        def plain(text):
            text = re.sub(r"c\d+_(op|n\d+|in\d+)\w*", "NODE", text)
            text = re.split(r"(?<=\D\D)\. |\n| \[\[| \[node", text)[0].rstrip(".")
            return re.sub(r"-?\d+(\.\d+)?(e[+-]?\d+)?", "#", text)
        if plain(theirs) != plain(ours):
            key = (case.op, plain(theirs)[:200], plain(ours)[:200])
            self.sentences[key] += 1

    def report(self, case, answer, mismatch):
        if mismatch.kind in ("refuses", "code") and "<no registered kernels>" in mismatch.detail:
            self.lacking[re.findall(r"support Op \\?'(\w+)\\?'", mismatch.detail)[0]] += 1
            return
        rule = next((rule for rule in self.listed if rule.covers(case, mismatch, answer)), None)
        if rule is not None:
            self.known[rule.name] += 1
            return
        key = mismatch.key(case)
        self.classes[key] += 1
        if self.classes[key] > 1:
            return
        small, again = case, mismatch
        if mismatch.kind != "together" and "DEADLINE_EXCEEDED" not in mismatch.detail:
            small, again = shrink(case, self.mismatch_of, mismatch, self.node_values)
            # What became smaller may have become a listed one.
            small, again = (small, again) if again is not None else (case, mismatch)
        answer = self.ask(small)
        fed = f", fed {sorted(small.fed)}" if small.fed else ""
        self.out(f"{case.op} {mismatch.kind} {mismatch.label} (seed {case.seed}{fed})\n    {again.detail}\n    {as_row(small, answer)}")

    def summary(self):
        lines = []
        for (op, kind, label), count in sorted(self.classes.items(), key=lambda item: -item[1]):
            lines.append(f"  {op} {kind} {label}: {count}")
        total = sum(self.cases.values())
        known = ", ".join(f"{name} {count}" for name, count in self.known.most_common())
        lines.append(f"{total} cases of {len(self.cases)} ops; {sum(self.classes.values())} mismatches in {len(self.classes)} classes; "
                     f"{sum(self.known.values())} listed ({known})")
        if self.ends:
            lines.append("TensorFlow ends its process: " + ", ".join(f"{op} {count}" for op, count in self.ends.most_common()))
        if self.lacking:
            lines.append("ops that troupe lacks: " + ", ".join(f"{op} {count}" for op, count in self.lacking.most_common()))
        if self.waits:
            lines.append("steps that wait for ever: " + ", ".join(f"{op} {count}" for op, count in self.waits.most_common()))
        if self.failed:
            lines.append("makers that fail: " + ", ".join(f"{op} {count}" for op, count in self.failed.most_common()))
        if self.texts:
            for (op, theirs, ours), count in self.sentences.most_common(4000):
                lines.append(f"  text {count} {op}\n      theirs: {theirs}\n      ours:   {ours}")
        return "\n".join(lines)

    def end(self):
        self.tensorflow.end()
        self.troupe.end()


def seed_of(base, op, index):
    return zlib.crc32(f"{base} {op} {index}".encode())


def shown(text):
    print(text, flush=True)


def main(arguments=None):
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--cases", type=int, help="of each op, in place of a time")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--one", type=int, help="the seed of one case, as a mismatch shows it")
    parser.add_argument("--graphs", type=float, default=0.1, help="part of the batches that are graphs, and gradients of graphs")
    parser.add_argument("--texts", action="store_true", help="also tells where the first sentences of refusals differ")
    parser.add_argument("--runner", default=os.environ.get("TROUPE_CASE_RUNNER", "case_runner"))
    parser.add_argument("--skip", default="", help="ops to leave out, separated by commas")
    parser.add_argument("ops", nargs="*")
    options = parser.parse_args(arguments)
    base = options.seed if options.seed is not None else random.SystemRandom().randrange(1 << 30)
    shown(f"seed {base}")
    run = Differential(options.runner, options.texts, shown)
    skipped = set(options.skip.split(","))
    ops = [op for op in (options.ops or run.tensorflow.begin()) if op not in skipped]
    if options.one is not None:
        made = list(run.tensorflow.make([(ops[0], options.one)]))
        run.run(made)
        for case, answer, _ in made:
            if case is not None:
                shown(f"{as_row(case, answer)} fed {sorted(case.fed)}")
    elif options.cases is not None:
        wanted = [(op, seed_of(base, op, i)) for op in ops for i in range(options.cases)]
        for at in range(0, len(wanted), BATCH):
            run.run(list(run.tensorflow.make(wanted[at:at + BATCH])))
    else:
        until, source, index = time.monotonic() + 60 * (options.minutes or 1), random.Random(base), 0
        told = time.monotonic()
        while time.monotonic() < until:
            wanted = []
            for _ in range(BATCH):
                index += 1
                op = source.choice(ops)
                wanted.append((op, seed_of(base, op, index)))
            run.run(list(run.tensorflow.make(wanted)))
            if time.monotonic() - told > 600:
                told = time.monotonic()
                shown(f"--- {sum(run.cases.values())} cases, {len(run.classes)} classes")
    shown(run.summary())
    run.end()
    return 1 if run.classes or run.failed else 0


if __name__ == "__main__":
    np.seterr(all="ignore")
    sys.exit(main())
