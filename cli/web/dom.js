// Elements, and how values are written. Text of other programs becomes text, never markup.

function fill(element, properties, children) {
    for (const [name, value] of Object.entries(properties ?? {})) {
        if (value === null || value === undefined || value === false) {
            continue;
        }
        if (name.startsWith("on")) {
            element.addEventListener(name.slice(2), value);
        } else {
            element.setAttribute(name, value === true ? "" : String(value));
        }
    }
    element.append(...children.flat().filter((c) => c !== null && c !== undefined && c !== false));
    return element;
}

export function h(tag, properties, ...children) {
    return fill(document.createElement(tag), properties, children);
}

export function svg(tag, properties, ...children) {
    return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), properties, children);
}

/** Sets the text of an element, if it is another one. */
export function say(element, text) {
    if (element.textContent !== text) {
        element.textContent = text;
    }
}

/** Control characters, invisible and blank ones and those that change the direction of writing. As src/text/escape.cpp. */
const unseen =
    /[\u0000-\u001f\u007f-\u009f\u00a0\u00ad\u034f\u061c\u115f-\u1160\u1680\u17b4-\u17b5\u180b-\u180f\u2000-\u200b\u200e-\u200f\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffc\u{13430}-\u{1343f}\u{13441}-\u{13442}\u{16fe4}\u{1bca0}-\u{1bca3}\u{1d159}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}\p{Noncharacter_Code_Point}]/gu;

/** Those are shown. */
export function clean(text, longest = 300) {
    const visible = String(text).replace(unseen, (c) => `\\u{${c.codePointAt(0).toString(16)}}`);
    return visible.length > longest ? `${visible.slice(0, longest)}…` : visible;
}

export function plural(n, one, many = `${one}s`) {
    return `${n.toLocaleString("en")} ${n === 1 ? one : many}`;
}

const units = [
    ["d", 86400],
    ["h", 3600],
    ["min", 60],
    ["s", 1],
];

/** "2 h 5 min": the two largest units. */
export function ageText(ms) {
    let rest = Math.max(0, Math.floor(ms / 1000));
    const parts = [];
    for (const [name, size] of units) {
        const n = Math.floor(rest / size);
        rest -= n * size;
        if (n > 0 || (parts.length === 0 && name === "s")) {
            parts.push(`${n} ${name}`);
        } else if (parts.length > 0) {
            break;
        }
        if (parts.length === 2) {
            break;
        }
    }
    return parts.join(" ");
}

export function clockText(iso) {
    const t = new Date(iso);
    return Number.isNaN(t.getTime()) ? "" : t.toLocaleTimeString([], { hour12: false });
}

export function kindText(kind) {
    return kind.replaceAll("_", " ");
}

/** Who made a znode, by its own account. */
export function whoText(p) {
    if (p.host !== null) {
        const program = p.program ? `, ${p.program}` : "";
        const id = p.id ? `${p.id}, ` : "";
        return clean(`${id}${p.user}@${p.host} (pid ${p.pid}${program})`);
    }
    return clean(p.id || p.data || nameOf(p.node));
}

/** The same for a small box. */
export function shortWho(p) {
    return p.host !== null
        ? clean(p.program ? `${p.program} on ${p.host}` : `${p.user}@${p.host}`)
        : clean(p.id || p.data || nameOf(p.node));
}

export function nameOf(path) {
    return path.slice(path.lastIndexOf("/") + 1) || path;
}

export function lockLink(path) {
    return `#lock=${encodeURIComponent(path)}`;
}

/** A path that breaks at its slashes only. */
export function pathText(path) {
    const parts = clean(path, 1100).split("/");
    return parts.flatMap((part, i) => (i === 0 ? [part] : ["/", document.createElement("wbr"), part]));
}

/** Its candidates wait as long as another one leads: that is no trouble. */
export function isElection(lock) {
    return lock.kind === "leader_election";
}

function sameThing(element) {
    return `${element.localName} ${element.getAttribute("href") ?? element.textContent}`;
}

/** Draws an element again. What has the focus in it gets it back. */
export function keepFocus(element, draw) {
    const focused = element.contains(document.activeElement) ? document.activeElement : null;
    const wanted = focused === null ? null : sameThing(focused);
    draw();
    if (wanted !== null && !element.contains(document.activeElement)) {
        const again = [...element.querySelectorAll("a, button, summary, input")].find(
            (e) => sameThing(e) === wanted,
        );
        again?.focus({ preventScroll: true });
    }
}
