#!/usr/bin/env python3
"""What Doxygen reads instead of a page or a header of this tree. Usage: filter.py FILE | filter.py --linked

Pages: headings get the ids that GitHub gives them, links lead to the pages of the site, pictures are shown. Headers: a
comment also belongs to the declarations that follow without an empty line, and to those of one family (lock,
try_lock_for) or named in its first line. SENTENCES comments declarations whose names say enough. Copies, moves,
destructors and `= delete` without a comment are left out.

--linked prints the pictures, and the other files of the tree that pages link to, which scripts/docs copies.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^()\s]+)\)")
BOLD = re.compile(r"`[^`]+`|\*\*((?:`[^`]+`|[^*`])+)\*\*")
HEADING = re.compile(r"^(#{1,6})\s+(.*?)\s*$")


def pages():
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def site_name(page):
    """README.md -> index, docs/guarantees.md -> guarantees, docs/design/queue.md -> design-queue."""
    relative = page.relative_to(ROOT).with_suffix("")
    return "index" if relative.name == "README" else "-".join(part for part in relative.parts if part != "docs")


def heading_id(text):
    """The same as GitHub's."""
    text = re.sub(r"\]\([^)]*\)", "", text)
    return re.sub(r"[^\w-]", "", text.lower().replace(" ", "-"))


def escaped_name(name):
    """How Doxygen names the page of a header."""
    return name.replace("_", "__").replace(".", "_8")


def target_of(page, target):
    """(address in the site, file to copy) of a link on a page; (None, None) if the site has nothing like it."""
    path, _, anchor = target.partition("#")
    file = (page.parent / path).resolve() if path else page
    if file.suffix == ".md" and file in pages():
        name = site_name(file)
        return f"{name}.html" + (f"#{name}-{anchor}" if anchor else ""), None
    if file.suffix == ".hpp" and file.parent == ROOT / "include" / "latchkey":
        return f"{escaped_name(file.name)}.html", None
    if file.is_file() and ROOT in file.parents:
        relative = file.relative_to(ROOT)
        return ("pictures/" + relative.name if file.suffix == ".svg" else f"files/{relative}.txt"), relative
    return None, None


def without_code(line, change):
    """Applies `change` to what is outside of `code`. Doxygen ends a span of one backquote at an apostrophe."""
    parts = re.split(r"(?<!`)(`[^`]+`)(?!`)", line)

    def code(part):
        if part.endswith("operator`"):  # Doxygen would read on, for the operator's name
            return f"<code>{part[1:-2]}&#114;</code>"
        return f"`{part}`" if "'" in part else part

    return "".join(code(part) if i % 2 else change(part) for i, part in enumerate(parts))


def linked(page, text):
    """Links and pictures of a text without code blocks. A link may begin on one line and end on the next."""
    def link(match):
        picture, shown, target = match.groups()
        if "://" in target:
            return match[0]
        address, _ = target_of(page, target)
        if picture:
            return f'<img class="picture" src="{address}" alt="{shown}"/>'
        if name == "design" and text[: match.start()].endswith("\n| ") and str(address).startswith("design-"):
            return f'@subpage {address.partition(".")[0]} "{shown}"'  # the list of pages becomes a tree
        return f'<a href="{address}">{shown}</a>' if address else shown

    name = site_name(page)
    text = without_code(text, lambda part: re.sub(r"(?<![\\\w])[@\\](?=\w)", r"\\\g<0>", part))
    # Doxygen does not see where `**` with code inside begins or ends.
    text = BOLD.sub(lambda found: f"<b>{found[1]}</b>" if found[1] else found[0], text)
    return LINK.sub(link, text)


def filtered_page(page):
    name, inside, first, out, text = site_name(page), False, True, [], []
    for line in [*page.read_text(encoding="utf-8").splitlines(), None]:
        code = line is not None and re.match(r"\s*(```|~~~)", line)
        if line is not None and not code and not inside:
            heading = HEADING.match(line)
            if heading:
                label = name if first else f"{name}-{heading_id(heading[2])}"
                line = f"{heading[1]} {heading[2]}" + (f" {{#{label}}}" if label != "index" else "")
                first = False
            text.append("" if re.match(r"\s*<!--.*-->\s*$", line) else line)
            continue
        if text:
            out.append(linked(page, "\n".join(text)))
            text = []
        if code:
            inside = not inside
            # Doxygen wants to know a language, or shows plain text.
            line = re.sub(r"```(cpp|c\+\+)\s*$", "```{.cpp}", line)
            line = re.sub(r"```(sh|bash|sql|python|ini|http|cmake|yaml|text|json|java|go)\s*$", "```{.unparsed}", line)
        if line is not None:
            out.append(line)
    return "\n".join(out) + "\n"


# ---- headers ----

# The sentences of declarations that have no comment because their names say enough: (header, declaration, sentence).
SENTENCES = [(re.compile(header), re.compile(declaration), sentence) for header, declaration, sentence in [
    ("transaction", r"enum class kind", "What an operation does."),
    ("transaction", r"enum class lifetime", "How long a znode exists, and whether the servers number its name."),
    ("transaction", r"any_version", "Matches every version."),
    ("transaction", r"kind what\(\)", "What the operation does."),
    ("transaction", r"path\(\)", "The path of the znode."),
    ("transaction", r"data\(\)", "The data that the operation writes. Empty for a remove and a check."),
    ("transaction", r"version\(\)", "The version that the znode must have, or `any_version`."),
    ("transaction", r"life\(\)", "The lifetime of the znode that a create makes."),
    ("", r"& path\(\) const", "The path that the constructor was given."),
    ("mutex", r"void unlock\(\)", "Releases the lock, even a lost one. It does not wait for the network."),
    ("leader_latch", r"using transfer_handler", "Receives the result of async_transfer_to()."),
    ("", r"using (\w+)_handler\b", r"Receives the result of async_\1()."),
    ("", r"using (\w+_)?listener\b", "A function that on_change() calls."),
    ("acl", r"operator\|", "The permissions of both."),
    ("awaitable_handler", r"using value_type", "T, or std::monostate if T is void."),
    ("awaitable_handler", r"awaitable_handler\(", "Passes the result on to `done`."),
    ("awaitable_handler", r"operator\(\)\(", "Passes the result on. To be called once."),
    ("awaitable", r"awaitable_with_error\(", "Takes the call over."),
    ("awaitable", r"operator co_await", "Starts the call. The coroutine waits for its result."),
    ("boottime_clock", r"using \w+", "As in the clocks of the standard library."),
    ("boottime_clock", r"now\(\)", "The time of CLOCK_BOOTTIME."),
    ("client", r"connection_state state\(\)", "What the client knows about its session now."),
    ("client", r"subscription\(std::shared_ptr", "For on_change(), which makes subscriptions."),
    ("hold", r"LATCHKEY_UNNAMED|const&& noexcept", "Of a hold without a name: compilers warn there."),
    ("group", r"LATCHKEY_UNNAMED", "Of a membership without a name: compilers warn there."),
    ("option", r"option\(Value&&", "Takes the value."),
    ("option", r"option& operator=\(Value&&", "Replaces the value."),
    ("option", r"operator T\(\)", "The same as value()."),
    ("transaction", r"operation_list\(", "The operations, in their order."),
    ("transaction", r"take\(\)", "The operations."),
    ("lock_tree", r"enum class ending", "How a walk ended."),
    ("prometheus", r"using label_function", "Makes the label of a path."),
    ("prometheus", r"explicit prometheus_metrics\(", "Without `label`, the path is the label."),
    ("prometheus_stats", r"Collect\(\)", "Reads the statistics of all clients. Called by prometheus-cpp."),
    ("connection_state", r"to_string\(", 'The name of the state, for example "suspended".'),
    ("ensemble", r"enum class mode", "Who runs the ensemble: its own threads, or step(), run_for() and run_until()."),
    ("ensemble", r"enum class when", "Whether a request fails before or after the servers apply it."),
    ("ensemble", r"enum class request_kind", "The requests that a fault applies to."),
    ("ensemble", r"using duration", "All times of the ensemble."),
    ("ensemble", r"run_until\(", "Runs until `done()` returns true, for at most `limit`. Returns whether it did."),
    ("ensemble", r"struct options", "How the ensemble is built and how fast it is."),
    ("ensemble", r"struct session_info", "What sessions() returns about a session."),
    ("ensemble", r"struct znode", "What get() returns about a znode."),
    ("ensemble", r"explicit ensemble\(", "Starts the servers. Without options: three servers, threaded."),
    ("error", r"error_code make_error_code\(", "The std::error_code of `e`. Lets a program write `ec == e`."),
    ("error", r"make_error_condition\(", "The std::error_condition of `c`. Lets a program write `ec == c`."),
    ("error", r"& error_category\(\)", "The category of errc."),
    ("error", r"& error_kind_category\(\)", "The category of error_kind."),
    ("error", r"error\(std::error_code", "`what` comes before the message of the code in what()."),
    ("function", r"move_only_function\(std::nullptr_t\)", "An empty one."),
    ("function", r"move_only_function\(F&&", "Takes `f`. Empty if `f` is a null pointer or an empty function."),
    ("function", r"operator bool", "False if it is empty."),
    ("function", r"operator\(\)\(", "Calls the object."),
    ("group", r"name\(\)", "The name that join() was given. Empty for an empty membership."),
    ("guard", r"explicit guard\(Recipe", "Acquires `lock`. `args` are those of its acquire(), or those of "
     "its try_acquire_for() if a duration is the last one."),
]]


def sentence_for(header, declaration):
    """The comment of a declaration that has none of its own, as a line; nothing if the table does not know it."""
    text = " ".join(line.strip() for line in declaration)
    for name, pattern, sentence in SENTENCES:
        if name.search(header.stem) and (found := pattern.search(text)):
            return [f"/// {found.expand(sentence)}"]
    return []


SPECIAL = re.compile(r"=\s*delete;|^\s*(?:explicit )?(\w+)\(\1&&|^\s*(\w+)& operator=\(\2&&|^\s*(\w+)\(const \3&|"
                     r"^\s*(\w+)& operator=\(const \4&|^\s*~\w+\(\)|^\s*\w+\(\) (noexcept )?= default;|"
                     r"operator(==|<=>)\(.*= default;|^\s*friend ")


def stem(declaration):
    """What the names of a family of functions have in common: lock() of try_lock_shared_for(). Empty for data."""
    text = re.sub(r"^\s*template .*", "", "\n".join(declaration), flags=re.M)
    if "operator" in text:
        return re.search(r"operator\W*\w*", text)[0]
    while re.search(r"<[^<>]*>", text):
        text = re.sub(r"<[^<>]*>", "", text)
    found = re.search(r"(?:^|[\s&*])(~?\w+)\(", text)
    name = re.sub(r"^(try_|async_|un)+", "", found[1] if found and not re.match(r"\s*using\b", text) else "")
    return "lock" if name.startswith("lock") else re.sub(r"(_for|_until|_async)+$", "", name)


def page_link(match):
    page = ROOT / match[0]
    return f'<a href="{site_name(page)}.html">{match[0]}</a>' if page.is_file() else match[0]


def filtered_header(header):
    comment, family, mixin, out = [], None, None, []  # the last comment, and whose it is
    text = header.read_text(encoding="utf-8")
    if "Programs do not use it." in text:
        return "\n"
    lines = text.splitlines()
    lines = [re.sub(r"docs/[\w/-]+\.md", page_link, line) if "///" in line else line for line in lines]
    # Users never write the version of the interface.
    lines = [re.sub(r"namespace latchkey::inline v\d+", "namespace latchkey", line) for line in lines]
    lines = [re.sub(r"inline namespace v\d+ *\{", 'extern "C++" {', line) for line in lines]
    i = 0
    while i < len(lines):
        line = lines[i]
        stripped = line.strip()
        if re.match(r"    // (?!Time\.|Requests\.)\w", line) and not stripped.endswith((",", ";")):
            line = line.replace("// ", "/// ", 1)  # a comment inside of a class is for users too
            lines[i], stripped = line, line.strip()
        fresh = i > 0 and lines[i - 1].strip().startswith("///") and not lines[i - 1].strip().startswith("///<")
        beside = i > 0 and lines[i - 1].strip() and not lines[i - 1].strip().startswith(("public:", "private:", "//"))
        if stripped.startswith("///") and not stripped.startswith("///<"):
            if not fresh:
                comment, family = [], None
            comment.append(line)
            out.append(line)
        elif is_member(line) and not begins_class_template(lines, i):
            declaration = [line]
            while not ends(declaration) and i + 1 < len(lines):
                i += 1
                declaration.append(lines[i])
            if not fresh and SPECIAL.search("\n".join(declaration)):
                out.extend("" for _ in declaration)
            else:
                name = stem(declaration)
                if fresh:
                    family = name
                elif comment and name and "///<" not in "".join(declaration) and (
                        beside or name == family or f"{name}()" in comment[0]):
                    out.append("\n".join(comment))
                elif mixin and name and family is None:
                    family = name
                    comment = [f"/// See latchkey::{mixin}."]
                    out.append(comment[0])
                elif "///<" not in "".join(declaration):
                    out.extend(sentence_for(header, declaration))
                out.extend(declaration)
                if depth_of(declaration) < 0:  # the names of an enum, and its end
                    comment, family = [], None
        else:
            if not fresh and stripped.startswith(("struct ", "enum ")):
                out.extend(sentence_for(header, [line]))
            if stripped.startswith(("public:", "private:", "protected:", "class ", "struct ", "enum ", "};", "// ")):
                comment, family = [], None
            if opened := re.match(r"class (\w+_forms)\b", line):
                mixin = opened[1]  # its comment is about all of its members
            elif stripped.startswith(("private:", "};")):
                mixin = None
            if stripped.startswith("#define ") and comment and beside and not fresh:
                out.append("\n".join(comment))
            out.append("" if stripped.startswith("friend ") else line)
        i += 1
    out.append("/// @file")  # gives the header a page
    return "\n".join(out) + "\n"


def is_member(line):
    """The first line of a declaration in a class or a namespace: not a brace, not the inside of a function."""
    return bool(re.match(r"^ {0,4}[A-Za-z~\[:]", line)) and not re.match(
        r"^\s*(namespace|class|struct|enum|friend|using namespace|public|private|protected)\b", line)


def begins_class_template(lines, i):
    while i + 1 < len(lines) and re.match(r"\s*(template|requires)\b", lines[i]):
        i += 1
    return bool(re.match(r"\s*(class|struct)\b", lines[i]))


def code_of(declaration):
    text = re.sub(r"//.*", "", "\n".join(declaration))
    return re.sub(r'"(\\.|[^"])*"', '""', text)


def depth_of(declaration):
    """How many brackets are open at its end."""
    text = code_of(declaration)
    return sum(text.count(c) for c in "({[") - sum(text.count(c) for c in ")}]")


def ends(declaration):
    """Whether a declaration is complete: a `;` or a body outside of brackets."""
    return depth_of(declaration) <= 0 and code_of(declaration).rstrip().endswith((";", "}"))


def linked_files():
    found = set((ROOT / "docs").rglob("*.svg"))
    for page in pages():
        for _, _, target in LINK.findall(page.read_text(encoding="utf-8")):
            copied = target_of(page, target)[1] if "://" not in target else None
            if copied:
                found.add(ROOT / copied)
    return sorted(str(file.relative_to(ROOT)) for file in found)


def main():
    if sys.argv[1:] == ["--linked"]:
        print("\n".join(linked_files()))
        return 0
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print(__doc__)
        return 0 if sys.argv[1:] in (["-h"], ["--help"]) else 64
    file = pathlib.Path(sys.argv[1]).resolve()
    sys.stdout.reconfigure(encoding="utf-8")
    sys.stdout.write(filtered_page(file) if file.suffix == ".md" else filtered_header(file))
    return 0


if __name__ == "__main__":
    sys.exit(main())
