"""Files of graphs over TensorFlow's unmodified client: checkpoints, readers, summaries and tables, against `troupe serve` and against
TensorFlow itself. Exit code 77 without a Python environment that has TensorFlow."""

import os
import re
import subprocess
import sys
import tempfile

VENV = os.environ.get("TROUPE_PEER_VENV")
if not VENV:
    print("skipped: TROUPE_PEER_VENV names no Python environment with TensorFlow")
    sys.exit(77)

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "..", "e2e"))
from support import free_ports  # noqa: E402

(port,) = free_ports(1)
with tempfile.TemporaryDirectory() as folder:
    folder = os.path.realpath(folder)
    server = subprocess.Popen([os.environ["TROUPE"], "serve", f"--grpc=127.0.0.1:{port}", f"--files={folder}"], stdout=subprocess.PIPE, text=True)
    try:
        ready = server.stdout.readline()
        assert re.match(r"ready at grpc://", ready), ready
        client = subprocess.run([os.path.join(VENV, "bin", "python"), "-B", os.path.join(here, "files_program.py"), f"grpc://127.0.0.1:{port}",
                                 folder] + sys.argv[1:], capture_output=True, text=True, timeout=1500)
        print(client.stdout)
        if client.returncode != 0 or "all good" not in client.stdout:
            print(client.stderr[-4000:])
            sys.exit(1)
    finally:
        server.terminate()
        server.wait(timeout=30)
sys.exit(0 if server.returncode == 0 else 1)
