#!/usr/bin/env python3
"""Usage: man_pages.py PROGRAM FOLDER [DATE]

Writes the manual pages of latchkey into FOLDER: one for the program, one for each of its commands. PROGRAM is the built
`latchkey`. All text comes from its help texts, and `latchkey --help` names the commands. What was in FOLDER before and
is no page of today's program is removed.
"""
import os
import pathlib
import re
import subprocess
import sys
import textwrap
import time

# What a help text names as $NAME or as "environment" gets this description.
ENVIRONMENT = {
    "LATCHKEY_SERVERS": "The servers, if --servers is not given: host:port,host:port,...[/chroot].",
    "ZK_HOSTS": "The same, if LATCHKEY_SERVERS is not set.",
    "LATCHKEY_AUTH": 'Credentials, if --auth-file is not given: "digest USER:PASSWORD".',
    "SHELL": "The shell that runs the STRING of -c.",
    "LATCHKEY_PATH": "Set for CMD: the path.",
    "LATCHKEY_NODE": "Set for CMD: the znode of this participant.",
    "LATCHKEY_TOKEN": "Set for CMD: the fencing token.",
    "NOTIFY_SOCKET": "Set by systemd for a unit with Type=notify. latchkey reports its state there, and does not pass "
                     "the variable on.",
}
NOTIFYING = {"lock", "elect"}
OPTION = re.compile(r"(?<![\w-])--?[a-zA-Z][\w-]*")


def escaped(text):
    for plain, roff in (("\\", "\\e"), ("-", "\\-"), ("'", "\\(aq"), ("`", "\\(ga"), ("^", "\\(ha"), ("~", "\\(ti")):
        text = text.replace(plain, roff)
    return text


def running(text, values=()):
    """A paragraph: options bold, values such as PATH in italics."""
    marked = re.compile(OPTION.pattern + "".join(rf"|(?<![\w$]){re.escape(one)}(?![\w])" for one in sorted(values)))
    out, end = "", 0
    for found in marked.finditer(text):
        out += hyphens(text[end:found.start()])
        out += f"\\f{'B' if found[0][0] == '-' else 'I'}{escaped(found[0])}\\fR"
        end = found.end()
    out += hyphens(text[end:])
    lines = textwrap.wrap(out, 78, break_long_words=False, break_on_hyphens=False)
    return "\n".join("\\&" + line if line[0] in ".'" else line for line in lines)


def hyphens(text):
    """Between letters it is a hyphen, elsewhere a minus."""
    return re.sub(r"(?<=[A-Za-z])\\-(?=[a-z])", "-", escaped(text))


def synopsis(line):
    """Options and fixed words bold, values in italics, brackets as they are."""
    words = []
    for word in line.split():
        inner = re.match(r"^(\[?)(.*?)(\]?(?:\.\.\.)?)$", word)
        text = escaped(inner[2])
        if inner[2] and inner[2] != "...":
            text = f"\\fI{text}\\fR" if inner[2][0].isupper() else f"\\fB{text}\\fR"
        words.append(inner[1] + text.replace("|", "\\fR|\\fB") + inner[3])
    return " ".join(words)


def values_of(usage, options):
    """Names of values: PATH, CMD, SEC."""
    named = re.findall(r"(?<![\w-])[A-Z][A-Z]*(?![\w])", " ".join(usage))
    for label, _ in options:
        named += re.findall(r"(?<=[ ])[A-Z][A-Z:]*$", label)
    return {one for one in named if len(one) > 1 or one in "NS"} - {"OPTION"}


def option_label(line):
    """Splits "-w, --wait SEC  give up" into the label and the text."""
    found = re.match(r"((?:-\S+, )*-[^\s,]+)((?: [A-Z]\S*)?)(?:\s+(.*))?$", line)
    return (found[1] + found[2], found[3] or "") if found else tuple((re.split(r"\s{2,}", line, maxsplit=1) + [""])[:2])


def entries(block):
    """The entries of an indented block: (label, text). Two columns of entries are read one after the other."""
    rows = [re.split(r"\s{2,}", line.strip()) for line in block]
    if all(len(row) in (2, 4) for row in rows) and any(len(row) == 4 for row in rows):
        return [tuple(row[:2]) for row in rows] + [tuple(row[2:]) for row in rows if len(row) == 4]
    found = []
    for line in block:
        indent = len(line) - len(line.lstrip())
        if indent <= 8:
            found.append(list(option_label(line.strip())))
        else:
            found[-1][1] = (found[-1][1] + " " + line.strip()).strip()
    return [tuple(one) for one in found]


def is_list(block):
    """False if the lines are one text."""
    return any(re.match(r"^ +(-|\S.*?\s{2,}\S)", line) for line in block)


def statuses(lines):
    """The exit statuses of a block that may have two columns: (number, text), in order."""
    found = []  # the column where the text begins, number, text
    for line in lines:
        for piece in re.finditer(r"(?:(\d+)  )?(\S+(?: \S+)*)", line):
            if piece[1]:
                found.append([piece.start(2), int(piece[1]), piece[2]])
            else:  # it continues the one above, of the same column
                above = [one for one in found if one[0] == piece.start(2)] or found
                above[-1][2] += " " + piece[2]
    return sorted((number, text) for _, number, text in found)


def blocks_of(text):
    """What stands between empty lines; and an indented part ends where a line is not indented any more."""
    found = []
    for block in text.strip("\n").split("\n\n"):
        lines = block.splitlines()
        found.append(lines[:1])
        for above, line in zip(lines, lines[1:]):
            if above.startswith(" ") and not line.startswith(" "):
                found.append([])
            found[-1].append(line)
    return found


class Page:
    def __init__(self, name, summary, help_text, commands, about):
        self.name, self.summary, self.commands, self.about = name, summary, commands, about
        self.lines, self.environment = [], []
        first, *self.blocks = blocks_of(help_text)
        self.usage = []
        for line in first:
            line = line.replace("Usage:", "", 1).strip()
            if line.startswith("latchkey"):
                self.usage.append(line)
            else:
                self.usage[-1] += " " + line
        for variable in ENVIRONMENT:
            if re.search(rf"\b{variable}\b", help_text):
                self.environment.append(variable)
        if name.removeprefix("latchkey-") in NOTIFYING:
            self.environment.append("NOTIFY_SOCKET")
        options = [one for block in self.blocks if block[0].startswith(" ") for one in entries(block)]
        self.values = values_of(self.usage, options)

    def section(self, title, *lines):
        if lines:
            self.lines += [f".SH {title}", *lines]

    def paragraph(self, text):
        return running(" ".join(text.split()), self.values)

    def listed(self, block):
        out = []
        for label, text in entries(block):
            value = re.match(r"^(.*?)( [A-Z]\S*)?$", label)
            names = [f"\\fB{escaped(one)}\\fR" if re.match(r"-|[a-z_]+$", one) else hyphens(one)
                     for one in value[1].split(", ")]
            names = ", ".join(names)
            out += [".TP", names + (f" \\fI{escaped(value[2].strip())}\\fR" if value[2] else ""), self.paragraph(text)]
        return out

    def commands_listed(self, block):
        out = []
        for label, text in entries(block):
            out += [".TP", f".BR latchkey\\-{escaped(label)} (1)", self.paragraph(text)]
        return out

    def roff(self):
        version, date = self.about
        description, options, commands, status, examples = [], [], [], [], []
        for block in self.blocks:
            rest = [line for line in block if line.startswith(" ")]
            joined = " ".join(line for line in block if not line.startswith(" "))
            title = joined.rstrip(":").capitalize()
            if joined.startswith("Exit status:"):
                intro = joined.removeprefix("Exit status:").strip()
                status = [self.paragraph(intro + (":" if rest else ""))]
                for number, meaning in statuses(rest):
                    status += [".TP", f"\\fB{number}\\fR", self.paragraph(meaning)]
            elif rest and title in ("Example", "Examples"):
                indent = min(len(line) - len(line.lstrip()) for line in rest)
                examples += [".nf", *(f"\\&{escaped(line[indent:])}" for line in rest), ".fi"]
            elif rest and re.match(r"^[A-Z][a-z ]*ommands:$", joined):
                commands += [".PP", self.paragraph(joined)] if title != "Commands" else []
                commands += self.commands_listed(rest)
            else:
                to = options if joined.endswith(":") and not rest or any(re.match(" +-", line) for line in rest) \
                    else description
                to += [".PP", self.paragraph(joined)] if joined else [".PP"]
                if rest:
                    to += self.listed(rest) if is_list(rest) else [".RS", self.paragraph(" ".join(rest)), ".RE"]
        self.lines = [f'.TH {self.name.upper().replace("-", chr(92) + "-")} 1 "{date}" "Latchkey {version}" "Latchkey"',
                      ".nh", ".ad l", ".ss 12 0"]
        self.section("NAME", f"{escaped(self.name)} \\- {escaped(self.summary)}")
        uses = []
        for use in self.usage:
            uses += [".br", synopsis(use)] if uses else [synopsis(use)]
        self.section("SYNOPSIS", *uses)
        for title, lines in (("DESCRIPTION", description), ("COMMANDS", commands), ("OPTIONS", options),
                             ("EXIT STATUS", status)):
            self.section(title, *(lines[1:] if lines and lines[0] == ".PP" else lines))
        variables = []
        for name in self.environment:
            variables += [".TP", f"\\fB{name}\\fR", running(ENVIRONMENT[name])]
        self.section("ENVIRONMENT", *variables)
        self.section("EXAMPLES", *examples)
        pages = [f"latchkey\\-{escaped(one)}" for one, _ in self.commands]
        others = [one for one in ["latchkey", *sorted(pages)] if one != escaped(self.name)]
        self.section("SEE ALSO", *(f".BR {one} (1){',' if one != others[-1] else ''}" for one in others))
        # A macro that begins a paragraph says nothing directly before another.
        lines = [line for i, line in enumerate(self.lines) if line != ".PP" or self.lines[i + 1] not in (".TP", ".PP")]
        return "\n".join(lines) + "\n"


def output_of(program, *words):
    done = subprocess.run([program, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True)
    return done.stdout


def main(program, folder, date=None):
    if not date:
        date = time.strftime("%Y-%m-%d", time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", time.time()))))
    version = output_of(program, "--version").split()[1].rstrip(",")
    text = output_of(program, "--help")
    commands = re.findall(r"^  ([a-z][a-z0-9-]*)  +(\S.*)$", text, re.MULTILINE)
    if not commands:
        sys.exit(f"{program} --help names no commands")
    summary = blocks_of(text)[1][0].rstrip(".").split(", for ")[0]
    about = (version, date)
    pages = [Page("latchkey", summary[0].lower() + summary[1:], text, commands, about)]
    for name, description in commands:
        pages.append(Page(f"latchkey-{name}", description, output_of(program, name, "--help"), commands, about))
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.1"):
        old.unlink()
    for page in pages:
        (folder / f"{page.name}.1").write_text(page.roff())


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    main(*sys.argv[1:])
