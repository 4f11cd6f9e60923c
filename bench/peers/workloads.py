"""What `scripts/bench peers` measures: peers, settings, workloads, and the ratios that Latchkey aims at."""
from dataclasses import dataclass

# `direct` is Latchkey with client_options::direct and client_options::guardian, `preferred` with
# client_options::prefer. That one knows all servers. The clients of the others are at a server that follows.
PEERS = {"latchkey": "Latchkey", "direct": "Latchkey, direct", "preferred": "Latchkey, at the leader",
         "curator": "Curator", "kazoo": "kazoo", "raw": "C client", "etcd": "etcd", "redis": "Redis"}
ZOOKEEPER = ("latchkey", "direct", "preferred", "curator", "kazoo", "raw")
UNLIMITED = 2**32 - 1


@dataclass(frozen=True)
class Setting:
    servers: int
    delay: int  # milliseconds of round trip of clients to it, besides the machine's own
    apart: int = 0  # the same between servers

    def __str__(self):
        return (f"{self.servers} server{'s' * (self.servers > 1)}" + f", +{self.delay} ms" * (self.delay > 0) +
                f", {self.apart} ms apart" * (self.apart > 0))


ONE, ONE_NEAR, ONE_FAR, THREE = Setting(1, 0), Setting(1, 1), Setting(1, 5), Setting(3, 0)
APART, FAR_APART = Setting(3, 0, 1), Setting(3, 0, 5)
SETTINGS = (FAR_APART, APART, THREE, ONE_FAR, ONE_NEAR, ONE)  # in this order: the last one has the longest workloads

# What a measurement is judged by: a name, a unit, and how it follows from a driver's figures.
KINDS = {
    "median": ("µs", lambda m: m["median_us"]),
    "p99": ("µs", lambda m: m["p99_us"]),
    "rate": ("/s", lambda m: m["operations"] / m["seconds"]),
    "bytes": ("bytes", lambda m: m["received"] / m["operations"]),
    "memory": ("bytes", lambda m: m["memory"] / m["operations"]),
    "heap": ("bytes", lambda m: m["heap"]),
    "cpu": ("µs", lambda m: m["cpu_seconds"] / m["operations"] * 1e6),
    "allocated": ("bytes", lambda m: m["allocated"]),
    "seconds": ("s", lambda m: m["seconds"]),
    "allocations": ("", lambda m: m["allocations"]),
}


@dataclass(frozen=True)
class Workload:
    """`line` is what the measured process is asked; {path}, {seconds} and {count} are put in. Before it, the same
    process is asked `setup`, and another process of the same peer `holder`. That one is asked `rival` at the same time.
    """
    name: str
    title: str
    line: str
    peers: tuple
    kinds: tuple  # of KINDS; the first one is compared and drawn
    settings: tuple = (ONE,)
    count: int = 0
    quick_count: int = 0
    setup: str = ""
    holder: str = ""
    rival: str = ""
    fresh: bool = False  # in processes of its own, which end with it
    proxied: bool = False  # through a proxy that counts bytes
    directories: bool = False  # in directories that are there before
    most_blocks: int = 1000
    cost: float = 0  # about how many seconds a block takes, if not {seconds}
    quick: bool = False  # part of a quick run: of those that are alike, the smallest one

    @property
    def short(self):
        return self.title.replace(", uncontended", "").replace(" of a process", "").replace(" from one thread", "")


def handoff(clients, settings):
    return Workload(f"handoff-{clients}", f"hand-off, {clients} clients", f"handoff path={{path}} clients={clients} "
                    "hold=0 seconds={seconds}", ("latchkey", "direct", "curator", "kazoo", "etcd", "redis"),
                    ("median", "p99"), settings, quick=clients == 2)


def held(clients, settings):
    """The next one waits when the holder releases, as it does not if two clients do nothing under the lock."""
    return Workload(f"handoff-{clients}-held", f"hand-off, {clients} clients, each holds for 5 ms",
                    f"handoff path={{path}} clients={clients} hold=5000 seconds={{seconds}}",
                    ("latchkey", "direct", "curator"), ("median", "p99"), settings)


def dropped(clients, settings):
    return Workload(f"handoff-{clients}-dropped", f"hand-off, {clients} clients, every datagram dropped",
                    f"dropped path={{path}} clients={clients} hold=0 seconds={{seconds}}", ("direct",),
                    ("median", "p99"), settings)


def threads(number, passes, suffix="", title="", rival=""):
    return Workload(f"threads-{number}{suffix}", f"{number} threads of a process{title}",
                    f"threads path={{path}} threads={number} passes={passes} seconds={{seconds}}",
                    ("latchkey", "curator", "kazoo", "etcd")[:None if not rival else 3], ("rate",), rival=rival,
                    quick=number == 8)


def waiters(number, peers):
    return Workload(f"waiters-{number}", f"{number:,} waiters on one path, a grant", "drain count={count}", peers,
                    ("bytes", "median"), (ONE,), number, 50, fresh=True, proxied=True, most_blocks=2, cost=10 + number / 500,
                    quick=number == 1000, setup="queue path={path} clients=20 waiters={count}")


RIVAL = "handoff path={path} clients=1 hold=0 seconds={longer}"
WORKLOADS = (
    Workload("acquire", "acquire + release, uncontended", "acquire path={path} seconds={seconds}",
             ("latchkey", "preferred", "curator", "kazoo", "raw", "etcd", "redis"),
             ("median", "p99", "cpu", "allocated", "allocations"), (ONE, ONE_NEAR, ONE_FAR, THREE, APART, FAR_APART),
             quick=True),
    Workload("reacquire", "re-acquire of a retained lock", "reacquire path={path} seconds={seconds}", ("latchkey",),
             ("median", "p99"), quick=True),
    handoff(2, (ONE, THREE)),
    held(2, (ONE, ONE_NEAR, ONE_FAR, THREE, APART, FAR_APART)),
    handoff(8, (ONE, ONE_NEAR, THREE)),
    handoff(64, (ONE, THREE)),
    Workload("turns-8", "8 clients take turns", "handoff path={path} clients=8 hold=0 seconds={seconds}",
             ("latchkey", "direct", "curator"), ("rate",)),
    dropped(2, (ONE, THREE)),
    dropped(8, (ONE, ONE_NEAR, THREE)),
    threads(8, UNLIMITED),
    threads(64, UNLIMITED),
    threads(8, 64, "-rival", ", another waits", RIVAL),
    threads(64, 64, "-rival", ", another waits", RIVAL),
    threads(8, 0, "-fair", ", no local passes"),
    Workload("pipeline", "10,000 locks from one thread",
             "pipeline path={path} count={count} depth=256 seconds={seconds}",
             ("latchkey", "raw", "curator", "kazoo", "etcd"), ("rate", "cpu"), (ONE, THREE), 10_000, 500,
             directories=True, quick=True),
    Workload("readers-99", "8 clients, 99 % readers", "readers path={path} clients=8 percent=99 seconds={seconds}",
             ("latchkey", "curator"), ("rate", "p99"), quick=True),
    Workload("readers-90", "8 clients, 90 % readers", "readers path={path} clients=8 percent=90 seconds={seconds}",
             ("latchkey", "curator"), ("rate", "p99")),
    Workload("leader", "leader change, 2 candidates", "leader path={path} seconds={seconds}",
             ("latchkey", "direct", "curator", "etcd"), ("median", "p99"), (ONE, ONE_NEAR, THREE), quick=True),
    Workload("crash", "kill -9 of the holder, session timeout 4 s", "crash path={path} seconds={seconds}",
             ("latchkey", "direct"), ("median", "p99"), (ONE, THREE), quick=True),
    waiters(1000, ("latchkey", "curator", "kazoo", "etcd")),
    waiters(10_000, ("latchkey",)),
    Workload("waiting-1000", "1,000 waiting locks of a client, memory each", "wait path={path} count={count}",
             ("latchkey", "curator", "kazoo"), ("memory",), (ONE,), 1000, 50, fresh=True,
             holder="wait path={path} count={count}", most_blocks=3, cost=5, quick=True),
    Workload("waiting-100000", "100,000 waiting locks of a client, memory each", "wait path={path} count={count}",
             ("latchkey",), ("memory", "heap", "seconds"), (ONE,), 100_000, 100, fresh=True,
             holder="wait path={path} count={count}", most_blocks=1, cost=100),
)


@dataclass(frozen=True)
class Target:
    """A figure of one peer, divided by one of another if there is one, against a limit."""
    text: str
    workload: str
    limit: float
    against: tuple = None  # peer, and workload if it is another one
    kind: str = "median"
    settings: tuple = (ONE,)
    least: bool = False
    against_kind: str = ""
    peer: str = "latchkey"

    def judge(self, figure, setting):
        """The figure and whether it is met; None if something was not measured."""
        value = figure(self.peer, self.workload, setting, self.kind)
        if self.against:
            peer, *workload = self.against
            other = figure(peer, (workload or [self.workload])[0], setting, self.against_kind or self.kind)
            value = value / other if value is not None and other else None
        if value is None:
            return None
        return value, value >= self.limit if self.least else value <= self.limit


TARGETS = (
    Target("acquire + release, of Curator's time", "acquire", 0.45, ("curator",), settings=(ONE, THREE)),
    Target("acquire + release, of Curator's time", "acquire", 0.36, ("curator",), settings=(ONE_NEAR,)),
    Target("acquire + release, of the C client's time, pipelined", "acquire", 1.10, ("raw",), settings=(ONE, THREE)),
    Target("re-acquire, median, µs", "reacquire", 1),
    Target("re-acquire, 99th percentile, µs", "reacquire", 5, kind="p99"),
    Target("re-acquire, times Curator's rate", "reacquire", 500, ("curator", "acquire"), "rate", least=True),
    Target("8 threads, turns a second", "threads-8", 1e6, kind="rate", least=True),
    Target("8 threads, another process waits, times Curator's rate", "threads-8-rival", 100, ("curator",), "rate",
           least=True),
    Target("hand-off, 2 clients, of Curator's time", "handoff-2", 0.75, ("curator",)),
    Target("hand-off, 2 clients, of Curator's time", "handoff-2", 0.80, ("curator",), settings=(THREE,)),
    Target("hand-off, 8 clients, of Curator's time", "handoff-8", 0.75, ("curator",)),
    Target("hand-off, 8 clients, of Curator's time", "handoff-8", 0.80, ("curator",), settings=(THREE,)),
    Target("hand-off, 8 clients, 99th percentile, of Curator's median", "handoff-8", 2, ("curator",), "p99",
           (ONE, THREE), against_kind="median"),
    Target("direct hand-off, 2 clients, of Curator's time", "handoff-2", 0.2, ("curator",), settings=(ONE, THREE),
           peer="direct"),
    Target("direct hand-off, 8 clients, of Curator's time", "handoff-8", 0.2, ("curator",), settings=(ONE, THREE),
           peer="direct"),
    Target("direct hand-off, 8 clients, of Curator's time", "handoff-8", 0.1, ("curator",), settings=(ONE_NEAR,),
           peer="direct"),
    Target("direct hand-off, 2 clients that hold for 5 ms, of Curator's time", "handoff-2-held", 0.2, ("curator",),
           settings=(ONE, THREE), peer="direct"),
    Target("direct hand-off, 2 clients that hold for 5 ms, of Curator's time", "handoff-2-held", 0.1, ("curator",),
           settings=(ONE_NEAR, ONE_FAR), peer="direct"),
    Target("every datagram dropped, 2 clients, of the time without", "handoff-2-dropped", 1.02,
           ("latchkey", "handoff-2"), settings=(ONE, THREE), peer="direct"),
    Target("every datagram dropped, 8 clients, of the time without", "handoff-8-dropped", 1.02,
           ("latchkey", "handoff-8"), settings=(ONE, ONE_NEAR, THREE), peer="direct"),
    Target("direct, 8 clients, turns a second", "turns-8", 2500, kind="rate", least=True, peer="direct"),
    Target("leader change, of Curator's time", "leader", 1.0, ("curator",), settings=(ONE, ONE_NEAR, THREE)),
    Target("direct leader change, of Curator's time", "leader", 0.5, ("curator",), settings=(ONE, ONE_NEAR, THREE),
           peer="direct"),
    Target("kill -9 with a guardian, median, µs", "crash", 25_000, settings=(ONE, THREE), peer="direct"),
    Target("kill -9 with a guardian, 99th percentile, µs", "crash", 100_000, kind="p99", settings=(ONE, THREE),
           peer="direct"),
    Target("10,000 locks of a thread, of the C client's rate", "pipeline", 0.8, ("raw",), "rate", (ONE, THREE), True),
    Target("10,000 locks of a thread, times a Curator thread's rate", "pipeline", 4, ("curator",), "rate", (ONE, THREE),
           True),
    Target("1,000 waiters, bytes received a grant, of Curator's", "waiters-1000", 0.1, ("curator",), "bytes"),
    Target("10,000 waiters, bytes received a grant, of those with 1,000", "waiters-10000", 1.2,
           ("latchkey", "waiters-1000"), "bytes"),
    Target("memory of a waiting lock, bytes", "waiting-100000", 4000, kind="memory"),
)
