// Where the nodes of a graph are drawn: in layers from top to bottom, each edge downwards, except those that close a cycle.

export const size = { width: 184, height: 46, across: 22, down: 44, margin: 30 };

/** Finds the edges that close cycles, by a walk in depth. */
function backEdges(part, out) {
    const state = new Map();
    const back = new Set();
    const incoming = new Set(part.edges.map((e) => e.to));
    const order = [...part.nodes].sort((a, b) => Number(incoming.has(a.id)) - Number(incoming.has(b.id)) ||
                                                 Number(a.type !== "client") - Number(b.type !== "client"));
    for (const start of order) {
        const stack = state.has(start.id) ? [] : [{ id: start.id, next: 0 }];
        state.set(start.id, state.get(start.id) ?? "open");
        while (stack.length > 0) {
            const top = stack.at(-1);
            const edge = out.get(top.id)?.[top.next++];
            if (!edge) {
                state.set(top.id, "done");
                stack.pop();
            } else if (state.get(edge.to) === "open") {
                back.add(edge);
            } else if (!state.has(edge.to)) {
                state.set(edge.to, "open");
                stack.push({ id: edge.to, next: 0 });
            }
        }
    }
    return back;
}

/** The layer of each node: below all that lead to it. */
function layersOf(part, back) {
    const forward = part.edges.filter((e) => !back.has(e));
    const missing = new Map(part.nodes.map((n) => [n.id, 0]));
    forward.forEach((e) => missing.set(e.to, missing.get(e.to) + 1));
    const layer = new Map();
    const ready = part.nodes.filter((n) => missing.get(n.id) === 0).map((n) => n.id);
    ready.forEach((id) => layer.set(id, 0));
    for (let i = 0; i < ready.length; ++i) {
        for (const e of forward.filter((f) => f.from === ready[i])) {
            layer.set(e.to, Math.max(layer.get(e.to) ?? 0, layer.get(e.from) + 1));
            missing.set(e.to, missing.get(e.to) - 1);
            if (missing.get(e.to) === 0) {
                ready.push(e.to);
            }
        }
    }
    const rows = [];
    for (const n of part.nodes) {
        (rows[layer.get(n.id)] ??= []).push(n);
    }
    return rows;
}

/** Orders each layer by the middle of what its nodes are joined with, down and up again. */
function order(rows, part) {
    const place = new Map();
    const note = (row) => row.forEach((n, i) => place.set(n.id, i - (row.length - 1) / 2));
    rows.forEach(note);
    const near = new Map(part.nodes.map((n) => [n.id, []]));
    for (const e of part.edges) {
        near.get(e.from).push(e.to);
        near.get(e.to).push(e.from);
    }
    const middle = (n) => near.get(n.id).reduce((sum, id) => sum + place.get(id), 0) / Math.max(1, near.get(n.id).length);
    for (let round = 0; round < 6; ++round) {
        for (const row of round % 2 === 0 ? rows : [...rows].reverse()) {
            const by = new Map(row.map((n) => [n.id, middle(n)]));
            row.sort((a, b) => by.get(a.id) - by.get(b.id));
            note(row);
        }
    }
}

/** {width, height, at: Map(id -> {x, y}), back: Set(edge)}; x and y are the middle of a node. */
export function layOut(part, widest) {
    const out = new Map();
    for (const e of part.edges) {
        out.set(e.from, [...(out.get(e.from) ?? []), e]);
    }
    const back = backEdges(part, out);
    let rows = layersOf(part, back);
    order(rows, part);
    const most = Math.max(1, Math.floor((widest - 2 * size.margin + size.across) / (size.width + size.across)));
    rows = rows.flatMap((row) => {
        const parts = [];
        for (let i = 0; i < row.length; i += Math.max(most, 3)) {
            parts.push(row.slice(i, i + Math.max(most, 3)));
        }
        return parts;
    });
    const longest = Math.max(...rows.map((r) => r.length));
    const width = longest * (size.width + size.across) - size.across + 2 * size.margin;
    const at = new Map();
    rows.forEach((row, y) => row.forEach((n, x) => at.set(n.id, {
        x: width / 2 + (x - (row.length - 1) / 2) * (size.width + size.across),
        y: size.margin / 2 + size.height / 2 + y * (size.height + size.down),
    })));
    return { width: width + (back.size > 0 ? size.margin : 0), at, back,
             height: size.margin + rows.length * (size.height + size.down) - size.down };
}
