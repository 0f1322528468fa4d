"""A server as TensorFlow's programs make it, that is a child process `troupe serve`."""

from .child import Child, ServerError, free_port  # noqa: F401


class NoSuchTask(Exception):
    """The own task is not in the cluster; in TensorFlow's words."""


class NoPort(Exception):
    """The own address has no port; in TensorFlow's words."""


def placed(tasks, job, task):
    """A copy of {job: {task: address}} in which the own task's port 0 is a free one; and the own address."""
    out = {name: {str(number): address for number, address in addresses.items()} for name, addresses in tasks.items()}
    if job not in out:
        raise NoSuchTask(f'Job "{job}" was not defined in cluster')
    address = out[job].get(str(task))
    if address is None:
        raise NoSuchTask(f'Task {task} was not defined in job "{job}"')
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal() or int(port) > 65535:
        raise NoPort(f'Could not parse port for local server from "{address}".')
    if port == "0":
        address = out[job][str(task)] = f"{host}:{free_port()}"
    return out, address


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
        if self._server_def.protocol not in ("", "grpc"):
            raise errors.NotFoundError(None, None, f"No server factory registered for the given ServerDef: protocol: {self._server_def.protocol!r}; "
                                       "the protocol is grpc")
        tasks = {job.name: dict(job.tasks) for job in self._server_def.cluster.job}
        try:
            self._tasks, self._address = placed(tasks, self._server_def.job_name, self._server_def.task_index)
        except NoSuchTask as error:
            raise errors.InternalError(None, None, str(error)) from None
        except NoPort as error:
            raise errors.InvalidArgumentError(None, None, str(error)) from None
        self._child = None
        if start:
            self.start()

    def start(self):
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
        """Blocks until the child ends, which an interrupt makes it do."""
        self.start()
        self._child.join()

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
