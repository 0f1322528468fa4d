"""The programs of programs/, each by TensorFlow itself and by `python -m troupe`: what they print is the same. Exit code 77 without a Python
environment that has TensorFlow. Arguments name single programs."""

import os
import subprocess
import sys

VENV = os.environ.get("TROUPE_PEER_VENV")
HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = os.path.join(HERE, "programs")
RELATIVE, ABSOLUTE = 2e-4, 2e-6  # training repeats rounding errors
LONGEST = 600  # seconds


def run(words, program):
    environment = {**os.environ, "PYTHONPATH": os.path.join(HERE, "..", "..", "python"), "TF_CPP_MIN_LOG_LEVEL": "3", "TF_ENABLE_ONEDNN_OPTS": "0"}
    command = [os.path.join(VENV, "bin", "python"), "-B", "-W", "ignore", *words, os.path.join(PROGRAMS, program)]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=LONGEST)


def close(one, other):
    if one == other:
        return True
    try:
        a, b = float(one), float(other)
    except ValueError:
        return False
    return abs(a - b) <= ABSOLUTE + RELATIVE * max(abs(a), abs(b))


def difference(wanted, got):
    """The first line that differs, or nothing."""
    lines, others = wanted.splitlines(), got.splitlines()
    for line, other in zip(lines, others):
        words = line.split(" ")
        if len(words) != len(other.split(" ")) or not all(map(close, words, other.split(" "))):
            return f"TensorFlow: {line}\ntroupe:     {other}"
    return "" if len(lines) == len(others) else f"TensorFlow prints {len(lines)} lines, troupe {len(others)}"


def main():
    if not VENV:
        print("skipped: TROUPE_PEER_VENV names no Python environment with TensorFlow")
        return 77
    bad = 0
    for program in sys.argv[1:] or sorted(os.listdir(PROGRAMS)):
        if program == "show.py" or not program.endswith(".py"):
            continue
        wanted, got = run([], program), run(["-m", "troupe"], program)
        why = ""
        if wanted.returncode != 0:
            why = "TensorFlow itself: " + wanted.stderr[-2000:]
        elif got.returncode != 0:
            why = got.stderr[-4000:]
        else:
            why = difference(wanted.stdout, got.stdout)
        print(f"{'bad' if why else 'good'}: {program}, {len(wanted.stdout.splitlines())} lines\n{why}".rstrip(), flush=True)
        bad += bool(why)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
