// What is wrong: the findings of latchkey doctor.

import { clean, h, lockLink, pathText, plural } from "./dom.js";

const titles = {
    deadlock: "Deadlock",
    holder_without_session: "Holder without a session",
    waiter_without_session: "Waiter without a session",
    malformed_children: "Malformed children",
    mixed_kinds: "Two kinds of lock on one path",
    sequence_head_room: "Few sequence numbers",
    waits_for_itself: "A client waits for itself",
    foreign_children: "Other znodes in a lock",
    unreadable: "Unreadable path",
};

export function findingCard(f, heading = "h2") {
    const [first, ...lines] = f.what.split("\n");
    return h(
        "article",
        { class: "finding", "data-level": f.level },
        h(
            heading,
            {},
            titles[f.check] ?? f.check,
            h("span", { class: "badge", "data-level": f.level }, f.level),
        ),
        h("p", {}, f.check === "deadlock" ? clean(first) : `${clean(first, 600)}.`),
        lines.length > 0
            ? h(
                  "ul",
                  {},
                  lines.map((l) => h("li", {}, clean(l.trim(), 600))),
              )
            : null,
        h(
            "p",
            { class: "paths" },
            f.paths.map((p) => h("a", { href: lockLink(p) }, pathText(p))),
            f.count > f.paths.length
                ? h("span", { class: "fine" }, `and ${plural(f.count - f.paths.length, "other path")}`)
                : null,
        ),
        h("p", { class: "fine" }, clean(f.why, 600)),
        h("p", { class: "remedy" }, h("strong", {}, "Do: "), clean(f.do, 600)),
    );
}

export function showProblems(model, element) {
    const cards = model.findings.map((f) => findingCard(f));
    const clear = h(
        "div",
        { class: "blank" },
        h("p", { class: "big" }, "No problems"),
        h("p", {}, "The last reading shows no deadlock, and no lock that is stuck."),
    );
    element.replaceChildren(
        h("h2", { class: "unseen" }, "Problems"),
        ...(cards.length > 0 ? cards : [clear]),
    );
}
