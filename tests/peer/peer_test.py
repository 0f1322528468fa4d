"""Single ops on random tensors: troupe computes what TensorFlow computes, or refuses with the same code. Where it
differs on purpose, both answer what differences.tsv says.

Needs a Python environment with TensorFlow, named by TROUPE_PEER_VENV; without it the test is skipped.
usage: peer_test.py [--seed N] [--cases N] [OP ...]
"""

import argparse
import os
import sys
import zlib

SKIPPED = 77


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", type=int, default=int(os.environ.get("TROUPE_PEER_CASES", "20")), help="for each op")
    parser.add_argument("--batch", type=int, default=40)
    parser.add_argument("ops", nargs="*")
    options = parser.parse_args()
    import differences_run
    from cases import MAKERS, make
    from peer import Troupe, tensorflow_answer
    from values import Random

    troupe = Troupe(os.environ.get("TROUPE", "troupe"))
    wrong = total = 0
    for name in options.ops or sorted(MAKERS):
        r = Random((zlib.crc32(name.encode()) + options.seed) % 2**32)
        made = [make(r, name) for _ in range(options.cases)]
        answered = [(case, tensorflow_answer(case)) for case in made]
        here = 0
        # Those that fail are run alone.
        fine = [(c, a) for c, a in answered if a.code is None]
        groups = [fine[i:i + options.batch] for i in range(0, len(fine), options.batch)]
        groups += [[pair] for pair in answered if pair[1].code is not None]
        for group in groups:
            found = troupe.run([c for c, _ in group], [a for _, a in group])
            for k, why in sorted(found.items()):
                here += 1
                print(f"{group[k][0]}\n    {why}", flush=True)
        total += len(made)
        wrong += here
        print(f"{name}: {len(made) - here} of {len(made)} agree, {len(fine)} with values", flush=True)
    if not options.ops:
        untrue, count = differences_run.run(troupe.executable)
        print("\n".join(untrue + [f"differences on purpose: {count - len(untrue)} of {count} are as listed"]), flush=True)
        wrong, total = wrong + len(untrue), total + count
    print(f"{total - wrong} of {total} cases agree over {len(options.ops or MAKERS)} ops")
    return 1 if wrong else 0


if __name__ == "__main__":
    venv = os.environ.get("TROUPE_PEER_VENV", "")
    if not venv:
        print("TROUPE_PEER_VENV names no Python environment with TensorFlow, so there is no peer to compare with.")
        sys.exit(SKIPPED)
    if os.path.realpath(sys.prefix) != os.path.realpath(venv):
        python = os.path.join(venv, "bin", "python")
        os.execve(python, [python, "-B", *sys.argv], dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3", TF_ENABLE_ONEDNN_OPTS="0", CUDA_VISIBLE_DEVICES="-1"))
    sys.exit(main())
