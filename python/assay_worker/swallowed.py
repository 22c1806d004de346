"""Exceptions that somebody caught and went on: traced where they pass, not read from logs.

Every frame of the watched packages is asked which exceptions pass through it.  One that has passed through a frame which then
returned, or raised something that was not caused by it, was caught there.
"""
import dis
import importlib
import sys
import threading

from assay_worker import errors

# Part of ordinary control flow: nobody means these as faults.
ORDINARY = (StopIteration, StopAsyncIteration, GeneratorExit)
RETURNING = {dis.opmap[n] for n in ("RETURN_VALUE", "RETURN_CONST", "YIELD_VALUE", "RETURN_GENERATOR") if n in dis.opmap}
MOST = 2000  # different ones
LOADER = importlib._bootstrap_external._LoaderBasics  # how every module of a file runs


def left_by_returning(frame):
    """At a frame's end: whether it returned, rather than let an exception through."""
    code = frame.f_code.co_code
    return frame.f_lasti < 0 or code[frame.f_lasti] in RETURNING


def among(error, others):
    return any(other is error for other in others)


def chain(error):
    # By identity: an exception's own __eq__ may do anything.
    seen = []
    while error is not None and not among(error, seen) and len(seen) < 50:
        seen.append(error)
        error = error.__cause__ if error.__cause__ is not None else error.__context__
    return seen


def place(frame, line=None):
    return f"{frame.f_code.co_filename}:{line or frame.f_lineno} in {frame.f_code.co_name}"


class Seen:
    """One exception and the last watched frame that it reached."""

    def __init__(self, error):
        self.error, self.frame, self.line = error, None, 0


class Watched(dict):
    """File name → whether its frames are traced: a subscript, for it is asked at every call of the process."""

    def __init__(self, folders):
        super().__init__()
        self.folders = tuple(folders)

    def __missing__(self, name):
        self[name] = name.startswith(self.folders)
        return self[name]


class Tracer:
    def __init__(self, folders):
        self.watched = Watched(folders)
        self.on_call = self.call_tracer(self.watched, self.on_event)
        self.exec_module = LOADER.exec_module
        self.lock = threading.Lock()
        self.found = {}       # (type, raised at, caught at) → row
        self.outside = 0      # caught by somebody who is not watched
        self.dropped = 0
        self.faults = []      # of this tracer itself
        self.local_state = threading.local()

    def start(self):
        LOADER.exec_module = self.import_tracer(self.exec_module)
        threading.settrace(self.on_call)
        sys.settrace(self.on_call)

    def stop(self):
        sys.settrace(None)
        threading.settrace(None)
        LOADER.exec_module = self.exec_module

    def import_tracer(self, exec_module):
        """The body of a module that is not watched runs untraced: tracing slows everything, not the watched frames alone."""
        def traced_exec_module(loader, module):
            before = sys.gettrace()
            wanted = self.on_call if self.watched[getattr(loader, "path", "")] else None
            if before is wanted or before not in (None, self.on_call):
                return exec_module(loader, module)
            sys.settrace(wanted)
            try:
                return exec_module(loader, module)
            finally:
                sys.settrace(before)
        return traced_exec_module

    def state(self):
        # id(exception) → Seen, and id(frame) → the exceptions that have passed through it.
        if not hasattr(self.local_state, "seen"):
            self.local_state.seen, self.local_state.frames = {}, {}
        return self.local_state

    @staticmethod
    def call_tracer(watched, on_event):
        def on_call(frame, event, argument):
            if watched[frame.f_code.co_filename]:
                frame.f_trace_lines = False
                return on_event
            return None
        return on_call

    def on_event(self, frame, event, argument):
        # What a trace function raises would end the tracing, and be raised in the traced code.
        try:
            if event == "exception":
                self.passes(frame, argument[1])
            elif event == "return" and getattr(self.local_state, "frames", None):
                self.ends(frame)
        except Exception as error:
            self.faults.append(errors.describe(error))
        return self.on_event

    def passes(self, frame, error):
        if not isinstance(error, BaseException) or isinstance(error, ORDINARY):
            return
        state = self.state()
        seen = state.seen.get(id(error))
        if seen is None or seen.error is not error:
            seen = state.seen[id(error)] = Seen(error)
        seen.frame, seen.line = id(frame), frame.f_lineno
        here = state.frames.setdefault(id(frame), [])
        if seen not in here:
            here.append(seen)

    def ends(self, frame):
        state = self.state()
        here = state.frames.pop(id(frame), None)
        if not here:
            return
        returned = left_by_returning(frame)
        leaving = [] if returned else chain(here[-1].error)
        # `raise X from E`: whoever caught X had E in hand as well.  A mere context may be another, unrelated fault.
        turned = [seen.error.__cause__ for seen in here]
        for seen in here:
            if returned and among(seen.error, turned):
                state.seen.pop(id(seen.error), None)
                continue
            if seen.frame != id(frame):
                continue  # went further, and was dealt with there
            if returned or not among(seen.error, leaving):
                self.caught(frame, seen)
                state.seen.pop(id(seen.error), None)
            elif seen is not here[-1]:
                state.seen.pop(id(seen.error), None)  # goes on as the cause of another

    def caught(self, frame, seen):
        error = seen.error
        frames = errors.frames_of(error)
        raised = frames[-1] if frames else place(frame)
        key = (type(error).__name__, raised, frame.f_code.co_filename, seen.line)
        with self.lock:
            row = self.found.get(key)
            if row is not None:
                row["count"] += 1
                return
            if len(self.found) >= MOST:
                self.dropped += 1
                return
            described = errors.describe(error)
            if not described["where"]:
                described["where"] = raised
            described["caught"] = place(frame, seen.line)
            described["caught_file"] = frame.f_code.co_filename
            described["count"] = 1
            described["files"] = sorted({f.rsplit(":", 1)[0] for f in frames})
            self.found[key] = described

    def rows(self):
        return list(self.found.values())
