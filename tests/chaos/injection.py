"""One fault, from the injection to a cluster that is as it was before."""

import dataclasses
import random
import signal
import time

from cluster import TASKS, task_name

# Codes that a failing call may have, words of the reason that its message must hold, and the longest time to its
# answer in seconds: a closed socket is noticed at once, silence within the lease (5 s), a heartbeat (1 s) and a
# timer's round (1.25 s); the rest is room for a crowded machine.
AT_ONCE, BY_LEASE = 3.0, 10.0
LOST = ("UNAVAILABLE", "ABORTED")


@dataclasses.dataclass(frozen=True)
class Fault:
    name: str
    codes: tuple = ("UNAVAILABLE",)
    words: tuple = ()
    limit: float = BY_LEASE
    restarts: bool = False  # the victim ends and is started again


FAULTS = {fault.name: fault for fault in (
    Fault("kill", words=("closed its connection",), limit=AT_ONCE, restarts=True),
    Fault("stop", words=("frozen",)),
    Fault("cut"),  # the words are the network's
    Fault("term", words=("left the cluster in order", "is shutting down"), limit=AT_ONCE + 5, restarts=True),
    Fault("pause", codes=("OK",)),  # stopped for less than a lease
    Fault("slow", codes=("OK",)),  # a link of 4 Mbit/s
)}
MOMENTS = ("before", "during", "after")
# What must be zero again on every node once its sessions are closed.
COUNTERS = ("worker_sessions", "master_sessions", "graphs", "steps", "master_steps", "executors", "rendezvous", "transport_offers",
            "transport_pulls", "compilations", "dials")
RECOVERY_LIMIT, CLEAN_LIMIT = 40.0, 40.0
HANG = 60.0  # a call that takes longer counts as unanswered


@dataclasses.dataclass
class Outcome:
    fault: str
    target: str
    moment: str
    code: str = ""
    message: str = ""
    seconds: float = -1.0
    stale: str = ""  # what the old session said once the victim was back
    recovery: float = -1.0
    clean: float = -1.0
    resident: dict = dataclasses.field(default_factory=dict)  # bytes by role
    problems: list = dataclasses.field(default_factory=list)


def inject(cluster, fault, target):
    if fault.name == "kill":
        cluster.signal(target, signal.SIGKILL)
    elif fault.name in ("stop", "pause"):
        cluster.signal(target, signal.SIGSTOP)
    elif fault.name == "term":
        cluster.signal(target, signal.SIGTERM)
    elif fault.name == "cut":
        cluster.network.cut(target)
    elif fault.name == "slow":
        cluster.network.slow_down(target, 4_000_000)


def undo(cluster, fault, target, outcome):
    if fault.name in ("stop", "pause"):
        cluster.signal(target, signal.SIGCONT)
    elif fault.name == "cut":
        cluster.network.heal(target)
    elif fault.name == "slow":
        cluster.network.speed_up(target)
    if not fault.restarts:
        return
    try:
        code = cluster.nodes[target].process.wait(timeout=20)
    except Exception:
        outcome.problems.append("the victim did not end")
        cluster.nodes[target].end()
        code = None
    wanted = -signal.SIGKILL if fault.name == "kill" else 0
    if code is not None and code != wanted:
        outcome.problems.append(f"the victim ended with {code}, not {wanted}: {cluster.nodes[target].log[-3:]}")
    cluster.start(target)


def provoke(cluster, fault, target, moment, dice, outcome):
    """Injects, and gives the call that answers to it, or None."""
    client = cluster.client
    calls = 3 if fault.codes == ("OK",) else 1_000_000
    if moment == "during":
        client.send(f"steps {calls}")
        time.sleep(dice.uniform(0.05, 0.6))
        begun = time.monotonic()
        inject(cluster, fault, target)
    else:
        if moment == "after":
            client.do("steps 1", HANG)
        begun = time.monotonic()
        inject(cluster, fault, target)
        if moment == "after":
            time.sleep(dice.uniform(0, 8) if fault.codes != ("OK",) else dice.uniform(0, 1))
        client.send(f"steps {calls}")
    if fault.name == "pause":
        time.sleep(dice.uniform(0.5, 3))
        cluster.signal(target, signal.SIGCONT)
    last = None
    for call in client.calls(HANG):
        last = call
    if last is None:
        return None
    # From when both the fault and the call are there.
    outcome.seconds = max(last["end"] - max(begun, last["begin"]), 0)
    return last


def judge(fault, target, network, call, outcome, patience):
    if call is None:
        outcome.problems.append(f"no answer within {HANG} s")
        return
    outcome.code, outcome.message = call["code"], call["message"]
    if call["code"] not in fault.codes:
        outcome.problems.append(f"code {call['code']}, expected {' or '.join(fault.codes)}")
    if fault.codes == ("OK",):
        return
    if task_name(target) not in call["message"]:
        outcome.problems.append(f"the message does not name {task_name(target)}")
    words = network.CUT_WORDS if fault.name == "cut" else fault.words
    if not any(word in call["message"] for word in words):
        outcome.problems.append(f"the message does not say {' or '.join(words)}")
    if outcome.seconds > fault.limit * patience:
        outcome.problems.append(f"answered after {outcome.seconds:.1f} s, later than {fault.limit * patience} s")


def ask_old_session(cluster, fault, outcome):
    """Once the victim is back, the old session must say so: ABORTED, within some calls."""
    end = time.monotonic() + 15
    while time.monotonic() < end:
        calls = cluster.client.do("steps 1", HANG)
        if not calls or calls[-1] is None:
            outcome.problems.append("the old session does not answer")
            return
        outcome.stale = calls[-1]["code"]
        if outcome.stale == "ABORTED":
            return
        if outcome.stale != "UNAVAILABLE":
            break
        time.sleep(0.2)
    outcome.problems.append(f"the old session says {outcome.stale} of a task that was started again, expected ABORTED")


def recover(cluster, outcome):
    begun = time.monotonic()
    last = None
    while time.monotonic() < begun + RECOVERY_LIMIT:
        for command in ("open", "steps 2"):
            calls = cluster.client.do(command, HANG)
            last = calls[-1] if calls else None
            if last is None or last["code"] != "OK":
                break
        else:
            outcome.recovery = time.monotonic() - begun
            return
        time.sleep(0.2)
    outcome.problems.append(f"no new session within {RECOVERY_LIMIT} s: {last}")


def leftovers(cluster):
    """What is left on the nodes, as sentences; and each node's resident bytes."""
    left, resident = [], {}
    for role in TASKS:
        status = cluster.status(role)
        if status is None:
            left.append(f"{role} does not answer")
            continue
        resident[role] = status["resident_bytes"]
        for name in COUNTERS:
            if status["counters"].get(name, 0):
                left.append(f"{role}: {name} is {status['counters'][name]}")
    return left, resident


def expect_clean(cluster, outcome):
    cluster.client.do("close", HANG)
    begun = time.monotonic()
    while True:
        left, outcome.resident = leftovers(cluster)
        if not left:
            outcome.clean = time.monotonic() - begun
            return
        if time.monotonic() > begun + CLEAN_LIMIT:
            outcome.problems.append("left behind: " + ", ".join(left))
            return
        time.sleep(0.3)


def run_injection(cluster, fault, target, moment, seed, patience):
    dice = random.Random(seed)
    outcome = Outcome(fault.name, target, moment)
    for command in ("open", "steps 2"):
        calls = cluster.client.do(command, HANG)
        if not calls or calls[-1] is None or calls[-1]["code"] != "OK":
            outcome.problems.append(f"no session to begin with: {calls[-1:]}")
            break
    else:
        judge(fault, target, cluster.network, provoke(cluster, fault, target, moment, dice, outcome), outcome, patience)
        undo(cluster, fault, target, outcome)
        if fault.restarts and target != "master":
            ask_old_session(cluster, fault, outcome)
        if fault.codes != ("OK",):
            recover(cluster, outcome)
    expect_clean(cluster, outcome)
    return outcome
