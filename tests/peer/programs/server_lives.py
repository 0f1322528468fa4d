"""Servers that were not started, that have stopped, whose protocol nobody has, and with addresses that are none."""

import re
import socket

import tensorflow.compat.v1 as tf
from show import refusal
from tensorflow.core.protobuf import tensorflow_server_pb2

tf.disable_v2_behavior()
tf.logging.set_verbosity(tf.logging.ERROR)
Server = tf.distribute.Server


def sentence(call):
    """Without the header that protobuf puts before a message's text."""
    try:
        call()
    except tf.errors.OpError as error:
        return f"{type(error).__name__}: " + re.sub(r"goo\.gle/\w+ *\n", "", error.message)
    return "nothing"


idle = Server.create_local_server(start=False)
print("join", idle.join(), idle.join())
print("start", sentence(idle.start))
late = Server.create_local_server(start=False)
print("start", late.start(), late.start())
with tf.Graph().as_default(), tf.Session(late.target) as session:
    print("run", session.run(tf.constant(1.0)))

known = tensorflow_server_pb2.ServerDef(job_name="worker")
known.cluster.job.add(name="worker").tasks[0] = "localhost:0"
for definition in (tensorflow_server_pb2.ServerDef(), known):
    print("no protocol", sentence(lambda: Server(definition)))
for protocol in ("", "grpc+verbs"):
    print("protocol", sentence(lambda: Server({"worker": ["localhost:0"]}, protocol=protocol)))
print("protocol", refusal(lambda: Server(known, protocol="grpc")))

for address in ("localhost", "localhost:", "localhost:7x", "localhost:2147483648", ""):
    print("own", sentence(lambda: Server({"worker": [address]})))
for address in ("localhost", "localhost:", "localhost:7x", "localhost:2147483648", "localhost:-1", "7", "", "http://localhost:7"):
    print("other", sentence(lambda: Server({"worker": ["localhost:0", address]}, job_name="worker", task_index=0)))
far = Server({"worker": ["localhost:0", "localhost:99999"]}, job_name="worker", task_index=0)
print("target", far.target.rpartition(":")[0])
with socket.socket() as held:
    held.bind(("", 0))
    port = held.getsockname()[1]
print("wrapped", Server({"worker": [f"localhost:{65536 + port}"]}).target == f"grpc://localhost:{port}")
