"""Exceptions as data."""
import traceback


def frames_of(error):
    out = []
    for frame in traceback.extract_tb(error.__traceback__):
        # Neither the worker's own frames nor those of the import system tell the user anything.
        if not frame.filename.startswith(("assay_worker/", "<frozen importlib")) and not frame.filename.endswith("/importlib/__init__.py"):
            out.append(f"{frame.filename}:{frame.lineno} in {frame.name}")
    return out


def text_of(error):
    try:
        return str(error)
    except Exception as inner:
        return f"<its text raises {type(inner).__name__}>"


def cause_of(error):
    if error.__cause__ is not None:
        return error.__cause__
    return None if error.__suppress_context__ else error.__context__


def describe(error):
    frames = frames_of(error)
    out = {"type": type(error).__name__, "message": text_of(error), "where": frames[-1] if frames else "", "frames": frames}
    if isinstance(error, ImportError):
        out["module"] = error.name or ""
    causes, seen = [], {id(error)}
    cause = cause_of(error)
    while cause is not None and id(cause) not in seen and len(causes) < 20:
        seen.add(id(cause))
        inner = frames_of(cause)
        causes.append({"type": type(cause).__name__, "message": text_of(cause), "where": inner[-1] if inner else "", "frames": inner})
        cause = cause_of(cause)
    if causes:
        out["causes"] = causes
    return out
