"""`troupe serve` as its users start and end it. What it says to TensorFlow's clients: tests/integration/gateway_test.cpp, tests/peer/client_test.py."""

import signal
import socket
import unittest

from support import Case, free_ports, run


class Serve(Case):
    def test_it_says_where_it_listens_and_ends_in_order(self):
        (port,) = free_ports(1)
        node = self.start("serve", f"--grpc=127.0.0.1:{port}")
        self.assertEqual(node.wait_for("ready at "), f"ready at grpc://127.0.0.1:{port}")
        with socket.create_connection(("127.0.0.1", port), timeout=30) as client:
            client.sendall(b"GET / HTTP/1.1\r\n\r\n")  # whoever speaks no gRPC is sent away
            while client.recv(4096):
                pass
        node.send(signal.SIGTERM)
        self.assertEqual(node.end(), 0)

    def test_a_port_that_is_taken_is_named(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            code, out, err = run("serve", f"--grpc=127.0.0.1:{port}")
        self.assertEqual(code, 1)
        self.assertIn(f"cannot listen at 127.0.0.1:{port} for gRPC clients", err)
        self.assertEqual(out, "")

    def test_an_address_that_is_none_is_a_wrong_call(self):
        for address in ("here", "127.0.0.1:0", "127.0.0.1:99999", ":"):
            code, _, err = run("serve", f"--grpc={address}")
            self.assertEqual(code, 2, err)
            self.assertIn(address, err)


if __name__ == "__main__":
    unittest.main()
