"""Clusters of which some tasks are troupe's and some TensorFlow's own servers, driven by TensorFlow's masters. Exit code 77 without a
Python environment that has TensorFlow."""

import os
import subprocess
import sys

VENV = os.environ.get("TROUPE_PEER_VENV")
if not VENV:
    print("skipped: TROUPE_PEER_VENV names no Python environment with TensorFlow")
    sys.exit(77)

HERE = os.path.dirname(os.path.abspath(__file__))
program = subprocess.run([os.path.join(VENV, "bin", "python"), "-B", os.path.join(HERE, "mixed_cluster_program.py")], timeout=900,
                         env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "2"})
sys.exit(program.returncode)
