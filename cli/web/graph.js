// Who waits for whom, as a graph: clients and locks are nodes. An edge leads from a client to the lock for which it
// waits, and from a lock to the client that holds it.

import { shortWho } from "./dom.js";

const groupedFrom = 4;

function ownerOf(p) {
    return p.session ?? p.node;
}

function key(type, name) {
    return `${type} ${name}`;
}

/** {nodes: Map, edges: [{from, to, red, holds}], left_out} from the answer of /api/graph. */
export function buildGraph(answer) {
    const nodes = new Map();
    const edges = new Map();
    const node = (type, name, more) => {
        const id = key(type, name);
        if (!nodes.has(id)) {
            nodes.set(id, { id, type, red: false, ...more });
        }
        return nodes.get(id);
    };
    const client = (p) =>
        node("client", ownerOf(p), { label: shortWho(p), fine: p.session ?? "no session", clients: 1 });
    const edge = (from, to, holds) => {
        const id = `${from.id}\n${to.id}`;
        if (!edges.has(id)) {
            edges.set(id, { from: from.id, to: to.id, holds, red: false });
        }
        return edges.get(id);
    };
    const add = (wait, red) => {
        const lock = node("lock", wait.path, { path: wait.path, label: wait.path, fine: wait.kind });
        const waiter = client(wait.waiter);
        const touched = [lock, waiter, edge(waiter, lock, false)];
        if (wait.blocker.state !== "waits") {
            const holder = client(wait.blocker);
            touched.push(holder, edge(lock, holder, true));
        }
        if (red) {
            touched.forEach((t) => {
                t.red = true;
            });
        }
    };
    for (const finding of answer.findings) {
        finding.waits.forEach((w) => add(w, finding.check === "deadlock"));
    }
    answer.waits.forEach((w) => add(w, false));
    return group({ nodes, edges: [...edges.values()] });
}

/** Clients that only wait, and for the same lock, become one node. */
function group({ nodes, edges }) {
    const outgoing = new Map();
    const wanted = new Set(edges.map((e) => e.to));
    for (const e of edges) {
        outgoing.set(e.from, [...(outgoing.get(e.from) ?? []), e]);
    }
    const crowds = new Map();
    for (const n of nodes.values()) {
        const out = outgoing.get(n.id) ?? [];
        if (n.type === "client" && !n.red && !wanted.has(n.id) && out.length === 1) {
            crowds.set(out[0].to, [...(crowds.get(out[0].to) ?? []), n]);
        }
    }
    for (const [lock, crowd] of crowds) {
        if (crowd.length >= groupedFrom) {
            const gone = new Set(crowd.map((n) => n.id));
            gone.forEach((id) => nodes.delete(id));
            edges = edges.filter((e) => !gone.has(e.from));
            const id = key("crowd", lock);
            nodes.set(id, {
                id,
                type: "client",
                red: false,
                label: `${crowd.length} clients`,
                fine: "wait",
                clients: crowd.length,
            });
            edges.push({ from: id, to: lock, holds: false, red: false });
        }
    }
    return { nodes, edges };
}

/** The parts that no edge joins, those with a deadlock first, then the larger ones. */
export function components({ nodes, edges }) {
    const near = new Map([...nodes.keys()].map((id) => [id, []]));
    for (const e of edges) {
        near.get(e.from).push(e.to);
        near.get(e.to).push(e.from);
    }
    const seen = new Set();
    const parts = [];
    for (const id of nodes.keys()) {
        const part = [];
        for (const open = [id]; open.length > 0;) {
            const one = open.pop();
            if (!seen.has(one)) {
                seen.add(one);
                part.push(nodes.get(one));
                open.push(...near.get(one));
            }
        }
        if (part.length > 0) {
            const ids = new Set(part.map((n) => n.id));
            parts.push({
                nodes: part,
                edges: edges.filter((e) => ids.has(e.from)),
                red: part.some((n) => n.red),
            });
        }
    }
    return parts.sort((a, b) => Number(b.red) - Number(a.red) || b.nodes.length - a.nodes.length);
}
