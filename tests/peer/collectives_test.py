"""Collectives over two workers, on troupe and on TensorFlow's own servers, give the same values. Exit code 77 without a Python environment
that has TensorFlow."""

import json
import os
import socket
import subprocess
import sys

VENV = os.environ.get("TROUPE_PEER_VENV")
if not VENV:
    print("skipped: TROUPE_PEER_VENV names no Python environment with TensorFlow")
    sys.exit(77)

HERE = os.path.dirname(os.path.abspath(__file__))
PYTHON = os.path.join(VENV, "bin", "python")


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


def answers(server):
    """What both workers print, on a cluster whose tasks `server(cluster, index)` starts."""
    cluster = json.dumps({"worker": [f"127.0.0.1:{port}" for port in free_ports(2)]})
    servers = [subprocess.Popen(server(cluster, i), stdout=subprocess.DEVNULL) for i in range(2)]
    program = os.path.join(HERE, "collectives_program.py")
    workers = [subprocess.Popen([PYTHON, "-B", program, cluster, str(i)], stdout=subprocess.PIPE, text=True) for i in range(2)]
    try:
        out = []
        for worker in workers:
            text, _ = worker.communicate(timeout=240)
            if worker.returncode != 0:
                raise SystemExit(f"a worker ended with {worker.returncode}")
            out.append([json.loads(line[7:]) for line in text.splitlines() if line.startswith("values ")][0])
        return out
    finally:
        for process in workers + servers:
            process.kill()
            process.wait()


def flat(value):
    return [x for part in value for x in flat(part)] if isinstance(value, list) else [value]


ours = answers(lambda cluster, i: [os.environ["TROUPE"], "serve", "--cluster=" + cluster, "--job=worker", f"--task={i}"])
theirs = answers(lambda cluster, i: [PYTHON, os.path.join(HERE, "..", "..", "bench", "peer", "server.py"), cluster, "worker", str(i)])
wrong = 0
for worker, (a, b) in enumerate(zip(ours, theirs)):
    if len(a) != len(b):
        sys.exit(f"worker {worker} has {len(a)} values on troupe and {len(b)} on TensorFlow")
    for number, (x, y) in enumerate(zip(map(flat, a), map(flat, b))):
        if len(x) != len(y) or any(abs(p - q) > 1e-5 * max(1, abs(q)) for p, q in zip(x, y)):
            wrong += 1
            print(f"worker {worker}, value {number}: {x[:8]} on troupe, {y[:8]} on TensorFlow")
print(f"{sum(map(len, ours))} values, {wrong} differ")
sys.exit(wrong > 0)
