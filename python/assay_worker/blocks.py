"""Memory shared with assay, seen without a copy.  See src/runtime/shared_block.h for the guard pages."""
import ctypes
import mmap
import os

PROT_NONE, MAP_NORESERVE, MAP_FIXED = 0, 0x4000, 0x10
MAPPED = {}


def libc():
    library = ctypes.CDLL(None, use_errno=True)
    library.mmap.restype = ctypes.c_void_p
    library.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
    library.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    return library


class Block:
    def __init__(self, descriptor, file_size, offset, size):
        self.library, self.size, page = libc(), size, mmap.PAGESIZE
        self.length = file_size + 2 * page
        failed = ctypes.c_void_p(-1).value
        self.reserved = self.library.mmap(None, self.length, PROT_NONE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
        start = None
        if self.reserved != failed:
            start = self.library.mmap(self.reserved + page, file_size, mmap.PROT_READ | mmap.PROT_WRITE,
                                      mmap.MAP_SHARED | MAP_FIXED, descriptor, 0)
        os.close(descriptor)
        if start in (None, failed):
            raise MemoryError("cannot map a block of shared memory: " + os.strerror(ctypes.get_errno()))
        self.address = start + offset

    def bytes(self):
        """A writable view of the data."""
        return (ctypes.c_uint8 * self.size).from_address(self.address)

    def tensor(self, dtype, shape, strides=None, offset=0):
        """A torch tensor over the same memory; `offset` in bytes, `strides` in elements."""
        import torch
        kind = getattr(torch, dtype)
        flat = torch.frombuffer(self.bytes(), dtype=kind, offset=offset) if self.size > offset else torch.empty(0, dtype=kind)
        if strides is None:
            count = 1
            for extent in shape:
                count *= extent
            return flat[:count].view(shape)
        return torch.as_strided(flat, shape, strides)

    def release(self):
        self.library.munmap(self.reserved, self.length)


def take(fresh, descriptors, gone):
    for row, descriptor in zip(fresh, descriptors):
        MAPPED[row["id"]] = Block(descriptor, row["file_size"], row["offset"], row["size"])
    for number in gone:
        block = MAPPED.pop(number, None)
        if block:
            block.release()


def get(number):
    return MAPPED[number]
