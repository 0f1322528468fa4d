"""A server as TensorFlow's programs make it, that is a child process `troupe serve`."""

import re

from .child import Child, ServerError, free_port  # noqa: F401


class NoSuchTask(Exception):
    """The own task is not in the cluster; in TensorFlow's words."""


class NoPort(Exception):
    """An address has no port; in TensorFlow's words."""


def port_of(address):
    """The port that TensorFlow listens at: of a number of 31 bits the last 16, which is what a socket takes. None: there is none."""
    text = address.rpartition(":")[2]
    number = int(text) if re.fullmatch(r"\s*\+?0*\d{1,10}\s*", text, re.ASCII) else 1 << 31
    return number & 0xFFFF if number < 1 << 31 else None


def plain(address):
    """Host and port as `troupe serve` takes them; without a host it is this machine."""
    host, colon, text = address.rpartition(":")
    port = port_of(address)
    if "/" in host or port is None and (not colon or re.fullmatch(r"\s*-\d+\s*", text)):
        raise NoPort(f'Could not interpret "{address}" as a host-port pair.')
    if port is None:
        raise NoPort(f"Failed to parse port.{address}")
    return f"{host or 'localhost'}:{port}"


def placed(tasks, job, task):
    """A copy of {job: {task: address}} with plain addresses, in which the own task's port 0 is a free one; and the own address."""
    out = {name: {str(number): address for number, address in addresses.items()} for name, addresses in tasks.items()}
    if job not in out:
        raise NoSuchTask(f'Job "{job}" was not defined in cluster')
    address = out[job].get(str(task))
    if address is None:
        raise NoSuchTask(f'Task {task} was not defined in job "{job}"')
    if port_of(address) is None:
        raise NoPort(f'Could not parse port for local server from "{address}".')
    out = {name: {number: plain(address) for number, address in addresses.items()} for name, addresses in out.items()}
    host, _, port = out[job][str(task)].rpartition(":")
    if port == "0":
        out[job][str(task)] = f"{host}:{free_port()}"
    return out, out[job][str(task)]


def session_config_of(server_def):
    """The text of what sessions get where their own config says nothing; devices are the server's own."""
    from google.protobuf import text_format
    config = type(server_def.default_session_config)()
    config.CopyFrom(server_def.default_session_config)
    config.ClearField("device_count")
    if config.HasField("experimental"):
        config.experimental.ClearField("coordination_config")
    return text_format.MessageToString(config, as_one_line=True)


def as_tensorflow_says(error):
    """What programs catch to try another port: InvalidArgumentError for a wrong cluster, else UnknownError."""
    from tensorflow.python.framework import errors
    wrongly_called = 2
    if error.code == wrongly_called:
        return errors.InvalidArgumentError(None, None, str(error))
    return errors.UnknownError(None, None, f"Could not start gRPC server: {error}")


class Server:
    """In place of tf.distribute.Server; the same arguments, methods and properties."""

    def __init__(self, server_or_cluster_def, job_name=None, task_index=None, protocol=None, config=None, start=True):
        from tensorflow.python.framework import errors
        from tensorflow.python.training import server_lib
        self._server_def = server_lib._make_server_def(server_or_cluster_def, job_name, task_index, protocol, config)
        if self._server_def.protocol != "grpc":
            raise errors.NotFoundError(None, None, f"No server factory registered for the given ServerDef: {self._server_def}\n"
                                       "The available server factories are: [ GRPC_SERVER ]")
        tasks = {job.name: dict(job.tasks) for job in self._server_def.cluster.job}
        try:
            self._tasks, self._address = placed(tasks, self._server_def.job_name, self._server_def.task_index)
        except NoSuchTask as error:
            raise errors.InternalError(None, None, str(error)) from None
        except NoPort as error:
            raise errors.InvalidArgumentError(None, None, str(error)) from None
        self._child = None
        self._has_stopped = False
        if start:
            self.start()

    def start(self):
        if self._has_stopped:
            from tensorflow.python.framework import errors
            raise errors.FailedPreconditionError(None, None, "Server has stopped.")
        if self._child is not None:
            return
        try:
            count = max(self._server_def.default_session_config.device_count.get("CPU", 1), 1)
            self._child = Child(self._tasks, self._server_def.job_name, self._server_def.task_index, count,
                                session_config_of(self._server_def))
        except ServerError as error:
            if error.code is None:
                raise
            raise as_tensorflow_says(error) from error
        if self._child.listens_everywhere():  # the listed address is none of this machine's, and may not lead back to it
            self._address = "127.0.0.1:" + self._address.rpartition(":")[2]

    def join(self):
        """Blocks until the child ends. A server that was not started has stopped then, as in TensorFlow."""
        if self._child is not None:
            self._child.join()
        self._has_stopped = True

    @property
    def server_def(self):
        return self._server_def

    @property
    def target(self):
        return "grpc://" + self._address

    @staticmethod
    def create_local_server(config=None, start=True):
        return Server({"localhost": ["localhost:0"]}, protocol="grpc", config=config, start=start)


def install():
    """Puts Server in the place of TensorFlow's, under every name that programs use."""
    import tensorflow as tf
    from tensorflow.python.training import server_lib
    server_lib.Server = Server
    v1 = tf.compat.v1
    for module in (getattr(tf, "distribute", None), getattr(tf, "train", None), v1.train, getattr(v1, "distribute", None)):
        if module is not None and hasattr(module, "Server"):
            setattr(module, "Server", Server)
