"""Exceptions that somebody caught and went on: traced where they pass, not read from logs.

Every frame of the watched packages is asked which exceptions pass through it.  One that has passed through a frame which then
returned, or raised something that was not caused by it, was caught there.
"""
import dis
import sys
import threading

from assay_worker import errors

# Part of ordinary control flow: nobody means these as faults.
ORDINARY = (StopIteration, StopAsyncIteration, GeneratorExit)
RETURNING = {dis.opmap[n] for n in ("RETURN_VALUE", "RETURN_CONST", "YIELD_VALUE", "RETURN_GENERATOR") if n in dis.opmap}
MOST = 2000  # different ones


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


class Tracer:
    def __init__(self, folders):
        self.folders = tuple(folders)
        self.watched = {}
        self.lock = threading.Lock()
        self.found = {}       # (type, raised at, caught at) → row
        self.outside = 0      # caught by somebody who is not watched
        self.dropped = 0
        self.faults = []      # of this tracer itself
        self.local_state = threading.local()

    def start(self):
        threading.settrace(self.on_call)
        sys.settrace(self.on_call)

    def stop(self):
        sys.settrace(None)
        threading.settrace(None)

    def state(self):
        # id(exception) → Seen, and id(frame) → the exceptions that have passed through it.
        if not hasattr(self.local_state, "seen"):
            self.local_state.seen, self.local_state.frames = {}, {}
        return self.local_state

    def on_call(self, frame, event, argument):
        name = frame.f_code.co_filename
        watched = self.watched.get(name)
        if watched is None:
            watched = self.watched[name] = name.startswith(self.folders)
        if not watched:
            return None
        frame.f_trace_lines = False
        return self.on_event

    def on_event(self, frame, event, argument):
        # What a trace function raises would end the tracing, and be raised in the traced code.
        try:
            if event == "exception":
                self.passes(frame, argument[1])
            elif event == "return":
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
