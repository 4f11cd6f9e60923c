// The tree of locks: rows in one list, with their places told by ARIA, so that a reading changes only what has changed.

import { clean, h, isElection, kindText, plural, say } from "./dom.js";

const openedAtOnce = 60;
const mostRows = 400;

/** The paths as nested folders. A folder with one child, and no lock itself, is joined with it. */
function nest(paths) {
    const root = { path: "/", name: "/", children: new Map(), isLock: paths.includes("/") };
    for (const path of paths) {
        let at = root;
        let here = "";
        for (const part of path.split("/").filter((p) => p !== "")) {
            here += `/${part}`;
            if (!at.children.has(part)) {
                at.children.set(part, { path: here, name: part, children: new Map(), isLock: false });
            }
            at = at.children.get(part);
        }
        at.isLock = true;
    }
    return root;
}

function join(node) {
    let children = [...node.children.values()].map(join);
    children.sort((a, b) => (a.name < b.name ? -1 : 1));
    if (!node.isLock && node.path !== "/" && children.length === 1) {
        return { ...children[0], name: `${node.name}/${children[0].name}` };
    }
    return { ...node, children, locks: (node.isLock ? 1 : 0) + children.reduce((n, c) => n + c.locks, 0) };
}

export class Tree {
    constructor(model, element, note, onSelect) {
        this.model = model;
        this.element = element;
        this.note = note;
        this.onSelect = onSelect;
        this.rows = new Map();
        this.toggled = new Set();
        this.selected = null;
        this.current = null;
        this.filter = "";
        this.contended = false;
        this.limit = mostRows;
        this.alone = new Set();
        element.addEventListener("keydown", (e) => this.key(e));
        element.addEventListener("click", (e) => this.click(e));
        element.addEventListener("focusin", (e) =>
            this.setCurrent(e.target.closest("[role=treeitem]")?.dataset.path),
        );
    }

    show({ filter = this.filter, contended = this.contended }) {
        this.filter = filter;
        this.contended = contended;
        this.limit = mostRows;
        this.render();
    }

    select(path) {
        this.selected = path;
        for (let end = path?.lastIndexOf("/") ?? -1; end > 0; end = path.lastIndexOf("/", end - 1)) {
            const folder = path.slice(0, end);
            if (!this.isOpen(folder)) {
                this.toggled.has(folder) ? this.toggled.delete(folder) : this.toggled.add(folder);
            }
        }
        this.render();
    }

    get wanted() {
        const needle = this.filter.toLowerCase();
        return [...this.model.locks.values()]
            .filter((l) => l.path.toLowerCase().includes(needle) && (!this.contended || l.waiters > 0))
            .map((l) => l.path);
    }

    isOpen(path) {
        const byDefault = this.filter !== "" || this.fewLocks || this.alone.has(path);
        return this.toggled.has(path) ? !byDefault : byDefault;
    }

    /** What is visible: {node, level, position, size}. */
    flatten(node, level, into) {
        node.children.forEach((child, i) => {
            into.push({ node: child, level, position: i + 1, size: node.children.length });
            if (child.children.length > 0 && this.isOpen(child.path)) {
                this.flatten(child, level + 1, into);
            }
        });
        return into;
    }

    render() {
        const paths = this.wanted;
        this.fewLocks = paths.length <= openedAtOnce;
        const root = join(nest(paths));
        this.alone = new Set();
        for (let only = root; only.children.length === 1;) {
            only = only.children[0];
            this.alone.add(only.path);
        }
        const all = root.isLock ? [{ node: { ...root, children: [] }, level: 1, position: 1, size: 1 }] : [];
        this.flatten(root, 1, all);
        const shown = all.slice(0, this.limit);
        this.deadlocked = this.model.deadlocked;
        const keep = new Set(shown.map((r) => r.node.path));
        for (const [path, row] of this.rows) {
            if (!keep.has(path)) {
                row.remove();
                this.rows.delete(path);
            }
        }
        if (!keep.has(this.current)) {
            this.current = keep.has(this.selected) ? this.selected : shown[0]?.node.path;
        }
        let before = null;
        for (const r of shown) {
            const row = this.rows.get(r.node.path) ?? this.make(r.node.path);
            this.update(row, r);
            const next = before ? before.nextSibling : this.element.firstChild;
            if (next !== row) {
                this.element.insertBefore(row, next);
            }
            before = row;
        }
        this.element.hidden = shown.length === 0;
        this.tellRest(all.length - shown.length, paths.length);
    }

    tellRest(more, count) {
        const parts = [];
        if (!this.model.reading?.time) {
            parts.push(h("p", {}, "Loading"));
        }
        if (more > 0) {
            parts.push(
                h(
                    "button",
                    { type: "button", class: "more", onclick: () => this.more() },
                    `Show ${Math.min(more, mostRows).toLocaleString("en")} more of ${more.toLocaleString("en")}`,
                ),
            );
        }
        if (count === 0 && this.model.locks.size > 0) {
            parts.push(h("p", {}, "No path fits. Clear the filter to see all locks."));
        }
        if (this.model.unreadable.length > 0) {
            const list = this.model.unreadable
                .slice(0, 50)
                .map((u) => h("li", {}, h("code", {}, clean(u.path)), ` ${u.error}`));
            parts.push(
                h(
                    "details",
                    {},
                    h("summary", {}, `${plural(this.model.unreadable.length, "path")} may not be read`),
                    h("ul", {}, list),
                ),
            );
        }
        const wasOpen = this.note.querySelector("details")?.open;
        this.note.replaceChildren(...parts);
        if (wasOpen) {
            this.note.querySelector("details").open = true;
        }
    }

    more() {
        this.limit += mostRows;
        this.render();
    }

    make(path) {
        const row = h(
            "div",
            { role: "treeitem", class: "row", "data-path": path, tabindex: "-1" },
            h("span", { class: "caret", "aria-hidden": "true" }),
            h("span", { class: "mark", "aria-hidden": "true" }),
            h("span", { class: "name" }),
            h("span", { class: "kind" }),
            h("span", { class: "chip" }),
        );
        this.rows.set(path, row);
        return row;
    }

    update(row, { node, level, position, size }) {
        const lock = node.isLock ? this.model.locks.get(node.path) : null;
        const isFolder = node.children.length > 0;
        const isOpen = isFolder && this.isOpen(node.path);
        row.style.setProperty("--level", level - 1);
        const attributes = {
            "aria-level": level,
            "aria-posinset": position,
            "aria-setsize": size,
            "aria-expanded": isFolder ? String(isOpen) : null,
            "aria-selected": String(node.path === this.selected),
            tabindex: node.path === this.current ? 0 : -1,
        };
        for (const [name, value] of Object.entries(attributes)) {
            if (value === null) {
                row.removeAttribute(name);
            } else if (row.getAttribute(name) !== String(value)) {
                row.setAttribute(name, value);
            }
        }
        const [, mark, name, kind, chip] = row.children;
        say(name, clean(node.name));
        row.title = clean(node.path, 1100);
        const state = this.stateOf(lock);
        mark.dataset.state = state;
        say(kind, lock ? kindText(lock.kind) : "");
        const text = lock ? this.chipOf(lock, state) : isOpen ? "" : plural(node.locks, "lock");
        say(chip, text);
        chip.dataset.state = lock ? state : "folder";
    }

    stateOf(lock) {
        if (!lock) {
            return "folder";
        }
        if (this.deadlocked.has(lock.path)) {
            return "deadlock";
        }
        if (lock.malformed.length > 0) {
            return "stuck";
        }
        return lock.holders === 0 ? "free" : lock.waiters > 0 && !isElection(lock) ? "contended" : "held";
    }

    chipOf(lock, state) {
        const n = lock.waiters.toLocaleString("en");
        const words = [];
        if (state === "deadlock" || state === "stuck") {
            words.push(state);
        } else if (state === "free") {
            words.push(isElection(lock) ? "no leader" : lock.waiters > 0 ? "not held" : "free");
        }
        if (lock.waiters > 0) {
            words.push(isElection(lock) ? `${n} standby` : `${n} waiting`);
        } else if (lock.holders > 1) {
            words.push(`${lock.holders.toLocaleString("en")} hold`);
        }
        return words.join(", ");
    }

    // ---- what the user does ----

    setCurrent(path) {
        if (path && path !== this.current) {
            this.rows.get(this.current)?.setAttribute("tabindex", "-1");
            this.current = path;
            this.rows.get(path)?.setAttribute("tabindex", "0");
        }
    }

    toggle(path) {
        this.toggled.has(path) ? this.toggled.delete(path) : this.toggled.add(path);
        this.render();
    }

    click(event) {
        const row = event.target.closest("[role=treeitem]");
        if (!row) {
            return;
        }
        const path = row.dataset.path;
        this.setCurrent(path);
        if (event.target.classList.contains("caret") || !this.model.locks.has(path)) {
            this.toggle(path);
        } else {
            this.onSelect(path);
        }
    }

    key(event) {
        const rows = [...this.element.children];
        const at = rows.findIndex((r) => r.dataset.path === this.current);
        const row = rows[at];
        if (!row || event.ctrlKey || event.altKey || event.metaKey) {
            return;
        }
        const expanded = row.getAttribute("aria-expanded");
        const level = Number(row.getAttribute("aria-level"));
        const go = (to) => to?.focus();
        const actions = {
            ArrowDown: () => go(rows[at + 1]),
            ArrowUp: () => go(rows[at - 1]),
            Home: () => go(rows[0]),
            End: () => go(rows.at(-1)),
            ArrowRight: () =>
                expanded === "false" ? this.toggle(this.current) : expanded === "true" && go(rows[at + 1]),
            ArrowLeft: () =>
                expanded === "true"
                    ? this.toggle(this.current)
                    : go(rows.slice(0, at).findLast((r) => Number(r.getAttribute("aria-level")) < level)),
            Enter: () => row.click(),
            " ": () => row.click(),
        };
        if (actions[event.key]) {
            event.preventDefault();
            actions[event.key]();
        } else if (event.key.length === 1) {
            const letter = event.key.toLowerCase();
            const order = [...rows.slice(at + 1), ...rows.slice(0, at)];
            go(order.find((r) => r.querySelector(".name").textContent.toLowerCase().startsWith(letter)));
        }
    }
}
