"""Runs train.py on one ps and two workers of this machine, each a process with `python -m troupe`: the Python that runs this needs
TensorFlow, and `troupe` is on the PATH or named in the environment's TROUPE. The exit code is 0 if the model is as good as it should be."""

import json
import os
import re
import socket
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
MODULE = os.path.join(HERE, "..", "..", "python")
LONGEST = 250  # seconds
GOOD = 0.9


def free_ports(count):
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in held]
    for one in held:
        one.close()
    return ports


def start(cluster, job, task):
    config = json.dumps({"cluster": cluster, "task": {"type": job, "index": task}})
    environment = {"TF_CPP_MIN_LOG_LEVEL": "3", **os.environ, "PYTHONPATH": MODULE, "TF_CONFIG": config}
    words = [sys.executable, "-B", "-m", "troupe", os.path.join(HERE, "train.py")]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)


def main():
    addresses = [f"127.0.0.1:{port}" for port in free_ports(3)]
    cluster = {"ps": addresses[:1], "worker": addresses[1:]}
    programs = {name: start(cluster, *name) for name in (("worker", 1), ("ps", 0), ("worker", 0))}  # in any order
    good = True
    try:
        for name in (("worker", 0), ("worker", 1)):
            out, _ = programs[name].communicate(timeout=LONGEST)
            found = re.search(r"worker \d: accuracy of the last batch ([0-9.]+)", out)
            print(found[0] if found else out[-4000:], flush=True)
            # A worker that comes when the other is done sees one batch, after the last step or before it.
            good = good and programs[name].returncode == 0 and bool(found) and (name[1] != 0 or float(found[1]) >= GOOD)
    finally:
        for program in programs.values():
            program.kill()
            program.communicate()
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
