"""What the figures were taken on."""

import datetime
import os
import platform
import subprocess


def describe():
    info = {}
    with open("/proc/cpuinfo") as file:
        for line in file:
            key, _, value = line.partition(":")
            info.setdefault(key.strip(), value.strip())
    flags = info.get("flags", "").split()
    isa = "AVX-512" if "avx512f" in flags else "AVX2" if "avx2" in flags else "base"
    with open("/proc/meminfo") as file:
        memory = int(file.readline().split()[1]) // (1 << 20)
    return {"cpu": info.get("model name", platform.machine()), "cores": len(os.sched_getaffinity(0)), "instruction_set": isa, "memory_gib": memory,
            "kernel": platform.release(), "hypervisor": "hypervisor" in flags}


def sentence(machine):
    kind = "virtual machine" if machine["hypervisor"] else "machine"
    return (f"{machine['cpu']}, {machine['cores']} cores, {machine['instruction_set']}, {machine['memory_gib']} GiB, {kind}, "
            f"Linux {machine['kernel']}")


def is_same(one, other):
    """Whether quotients of two runs may be compared: the same processor and number of cores, whatever its kernel is."""
    return all(one.get(key) == other.get(key) for key in ("cpu", "cores", "instruction_set", "hypervisor"))


def name(machine):
    return f"{machine['cpu']}, {machine['cores']} cores, {machine['instruction_set']}"


def today():
    return datetime.date.today().isoformat()


def commit(root):
    """What was measured, as git names it; None where there is no git."""
    try:
        done = subprocess.run(["git", "-C", root, "describe", "--always", "--dirty", "--exclude=*"], capture_output=True, text=True)
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None
