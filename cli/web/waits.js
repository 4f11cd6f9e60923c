// The picture of who waits for whom, and the same as a list.

import { get } from "./api.js";
import { clean, h, keepFocus, kindText, lockLink, pathText, plural, svg, whoText } from "./dom.js";
import { buildGraph, components } from "./graph.js";
import { layOut, size } from "./layout.js";

const mostParts = 40;
const mostNodes = 150;
const mostListed = 200;

function clip(text, longest) {
    return text.length > longest ? `${text.slice(0, longest - 1)}…` : text;
}

/** The end of a path says most. */
function clipPath(text, longest) {
    return text.length > longest ? `…${text.slice(1 - longest)}` : text;
}

function nodeOf(n, { x, y }) {
    const isLock = n.type === "lock";
    const shape = svg("rect", {
        x: x - size.width / 2,
        y: y - size.height / 2,
        width: size.width,
        height: size.height,
        rx: isLock ? size.height / 2 : 8,
    });
    const label = isLock ? clipPath(clean(n.label, 1100), 22) : clip(clean(n.label), 25);
    const text = svg("text", { x, y: y - 3, class: isLock ? "label path" : "label" }, label);
    const fine = svg("text", { x, y: y + 13, class: "fine" }, isLock ? kindText(n.fine) : clip(n.fine, 28));
    const title = svg("title", {}, isLock ? clean(n.path, 1100) : `${clean(n.label)}, ${n.fine}`);
    const more = { class: `node ${n.type}`, "data-red": n.red ? "yes" : null };
    return isLock
        ? svg(
              "a",
              { ...more, href: lockLink(n.path), "aria-label": `lock ${clean(n.path, 1100)}` },
              title,
              shape,
              text,
              fine,
          )
        : svg("g", more, title, shape, text, fine);
}

/** Where edges leave and reach a node: side by side, in the order of their other ends. */
function portsOf(part, layout) {
    const ports = new Map();
    const spread = (edges, other, end) => {
        const towards = (e) => layout.at.get(other(e)).x;
        edges.sort((a, b) => towards(a) - towards(b));
        const step = Math.min(16, (size.width - 60) / Math.max(1, edges.length - 1));
        edges.forEach((e, i) =>
            ports.set(e, { ...ports.get(e), [end]: (i - (edges.length - 1) / 2) * step }),
        );
    };
    const forward = part.edges.filter((e) => !layout.back.has(e));
    for (const n of part.nodes) {
        spread(
            forward.filter((e) => e.from === n.id),
            (e) => layout.paths.get(e)[0] ?? e.to,
            "from",
        );
        spread(
            forward.filter((e) => e.to === n.id),
            (e) => layout.paths.get(e).at(-1) ?? e.from,
            "to",
        );
    }
    return ports;
}

function edgeOf(e, layout, ports) {
    const a = layout.at.get(e.from);
    const b = layout.at.get(e.to);
    const half = size.height / 2;
    let d;
    if (layout.back.has(e)) {
        const side = Math.max(a.x, b.x) + size.width / 2 + size.margin + 8;
        d = `M${a.x + size.width / 2} ${a.y}C${side} ${a.y} ${side} ${b.y} ${b.x + size.width / 2 + 7} ${b.y}`;
    } else {
        const port = ports.get(e);
        let from = { x: a.x + port.from, y: a.y + half };
        d = `M${from.x} ${from.y}`;
        const lineTo = (to) => {
            const middle = (from.y + to.y) / 2;
            d += `C${from.x} ${middle} ${to.x} ${middle} ${to.x} ${to.y}`;
            from = to;
        };
        for (const id of layout.paths.get(e)) {
            const { x, y } = layout.at.get(id);
            lineTo({ x, y: y - half });
            d += `L${x} ${y + half}`;
            from = { x, y: y + half };
        }
        lineTo({ x: b.x + port.to, y: b.y - half - 7 });
    }
    return svg("path", {
        d,
        class: e.holds ? "edge holds" : "edge waits",
        "data-red": e.red ? "yes" : null,
        "marker-end": e.red ? "url(#arrow-red)" : "url(#arrow)",
    });
}

function arrow(id) {
    return svg(
        "marker",
        {
            id,
            viewBox: "0 0 8 8",
            refX: 1,
            refY: 4,
            markerWidth: 8,
            markerHeight: 8,
            orient: "auto",
            markerUnits: "userSpaceOnUse",
        },
        svg("path", { d: "M0 0 8 4 0 8Z" }),
    );
}

/** Of a part that is too large, the deadlock. */
function drawnPart(part) {
    return part.nodes.length <= mostNodes || !part.red
        ? part
        : { ...part, nodes: part.nodes.filter((n) => n.red), edges: part.edges.filter((e) => e.red) };
}

function picture(part, widest) {
    const clients = part.nodes.reduce((n, one) => n + (one.clients ?? 0), 0);
    const locks = part.nodes.filter((n) => n.type === "lock").length;
    const about = `${part.red ? "Deadlock: " : ""}${plural(clients, "client")}, ${plural(locks, "lock")}`;
    const drawn = drawnPart(part);
    if (drawn.nodes.length > mostNodes) {
        return h(
            "figure",
            { "data-red": part.red ? "yes" : null },
            h("figcaption", {}, `${about}: too many to draw`),
        );
    }
    const layout = layOut(drawn);
    const ports = portsOf(drawn, layout);
    const edges = [...drawn.edges].sort((a, b) => Number(a.red) - Number(b.red));
    return h(
        "figure",
        { "data-red": part.red ? "yes" : null },
        h("figcaption", {}, drawn === part ? about : `${about}; only the deadlock is drawn`),
        h(
            "div",
            { class: "scroll", tabindex: layout.width > widest ? "0" : null },
            svg(
                "svg",
                {
                    width: layout.width,
                    height: layout.height,
                    viewBox: `0 0 ${layout.width} ${layout.height}`,
                    role: "group",
                    "aria-label": about,
                },
                svg("defs", {}, arrow("arrow"), arrow("arrow-red")),
                edges.map((e) => edgeOf(e, layout, ports)),
                drawn.nodes.map((n) => nodeOf(n, layout.at.get(n.id))),
            ),
        ),
    );
}

function sentence(w) {
    return h(
        "li",
        {},
        h("bdi", {}, whoText(w.waiter)),
        " waits for ",
        h("a", { href: lockLink(w.path) }, pathText(w.path)),
        ", which ",
        h("bdi", {}, whoText(w.blocker)),
        w.blocker.state === "waits" ? " waits for ahead of it" : " holds",
    );
}

export class Waits {
    constructor(model, element) {
        this.model = model;
        this.element = element;
        this.answer = null;
        this.isStale = true;
    }

    /** Something has changed: it is asked for when it is looked at. */
    forget() {
        this.isStale = true;
        return this.element.hidden ? null : this.show();
    }

    async show() {
        if (this.isStale) {
            this.isStale = false;
            try {
                this.answer = (await get("/api/graph")) ?? this.answer;
            } catch {
                this.isStale = true;
            }
        }
        this.render();
    }

    render() {
        const scrolled = [...this.element.querySelectorAll(".scroll")].map((e) => e.scrollLeft);
        keepFocus(this.element, () => this.draw());
        this.element.querySelectorAll(".scroll").forEach((e, i) => {
            e.scrollLeft = scrolled[i] ?? 0;
        });
    }

    draw() {
        if (!this.answer) {
            this.element.replaceChildren(h("p", { class: "note" }, "Loading"));
            return;
        }
        const widest = Math.max(260, this.element.clientWidth - 34);
        const parts = components(buildGraph(this.answer));
        const isListOpen = this.element.querySelector("details")?.open ?? false;
        const title = h("h2", { class: "unseen" }, "Who waits for whom");
        if (parts.length === 0 && this.answer.queues_left_out === 0) {
            this.element.replaceChildren(
                title,
                h(
                    "div",
                    { class: "blank" },
                    h("p", { class: "big" }, "No client waits"),
                    h(
                        "p",
                        {},
                        "Clients that wait for a mutex, a shared mutex or a semaphore are drawn here.",
                    ),
                ),
            );
            return;
        }
        const list = [...this.answer.findings.flatMap((f) => f.waits), ...this.answer.waits];
        const unique = [...new Map(list.map((w) => [`${w.waiter.node} ${w.blocker.node}`, w])).values()];
        const left = parts.length - mostParts;
        this.element.replaceChildren(
            title,
            this.legend(),
            h(
                "div",
                { class: "pictures" },
                parts.slice(0, mostParts).map((p) => picture(p, widest)),
            ),
            left > 0 ? h("p", { class: "note" }, `${plural(left, "smaller picture")} not shown.`) : "",
            this.answer.queues_left_out > 0
                ? h(
                      "p",
                      { class: "note" },
                      `${plural(this.answer.queues_left_out, "queue")} too long to draw.`,
                  )
                : "",
            h(
                "details",
                { open: isListOpen },
                h("summary", {}, `The same as a list (${unique.length})`),
                h("ul", { class: "sentences" }, unique.slice(0, mostListed).map(sentence)),
            ),
        );
    }

    legend() {
        const line = (kind, text) =>
            h(
                "span",
                {},
                svg(
                    "svg",
                    { width: 34, height: 10, "aria-hidden": "true" },
                    svg("path", { d: "M0 5H34", class: `edge ${kind}` }),
                ),
                text,
            );
        return h(
            "p",
            { class: "legend" },
            line("waits", "client waits for lock"),
            line("holds", "lock is held by client"),
        );
    }
}
