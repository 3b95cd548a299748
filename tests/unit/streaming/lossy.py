"""A disk that loses what was not synced, and the folder that a power failure would leave.

It stands in for `infinimix.streaming.disk`. Files are real; beside them it keeps the bytes of each
file at its last sync, and the names of each folder at its last sync. At a power failure what was
synced is there; what was not is there, not there, or there in part, as the draw has it: bytes up to
some length, with blocks of zeros where they did not arrive.
"""

import os
import random
import threading
from functools import wraps
from pathlib import Path

from infinimix.streaming import disk

NAMES = ("open_log", "write", "cut", "sync", "close", "rename", "remove", "sync_folder")
BLOCK = 32


class Inode:
    """A file: where its bytes are now, and those that are on the disk."""

    def __init__(self, path):
        self.path, self.durable = path, b""

    def bytes(self):
        return self.path.read_bytes() if self.path.exists() else b""


class LossyDisk:
    """The functions of `disk`, watched."""

    def __init__(self, monkeypatch):
        self.real = {name: getattr(disk, name) for name in NAMES}
        self.inodes, self.now, self.durable, self.syncs = {}, {}, {}, 0
        self.turn = threading.RLock()  # the power fails between two changes, not within one
        for name in NAMES:
            monkeypatch.setattr(disk, name, self._in_turn(getattr(self, name)))

    def _in_turn(self, function):
        @wraps(function)
        def run(*args):
            with self.turn:
                return function(*args)

        return run

    def open_log(self, path):
        handle = self.real["open_log"](path)
        self.inodes[handle] = self.now.setdefault(path, Inode(path))
        return handle

    def write(self, handle, data):
        self.real["write"](handle, data)

    def cut(self, handle, length):
        self.real["cut"](handle, length)

    def sync(self, handle):
        self.syncs += 1
        self.inodes[handle].durable = os.pread(handle, os.fstat(handle).st_size, 0)

    def close(self, handle):
        del self.inodes[handle]
        self.real["close"](handle)

    def rename(self, old, new):
        self.real["rename"](old, new)
        self.now[new] = self.now.pop(old, None) or Inode(new)
        self.now[new].path = new

    def remove(self, path):
        self.real["remove"](path)
        self.now.pop(path, None)

    def sync_folder(self, folder):
        self.durable = dict(self.now)

    def fail(self, folder, draw: random.Random | None = None):
        """Write what is left after a power failure to a new folder; all unsynced is lost."""
        with self.turn:
            return self._fail(folder, draw)

    def _fail(self, folder, draw):
        folder.mkdir()
        names = dict(self.durable)
        if draw is not None:  # some changes of names may have arrived
            names |= {path: inode for path, inode in self.now.items() if draw.random() < 0.5}
            gone = [path for path in names if path not in self.now and draw.random() < 0.5]
            names = {path: inode for path, inode in names.items() if path not in gone}
        for path, inode in names.items():
            (folder / Path(path).name).write_bytes(self._left(inode, draw))
        return folder

    def _left(self, inode, draw):
        current = inode.bytes()
        if draw is None or not current.startswith(inode.durable):
            return inode.durable
        end = draw.randint(len(inode.durable), len(current))
        found = bytearray(current[:end])
        for start in range(len(inode.durable), end, BLOCK):
            if draw.random() < 0.3:
                found[start : start + BLOCK] = bytes(len(found[start : start + BLOCK]))
        return bytes(found)
