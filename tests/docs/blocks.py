"""The code blocks of the pages and their markers, and the program that a rule about pages is: what house/docs_blocks,
house/docs_links and run_blocks have in common."""
import argparse
import pathlib
import re
import textwrap
from dataclasses import dataclass

FENCE = re.compile(r"^(\s*)(```+|~~~+)\s*([\w+-]*)\s*$")
MARKER = re.compile(r"^\s*<!--\s*(example|run|not run)\s*(?::\s*(.*?))?\s*-->\s*$")


@dataclass
class Block:
    page: str  # relative to the tree
    line: int  # of the first line of code
    language: str
    marker: str  # "example", "run", "not run" or ""
    detail: str  # what the marker says after the colon
    text: str

    @property
    def place(self):
        return f"{self.page}:{self.line}"


def pages(tree):
    return [page for page in [tree / "README.md", *sorted((tree / "docs").rglob("*.md"))] if page.is_file()]


def blocks_of(tree, page):
    """All blocks of a page, in order."""
    found, begin, marker = [], None, None
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        fence = FENCE.match(line)
        if begin is not None:
            if fence and not fence[3] and fence[2].startswith(begin[2]):
                kind, detail = (marker[1], marker[2] or "") if marker else ("", "")
                text = textwrap.dedent("\n".join(code))
                found.append(Block(str(page.relative_to(tree)), start, begin[3], kind, detail, text))
                begin = marker = None
            else:
                code.append(line)
        elif fence:
            begin, start, code = fence, number + 1, []
        elif line.strip():  # a marker is the last line before its block; empty lines may be between
            marker = MARKER.match(line)
    return found


def all_blocks(tree):
    tree = pathlib.Path(tree)
    return [block for page in pages(tree) for block in blocks_of(tree, page)]


def example_text(tree, name):
    """The text of examples/FILE, or of its part FILE#region between `// [region]` and `// [/region]` (`#` in CMake and
    shell, `--` in SQL). Without common indentation, and without empty lines at both ends. Raises ValueError."""
    file, _, region = name.partition("#")
    path = pathlib.Path(tree) / "examples" / file
    if not path.is_file():
        raise ValueError(f"there is no examples/{file}")
    text = path.read_text(encoding="utf-8")
    if region:
        mark = r"^[ \t]*(?://|#|--) \[%s\][ \t]*$\n"
        parts = re.split(mark % re.escape(region), text, flags=re.M)
        if len(parts) != 2:
            raise ValueError(f"examples/{file} has {len(parts) - 1} marks [{region}], not one")
        inside = re.split(mark % ("/" + re.escape(region)), parts[1], flags=re.M)
        if len(inside) != 2:
            raise ValueError(f"examples/{file} has {len(inside) - 1} marks [/{region}] after [{region}], not one")
        text = inside[0]
    # The marks of other parts are not shown.
    text = re.sub(r"^[ \t]*(?://|#|--) \[/?[\w-]+\][ \t]*\n", "", text, flags=re.M)
    return trimmed(text)


def trimmed(text):
    return textwrap.dedent("\n".join(line.rstrip() for line in text.splitlines())).strip("\n")


def run_rule(usage, complaints, find_offenders):
    """The exit status of a program that prints complaints(TREE), or what find_offenders() says of the rule itself."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("-h", "--help", action="store_true")
    parser.add_argument("--find-offenders", action="store_true")
    parser.add_argument("tree", nargs="?", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2])
    arguments = parser.parse_args()
    if arguments.help:
        print(usage, end="")
        return 0
    said = find_offenders() if arguments.find_offenders else complaints(arguments.tree)
    print("\n".join(said), end="\n" if said else "")
    return 1 if said else 0
