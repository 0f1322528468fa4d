"""Sessions that name no target: each has its state to itself, on a node that belongs to the program."""

import os
import sys
import threading

from .child import Child, free_port


class OwnNode:
    """A node that is started for the first session that asks for its target."""

    def __init__(self, cpu_devices=1):
        self._cpu_devices = cpu_devices
        self._lock = threading.Lock()
        self._address = None
        self._child = None

    def target(self):
        with self._lock:
            if self._child is not None and self._child.has_ended():
                print(f"troupe: the program's own node has ended (code {self._child.process.returncode}); a new one is started, without the state "
                      "of the sessions so far", file=sys.stderr)
                self._child = None
            if self._child is None:
                address = f"127.0.0.1:{free_port()}"
                self._child = Child({"localhost": {"0": address}}, "localhost", 0, self._cpu_devices)
                self._address = address
            return "grpc://" + self._address


class OwnNodes:
    """The program's own nodes, by what a node has for good: how many CPU devices, which TensorFlow's local sessions choose by
    ConfigProto.device_count, and the working folder, below which a graph's relative paths lead."""

    def __init__(self):
        self._lock = threading.Lock()
        self._nodes = {}

    def target(self, cpu_devices=1):
        with self._lock:
            node = self._nodes.setdefault((os.getcwd(), cpu_devices), OwnNode(cpu_devices))
        return node.target()


def cpu_devices_of(config):
    """How many a ConfigProto asks for; TensorFlow, too, has at least one."""
    return max(config.device_count.get("CPU", 1), 1)


ORIGIN = "From /job:localhost/replica:0/task:0:\n"


def local_message(message, is_deadline):
    """An error's message as TensorFlow's local sessions word it: without the task that it comes from, which a remote step's begins with."""
    message = message.removeprefix(ORIGIN)
    if is_deadline and "Timed out" not in message:
        message = "Timed out waiting for notification: " + message
    return message.replace("Must run PartialRunSetup before performing partial runs", "Must run 'setup' before performing partial runs!")


def as_local(call, *args, **kwargs):
    """What the call returns; its errors as TensorFlow's local sessions have them."""
    from tensorflow.python.framework import errors
    try:
        return call(*args, **kwargs)
    except errors.OpError as error:
        error._message = local_message(str(error.message), isinstance(error, errors.DeadlineExceededError))
        raise


def isolated(config, defaults):
    """A copy of a ConfigProto, or of the defaults, that asks for state of the session's own, as each session in a process has it.

    Threads of a session's own, which TensorFlow's local sessions have and no remote one, are left out: they change no value."""
    out = type(defaults)()
    out.CopyFrom(defaults if config is None else config)
    out.isolate_session_state = True
    out.use_per_session_threads = False
    del out.session_inter_op_thread_pool[:]
    return out


def refusal_of_pool(pool, pools):
    """What TensorFlow's local sessions say of RunOptions.inter_op_thread_pool where they have so many pools of their own; a server overlooks it."""
    return None if -1 <= pool < max(pools, 1) else f"Invalid inter_op_thread_pool: {pool}"


def check_pool(pool, pools):
    from tensorflow.python.framework import errors
    if refusal := refusal_of_pool(pool, pools):
        raise errors.InvalidArgumentError(None, None, refusal)


def install():
    """Sends sessions without a target to the program's own node. A target that is given stays, and so does what TensorFlow refuses."""
    from tensorflow.core.protobuf import config_pb2
    from tensorflow.python.client import session as session_lib
    from tensorflow.python.eager import context
    nodes = OwnNodes()
    real_init = session_lib.BaseSession.__init__
    real_do_call = session_lib.BaseSession._do_call
    real_sessionrun = session_lib.BaseSession._call_tf_sessionrun
    real_run = session_lib.BaseSession.run
    real_callable_init = session_lib.BaseSession._Callable.__init__
    real_callable_call = session_lib.BaseSession._Callable.__call__
    real_reset = session_lib.Session.reset

    def init(self, target="", graph=None, config=None):
        self._is_on_own_node = target in (None, "", b"") and (config is None or isinstance(config, config_pb2.ConfigProto))
        if self._is_on_own_node:
            given = context.context().config if config is None else config
            self._thread_pools = len(given.session_inter_op_thread_pool)
            config = isolated(config, context.context().config)
            target = nodes.target(cpu_devices_of(config))
        real_init(self, target, graph, config)

    def do_call(self, call, *args):
        if not self._is_on_own_node:
            return real_do_call(self, call, *args)
        return real_do_call(self, as_local, call, *args)

    def sessionrun(self, *args):  # what make_callable of one op or tensor calls by itself
        if not self._is_on_own_node:
            return real_sessionrun(self, *args)
        return as_local(real_sessionrun, self, *args)

    def run(self, fetches, feed_dict=None, options=None, run_metadata=None):
        if self._is_on_own_node and options is not None and options.inter_op_thread_pool:
            real_do_call(self, check_pool, options.inter_op_thread_pool, self._thread_pools)
        return real_run(self, fetches, feed_dict, options, run_metadata)

    def callable_init(self, session, callable_options):
        self._pool = callable_options.run_options.inter_op_thread_pool
        real_callable_init(self, session, callable_options)

    def callable_call(self, *args, **kwargs):
        if not self._session._is_on_own_node:
            return real_callable_call(self, *args, **kwargs)
        check_pool(self._pool, self._session._thread_pools)
        return as_local(real_callable_call, self, *args, **kwargs)

    def reset(target, containers=None, config=None):
        return real_reset(target or nodes.target(), containers, config)

    session_lib.BaseSession.__init__ = init
    session_lib.BaseSession._do_call = do_call
    session_lib.BaseSession._call_tf_sessionrun = sessionrun
    session_lib.BaseSession.run = run
    session_lib.BaseSession._Callable.__init__ = callable_init
    session_lib.BaseSession._Callable.__call__ = callable_call
    session_lib.Session.reset = staticmethod(reset)
