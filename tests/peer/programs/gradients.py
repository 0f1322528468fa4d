"""Gradients: of second order, Hessians, stopped, custom, overridden, of indexed slices, of what has none; checks of numbers."""

import numpy as np
import tensorflow.compat.v1 as tf
from show import refusal, show

tf.disable_v2_behavior()
random = np.random.RandomState(7)


@tf.RegisterGradient("Doubled")
def _(op, grad):
    return 2 * grad


x = tf.placeholder(tf.float64, [3])
matrix = tf.constant(random.rand(3, 3))
energy = tf.reduce_sum(tf.sin(x) * tf.linalg.matvec(matrix, x ** 2))
first = tf.gradients(energy, x)[0]
out = {
    "first": first,
    "second": tf.gradients(tf.reduce_sum(first * tf.constant([1.0, -2.0, 3.0], tf.float64)), x)[0],
    "hessian": tf.hessians(energy, x)[0],
    "stopped": tf.gradients(energy * tf.stop_gradient(energy), x)[0],
    "not through": tf.gradients(energy, x, stop_gradients=[first])[0],
    "weighted": tf.gradients([energy, tf.reduce_sum(x)], x, grad_ys=[tf.constant(2.0, tf.float64), tf.constant(-1.0, tf.float64)])[0],
    "jacobian": tf.stack([tf.gradients((tf.tanh(x) * x[0])[i], x)[0] for i in range(3)]),
    "aggregated": tf.gradients([tf.reduce_sum(x * i) for i in range(5)], x, aggregation_method=tf.AggregationMethod.EXPERIMENTAL_TREE)[0],
}
with tf.get_default_graph().gradient_override_map({"Identity": "Doubled"}):
    out["overridden"] = tf.gradients(tf.reduce_sum(tf.identity(x) * 3), x)[0]
for name, value in {
        "log_det": tf.linalg.slogdet(tf.matmul(tf.diag(x + 2), matrix + tf.eye(3, dtype=tf.float64) * 3))[1], "inverse": tf.matrix_inverse(tf.diag(x + 2) + matrix),
        "cholesky": tf.cholesky(tf.matmul(matrix * x, matrix * x, transpose_b=True) + tf.eye(3, dtype=tf.float64)), "svd": tf.svd(matrix * x, compute_uv=False),
        "eigenvalues": tf.linalg.eigvalsh(tf.diag(x) + matrix + tf.transpose(matrix)), "solve": tf.matrix_solve(matrix + tf.eye(3, dtype=tf.float64), x[:, None]),
        "top_k": tf.nn.top_k(x, 2)[0], "where": tf.where(x > 0.5, x ** 3, tf.sqrt(x)), "gather": tf.gather(x, [2, 0, 2]), "cumprod": tf.cumprod(x, reverse=True),
        "segments": tf.segment_sum(x, [0, 0, 1]), "unsorted": tf.unsorted_segment_mean(x, [1, 0, 1], 2), "norm": tf.norm(x), "logsumexp": tf.reduce_logsumexp(x),
        "xent": tf.nn.softmax_cross_entropy_with_logits_v2(labels=[[0.2, 0.3, 0.5]] if False else tf.constant([[0.2, 0.3, 0.5]], tf.float64), logits=x[None]),
        "einsum": tf.einsum("i,ij,j->", x, matrix, x), "reverse": tf.reverse(x, [0]) * [1, 2, 3], "pad": tf.pad(x, [[1, 1]], "REFLECT"), "igamma": tf.lgamma(x + 1) + tf.digamma(x + 1),
        "complex": tf.abs(tf.fft(tf.complex(x, x * 2))), "prod": tf.reduce_prod(x), "maximum": tf.maximum(x, 0.5), "clip": tf.clip_by_value(x, 0.3, 0.8),
        "slice": x[::2] * [1, 2], "scatter": tf.scatter_nd([[2], [0], [2]], x, [4]), "dynamic": tf.dynamic_stitch([[0, 2], [1]], tf.dynamic_partition(x, [0, 1, 0], 2))}.items():
    out["of " + name] = tf.gradients(value, x)[0]
table = tf.get_variable("table", [5, 2], tf.float64, initializer=tf.random_normal_initializer(seed=1))
slices = tf.gradients(tf.reduce_sum(tf.gather(table, [1, 3, 1]) ** 2), table)[0]
out["slices"] = [slices.values, slices.indices, tf.convert_to_tensor(slices)]
number = tf.check_numerics(tf.log(x), "the logarithm")
checked = tf.add_check_numerics_ops() if False else number

with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for name, value in out.items():
        show(name, session.run(value, {x: [0.2, 0.9, 0.4]}))
    print("no gradient", tf.gradients(tf.argmax(x), x), refusal(lambda: tf.gradients(tf.cast(x, tf.int32), tf.constant("a"))))
    print("numerics", refusal(lambda: session.run(checked, {x: [0.2, -0.9, 0.4]})))
    show("good numbers", session.run(checked, {x: [0.2, 0.9, 0.4]}))
    wrong = tf.test.compute_gradient_error(x, [3], tf.sin(x) * x, [3], x_init_value=np.array([0.1, 0.2, 0.3]))
    print("checked against differences", wrong < 1e-6)
