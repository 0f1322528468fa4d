"""examples/tensorflow: a MonitoredTrainingSession on one ps and two workers, with `python -m troupe`. Exit code 77 without a Python
environment that has TensorFlow."""

import os
import subprocess
import sys

VENV = os.environ.get("TROUPE_PEER_VENV")
if not VENV:
    print("skipped: TROUPE_PEER_VENV names no Python environment with TensorFlow")
    sys.exit(77)

root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
words = [os.path.join(VENV, "bin", "python"), "-B", os.path.join(root, "examples", "tensorflow", "cluster.py")]
sys.exit(subprocess.run(words, env={**os.environ, "STEPS": "100"}, timeout=580).returncode)
