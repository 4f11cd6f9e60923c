"""kazoo's locks, or a lock made of Redis's SET NX, as the lines on standard input say: see driver.hpp.

Usage: python_driver.py kazoo|redis SERVERS"""

import json
import os
import queue
import socket
import sys
import threading
import time
import traceback


def fail():
    traceback.print_exc()
    os._exit(1)


class KazooClients:
    """The client with a number, and locks of it. Each client has a session of its own."""

    def __init__(self, servers):
        self.servers = servers
        self.clients = []

    def lock(self, number, path):
        from kazoo.client import KazooClient
        from kazoo.recipe.lock import Lock

        while len(self.clients) <= number:
            self.clients.append(KazooClient(hosts=self.servers, timeout=30.0))
            self.clients[-1].start(timeout=60)
        return Lock(self.clients[number], path, "kazoo")


class RedisLock:
    """SET with NX and a time to live, tried again every millisecond, and a delete if the value is its own."""

    DELETE = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end"
    PAUSE = 0.001

    def __init__(self, server, key):
        self.socket = socket.create_connection(server)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.answers = self.socket.makefile("rb")
        self.key, self.value = key, os.urandom(16).hex()
        self.script = self.ask("SCRIPT", "LOAD", self.DELETE)

    def ask(self, *words):
        parts = [f"*{len(words)}\r\n"] + [f"${len(word)}\r\n{word}\r\n" for word in words]
        self.socket.sendall("".join(parts).encode())
        line = self.answers.readline().decode().strip()
        if line.startswith("-") or not line:
            raise RuntimeError(f"Redis: {line or 'the connection is lost'}")
        if line.startswith("$") and line != "$-1":
            return self.answers.read(int(line[1:]) + 2)[:-2].decode()
        return None if line == "$-1" else line[1:]

    def acquire(self):
        while self.ask("SET", self.key, self.value, "NX", "PX", "30000") is None:
            time.sleep(self.PAUSE)

    def release(self):
        if self.ask("EVALSHA", self.script, "1", self.key, self.value) != "1":
            raise RuntimeError("the lock was lost")


class RedisClients:
    def __init__(self, servers):
        host, port = servers.rsplit(":", 1)
        self.server = (host, int(port))

    def lock(self, number, path):
        return RedisLock(self.server, path)


class Driver:
    def __init__(self, clients):
        self.clients = clients
        self.waiting = []
        self.grants = queue.Queue()

    @staticmethod
    def figures(operations, seconds, times=()):
        answer = {"operations": operations, "seconds": seconds}
        if times:
            times = sorted(times)
            answer["median_us"] = times[len(times) // 2] / 1e3
            answer["p99_us"] = times[int(len(times) * 0.99)] / 1e3
        return answer

    def repeat(self, seconds, lock_of):
        times, begin = [], time.monotonic_ns()
        start, end = begin, begin + int(seconds * 1e9)
        while start < end:
            lock = lock_of(len(times))
            lock.acquire()
            lock.release()
            now = time.monotonic_ns()
            times.append(now - start)
            start = now
        return self.figures(len(times), (time.monotonic_ns() - begin) / 1e9, times)

    def acquire(self, path, seconds):
        lock = self.clients.lock(0, path)
        return self.repeat(float(seconds), lambda n: lock)

    def pipeline(self, path, count, depth, seconds):
        locks = [self.clients.lock(0, f"{path}/{i}") for i in range(int(count))]
        return self.repeat(float(seconds), lambda n: locks[n % len(locks)])

    def handoff(self, path, clients, hold, seconds):
        return self.contend([self.clients.lock(i, path) for i in range(int(clients))], float(seconds), int(hold) / 1e6)

    def threads(self, path, threads, seconds, passes):
        return self.contend([self.clients.lock(0, path) for _ in range(int(threads))], float(seconds))

    def contend(self, locks, seconds, hold=0):
        """Each lock has a thread, which holds it for so many seconds. Times run from a release to the next grant."""
        times, released, over = [], None, threading.Event()

        def work(lock):
            nonlocal released
            try:
                while not over.is_set():
                    lock.acquire()
                    if released is not None and not over.is_set():
                        times.append(time.monotonic_ns() - released)
                    if hold > 0:
                        time.sleep(hold)
                    released = time.monotonic_ns()
                    lock.release()
            except Exception:
                fail()

        all_threads = [threading.Thread(target=work, args=(lock,), daemon=True) for lock in locks]
        begin = time.monotonic()
        for thread in all_threads:
            thread.start()
        time.sleep(seconds)
        took, operations = time.monotonic() - begin, len(times)
        over.set()
        for thread in all_threads:
            thread.join()
        return self.figures(operations, took, times[:operations])

    def add_waiter(self, lock, drained):
        def work():
            try:
                lock.acquire()
                if drained:
                    self.grants.put(time.monotonic_ns())
                    lock.release()
                else:
                    threading.Event().wait()
            except Exception:
                fail()

        self.waiting.append(lock)
        threading.Thread(target=work, daemon=True).start()

    def wait_until_queued(self):
        while not all(lock.node for lock in self.waiting):
            time.sleep(0.02)

    def queue(self, path, waiters, clients):
        begin = time.monotonic()
        self.first = self.clients.lock(0, path)
        self.first.acquire()
        for i in range(int(waiters)):
            self.add_waiter(self.clients.lock(i % int(clients), path), True)
        self.wait_until_queued()
        took = time.monotonic() - begin
        time.sleep(1)  # until all watch their predecessors
        return self.figures(int(waiters), took)

    def drain(self, count):
        begin = before = time.monotonic_ns()
        times = []
        self.first.release()
        for _ in range(int(count)):
            now = self.grants.get()
            times.append(now - before)
            before = now
        return self.figures(len(times), (time.monotonic_ns() - begin) / 1e9, times)

    def wait(self, path, count):
        begin = time.monotonic()
        for i in range(int(count)):
            self.add_waiter(self.clients.lock(0, f"{path}/{i}"), False)
        self.wait_until_queued()
        return self.figures(int(count), time.monotonic() - begin)


def main():
    driver = Driver({"kazoo": KazooClients, "redis": RedisClients}[sys.argv[1]](sys.argv[2]))
    try:
        for line in sys.stdin:
            workload, *words = line.split()
            print(json.dumps(getattr(driver, workload)(**dict(word.split("=", 1) for word in words))), flush=True)
    except Exception:
        fail()
    os._exit(0)


main()
