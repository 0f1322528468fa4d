"""Random cases of single ops, and random graphs: troupe computes what TensorFlow computes, or refuses with the same code. Where it differs
on purpose, both answer what differences.tsv says. The same program for as long as one likes is tools/dev/differential.

Needs a Python environment with TensorFlow, named by TROUPE_PEER_VENV; without it the test is skipped.
usage: peer_test.py [--seed N] [--cases N] [OP ...]
"""

import os
import sys

SKIPPED = 77


def main():
    import differences_run
    from differential import main as differential
    from sides import TensorFlow, Troupe

    arguments = sys.argv[1:]
    if "--seed" not in arguments:
        arguments += ["--seed", "1"]
    if "--cases" not in arguments:
        arguments += ["--cases", os.environ.get("TROUPE_PEER_CASES", "20")]
    failed = differential(arguments)
    tensorflow, troupe = TensorFlow(), Troupe(os.environ.get("TROUPE_CASE_RUNNER", "case_runner"))
    untrue, count = differences_run.run(tensorflow, troupe)
    tensorflow.end()
    troupe.end()
    print("\n".join(untrue + [f"differences on purpose: {count - len(untrue)} of {count} are as listed"]), flush=True)
    return 1 if failed or untrue else 0


def in_environment():
    """Goes on with the Python of the environment that TROUPE_PEER_VENV names."""
    venv = os.environ.get("TROUPE_PEER_VENV", "")
    if not venv:
        print("TROUPE_PEER_VENV names no Python environment with TensorFlow, so there is no peer to compare with.")
        sys.exit(SKIPPED)
    if os.path.realpath(sys.prefix) != os.path.realpath(venv):
        python = os.path.join(venv, "bin", "python")
        os.execv(python, [python, "-B", *sys.argv])


if __name__ == "__main__":
    in_environment()
    sys.exit(main())
