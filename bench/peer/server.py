"""One TensorFlow task of a cluster, until it is ended.  usage: server.py CLUSTER_JSON JOB INDEX"""

import json
import sys

import tensorflow as tf

cluster, job, index = json.loads(sys.argv[1]), sys.argv[2], int(sys.argv[3])
config = tf.compat.v1.ConfigProto()
config.experimental.collective_group_leader = "/job:worker/replica:0/task:0"  # only servers that name it form groups
server = tf.distribute.Server(tf.train.ClusterSpec(cluster), job_name=job, task_index=index, config=config)
print("ready", flush=True)
server.join()
