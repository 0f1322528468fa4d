"""Whether a commit has made the runtime slower, without the other side and on a machine that others use: the rows of `rows.GUARDED`."""

import os
import resource
import time

import machine
import report

TRIES = 3  # a row that has become slower is so each time; one that was disturbed is not
MOST_BY_OTHERS = 0.25  # of all processors' time: steps over several processes are slowed by more, even the quickest of them


def reason_to_skip(old, about, names):
    if not machine.is_same(old["machine"], about["machine"]):
        return f"its figures are of another machine ({machine.name(old['machine'])}; here {machine.name(about['machine'])})"
    if not any(old["rows"].get(name, {}).get("quickest") for name in names):
        return "it has no quickest steps of these rows"
    return None


class Processors:
    """What others use of the machine's processors while something is measured by processes that are ours and have ended when that is over."""

    def __init__(self):
        self.begun, self.busy, self.own = time.monotonic(), self.all_busy(), self.ours()

    @staticmethod
    def all_busy():
        """Seconds, those that a hypervisor gave to others among them."""
        with open("/proc/stat") as file:
            user, nice, system, _, _, interrupts, soft_interrupts, stolen = map(int, file.readline().split()[1:9])
        return (user + nice + system + interrupts + soft_interrupts + stolen) / os.sysconf("SC_CLK_TCK")

    @staticmethod
    def ours():
        return sum(usage.ru_utime + usage.ru_stime for usage in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))

    def share_of_others(self):
        passed = (time.monotonic() - self.begun) * os.cpu_count()
        return max(0.0, self.all_busy() - self.busy - self.ours() + self.own) / passed


def problems(old, names, measure):
    """`measure`: gives the figures of the rows it is told, and the share of the processors that others had meanwhile. What is said of a row in each of three
    tries; nothing, but a line on standard output, if others used the machine."""
    left = list(names)
    for _ in range(TRIES):
        figures, others = measure(left)
        errors = [f"{name}: {row['our_error']}" for name, row in figures.items() if row.get("our_error")]
        slow = list(report.slower(old, {"rows": figures}))
        if errors or not slow:
            return errors
        if others > MOST_BY_OTHERS:
            print(f"bench: skipped: others had {others:.0%} of the processors, so that nothing follows from: {'; '.join(slow)}")
            return []
        left = [name for name in left if any(sentence.startswith(name + ": ") for sentence in slow)]
    return slow
