"""The process that runs TensorFlow for the comparison: some bad inputs end TensorFlow's process, and then only this one.

Messages are pickles, preceded by their length. Requests: ("make", [(op, seed), …]), each answered by ("made", case) and
("answered", answer, built); ("answer", case, as_graph), answered by the latter alone; ("build",
case), which runs nothing; ("graph", seed, options) asks for a random graph.
"""

import os
import pickle
import resource
import struct
import sys
import traceback

MEMORY_LIMIT = 12 << 30


def receive(stream):
    head = stream.read(4)
    if len(head) < 4:
        return None
    return pickle.loads(stream.read(struct.unpack("<I", head)[0]))


def send(stream, message):
    data = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    stream.write(struct.pack("<I", len(data)) + data)
    stream.flush()


def main():
    # What TensorFlow prints must not come between the answers.
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    import cases
    import random_graphs  # noqa: F401: registers its makers
    from graphs import build
    from makers import MAKERS
    from tensorflow_answers import answer, run_as_graph
    from values import Random

    def answered(case, prefix, as_graph=False):
        said = run_as_graph(case) if as_graph else answer(case)
        return "answered", said, build(case, prefix)

    send(out, ("ready", sorted(MAKERS)))
    while (request := receive(sys.stdin.buffer)) is not None:
        try:
            if request[0] == "make":
                for i, (op, seed) in enumerate(request[1]):
                    try:
                        case = cases.make(Random(seed), op)
                        case.seed = seed
                        send(out, ("made", case))
                        send(out, answered(case, f"c{i}_"))
                    except Exception:
                        send(out, ("failed", f"{op} of seed {seed}: {traceback.format_exc()}"))
            elif request[0] == "build":
                send(out, ("built", build(request[1], "c0_")))
            elif request[0] == "answer":
                send(out, answered(request[1], "c0_", request[2]))
        except Exception:
            send(out, ("failed", traceback.format_exc()))


if __name__ == "__main__":
    main()
