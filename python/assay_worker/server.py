"""The loop of the worker: a question in, an answer out, whatever the asked code does to its process."""
import array
import faulthandler
import importlib
import json
import os
import signal
import socket
import sys

from assay_worker import blocks, errors


class Channel:
    """The socket to assay.  A child that the asked code forks must not speak on it."""

    def __init__(self, sock):
        self.sock = sock
        self.owner = os.getpid()
        os.set_inheritable(sock.fileno(), False)

    def check_owner(self):
        if os.getpid() != self.owner:
            os._exit(0)

    def receive(self):
        header, descriptors = b"", array.array("i")
        while len(header) < 4:
            part, ancillary, _, _ = self.sock.recvmsg(4 - len(header), socket.CMSG_SPACE(64 * 4))
            if not part:
                os._exit(0)  # assay is gone
            header += part
            for level, kind, data in ancillary:
                if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                    descriptors.frombytes(data[:len(data) - len(data) % 4])
        data, size = bytearray(), int.from_bytes(header, "little")
        while len(data) < size:
            part = self.sock.recv(min(size - len(data), 1 << 20))
            if not part:
                os._exit(0)
            data += part
        return json.loads(data), list(descriptors)

    def send(self, message):
        # Not as escapes: half a surrogate pair, as in the name of a file that is no UTF-8, would be no JSON.
        data = json.dumps(message, default=repr, ensure_ascii=False).encode("utf-8", "replace")
        self.check_owner()
        self.sock.sendall(len(data).to_bytes(4, "little") + data)


def ping(**_):
    return None


def about(**_):
    return {
        "executable": sys.executable,
        "version": ".".join(map(str, sys.version_info[:3])),
        "implementation": sys.implementation.name,
        "prefix": sys.prefix,
        "base_prefix": sys.base_prefix,
        "folder": os.getcwd(),
    }


def echo(**arguments):
    return arguments


def run(source, names=(), **arguments):
    """Runs a text of Python, for tests and for cases that bring their own; `result` is the answer."""
    space = {"__name__": "assay_case", **arguments}
    exec(compile(source, "<case>", "exec"), space)
    return space.get("result")


def find(question):
    module, _, function = question.rpartition(".")
    return getattr(importlib.import_module("assay_worker." + module), function)


class State:
    """What a case may change for those after it, put back after each."""

    def __init__(self):
        self.folder = os.getcwd()
        self.streams = sys.stdout, sys.stderr

    def restore(self):
        effects = []
        try:
            now = os.getcwd()
        except OSError:
            now = "a folder that is gone"
        if now != self.folder:
            effects.append("changed the current folder to " + now)
            os.chdir(self.folder)
        if (sys.stdout, sys.stderr) != self.streams:
            effects.append("replaced sys.stdout or sys.stderr")
            sys.stdout, sys.stderr = self.streams
        for stream in self.streams:
            try:
                stream.flush()
            except (OSError, ValueError, AttributeError):
                pass
        return effects


def device_lost():
    """Whether the accelerator's context is broken for good: then every later call would fail as well."""
    torch = sys.modules.get("torch")
    try:
        if torch is None or not torch.cuda.is_initialized():
            return False
    except Exception:
        return False
    try:
        torch.cuda.synchronize()
        return False
    except Exception:
        return True


def answer(message, descriptors, state):
    try:
        blocks.take(message.get("map", ()), descriptors, message.get("unmap", ()))
        arguments = message["with"]
        if "blocks" in message:
            arguments = {**arguments, "blocks": {n: blocks.get(i) for n, i in message["blocks"].items()}}
        reply = {"value": find(message["do"])(**arguments)}
    except BaseException as error:  # SystemExit and KeyboardInterrupt of the asked code as well
        reply = {"error": errors.describe(error)}
        if device_lost():
            reply["error"]["device_lost"] = True
    effects = state.restore()
    if effects:
        reply["side_effects"] = effects
    return reply


def serve(sock, trace, hello):
    channel = Channel(sock)
    os.set_inheritable(trace, False)
    faulthandler.enable(file=trace, all_threads=True)
    faulthandler.register(signal.SIGRTMAX - 3, file=trace, all_threads=True)
    sys.path[:0] = hello["path_first"]
    state = State()
    channel.send({"value": about()})
    while True:
        message, descriptors = channel.receive()
        reply = answer(message, descriptors, state)
        channel.check_owner()
        channel.send(reply)
