#!/usr/bin/env python3
"""Latchkey beside other libraries and other systems. Started by `scripts/bench peers`, and by a test.

Usage: peers.py [--quick] [--out FILE] [--page FILE] [--from FILE] [--blocks N] [--seconds S] [--minutes M]
                [--build FOLDER] [WORKLOAD...]

Measures each workload (by default all: see --list) with each peer in turn, block after block, and prints the medians.
A run of all workloads writes its table and its plots into docs/performance.md and docs/performance.svg.

  WORKLOAD        these only, or those whose names begin so; docs/performance.md stays as it is
  --quick         one short block of most, to see that everything works
  --out FILE      all measurements, a line of JSON each (BUILD/peers/peers.jsonl)
  --page FILE     write into this page, and beside it, whatever was measured
  --from FILE     measure nothing: write the page from the measurements of an earlier run
  --blocks N      so many blocks of each workload (5)
  --seconds S     the length of a block (0.7)
  --minutes M     how long the whole run may take (12): later workloads get fewer blocks if time runs out
  --build FOLDER  where the drivers are (build/bench)
"""
import argparse
import datetime
import json
import os
import pathlib
import signal
import sys
import time

sys.dont_write_bytecode = True
from processes import HERE, Drivers, Failure, Servers  # noqa: E402
from report import Report  # noqa: E402
from workloads import ONE, ONE_NEAR, PEERS, SETTINGS, WORKLOADS, ZOOKEEPER  # noqa: E402

ROOT = HERE.parent.parent


def load():
    return " ".join(pathlib.Path("/proc/loadavg").read_text().split()[:3])


class Run:
    """Measurements of one setting after the other, block by block."""

    def __init__(self, options, workloads, peers, drivers, out):
        self.options, self.workloads, self.peers, self.drivers, self.out = options, workloads, peers, drivers, out
        self.measured, self.failures, self.paths = [], 0, 0
        self.begin = time.monotonic()
        self.processes = {}
        self.servers = None

    def plan(self):
        """What is measured in which setting, in the order in which servers are started once."""
        settings = (ONE_NEAR, ONE) if self.options.quick else SETTINGS
        return [(setting, w) for setting in settings for w in self.workloads if setting in w.settings]

    def all(self):
        plan = self.plan()
        costs = [self.cost(workload, setting) for setting, workload in plan]
        before = None
        try:
            for i, (setting, workload) in enumerate(plan):
                if before is None or (before.servers, before.apart) != (setting.servers, setting.apart):
                    self.end()
                    print(f"{time.monotonic() - self.begin:5.0f} s  {setting}", flush=True)
                    self.servers = Servers(setting, self.drivers, self.peers)
                elif before != setting:
                    self.end_processes()
                before = setting
                if workload.cost > self.left():
                    print(f"  {workload.title}: left out, no time is left", flush=True)
                    continue
                share = self.left() / max(1, sum(costs[i:]) * self.options.blocks)
                blocks = min(workload.most_blocks, max(1, min(self.options.blocks, int(share * self.options.blocks))))
                self.measure(workload, setting, blocks)
        finally:
            self.end()

    def left(self):
        """Seconds that this run may still take."""
        return self.options.minutes * 60 - (time.monotonic() - self.begin)

    def takers(self, workload, setting):
        """Redis has one server, and the delay is between ZooKeeper's."""
        return [p for p in workload.peers if p in self.peers and not (p == "redis" and setting.servers > 1) and
                not (p == "etcd" and setting.apart) and not (p == "preferred" and setting.servers == 1)]

    def cost(self, workload, setting):
        return len(self.takers(workload, setting)) * (workload.cost or self.options.seconds * 1.6 + 0.2)

    def measure(self, workload, setting, blocks):
        takers = self.takers(workload, setting)
        if not takers:
            return
        paths = dict.fromkeys(takers, self.fresh_path())
        if workload.directories:  # of each peer's own: no other one has used its locks
            paths = {peer: f"/peers/directories-{peer}" for peer in takers}
            for peer in takers:
                self.prepare(paths[peer], setting, self.count(workload))
        if not workload.fresh and not self.options.quick:
            for peer in takers:  # not measured: compilers of other languages warm up
                self.one(workload, setting, peer, paths[peer])
        for block in range(blocks):
            for peer in takers:
                m = self.one(workload, setting, peer, self.fresh_path() if workload.fresh else paths[peer])
                m.update(peer=peer, workload=workload.name, servers=setting.servers, delay=setting.delay,
                         apart=setting.apart, block=block)
                self.measured.append(m)
                print(json.dumps(m), file=self.out, flush=True)
        print(f"{time.monotonic() - self.begin:5.0f} s ", end="")
        Report(self.measured).print_row(workload, setting)

    def fresh_path(self):
        self.paths += 1
        return f"/peers/{os.getpid()}-{self.paths}"

    def count(self, workload):
        return workload.quick_count if self.options.quick else workload.count

    def prepare(self, path, setting, count):
        raw = self.process("raw", setting, False)
        raw.ask(f"prepare path={path} count={count}", 60)

    def process(self, peer, setting, proxied, other=False):
        key = peer, proxied, other
        if key not in self.processes or not self.processes[key].running:
            address = self.servers.address(peer, setting.delay, proxied)
            self.processes[key] = self.drivers.start(peer, address, other)
        return self.processes[key]

    def one(self, workload, setting, peer, path):
        """One measurement, or what went wrong. Every step has a time limit."""
        seconds = self.options.seconds
        values = {"path": path, "seconds": seconds, "longer": seconds + 1, "count": self.count(workload)}
        limit = max(20, min(60 + 3 * max(seconds, workload.cost), self.left() + 60))
        try:
            if workload.holder or workload.rival:
                other = self.process(peer, setting, False, True)
            if workload.holder:
                other.ask(workload.holder.format(**values), limit)
            process = self.process(peer, setting, workload.proxied)
            if workload.setup:
                process.ask(workload.setup.format(**values), limit)
                self.settle()
            if workload.rival:
                other.send(workload.rival.format(**values))
                time.sleep(0.3)
            received, cpu, resident = self.servers.received(), process.cpu_seconds(), process.resident()
            m = json.loads(process.ask(workload.line.format(**values), limit))
            m["cpu_seconds"] = round(process.cpu_seconds() - cpu, 3)
            m["received"] = self.servers.received() - received
            m["memory"] = process.resident() - resident
            if workload.rival:
                m["rival_operations"] = json.loads(other.receive(limit))["operations"]
            return m
        except Failure as failure:
            self.failures += 1
            print(f"  {workload.name}, {setting}: {failure}", flush=True)
            for other in (False, True):
                self.end_process(peer, workload.proxied and not other, other)
            return {"error": str(failure)}
        finally:
            if workload.fresh:
                self.end_process(peer, workload.proxied, False)
                self.end_process(peer, False, True)

    def settle(self):
        """Waits, not for ever, until lists that are still on their way have arrived. Heartbeats never end."""
        before, now = 0, self.servers.received()
        for _ in range(40):
            if now - before < 20_000:
                return
            time.sleep(0.5)
            before, now = now, self.servers.received()

    def end_process(self, *key):
        process = self.processes.pop(key, None)
        if process:
            process.end()

    def end_processes(self):
        for key in list(self.processes):
            self.end_process(*key)

    def end(self):
        self.end_processes()
        if self.servers:
            self.servers.end()
            self.servers = None


def parse():
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("workloads", nargs="*")
    for name in ("--quick", "--list", "-h", "--help"):
        parser.add_argument(name, action="store_true")
    for name in ("--out", "--page", "--from"):
        parser.add_argument(name, type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "bench")
    parser.add_argument("--blocks", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.7)
    parser.add_argument("--minutes", type=float, default=12)
    options = parser.parse_args()
    if options.quick:
        options.blocks, options.seconds, options.minutes = 1, 0.05, 1
    return options


def measure(options, folder):
    """Measures what is asked for. Returns the measurements, and how many failed."""
    workloads = [w for w in WORKLOADS
                 if any(w.name.startswith(word) for word in options.workloads or [""])
                 and (w.quick or options.workloads or not options.quick)]
    if not workloads:
        sys.exit(f"peers: no such workload: {' '.join(options.workloads)}; see --list")
    drivers, peers = Drivers(options.build.resolve(), folder), []
    for peer, name in PEERS.items():
        if not any(peer in w.peers for w in workloads):
            continue
        why = drivers.missing(peer)
        if why:
            print(f"{name} is left out: {why}" +
                  ("" if peer in ZOOKEEPER else " (scripts/install-packages peers)"), flush=True)
        else:
            peers.append(peer)
    path = options.out or folder / "peers.jsonl"
    with open(path, "w", encoding="utf-8") as out:
        facts = Report.facts(date=datetime.date.today().isoformat(), load_before=load(), peers=peers)
        run = Run(options, workloads, peers, drivers, out)
        run.all()
        facts["load_after"] = load()
        print(json.dumps(facts), file=out)
    print(f"{len(run.measured)} measurements in {time.monotonic() - run.begin:.0f} s: {path}")
    return run.measured + [facts], run.failures


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # and all processes end
    options = parse()
    if options.h or options.help:
        print(__doc__)
        return 0
    if options.list:
        print("\n".join(f"{w.name:18}{w.title}" for w in WORKLOADS))
        return 0
    folder = options.build.resolve() / "peers"
    folder.mkdir(parents=True, exist_ok=True)
    failures = 0
    if getattr(options, "from"):
        lines = getattr(options, "from").read_text(encoding="utf-8").splitlines()
        measured = [json.loads(line) for line in lines]
    else:
        measured, failures = measure(options, folder)
    report = Report(measured)
    if not options.quick:  # its blocks are too short to mean anything
        report.print_targets()
    page = options.page
    if page is None and (getattr(options, "from") or not (options.quick or options.workloads)):
        page = ROOT / "docs" / "performance.md"
    if page:
        report.write(page)
        print(f"written: {page}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
