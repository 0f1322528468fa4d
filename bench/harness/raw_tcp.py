"""Raw TCP between two hosts, what a transfer is held to: a few bytes ask, then the bytes come, and are read to the end.

    raw_tcp.py send HOST       listens there; raw_tcp.py receive HOST asks. A command a line, an answer in JSON, as LineServer wants it."""

import json
import os
import socket
import statistics
import struct
import sys
import time

PORT = 7290


def take(connection, view):
    at = 0
    while at < len(view):
        got = connection.recv_into(view[at:])
        if not got:
            raise SystemExit(1)
        at += got


def send_raw(host):
    listener = socket.create_server((host, PORT))
    sys.stdin.readline()
    print("{}", flush=True)
    connection, _ = listener.accept()
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    asked, data = bytearray(8), bytearray(0)
    while True:
        take(connection, memoryview(asked))
        size, = struct.unpack("<q", asked)
        if len(data) != size:
            data = bytearray(os.urandom(1)) * size
        connection.sendall(data)


def receive_raw(host):
    connection, into = None, bytearray(0)
    for line in sys.stdin:
        if not connection:
            connection = socket.create_connection((host, PORT))
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            print("{}", flush=True)
            continue
        size = int(line.split()[-1])
        if len(into) != size:
            into = bytearray(b"x") * size
        times, until = [], time.monotonic() + 0.5
        while len(times) < 5 or time.monotonic() < until:
            begun = time.perf_counter()
            connection.sendall(struct.pack("<q", size))
            take(connection, memoryview(into))
            times.append((time.perf_counter() - begun) * 1e6)
        print(json.dumps({"micros": statistics.median(times[1:])}), flush=True)


if __name__ == "__main__":
    {"send": send_raw, "receive": receive_raw}[sys.argv[1]](sys.argv[2])
