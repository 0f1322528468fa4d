# Makes linear.pb: a line fitted by gradient descent. Needs TensorFlow, of any version from 1.13 on; running the graph needs none.
import tensorflow.compat.v1 as tf
tf.disable_eager_execution()
tf.disable_control_flow_v2()                     # loops as Switch and Merge, should there be any
x = tf.placeholder(tf.float32, [None], name="x")
y = tf.placeholder(tf.float32, [None], name="y")
a, b = tf.Variable(0.0, name="a"), tf.Variable(0.0, name="b")
loss = tf.reduce_mean(tf.square(a * x + b - y), name="loss")
tf.train.GradientDescentOptimizer(0.1).minimize(loss, name="train")
tf.global_variables_initializer()                # the op "init"
open("linear.pb", "wb").write(tf.get_default_graph().as_graph_def().SerializeToString())
