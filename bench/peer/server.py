"""One TensorFlow task of a cluster, until it is ended.  usage: server.py CLUSTER_JSON JOB INDEX"""

import json
import sys

import tensorflow as tf

cluster, job, index = json.loads(sys.argv[1]), sys.argv[2], int(sys.argv[3])
server = tf.distribute.Server(tf.train.ClusterSpec(cluster), job_name=job, task_index=index)
print("ready", flush=True)
server.join()
