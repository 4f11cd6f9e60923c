"""The page of `scripts/bench peers`: its table, its targets and its plots."""
import math
import os
import pathlib
import statistics
import subprocess
import sys
import textwrap

from workloads import KINDS, PEERS, TARGETS, WORKLOADS, Setting

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "docs" / "pictures"))
from svg import Picture  # noqa: E402

BEGIN, END = "<!-- begin: scripts/bench peers -->", "<!-- end -->"
PACKAGES = {"ZooKeeper": "libzookeeper-java", "C client": "libzookeeper-st2", "Curator": "libcurator-recipes-java",
            "kazoo": "python3-kazoo", "etcd": "etcd-server", "Redis": "redis-server"}
COLORS = {"latchkey": "#1a7f37", "direct": "#0a9396", "preferred": "#7fb800", "curator": "#b3261e", "kazoo": "#0b5fb0",
          "raw": "#222222", "etcd": "#7a3fb0", "redis": "#a06000"}
SUFFIX = {"p99": ", 99th percentile", "cpu": ", CPU time of the client", "allocated": ", allocated",
          "allocations": ", allocations", "heap": ", heap in use", "seconds": ", until all wait"}


def short(value):
    """Three digits that count."""
    if value == 0 or not math.isfinite(value):
        return "0"
    digits = 2 - math.floor(math.log10(abs(value)))
    return f"{round(value, digits):,.{max(0, digits)}f}"


def version_of(package):
    found = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package],
                           capture_output=True, text=True, check=False)
    return found.stdout.split(":")[-1].split("-")[0] if found.returncode == 0 else None


class Report:
    def __init__(self, lines):
        self.about = next((line for line in lines if "date" in line), {})
        self.lines = [line for line in lines if "workload" in line and "error" not in line]

    @staticmethod
    def facts(**more):
        """What a reader has to know of a run."""
        cpu = [line.split(":")[1].strip() for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
               if line.startswith("model name")]
        commit = subprocess.run(["git", "-C", str(pathlib.Path(__file__).parent), "describe", "--always", "--dirty"],
                                capture_output=True, text=True, check=False).stdout.strip()
        versions = {name: version_of(package) for name, package in PACKAGES.items()}
        versions = {name: version for name, version in versions.items() if version}
        return dict(more, processors=os.cpu_count(), cpu=cpu[0] if cpu else "", kernel=os.uname().release,
                    commit=commit, versions=versions)

    def values(self, peer, workload, setting, kind):
        """One for each block."""
        of, wanted = KINDS[kind][1], (peer, workload, setting)
        return [of(m) for m in self.lines
                if (m["peer"], m["workload"], Setting(m["servers"], m["delay"], m.get("apart", 0))) == wanted and
                self.has(m, of)]

    @staticmethod
    def has(m, of):
        try:
            of(m)
        except (KeyError, ZeroDivisionError):
            return False
        return True

    def figure(self, peer, workload, setting, kind):
        found = self.values(peer, workload, setting, kind)
        return statistics.median(found) if found else None

    # ---- text ----

    def cell(self, peer, workload, setting, kind):
        found = self.values(peer, workload, setting, kind)
        if not found:
            return ""
        spread = f" ({short(min(found))} to {short(max(found))})" if len(found) > 1 else ""
        return f"{short(statistics.median(found))}{spread}"

    def row(self, workload, setting, kind):
        ours, curators = (self.figure(peer, workload.name, setting, kind) for peer in ("latchkey", "curator"))
        unit = KINDS[kind][0]
        return [f"{workload.title}{SUFFIX.get(kind, '')}", str(setting), unit,
                *(self.cell(peer, workload.name, setting, kind) for peer in PEERS),
                short(ours / curators) if ours and curators else ""]

    def rows(self):
        for workload in WORKLOADS:
            for kind in workload.kinds:
                for setting in workload.settings if kind in ("median", "rate", "p99") else workload.settings[:1]:
                    row = self.row(workload, setting, kind)
                    if any(row[3:]):
                        yield row

    def print_row(self, workload, setting):
        found = {PEERS[peer]: self.cell(peer, workload.name, setting, workload.kinds[0]) for peer in PEERS}
        print(f"  {workload.title}, {workload.kinds[0]}, {KINDS[workload.kinds[0]][0]}: " +
              "; ".join(f"{peer} {cell}" for peer, cell in found.items() if cell), flush=True)

    def targets(self):
        for target in TARGETS:
            for setting in target.settings:
                judged = target.judge(self.figure, setting)
                if judged:
                    value, met = judged
                    limit = f"{'at least' if target.least else 'at most'} {target.limit:,.10g}"
                    yield [target.text, str(setting), limit, short(value), "met" if met else "**missed**"]

    def print_targets(self):
        for text, setting, limit, value, met in self.targets():
            print(f"{met.strip('*'):7}{value:>12}  {limit:22} {text}, {setting}")

    @staticmethod
    def table(head, rows):
        rows = list(rows)
        return "\n".join(f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *rows])

    def machine(self):
        if not self.about:
            return "The run did not end."
        a = self.about
        versions = ", ".join(f"{name} {version}" for name, version in a["versions"].items())
        blocks = max((m["block"] for m in self.lines), default=0) + 1
        return textwrap.fill(
            f"Measured on {a['date']}: {a['processors']} processors ({a['cpu']}), Linux {a['kernel']}, all clients and "
            f"servers on this machine. Load at the beginning {a['load_before']}, at the end {a['load_after']}. At most "
            f"{blocks} blocks. Latchkey {a['commit']}, {versions}.", 118, break_on_hyphens=False)

    def page(self, picture):
        return "\n\n".join([
            self.machine(),
            f"![Times and rates of all peers on logarithmic scales; the table has the numbers]({picture})",
            "Medians of the blocks, with the least and the greatest block in parentheses. The last column is\n"
            "Latchkey's figure divided by Curator's.",
            self.table(["", "servers", "unit", *PEERS.values(), "of Curator"], self.rows()),
            "Targets, as ratios within this run:",
            self.table(["Latchkey", "servers", "target", "measured", ""], self.targets())])

    def write(self, page):
        text = page.read_text(encoding="utf-8")
        head, rest = text.split(BEGIN)
        tail = rest.split(END, 1)[1]
        picture = page.with_suffix(".svg")
        picture.write_text(str(self.plots()), encoding="utf-8")
        page.write_text(f"{head}{BEGIN}\n\n{self.page(picture.name)}\n\n{END}{tail}", encoding="utf-8")

    # ---- plots ----

    def plots(self):
        """Two panels, of times and of rates, with a line for each workload in each setting."""
        panels = [("Time, µs: shorter is better", "median"), ("Operations a second: more is better", "rate")]
        drawn = [(title, kind, [(w, s) for w in WORKLOADS if kind in w.kinds for s in w.settings
                                if any(self.figure(p, w.name, s, kind) for p in PEERS)])
                 for title, kind in panels]
        height = 96 + sum(74 + 30 * len(rows) for _, _, rows in drawn if rows)
        picture = Picture("performance", height, "Latchkey beside other libraries and systems",
                          "For each workload a line with a mark for each peer; the numbers are in the table below.")
        picture.made_by = "scripts/bench peers"
        self.legend(picture)
        top = 96
        for title, kind, rows in drawn:
            if rows:
                self.panel(picture, top, title, kind, rows)
                top += 74 + 30 * len(rows)
        return picture

    @staticmethod
    def mark(picture, peer, x, y):
        """A shape of its own for each peer, so that color is not needed."""
        color, r = COLORS[peer], 6
        shapes = {"curator": f"M{x - r} {y - r} h{2 * r} v{2 * r} h{-2 * r} Z",
                  "direct": f"M{x - r} {y} L{x + r} {y - r} L{x + r} {y + r} Z",
                  "preferred": f"M{x + r} {y} L{x - r} {y - r} L{x - r} {y + r} Z",
                  "kazoo": f"M{x} {y - r} L{x + r} {y + r} L{x - r} {y + r} Z",
                  "raw": f"M{x} {y - r - 1} L{x + r + 1} {y} L{x} {y + r + 1} L{x - r - 1} {y} Z",
                  "redis": f"M{x} {y + r} L{x + r} {y - r} L{x - r} {y - r} Z"}
        if peer == "latchkey":
            picture.add("circle", cx=x, cy=y, r=r + 1.0, fill=color, stroke="#ffffff", stroke_width=1)
        elif peer == "etcd":
            picture.add("path", d=f"M{x - r} {y - r} L{x + r} {y + r} M{x - r} {y + r} L{x + r} {y - r}", stroke=color,
                        stroke_width=3, fill="none")
        else:
            picture.add("path", d=shapes[peer], fill=color, stroke="#ffffff", stroke_width=1)

    def legend(self, picture):
        picture.text(20, 34, "Latchkey beside other libraries and systems", bold=True, size=18)
        x = 28
        for peer, name in PEERS.items():
            self.mark(picture, peer, x, 62)
            picture.text(x + 13, 67, name, COLORS[peer])
            x += 40 + 9 * len(name)

    def panel(self, picture, top, title, kind, rows):
        left, right = 296, 612
        every = [v for w, s in rows for p in PEERS for v in self.values(p, w.name, s, kind) if v > 0]
        low, high = math.floor(math.log10(min(every))), math.ceil(math.log10(max(every)))

        def place(value):
            return round(left + (right - left) * (math.log10(value) - low) / max(1, high - low), 1)

        picture.text(20, top + 18, title, bold=True)
        bottom = top + 50 + 30 * len(rows)
        for decade in range(low, high + 1):
            x = place(10**decade)
            picture.line(x, top + 44, x, bottom - 8, "#c5ccd5", 1)
            if (high - low) <= 6 or decade % 2 == 0:
                picture.text(x, top + 38, self.decade(decade), "#6a6a6a", "middle", size=13)
        for i, (workload, setting) in enumerate(rows):
            y = top + 60 + 30 * i
            picture.text(20, y + 5, f"{workload.short}, {setting}", size=12)
            picture.line(left, y, right, y, "#e4e7eb", 1)
            for j, peer in reversed(list(enumerate(PEERS))):
                found = [v for v in self.values(peer, workload.name, setting, kind) if v > 0]
                if found:  # a little apart, so that none hides another
                    height = y + 3 * (j - (len(PEERS) - 1) / 2)
                    picture.add("path", d=f"M{place(min(found))} {height} H{place(max(found))}", stroke=COLORS[peer],
                                stroke_width=2.5)
                    self.mark(picture, peer, place(statistics.median(found)), height)

    @staticmethod
    def decade(n):
        return f"{10**n:g}" if n < 3 else {3: "1k", 4: "10k", 5: "100k", 6: "1M", 7: "10M", 8: "100M"}.get(n, f"1e{n}")
