"""Deep Q-learning with a target network, policy gradients, and an actor with a critic, in a corridor of nine places."""

import collections

import numpy as np
import tensorflow.compat.v1 as tf
from show import show

tf.disable_v2_behavior()
PLACES, ACTIONS = 9, 2


def move(place, action):
    place = max(place - 1, 0) if action == 0 else place + 1
    return place, 1.0 if place == PLACES - 1 else -0.05, place == PLACES - 1


def seen(place):
    return np.eye(PLACES, dtype=np.float32)[place]


def network(x, outputs, scope, trainable=True):
    with tf.variable_scope(scope):
        hidden = tf.nn.relu(tf.matmul(x, tf.get_variable("w1", [PLACES, 16], initializer=tf.variance_scaling_initializer(2.0, seed=1), trainable=trainable)))
        return tf.matmul(hidden, tf.get_variable("w2", [16, outputs], initializer=tf.variance_scaling_initializer(2.0, seed=2), trainable=trainable))


def q_learning():
    random, memory = np.random.RandomState(1), collections.deque(maxlen=200)
    states, actions, rewards, following, ends = (tf.placeholder(tf.float32, [None, PLACES]), tf.placeholder(tf.int32, [None]), tf.placeholder(tf.float32, [None]),
                                                 tf.placeholder(tf.float32, [None, PLACES]), tf.placeholder(tf.bool, [None]))
    values = network(states, ACTIONS, "online")
    target = network(following, ACTIONS, "target", trainable=False)
    chosen = tf.reduce_sum(values * tf.one_hot(actions, ACTIONS), 1)
    wanted = tf.stop_gradient(rewards + 0.9 * tf.where(ends, tf.zeros_like(rewards), tf.reduce_max(target, 1)))
    loss = tf.losses.huber_loss(wanted, chosen)
    train = tf.train.RMSPropOptimizer(0.01).minimize(loss)
    copy = tf.group(*[to.assign(of) for to, of in zip(tf.global_variables("target"), tf.global_variables("online"))])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(copy)
        for episode in range(6):
            place = 0
            for step in range(25):
                action = random.randint(ACTIONS) if random.rand() < 0.5 else int(session.run(tf.argmax(values, 1) if step < 0 else values, {states: [seen(place)]}).argmax())
                after, reward, end = move(place, action)
                memory.append((seen(place), action, reward, seen(after), end))
                place = after
                if len(memory) >= 16:
                    batch = [memory[i] for i in random.choice(len(memory), 16)]
                    out = session.run([loss, train], dict(zip((states, actions, rewards, following, ends), map(list, zip(*batch)))))[0]
                if end:
                    break
            session.run(copy)
            show(f"q {episode}", [out, session.run(values, {states: np.eye(PLACES)})])


def policy_gradient(with_critic):
    states, actions, returns = tf.placeholder(tf.float32, [None, PLACES]), tf.placeholder(tf.int32, [None]), tf.placeholder(tf.float32, [None])
    logits = network(states, ACTIONS, "actor")
    value = tf.squeeze(network(states, 1, "critic"), 1)
    draw = tf.squeeze(tf.multinomial(logits, 1, seed=3), 1)
    advantage = returns - tf.stop_gradient(value) if with_critic else returns
    entropy = -tf.reduce_mean(tf.reduce_sum(tf.nn.softmax(logits) * tf.nn.log_softmax(logits), 1))
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=actions, logits=logits) * advantage) - 0.01 * entropy
    critic = tf.reduce_mean(tf.square(returns - value))
    optimizer = tf.train.AdamOptimizer(0.02)
    pairs = [(tf.clip_by_norm(g, 1.0), v) for g, v in optimizer.compute_gradients(loss + 0.5 * critic) if g is not None]
    train = optimizer.apply_gradients(pairs)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for episode in range(6):
            place, taken = 0, []
            for _ in range(25):
                action = int(session.run(draw, {states: [seen(place)]})[0])
                after, reward, end = move(place, action)
                taken.append((seen(place), action, reward))
                place = after
                if end:
                    break
            total, sums = 0.0, []
            for _, _, reward in reversed(taken):
                total = reward + 0.9 * total
                sums.insert(0, total)
            out = session.run([loss, critic, entropy, train], {states: [t[0] for t in taken], actions: [t[1] for t in taken], returns: sums})
            show(f"policy {with_critic} {episode} {len(taken)}", out[:3])


for run in (q_learning, lambda: policy_gradient(False), lambda: policy_gradient(True)):
    with tf.Graph().as_default():
        tf.set_random_seed(2)
        run()
