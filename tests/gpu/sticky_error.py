#!/usr/bin/env python3
"""On a machine with a CUDA device: an error that breaks the device's context is told apart from an ordinary one.

Speaks to python/assay_worker as src/runtime/worker.cc does, for a machine that has Python and torch but no assay.
"""
import json
import os
import socket
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
BOOT = ("import sys, socket; sys.path.insert(0, sys.argv[1]); from assay_worker import server; "
        "server.serve(socket.socket(fileno=int(sys.argv[2])), int(sys.argv[3]), {'path_first': []})")
ORDINARY = "import torch\ntorch.zeros(2, device='cuda') @ torch.zeros(3, device='cuda')"
STICKY = "import torch\nx = torch.zeros(4, device='cuda')[torch.tensor([1 << 20], device='cuda')]\ntorch.cuda.synchronize()"
FINE = "import torch\nresult = torch.ones(3, device='cuda').sum().item()"


class Worker:
    def __init__(self):
        self.sock, there = socket.socketpair()
        trace = os.dup(2)
        self.process = subprocess.Popen([sys.executable, "-c", BOOT, os.path.join(HERE, "..", "..", "python"), str(there.fileno()), str(trace)],
                                        pass_fds=[there.fileno(), trace], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        there.close()
        self.receive()

    def receive(self):
        size = int.from_bytes(self.sock.recv(4, socket.MSG_WAITALL), "little")
        return json.loads(self.sock.recv(size, socket.MSG_WAITALL))

    def run(self, source):
        data = json.dumps({"do": "server.run", "with": {"source": source}}).encode()
        self.sock.sendall(len(data).to_bytes(4, "little") + data)
        return self.receive()


def main():
    worker = Worker()
    assert worker.run(FINE) == {"value": 3.0}
    ordinary = worker.run(ORDINARY)["error"]
    assert "device_lost" not in ordinary, ordinary
    assert worker.run(FINE) == {"value": 3.0}
    sticky = worker.run(STICKY)["error"]
    assert sticky.get("device_lost") is True, sticky
    print("an ordinary error:", ordinary["message"].splitlines()[0])
    print("a sticky error:", sticky["message"].splitlines()[0])
    again = worker.run(FINE)
    assert "error" in again, "the context should be broken"
    worker.process.kill()
    assert Worker().run(FINE) == {"value": 3.0}
    print("a fresh process works again")


main()
