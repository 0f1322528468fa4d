"""Whether a commit has made the runtime slower, without the other side and on a machine that others use: the rows of `rows.GUARDED`."""

import machine
import report

TRIES = 3  # a row that has become slower is so each time; one that was disturbed is not


def reason_to_skip(old, about, names):
    if not machine.is_same(old["machine"], about["machine"]):
        return f"its figures are of another machine ({machine.name(old['machine'])}; here {machine.name(about['machine'])})"
    if not any(old["rows"].get(name, {}).get("quickest") for name in names):
        return "it has no quickest steps of these rows"
    return None


def problems(old, names, measure):
    """`measure`: gives the figures of the rows it is told. What is said of a row in each of three tries."""
    left = list(names)
    for _ in range(TRIES):
        figures = measure(left)
        errors = [f"{name}: {row['our_error']}" for name, row in figures.items() if row.get("our_error")]
        slow = list(report.slower(old, {"rows": figures}))
        if errors or not slow:
            return errors
        left = [name for name in left if any(sentence.startswith(name + ": ") for sentence in slow)]
    return slow
