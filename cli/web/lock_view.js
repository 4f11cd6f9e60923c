// One lock: what it is, who holds it and who waits, and what has happened to it since the page was opened.

import { get } from "./api.js";
import {
    ageText,
    clean,
    clockText,
    h,
    isElection,
    keepFocus,
    kindText,
    nameOf,
    pathText,
    plural,
    say,
    whoText,
} from "./dom.js";
import { findingCard } from "./problems.js";

const rowsAtOnce = 100;
const events = {
    granted: "got the lock",
    joined: "began to wait",
    released: "released it",
    left: "stopped waiting",
    demoted: "lost its hold, and waits",
    mode: "asks for another mode",
    present: "was there",
};

/** Without the unique part that no person reads. */
function shortName(name) {
    return clean(
        name.replace(/^(?:_c_)?[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}/, "…"),
        80,
    );
}

export class LockView {
    constructor(model, element) {
        this.model = model;
        this.element = element;
        this.path = null;
        this.lock = undefined; // null: gone
        this.limit = rowsAtOnce;
        this.asked = 0;
        this.back = h("a", { class: "back", href: "#locks" }, "‹ All locks");
    }

    async show(path) {
        if (path !== this.path) {
            this.limit = rowsAtOnce;
            this.lock = undefined;
        }
        this.path = path;
        this.render();
        if (path !== null) {
            await this.load();
        }
    }

    /** Only the answer to the last question counts. */
    async load() {
        const number = ++this.asked;
        try {
            const answer = await get(`/api/lock?path=${encodeURIComponent(this.path)}`);
            if (number === this.asked) {
                this.lock = answer?.lock ?? null;
                this.render();
            }
        } catch {
            // The state of the connection says so.
        }
    }

    tick() {
        for (const cell of this.element.querySelectorAll("[data-since]")) {
            const p = this.lock?.participants[Number(cell.dataset.since)];
            if (p) {
                say(cell, p.created === null ? "" : ageText(this.model.ageOf(p)));
            }
        }
    }

    render() {
        if (this.path === null) {
            this.element.replaceChildren(this.nothing());
            return;
        }
        const lock = this.lock ?? (this.lock === undefined ? this.model.locks.get(this.path) : null);
        const back = this.back;
        const title = h("h2", { class: "path" }, pathText(this.path));
        const history = this.history();
        if (!lock) {
            this.put([
                back,
                title,
                h("p", { class: "note" }, this.lock === null ? "There is no such lock any more." : "Loading"),
                history,
            ]);
            return;
        }
        const about = this.model.findings.filter((f) =>
            f.paths.some((p) => p === lock.path || p.startsWith(`${lock.path}/`)),
        );
        const parts = [
            back,
            title,
            this.badges(lock),
            ...about.map((f) => findingCard(f, "h3")),
            this.figures(lock),
            this.leader(lock),
            this.queue(lock),
            this.names(lock),
            history,
        ];
        this.put(parts);
    }

    /** Replaces all but the link back, which may have the focus, and keeps opened lists open. */
    put(parts) {
        const opened = new Set(
            [...this.element.querySelectorAll("details[open]")].map((d) => d.dataset.name),
        );
        if (this.back.parentNode !== this.element) {
            this.element.replaceChildren(this.back);
        }
        keepFocus(this.element, () => {
            while (this.back.nextSibling) {
                this.back.nextSibling.remove();
            }
            this.element.append(...parts.slice(1).filter((p) => p !== null));
        });
        for (const d of this.element.querySelectorAll("details")) {
            d.open = opened.has(d.dataset.name);
        }
    }

    nothing() {
        return h("div", { class: "blank" }, h("p", {}, "Select a lock to see its holder and its queue."));
    }

    badges(lock) {
        const isDead = this.model.deadlocked.has(lock.path);
        const isFree = lock.holders === 0;
        const state = isDead
            ? ["deadlock", "in a deadlock"]
            : lock.malformed.length > 0
              ? ["stuck", "stuck"]
              : isElection(lock)
                ? isFree
                    ? ["free", "no leader"]
                    : ["held", "led"]
                : isFree
                  ? ["free", lock.waiters > 0 ? "not held" : "free"]
                  : lock.waiters > 0
                    ? ["contended", "contended"]
                    : ["held", "held"];
        return h(
            "p",
            { class: "badges" },
            h("span", { class: "badge" }, kindText(lock.kind)),
            h("span", { class: "badge", "data-state": state[0] }, state[1]),
        );
    }

    figures(lock) {
        const figure = (name, value) => h("div", {}, h("dt", {}, name), h("dd", {}, value));
        const elects = isElection(lock);
        const list = [
            figure(elects ? "Leader" : "Holders", lock.holders.toLocaleString("en")),
            figure(elects ? "Standby" : "Waiting", lock.waiters.toLocaleString("en")),
        ];
        if (lock.taken !== null) {
            list.push(
                figure(
                    "Permits taken",
                    `${lock.taken}${lock.capacity === null ? "" : ` of ${lock.capacity}`}`,
                ),
            );
        }
        const first = lock.participants.findIndex((p) => p.state !== "waits");
        if (first >= 0) {
            list.push(
                h(
                    "div",
                    {},
                    h("dt", {}, elects ? "Leads for" : "Held for"),
                    h(
                        "dd",
                        { "data-since": this.lock ? first : null },
                        ageText(this.model.ageOf(lock.participants[first])),
                    ),
                ),
            );
        }
        return h("dl", { class: "figures" }, list);
    }

    leader(lock) {
        if (!lock.leader) {
            return null;
        }
        const l = lock.leader;
        return h(
            "p",
            { class: "leader" },
            h("strong", {}, "Leader "),
            h("bdi", {}, clean(l.id || nameOf(l.node))),
            l.token === null ? null : h("span", { class: "fine" }, ` token ${l.token}`),
            l.data ? h("code", { class: "data" }, clean(l.data, 1000)) : null,
        );
    }

    queue(lock) {
        if (!this.lock && lock.waiters > 0) {
            return h("p", { class: "note" }, "Loading the queue");
        }
        if (lock.participants.length === 0) {
            return null;
        }
        const rows = lock.participants.slice(0, this.limit).map((p, i) => this.participant(p, i));
        const more = lock.participants.length - rows.length;
        const head = ["", "Who", "State", "For", "Token"].map((t) => h("th", { scope: "col" }, t));
        return h(
            "section",
            {},
            h("h3", {}, "Queue"),
            h("table", { class: "queue" }, h("thead", {}, h("tr", {}, head)), h("tbody", {}, rows)),
            more > 0
                ? h(
                      "button",
                      {
                          type: "button",
                          class: "more",
                          onclick: () => {
                              this.limit += 5 * rowsAtOnce;
                              this.render();
                          },
                      },
                      `Show more of ${plural(more, "other participant")}`,
                  )
                : null,
        );
    }

    participant(p, i) {
        const fine = [
            p.session === null ? "no session" : `session ${p.session}`,
            p.library === "unknown" ? null : p.library,
            shortName(nameOf(p.node)),
        ];
        const mode =
            p.mode && p.mode !== "exclusive"
                ? ` (${p.mode})`
                : p.permits > 1
                  ? ` (${p.permits} permits)`
                  : "";
        return h(
            "tr",
            { "data-state": p.state },
            h("td", { class: "place" }, String(p.position + 1)),
            h(
                "td",
                { class: "who" },
                h("bdi", {}, whoText(p)),
                h("span", { class: "fine", title: clean(p.node, 1100) }, fine.filter(Boolean).join(" · ")),
            ),
            h(
                "td",
                {},
                h("span", { class: "state", "data-state": p.state }, p.state + mode),
                p.ephemeral !== false ? null : h("span", { class: "state warn" }, "not ephemeral"),
            ),
            p.created === null
                ? h("td", { class: "age" })
                : h("td", { class: "age", "data-since": i, title: p.created }, ageText(this.model.ageOf(p))),
            h("td", { class: "token" }, p.token ?? ""),
        );
    }

    names(lock) {
        const list = (title, names) =>
            names.length === 0
                ? null
                : h(
                      "details",
                      { "data-name": title },
                      h("summary", {}, `${title} (${names.length})`),
                      h(
                          "ul",
                          { class: "names" },
                          names.slice(0, 100).map((n) => h("li", {}, clean(n))),
                      ),
                  );
        return h("div", {}, list("Malformed children", lock.malformed), list("Other children", lock.foreign));
    }

    history() {
        const all = this.model.histories.get(this.path) ?? [];
        const since = this.model.opened.toLocaleTimeString([], { hour12: false });
        const items = all
            .slice(0, 50)
            .map((e) =>
                h(
                    "li",
                    { "data-event": e.event },
                    h("time", { datetime: e.time }, clockText(e.time)),
                    e.participant
                        ? h(
                              "span",
                              {},
                              h("bdi", {}, whoText(e.participant)),
                              ` ${events[e.event] ?? e.event}`,
                          )
                        : h(
                              "span",
                              {},
                              e.event === "kind"
                                  ? e.kind === "none"
                                      ? "the path was removed"
                                      : `it is a ${kindText(e.kind)}`
                                  : `malformed children: ${e.malformed.length}`,
                          ),
                ),
            );
        return h(
            "section",
            { class: "history" },
            h("h3", {}, "History"),
            items.length > 0
                ? h("ol", {}, items)
                : h("p", { class: "note" }, `Nothing has changed since this page was opened at ${since}.`),
        );
    }
}
