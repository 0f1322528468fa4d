"""One injection: a fault or two, from the blow to a cluster that is as it was before, with every value accounted for."""

import dataclasses
import random
import signal
import time

from cluster import TASKS, TENANTS, task_name

# Codes that a failing call may have, words of the reason that its message must hold, and the longest time to its answer in
# seconds. A closed socket is noticed at once; silence within the lease (5 s) and two seconds for a heartbeat (1 s) and a
# timer's round (1.25 s).
AT_ONCE, BY_LEASE, UNBOUNDED = 0.3, 7.0, 1e9
LOST = ("UNAVAILABLE", "ABORTED")


@dataclasses.dataclass(frozen=True)
class Fault:
    name: str
    codes: tuple = ("UNAVAILABLE",)
    words: tuple = ()
    limit: float = BY_LEASE
    restarts: bool = False  # the victim ends and is started again
    lasts: float = 0.0  # seconds, where more than the answer is waited for
    settings: tuple = ()  # lines of the config; a cluster of its own

    @property
    def disturbs(self):
        return "OK" not in self.codes


FAULTS = {fault.name: fault for fault in (
    Fault("kill", words=("closed its connection",), limit=AT_ONCE, restarts=True),
    Fault("stop", words=("frozen",)),
    Fault("cut"),  # the words are the network's
    Fault("term", words=("left the cluster in order", "is shutting down"), limit=AT_ONCE, restarts=True),
    Fault("pause", codes=("OK",)),  # stopped for less than a lease
    Fault("slow", codes=("OK",)),  # a link of 4 Mbit/s
    Fault("doze", words=("frozen",), lasts=130),  # stopped for minutes, given up, and back
    # Stopped for minutes, and not given up: transfers to it may fail, nothing that it has read may change.
    Fault("sleep", codes=("OK", "UNAVAILABLE"), limit=UNBOUNDED, lasts=150, settings=("lease = 5min",)),
)}
MINUTES = ("doze", "sleep")  # too long for a test that runs with the others
OF_TENANTS = ("kill", "stop", "cut")
MOMENTS = ("steps", "long", "idle")
# What must be zero again on every node once its sessions are closed.
COUNTERS = ("worker_sessions", "master_sessions", "graphs", "steps", "master_steps", "executors", "rendezvous", "transport_offers",
            "transport_pulls", "compilations", "dials", "lent_slots")
# What connects nodes stays: at most one connection to each peer, either way.
AT_MOST = {"data_connections_in": len(TASKS) - 1, "data_connections_out": len(TASKS) - 1}
SHARED_BYTES_SLACK = 16 << 20
RECOVERY_LIMIT, CLEAN_LIMIT = 5.0, 40.0
HANG = 60.0  # a call that takes longer counts as unanswered


@dataclasses.dataclass(frozen=True)
class Blow:
    fault: Fault
    target: str  # a role of TASKS or TENANTS

    def __str__(self):
        return f"{self.fault.name} {self.target}"


@dataclasses.dataclass
class Outcome:
    blows: tuple
    moment: str
    path: str
    codes: list = dataclasses.field(default_factory=list)  # of each tenant's last call
    messages: list = dataclasses.field(default_factory=list)
    seconds: float = -1.0  # to the slower answer
    slowest: float = 0.0  # of all calls
    recovery: float = -1.0
    clean: float = -1.0
    checked: int = 0  # steps whose effect was compared
    taken: set = dataclasses.field(default_factory=set)  # paths
    place: str = ""  # what the caller calls where it happened
    resident: dict = dataclasses.field(default_factory=dict)  # bytes by role
    shared: dict = dataclasses.field(default_factory=dict)  # likewise, of shared memory
    problems: list = dataclasses.field(default_factory=list)

    @property
    def name(self):
        return " + ".join(map(str, self.blows))


def inject(cluster, blow):
    if blow.fault.name == "kill":
        cluster.signal(blow.target, signal.SIGKILL)
    elif blow.fault.name in ("stop", "pause", *MINUTES):
        cluster.signal(blow.target, signal.SIGSTOP)
    elif blow.fault.name == "term":
        cluster.signal(blow.target, signal.SIGTERM)
    elif blow.fault.name == "cut":
        cluster.network.cut(blow.target)
    elif blow.fault.name == "slow":
        cluster.network.slow_down(blow.target, 4_000_000)


def undo(cluster, blow, outcome):
    fault, target = blow.fault, blow.target
    if fault.name in ("stop", "pause", *MINUTES):
        cluster.signal(target, signal.SIGCONT)
    elif fault.name == "cut":
        cluster.network.heal(target)
    elif fault.name == "slow":
        cluster.network.speed_up(target)
    if not fault.restarts:
        return
    if target in TENANTS:
        cluster.tenants[target].lines.end()
        cluster.start_tenant(target)
        return
    try:
        code = cluster.nodes[target].process.wait(timeout=20)
    except Exception:
        outcome.problems.append(f"{target} did not end")
        cluster.nodes[target].end()
        code = None
    wanted = -signal.SIGKILL if fault.name == "kill" else 0
    if code is not None and code != wanted:
        outcome.problems.append(f"{target} ended with {code}, not {wanted}: {cluster.nodes[target].log[-3:]}")
    cluster.start(target)


def provoke(cluster, outcome, dice):
    """Lets the blows fall while the tenants work, as the moment says. When the (last) blow fell."""
    harmless = not any(blow.fault.disturbs for blow in outcome.blows)
    victims = {blow.target for blow in outcome.blows}
    commands = {tenant: "steps 4" if harmless else "for 8" if victims & TENANTS.keys() - {tenant} else "steps 1000000" for tenant in TENANTS}
    if outcome.moment == "long":
        commands = {tenant: command if command.startswith("for") else "long" for tenant, command in commands.items()}
    if outcome.moment != "idle":
        for tenant, command in commands.items():
            cluster.tenants[tenant].send(command)
        for tenant, command in commands.items():
            if command == "long" and not cluster.tenants[tenant].wait_begin("long", HANG):
                outcome.problems.append(f"{tenant}: no long step began")
        time.sleep(dice.uniform(0.02, 0.6 if outcome.moment == "steps" else 0.2))  # any moment of what runs, not one that is waited for
    for blow in outcome.blows:
        inject(cluster, blow)
    fell = time.monotonic()
    if outcome.moment == "idle":
        time.sleep(dice.uniform(0, 1 if harmless else 8))
        for tenant, command in commands.items():
            if tenant not in victims:
                cluster.tenants[tenant].send(command)
    for blow in outcome.blows:
        if blow.fault.name == "pause":
            time.sleep(dice.uniform(0.5, 3))
            cluster.signal(blow.target, signal.SIGCONT)
        elif blow.target in TENANTS and blow.fault.name == "stop":
            time.sleep(12)  # its session's lease has run out
            cluster.signal(blow.target, signal.SIGCONT)
            fell = time.monotonic()
        elif blow.fault.name == "sleep":
            time.sleep(blow.fault.lasts)
            cluster.signal(blow.target, signal.SIGCONT)
    return fell


def words_of(blow, network):
    return network.CUT_WORDS if blow.fault.name == "cut" else blow.fault.words


def judge(cluster, outcome, tenant, call, fell, patience):
    """Whether `tenant` was told what has happened: one of the blows, in time and by its name."""
    blows = [blow for blow in outcome.blows if blow.target in TASKS or blow.target == tenant]
    if not blows:  # only another tenant was hit
        if call is None or call["code"] != "OK":
            outcome.problems.append(f"{tenant} was disturbed by what befell another: {call}")
        return
    if call is None:
        if not any(blow.target == tenant and blow.fault.name == "kill" for blow in blows):
            outcome.problems.append(f"{tenant}: no answer within {HANG} s")
        return
    seconds = max(call["end"] - max(fell, call["begin"]), 0)
    outcome.seconds = max(outcome.seconds, seconds)
    outcome.codes.append(call["code"])
    outcome.messages.append(call["message"])

    def fits(blow):
        fault = blow.fault
        if not fault.disturbs:
            return call["code"] in fault.codes
        if blow.target == tenant:  # it is told of its master
            return call["code"] in LOST and task_name(TENANTS[tenant]) in call["message"]
        return (call["code"] in fault.codes and task_name(blow.target) in call["message"] and
                any(word in call["message"] for word in words_of(blow, cluster.network)))

    if not any(map(fits, blows)):
        outcome.problems.append(f"{tenant} was told {call['code']}: {call['message']}")
    limit = max(blow.fault.limit for blow in blows)
    if any(blow.fault.disturbs for blow in blows) and seconds > limit * patience:
        outcome.problems.append(f"{tenant} was answered after {seconds:.1f} s, later than {limit * patience:.1f} s")


def judge_all(cluster, outcome, fell, patience):
    hang = HANG + max(blow.fault.lasts for blow in outcome.blows)
    disturbs = any(blow.fault.disturbs for blow in outcome.blows)
    for tenant, client in cluster.tenants.items():
        blows = [blow for blow in outcome.blows if blow.target in TASKS or blow.target == tenant]
        if outcome.moment == "idle" and any(blow.target == tenant for blow in blows):
            continue  # it asks nothing
        call = client.last(hang)
        if call and disturbs and blows and call["code"] == "OK":
            call = client.do("steps 1000000", hang)  # its step had ended when the blow fell, or was let finish
        judge(cluster, outcome, tenant, call, fell, patience)


def ask_old_sessions(cluster, outcome):
    """Once a victim was started again, old sessions must say so: ABORTED, within some calls."""
    restarted = {blow.target for blow in outcome.blows if blow.fault.restarts}
    # What a session was told of another victim first, it says again.
    others = {blow.target for blow in outcome.blows if blow.fault.disturbs and not blow.fault.restarts} & TASKS.keys()
    for tenant, client in cluster.tenants.items():
        if not restarted & TASKS.keys() or tenant in restarted:
            continue
        end, code = time.monotonic() + 15, ""
        while time.monotonic() < end and code != "ABORTED":
            call = client.do("steps 2", HANG)  # one of them at least needs every task
            code = call["code"] if call else "nothing"
            # The session goes with its master; what is said then is about the master.
            if code not in ("UNAVAILABLE", "ABORTED") or TENANTS[tenant] in restarted or others:
                break
            time.sleep(0.2)
        if code not in (("ABORTED", "UNAVAILABLE") if TENANTS[tenant] in restarted or others else ("ABORTED",)):
            outcome.problems.append(f"{tenant}'s old session says {code} of a task that was started again, expected ABORTED")


def lost_its_variables(outcome, call):
    """Whether a restart of the ps excuses what a check was answered."""
    return call["code"] == "FAILED_PRECONDITION" and any(blow.target == "ps" and blow.fault.restarts for blow in outcome.blows)


def recover(cluster, outcome, patience):
    """New sessions: what the old ones left is compared, and steps run again."""
    begun = time.monotonic()
    for tenant, client in cluster.tenants.items():
        steps, call = ["open", "check", "init", "steps 2"], None
        while steps and time.monotonic() < begun + HANG:
            call = client.do(steps[0], HANG)
            if call and (call["code"] == "OK" or (steps[0] == "check" and lost_its_variables(outcome, call))):
                if steps[0] == "check":
                    outcome.checked += sum(client.done.values()) if call["code"] == "OK" else 0
                steps.pop(0)
            elif call and call["code"] == "FAILED_PRECONDITION":
                break
            else:
                steps = ["open", *steps] if steps[0] != "open" else steps
                time.sleep(0.1)
        if steps:
            outcome.problems.append(f"{tenant}: no new session: {call}")
    outcome.recovery = time.monotonic() - begun
    if outcome.recovery > RECOVERY_LIMIT * patience:
        outcome.problems.append(f"new sessions worked after {outcome.recovery:.1f} s, later than {RECOVERY_LIMIT * patience} s")


def leftovers(cluster, outcome):
    """What is left on the nodes, as sentences; keeps each node's resident bytes, and the paths that were taken."""
    left = []
    for role in TASKS:
        status = cluster.status(role)
        if status is None:
            left.append(f"{role} does not answer")
            continue
        outcome.resident[role] = status["resident_bytes"]
        counters = status["counters"]
        left += [f"{role}: {name} is {counters[name]}" for name in COUNTERS if counters.get(name, 0)]
        left += [f"{role}: {name} is {counters[name]}" for name, most in AT_MOST.items() if counters.get(name, 0) > most]
        shared = outcome.shared[role] = counters.get("shared_bytes", 0)
        rest = cluster.at_rest.get(role, shared)
        if shared > rest + SHARED_BYTES_SLACK:
            left.append(f"{role}: {shared >> 20} MiB of shared memory, {rest >> 20} MiB at rest")
        outcome.taken |= set(cluster.paths(status).values())
    return left


def expect_clean(cluster, outcome):
    for client in cluster.tenants.values():
        client.do("close", HANG)
    begun = time.monotonic()
    while True:
        left = leftovers(cluster, outcome)
        if not left:
            outcome.clean = time.monotonic() - begun
            break
        if time.monotonic() > begun + CLEAN_LIMIT:
            outcome.problems.append("left behind: " + ", ".join(left))
            break
        time.sleep(0.3)
    if outcome.taken != {cluster.path}:
        outcome.problems.append(f"tensors took {', '.join(sorted(outcome.taken)) or 'no path'}, not {cluster.path}")


def begin(cluster, outcome):
    """Both tenants have sessions that work."""
    for tenant, client in cluster.tenants.items():
        for command in ("open", "init", "steps 2"):
            call = client.do(command, HANG)
            if not call or call["code"] != "OK":
                outcome.problems.append(f"{tenant}: no session to begin with: {call}")
                return False
    return True


def warm_up(cluster):
    """Everything once without a fault, so that what a node holds at rest is known."""
    outcome = Outcome((), "", cluster.path)
    if begin(cluster, outcome):
        for command in ("steps 40", "long", "long", "check"):
            for client in cluster.tenants.values():  # at once, which takes the most memory
                client.send(command)
            for client in cluster.tenants.values():
                call = client.last(HANG)
                if not call or call["code"] != "OK":
                    outcome.problems.append(f"without a fault: {call}")
    expect_clean(cluster, outcome)
    cluster.at_rest = outcome.shared
    outcome.problems += [wrong for client in cluster.tenants.values() for wrong in client.wrong]
    if outcome.problems:
        raise RuntimeError(f"{cluster.name} does not work without faults: {outcome.problems}")


def run_injection(cluster, blows, moment, seed, patience):
    dice = random.Random(seed)
    outcome = Outcome(blows, moment, cluster.path)
    for client in cluster.tenants.values():
        client.slowest, client.wrong = {"seconds": 0.0, "call": ""}, []
    if begin(cluster, outcome):
        fell = provoke(cluster, outcome, dice)
        judge_all(cluster, outcome, fell, patience)
        for blow in blows:
            if blow.fault.name == "doze":
                time.sleep(max(fell + blow.fault.lasts - time.monotonic(), 0))
        outcome.slowest = max(client.slowest["seconds"] for client in cluster.tenants.values())
        for blow in blows:
            undo(cluster, blow, outcome)
        ask_old_sessions(cluster, outcome)
        recover(cluster, outcome, patience)
    expect_clean(cluster, outcome)
    for tenant, client in cluster.tenants.items():
        outcome.problems += [f"WRONG VALUES, {tenant}: {wrong}" for wrong in client.wrong]
    return outcome
