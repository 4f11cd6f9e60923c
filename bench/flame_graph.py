#!/usr/bin/env python3
"""Draws a flame graph: reads `perf script` from stdin, writes an SVG file to stdout.

Usage: perf script -i perf.data | bench/flame_graph.py TITLE [THREAD] >graph.svg

Each box is a function. Its width is the share of the samples in which the function was on the
stack; what stands on a box was called by it. THREAD (a name, such as `latchkey`) selects samples.
"""
import html
import re
import sys

WIDTH, ROW, MARGIN, LEAST = 1200, 16, 10, 0.8
DEEPEST = 40  # without frame pointers the kernel sometimes finds one frame again and again
FRAME = re.compile(r"^\s+[0-9a-f]+ (.*?)(?:\+0x[0-9a-f]+)? \((.*)\)$")
HEAD = re.compile(r"^(\S.*?)\s+\d+(?:/\d+)?\s+(?:\[\d+\]\s+)?[\d.]+:")


def stacks(lines, wanted):
    """The functions of each sample, the outermost first."""
    name, frames = None, []
    for line in list(lines) + [""]:
        head, frame = HEAD.match(line), FRAME.match(line)
        if head:
            name, frames = head.group(1).strip(), []
        elif frame:
            frames.append(short(frame.group(1), frame.group(2)))
        elif name is not None and not line.strip():
            if wanted is None or name == wanted:
                yield ([name] + frames[::-1])[:DEEPEST]
            name = None


def short(symbol, file):
    if symbol == "[unknown]":
        return "[" + file.rsplit("/", 1)[-1] + "]"
    symbol = re.sub(r"\(anonymous namespace\)::|latchkey::|v0::|\[clone [^]]*\]", "", symbol)
    while re.search(r"<[^<>]*>", symbol):
        symbol = re.sub(r"<[^<>]*>", "", symbol)
    return re.sub(r"\(.*", "", symbol).strip() or symbol


def tree(all_stacks):
    root = {"count": 0, "calls": {}}
    for stack in all_stacks:
        root["count"] += 1
        node = root
        for function in stack:
            node = node["calls"].setdefault(function, {"count": 0, "calls": {}})
            node["count"] += 1
    return root


def depth(node, scale):
    wide = [c for c in node["calls"].values() if c["count"] * scale >= LEAST]
    return 1 + max((depth(c, scale) for c in wide), default=0)


def color(name):
    kernel = name.startswith("[k") or name.endswith("_sys") or "sys" in name.split("_")[:2]
    shade = sum(map(ord, name)) % 40
    return f"rgb({225 - shade},{150 + shade if not kernel else 195},{95 if not kernel else 160})"


def boxes(node, x, level, scale, total, bottom):
    for name, call in sorted(node["calls"].items()):
        width = call["count"] * scale
        if width >= LEAST:
            y = bottom - level * ROW
            share = 100.0 * call["count"] / total
            title = html.escape(f"{name}: {share:.1f} %", quote=True)
            room = int((width - 4) / 6.2)
            text = html.escape(name if len(name) <= room else name[: max(room - 1, 0)] + "…")
            yield (f'<g><title>{title}</title><rect x="{x:.1f}" y="{y}" width="{width:.1f}" '
                   f'height="{ROW - 1}" fill="{color(name)}"/>')
            if room >= 4:
                yield f'<text x="{x + 2:.1f}" y="{y + 11}">{text}</text>'
            yield "</g>\n"
            yield from boxes(call, x, level + 1, scale, total, bottom)
        x += width


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    root = tree(stacks(sys.stdin.read().splitlines(), (sys.argv + [None])[2]))
    if root["count"] == 0:
        sys.exit("flame_graph: no samples")
    scale = (WIDTH - 2 * MARGIN) / root["count"]
    height = (depth(root, scale) + 2) * ROW
    print(f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
          f'viewBox="0 0 {WIDTH} {height}" font-family="monospace" font-size="10">\n'
          f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>\n'
          f'<text x="{MARGIN}" y="14" font-size="12">{html.escape(sys.argv[1])}, '
          f'{root["count"]} samples</text>')
    print("".join(boxes(root, MARGIN, 1, scale, root["count"], height - 4)), "</svg>", sep="")


main()
