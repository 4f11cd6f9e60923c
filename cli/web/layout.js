// Where the nodes of a graph are drawn: in layers from top to bottom. Edges lead downwards, except those that close a
// cycle. An edge that passes layers has a point in each of them, so that it is not drawn across their nodes.

export const size = { width: 184, height: 46, across: 22, down: 46, margin: 30, point: 10 };

/** Finds the edges that close cycles, by a walk in depth. */
function backEdges(part, out) {
    const state = new Map();
    const back = new Set();
    const incoming = new Set(part.edges.map((e) => e.to));
    const order = [...part.nodes].sort(
        (a, b) =>
            Number(incoming.has(a.id)) - Number(incoming.has(b.id)) ||
            Number(a.type !== "client") - Number(b.type !== "client"),
    );
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

/** The layer of each node: below all that lead to it, and as near to what it leads to as that allows. */
function layersOf(part, forward) {
    const missing = new Map(part.nodes.map((n) => [n.id, 0]));
    const out = new Map(part.nodes.map((n) => [n.id, []]));
    for (const e of forward) {
        missing.set(e.to, missing.get(e.to) + 1);
        out.get(e.from).push(e.to);
    }
    const layer = new Map();
    const order = part.nodes.filter((n) => missing.get(n.id) === 0).map((n) => n.id);
    order.forEach((id) => layer.set(id, 0));
    for (let i = 0; i < order.length; ++i) {
        for (const to of out.get(order[i])) {
            layer.set(to, Math.max(layer.get(to) ?? 0, layer.get(order[i]) + 1));
            missing.set(to, missing.get(to) - 1);
            if (missing.get(to) === 0) {
                order.push(to);
            }
        }
    }
    const incoming = new Set(forward.map((e) => e.to));
    for (const id of order.reverse()) {
        if (!incoming.has(id) && out.get(id).length > 0) {
            layer.set(id, Math.min(...out.get(id).map((to) => layer.get(to))) - 1);
        }
    }
    return layer;
}

/** Rows of {id, width, up: [], down: []}: the nodes, and the points of long edges. `path` of an edge has its points. */
function rowsOf(part, forward, layer, paths) {
    const rows = [];
    const items = new Map();
    const add = (id, width, y) => {
        const item = { id, width, up: [], down: [] };
        (rows[y] ??= []).push(item);
        items.set(id, item);
        return item;
    };
    part.nodes.forEach((n) => add(n.id, size.width, layer.get(n.id)));
    forward.forEach((e, i) => {
        let above = items.get(e.from);
        const path = [];
        for (let y = layer.get(e.from) + 1; y <= layer.get(e.to); ++y) {
            const isEnd = y === layer.get(e.to);
            const item = isEnd ? items.get(e.to) : add(`point ${i} ${y}`, size.point, y);
            above.down.push(item);
            item.up.push(above);
            above = item;
            if (!isEnd) {
                path.push(item.id);
            }
        }
        paths.set(e, path);
    });
    return rows;
}

function mean(items, otherwise) {
    return items.length === 0 ? otherwise : items.reduce((sum, one) => sum + one.x, 0) / items.length;
}

/** Places a row as near as possible to where its items want to be, in their order. */
function place(row, wish) {
    const wanted = row.map(wish);
    const gap = (a, b) => (a.width + b.width) / 2 + size.across;
    const fromLeft = [];
    row.forEach((item, i) => {
        fromLeft[i] = i === 0 ? wanted[i] : Math.max(wanted[i], fromLeft[i - 1] + gap(row[i - 1], item));
    });
    const fromRight = [];
    for (let i = row.length - 1; i >= 0; --i) {
        fromRight[i] =
            i === row.length - 1
                ? wanted[i]
                : Math.min(wanted[i], fromRight[i + 1] - gap(row[i], row[i + 1]));
    }
    row.forEach((item, i) => {
        item.x = (fromLeft[i] + fromRight[i]) / 2;
    });
}

function arrange(rows) {
    for (const row of rows) {
        let x = 0;
        for (const item of row) {
            item.x = x + item.width / 2;
            x += item.width + size.across;
        }
    }
    for (let round = 0; round < 8; ++round) {
        const isDown = round % 2 === 0;
        for (const row of isDown ? rows : [...rows].reverse()) {
            const wish = new Map(row.map((i) => [i, mean(isDown ? i.up : i.down, i.x)]));
            row.sort((a, b) => wish.get(a) - wish.get(b));
            place(row, (i) => wish.get(i));
        }
    }
    for (let round = 0; round < 4; ++round) {
        for (const row of round % 2 === 0 ? rows : [...rows].reverse()) {
            place(row, (i) => mean([...i.up, ...i.down], i.x));
        }
    }
}

/** {width, height, at: Map(id -> {x, y}), back: Set(edge), paths: Map(edge -> ids of points)}.
 * x and y are the middle of a node. */
export function layOut(part) {
    const out = new Map();
    for (const e of part.edges) {
        out.set(e.from, [...(out.get(e.from) ?? []), e]);
    }
    const back = backEdges(part, out);
    const forward = part.edges.filter((e) => !back.has(e));
    const paths = new Map();
    const rows = rowsOf(part, forward, layersOf(part, forward), paths);
    arrange(rows);
    const all = rows.flat();
    const left = Math.min(...all.map((i) => i.x - i.width / 2)) - size.margin;
    const right = Math.max(...all.map((i) => i.x + i.width / 2)) + size.margin;
    const at = new Map();
    rows.forEach((row, y) =>
        row.forEach((item) =>
            at.set(item.id, {
                x: item.x - left,
                y: size.margin / 2 + size.height / 2 + y * (size.height + size.down),
            }),
        ),
    );
    return {
        at,
        back,
        paths,
        width: right - left + (back.size > 0 ? size.margin : 0),
        height: size.margin + rows.length * (size.height + size.down) - size.down,
    };
}
