"""A Python program that uses kazoo's locks as it is told, line by line. Commands and answers: peer.hpp."""

import queue
import random
import sys
import threading
import time

from kazoo.client import KazooClient
from kazoo.exceptions import LockTimeout
from kazoo.recipe.lock import Lock, ReadLock, WriteLock


class CuratorLock(Lock):
    """kazoo's lock with Curator's names: everybody waits for it, and it for everybody."""

    _NODE_NAME = "-lock-"
    _EXCLUDE_NAMES = ["-lock-"]

    def _get_predecessor(self, node):
        """Also for those who do not wait for their own kind: kazoo 2.8 lets a reader wait for writers behind it."""
        own = node[-10:]
        ahead = [
            child
            for child in self.client.get_children(self.path)
            if self._contenders_re.search(child) and child[-10:] < own
        ]
        return max(ahead, key=lambda child: child[-10:], default=None)


class CuratorWriteLock(CuratorLock):
    _NODE_NAME = "-__WRIT__"
    _EXCLUDE_NAMES = ["-__WRIT__", "-__READ__"]


class CuratorReadLock(CuratorLock):
    _NODE_NAME = "-__READ__"
    _EXCLUDE_NAMES = ["-__WRIT__"]


class Opened:
    """A lock, and the thread that does what is asked of it, one after the other."""

    def __init__(self, lock):
        self.lock = lock
        self.orders = queue.Queue()
        threading.Thread(target=self._work, daemon=True).start()

    def _work(self):
        while True:
            self.orders.get()()


class Peer:
    def __init__(self, servers):
        self.client = KazooClient(hosts=servers, timeout=30.0)
        self.client.start(timeout=60)
        self.locks = {}
        self.guard = threading.Lock()

    def say(self, line):
        with self.guard:
            print(line, flush=True)

    def open(self, kind, path):
        patterns = ("-lock-",) if kind == "patterns" else ()
        kinds = {
            "lock": Lock,
            "kazoo-read": ReadLock,
            "kazoo-write": WriteLock,
            "patterns": Lock,
            "mutex": CuratorLock,
            "read": CuratorReadLock,
            "write": CuratorWriteLock,
        }
        return kinds[kind](self.client, path, "kazoo", extra_lock_patterns=patterns)

    def catch_up(self):
        # Its server may be behind the others; a write comes behind all that they did.
        transaction = self.client.transaction()
        transaction.check("/", -1)
        transaction.commit()

    def contend(self, lock, milliseconds, counter):
        intervals = []
        end = time.monotonic_ns() + milliseconds * 1_000_000
        while time.monotonic_ns() < end:
            lock.acquire()
            begin = time.monotonic_ns()
            if counter != "-":
                with open(counter, encoding="ascii") as file:
                    value = int(file.read())
                with open(counter, "w", encoding="ascii") as file:
                    file.write(f"{value + 1}\n")
            time.sleep(random.random() * 0.002)
            intervals += [str(begin), str(time.monotonic_ns())]
            lock.release()
        return "ok " + " ".join(intervals)

    def answer(self, verb, name, rest):
        if verb == "open":
            self.locks[name] = Opened(self.open(rest[0], rest[1]))
            return "ok"
        lock = self.locks[name].lock
        if verb == "acquire":
            return "ok" if lock.acquire() else "no"
        if verb == "try":
            try:
                return "ok" if lock.acquire(timeout=int(rest[1]) / 1000) else "no"
            except LockTimeout:
                return "no"
        if verb == "release":
            return "ok" if lock.release() else "no"
        if verb == "participants":
            self.catch_up()
            return "ok " + " ".join(lock.contenders())
        if verb == "contend":
            return self.contend(lock, int(rest[1]), rest[2])
        raise ValueError(f"command {verb}")

    def obey(self, number, verb, name, rest):
        try:
            self.say(f"{number} {self.answer(verb, name, rest)}")
        except Exception as e:  # the test is to hear of all of them
            self.say(f"{number} error {e!r}")

    def dispatch(self, number, verb, name, *rest):
        if verb in ("open", "participants"):
            self.obey(number, verb, name, rest)
        else:
            self.locks[name].orders.put(lambda: self.obey(number, verb, name, rest))


def main():
    peer = Peer(sys.argv[1])
    peer.say("- ready")
    for line in sys.stdin:
        peer.dispatch(*line.split())
    peer.client.stop()


main()
