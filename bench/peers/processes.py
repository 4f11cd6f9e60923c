"""The processes of `scripts/bench peers`: drivers, which are asked line by line, and servers. None outlives this."""
import ctypes
import json
import os
import pathlib
import select
import shutil
import signal
import socket
import subprocess
import time
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
LIBC = ctypes.CDLL(None)


class Failure(Exception):
    pass


def end_with_parent():
    LIBC.prctl(1, signal.SIGKILL)


def start(command, log, **options):
    return subprocess.Popen(command, stderr=log, preexec_fn=end_with_parent, **options)


class Process:
    """A program that answers each line with a line."""

    def __init__(self, name, command, folder):
        self.name, self.log = name, folder / f"{name.replace(' ', '-')}.log"
        self.unread = b""
        with open(self.log, "ab") as log:
            self.process = start(command, log, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def send(self, line):
        try:
            self.process.stdin.write(f"{line}\n".encode())
            self.process.stdin.flush()
        except BrokenPipeError:
            self.fail("has ended")

    def receive(self, limit):
        end = time.monotonic() + limit
        output = self.process.stdout.fileno()
        while b"\n" not in self.unread:
            ready, _, _ = select.select([output], [], [], max(0, end - time.monotonic()))
            if not ready:
                self.fail(f"did not answer within {limit:.0f} s")
            some = os.read(output, 1 << 16)
            if not some:
                self.fail("has ended")
            self.unread += some
        line, self.unread = self.unread.split(b"\n", 1)
        return line.decode()

    def ask(self, line, limit):
        self.send(line)
        return self.receive(limit)

    def fail(self, what):
        self.end()
        said = self.log.read_text(errors="replace").strip().splitlines()
        raise Failure(f"{self.name} {what}" + (f": {said[-1]}" if said else ""))

    @property
    def running(self):
        return self.process.poll() is None

    def end(self):
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            try:
                pipe.close()
            except BrokenPipeError:
                pass

    def cpu_seconds(self):
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def resident(self):
        pages = int(pathlib.Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")


class Drivers:
    """How the driver of each peer is started."""

    def __init__(self, build, folder):
        self.build, self.here, self.folder = build, build / "bench" / "peers", folder
        self.etcd = folder / "etcd_driver"

    def missing(self, peer):
        """Why a peer is left out; None if it is not."""
        if peer in ("latchkey", "direct", "preferred", "raw"):
            program = pathlib.Path(self.command(peer)[0])
            return None if program.exists() else f"{program} is not built"
        if peer == "curator":
            return None if (self.here / "CuratorDriver.class").exists() else "not installed"
        if peer == "kazoo":
            found = subprocess.run(["/usr/bin/python3", "-c", "import kazoo"], stderr=subprocess.DEVNULL, check=False)
            return None if found.returncode == 0 else "not installed"
        if peer == "redis":
            return None if shutil.which("redis-server") else "not installed"
        return self.build_etcd()

    def program(self, name):
        return self.here / f"latchkey_peers_{name}"

    def build_etcd(self):
        source = HERE / "etcd_driver.go"
        if not (shutil.which("etcd") and shutil.which("go") and
                pathlib.Path("/usr/share/gocode/src/go.etcd.io/etcd").exists()):
            return "not installed"
        if self.etcd.exists() and self.etcd.stat().st_mtime > source.stat().st_mtime:
            return None
        print("building the driver of etcd", flush=True)
        environment = dict(os.environ, GO111MODULE="off", GOPATH="/usr/share/gocode", GOFLAGS="",
                           GOCACHE=str(self.folder / "go"))
        built = subprocess.run(["go", "build", "-o", self.etcd, source], env=environment, check=False)
        return None if built.returncode == 0 else "its driver does not build"

    def start(self, peer, servers, other=False):
        return Process(f"{peer}{' 2' if other else ''}", [*self.command(peer), servers], self.folder)

    def command(self, peer):
        if peer == "curator":
            class_path = (self.here / "class_path").read_text().strip()
            return ["java", "-XX:-UsePerfData", "-Xmx2g", "-Xss256k", "-cp", f"{self.here}:{class_path}",
                    "CuratorDriver"]
        if peer in ("kazoo", "redis"):
            return ["/usr/bin/python3", str(HERE / "python_driver.py"), peer]
        if peer == "direct":
            return [str(self.program("latchkey")), str(self.build / "src" / "latchkey-guardian")]
        if peer == "preferred":
            return [str(self.program("latchkey")), "leader"]
        return [str(self.etcd if peer == "etcd" else self.program(peer))]


def free_ports(number):
    listening = [socket.create_server(("127.0.0.1", 0)) for _ in range(number)]
    ports = [s.getsockname()[1] for s in listening]
    for s in listening:
        s.close()
    return ports


def wait_for(condition, what, limit=30):
    end = time.monotonic() + limit
    while time.monotonic() < end:
        try:
            found = condition()
        except OSError:
            found = None
        if found:
            return found
        time.sleep(0.05)
    raise Failure(f"{what} does not serve")


class Servers:
    """ZooKeeper's servers, and those of the other systems, as far as they are wanted. Their files are in memory."""

    def __init__(self, setting, drivers, peers):
        self.number, self.folder = setting.servers, drivers.folder
        self.others, self.proxies = [], {}
        memory = pathlib.Path("/dev/shm")
        self.files = (memory if os.access(memory, os.W_OK) else self.folder) / f"peers-{os.getpid()}"
        self.zookeeper = Process("servers", [str(drivers.program("servers")), str(setting.servers), str(setting.apart)],
                                 self.folder)
        self.addresses = {}
        try:
            follower, leader, every = self.zookeeper.receive(60).split()
            print(f"  ZooKeeper: clients at {follower}, leader {leader}", flush=True)
            starts = {"etcd": self.start_etcd, "redis": self.start_redis}
            for peer in peers:
                usual = every if peer == "preferred" else follower
                self.addresses[peer] = starts[peer]() if peer in starts else usual
        except BaseException:
            self.end()
            raise

    def run(self, command, name):
        with open(self.folder / f"{name}.log", "ab") as log:
            self.others.append(start(command, log, stdout=log, stdin=subprocess.DEVNULL))

    def start_etcd(self):
        """The client address of a member that follows, or of the only one."""
        ports = free_ports(2 * self.number)
        names = [f"e{i}" for i in range(self.number)]
        clients = [f"http://127.0.0.1:{port}" for port in ports[::2]]
        members = [f"http://127.0.0.1:{port}" for port in ports[1::2]]
        for name, client, member in zip(names, clients, members):
            self.run(["etcd", "--name", name, "--data-dir", str(self.files / name), "--log-level", "error",
                      "--listen-client-urls", client, "--advertise-client-urls", client,
                      "--listen-peer-urls", member, "--initial-advertise-peer-urls", member, "--initial-cluster",
                      ",".join(f"{n}={m}" for n, m in zip(names, members))], "etcd")

        def follower():
            for client in clients:
                request = urllib.request.Request(f"{client}/v3/maintenance/status", b"{}")
                with urllib.request.urlopen(request, timeout=2) as answer:
                    status = json.load(answer)
                if status.get("leader") and (self.number == 1 or status["leader"] != status["header"]["member_id"]):
                    return client.removeprefix("http://")
            return None

        return wait_for(follower, "etcd")

    def start_redis(self):
        port, = free_ports(1)
        self.run(["redis-server", "--bind", "127.0.0.1", "--port", str(port), "--save", "", "--appendonly", "no",
                  "--dir", str(self.folder)], "redis")
        wait_for(lambda: socket.create_connection(("127.0.0.1", port)).close() or True, "Redis")
        return f"127.0.0.1:{port}"

    def address(self, peer, delay, proxied):
        """Where the clients of a peer connect to."""
        if delay == 0 and not proxied:
            return self.addresses[peer]
        key = self.addresses[peer], delay
        if key not in self.proxies:
            self.proxies[key] = self.zookeeper.ask(f"proxy {key[0]} {delay}", 10)
        return self.proxies[key]

    def received(self):
        return int(self.zookeeper.ask("received", 10))

    def end(self):
        for process in self.others:
            process.kill()
            process.wait()
        self.zookeeper.process.stdin.close()
        try:
            self.zookeeper.process.wait(20)
        except subprocess.TimeoutExpired:
            self.zookeeper.process.kill()
            self.zookeeper.process.wait()
        shutil.rmtree(self.files, ignore_errors=True)
