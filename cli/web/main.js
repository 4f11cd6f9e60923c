// Joins the parts: the events of the server, the views, the address, the theme.

import { EventStream, get, setToken, takeToken } from "./api.js";
import { LockView } from "./lock_view.js";
import { ageText, clean, h, isElection, keepFocus, lockLink, plural, say } from "./dom.js";
import { Model } from "./model.js";
import { showProblems } from "./problems.js";
import { Tree } from "./tree.js";
import { Waits } from "./waits.js";

const byId = (id) => document.getElementById(id);
const views = ["locks", "waits", "problems", "token"];

takeToken();
const model = new Model();
const tree = new Tree(model, byId("tree"), byId("tree-note"), select);
const detail = new LockView(model, byId("detail"));
const waits = new Waits(model, byId("view-waits"));
const stream = new EventStream({
    event: (name, data) => model.take(name, data),
    lost: (seconds) => model.connect("lost", seconds),
    refused: () => model.connect("refused"),
});

// ---- the address says what is shown ----

/** Not by location.hash, which would take the focus from the row. */
function select(path) {
    history.pushState(null, "", lockLink(path));
    route();
}

function route() {
    if (location.hash.startsWith("#token=")) {
        takeToken();
        stream.retry();
    }
    const lock = /^#lock=(.+)$/.exec(location.hash);
    const wanted = location.hash.slice(1);
    let path = null;
    try {
        path = lock ? decodeURIComponent(lock[1]) : null;
    } catch {
        // A malformed address shows all locks.
    }
    const view =
        model.connection === "refused" ? "token" : views.slice(1, 3).includes(wanted) ? wanted : "locks";
    for (const one of views) {
        byId(`view-${one}`).hidden = one !== view;
    }
    for (const link of document.querySelectorAll("#views a")) {
        link.dataset.view === view
            ? link.setAttribute("aria-current", "page")
            : link.removeAttribute("aria-current");
    }
    const cameFrom = detail.path;
    byId("view-locks").classList.toggle("selected", path !== null);
    if (view === "locks") {
        tree.select(path);
        detail.show(path);
        followFocus(path, cameFrom);
    } else if (view === "waits") {
        waits.show();
    } else if (view === "problems") {
        showProblems(model, byId("view-problems"));
    } else {
        askForToken();
    }
}

/** On a narrow screen only the list or the lock is visible, and the focus goes with the user. */
function followFocus(path, cameFrom) {
    const isNarrow = (path === null ? byId("detail") : byId("tree")).offsetParent === null;
    if (isNarrow && path !== null && path !== cameFrom) {
        scrollTo(0, 0);
        byId("detail").querySelector(".back").focus({ preventScroll: true });
    } else if (isNarrow && path === null && cameFrom !== null) {
        tree.rows.get(cameFrom)?.focus();
    }
}

function askForToken() {
    const element = byId("view-token");
    if (element.firstChild) {
        element.querySelector(".refusal").hidden = false;
        return;
    }
    const input = h("input", { id: "token", type: "password", autocomplete: "off", required: true });
    const send = (event) => {
        event.preventDefault();
        setToken(input.value.trim());
        model.connect("loading");
        stream.retry();
        route();
    };
    element.replaceChildren(
        h(
            "form",
            { onsubmit: send },
            h("h2", {}, "This server asks for a token"),
            h("p", {}, "It is the line in the file that was given to latchkey serve as --token-file."),
            h("label", { for: "token" }, "Token"),
            input,
            h("p", { class: "refusal", role: "alert", hidden: true }, "The server refuses this token."),
            h("button", { type: "submit" }, "Go on"),
        ),
    );
    input.focus();
}

// ---- the state of the connection ----

let announced = "";

function stateNow() {
    const { connection, reading } = model;
    if (connection === "refused") {
        return ["refused", "Token required"];
    }
    if (connection === "lost") {
        return ["lost", "Server unreachable"];
    }
    if (!reading) {
        return ["loading", "Connecting"];
    }
    if (!reading.time) {
        return reading.error ? ["stale", "No reading yet"] : ["loading", "First reading"];
    }
    return model.isStale
        ? ["stale", `Stale, ${ageText(model.age)} old`]
        : ["live", `Live, ${ageText(model.age)} ago`];
}

function bannerNow(state) {
    const { reading } = model;
    const old = reading?.time
        ? `The last reading is ${ageText(model.age)} old.`
        : "Nothing has been read yet.";
    if (state === "lost") {
        return [
            `latchkey serve does not answer. ${old} Trying again.`,
            h("button", { type: "button", onclick: () => stream.retry() }, "Try now"),
        ];
    }
    if (state === "stale") {
        return [reading.error ? `${old} The servers cannot be read: ${clean(reading.error)}` : old];
    }
    if (reading?.ending === "too_many" || reading?.ending === "too_deep") {
        return ["Not everything was read: there are more znodes than --max-znodes allows."];
    }
    return [];
}

function tick() {
    const [state, text] = stateNow();
    byId("status").dataset.state = state;
    say(byId("status-text"), text);
    const banner = byId("banner");
    const [message, button] = bannerNow(state);
    banner.hidden = !message;
    banner.dataset.state = state;
    if (message) {
        if (!banner.firstChild || Boolean(button) !== banner.children.length > 1) {
            banner.replaceChildren(h("span", {}), ...(button ? [button] : []));
        }
        say(banner.firstChild, message);
    }
    document.body.dataset.state = state;
    detail.tick();
    const words = {
        live: "Connected",
        stale: "The readings are stale",
        lost: "Server unreachable",
        refused: "A token is required",
    }[state];
    if (words && words !== announced) {
        announced = words;
        say(byId("announce"), words);
    }
}

// ---- what changes ----

function counts() {
    const contended = [...model.locks.values()].reduce((n, l) => n + (isElection(l) ? 0 : l.waiters), 0);
    say(byId("count-locks"), model.reading?.time ? model.locks.size.toLocaleString("en") : "");
    say(byId("count-waits"), contended > 0 ? contended.toLocaleString("en") : "");
    const problems = model.problems.length;
    say(byId("count-problems"), problems > 0 ? String(problems) : "");
    byId("count-problems").dataset.level = problems > 0 ? "problem" : "";
    document.title = problems > 0 ? `(${problems}) Latchkey` : "Latchkey";
}

function showEmpty() {
    const isEmpty = model.reading?.time && model.locks.size === 0 && model.unreadable.length === 0;
    byId("view-locks").classList.toggle("empty", Boolean(isEmpty));
    if (isEmpty && detail.path === null) {
        byId("detail").replaceChildren(
            h(
                "div",
                { class: "blank" },
                h("p", { class: "big" }, "No locks"),
                h(
                    "p",
                    {},
                    "The servers have no lock in use. One appears here as soon as a client asks for it, for example:",
                ),
                h("pre", {}, "latchkey lock /jobs/nightly -- sleep 60"),
            ),
        );
    } else if (detail.path === null) {
        detail.render();
    }
}

async function readFindings() {
    try {
        const answer = await get("/api/doctor");
        const had = model.problems.length;
        model.setFindings(answer?.findings ?? []);
        const now = model.problems.length;
        if (now > had) {
            say(byId("announce"), plural(now, "problem"));
        }
    } catch {
        // The state of the connection says so.
    }
}

model.addEventListener("state", () => {
    if ((model.connection === "refused") === byId("view-token").hidden) {
        route();
    }
    tick();
    counts();
});

model.addEventListener("locks", ({ detail: { paths, graph } }) => {
    tree.render();
    counts();
    showEmpty();
    if (detail.path !== null && (paths.has(detail.path) || detail.lock === undefined)) {
        detail.load();
    }
    if (graph) {
        readFindings();
        waits.forget();
    }
});

model.addEventListener("findings", () => {
    tree.render();
    counts();
    if (detail.path !== null) {
        detail.render();
    }
    if (!byId("view-problems").hidden) {
        keepFocus(byId("view-problems"), () => showProblems(model, byId("view-problems")));
    }
});

// ---- the theme ----

const themes = ["system", "light", "dark"];
let theme = document.documentElement.dataset.theme ?? "system";

function setTheme(chosen) {
    theme = chosen;
    chosen === "system"
        ? delete document.documentElement.dataset.theme
        : (document.documentElement.dataset.theme = chosen);
    try {
        localStorage.setItem("latchkey-theme", chosen);
    } catch {
        // Storage may be forbidden.
    }
    say(byId("theme"), { system: "Auto", light: "Light", dark: "Dark" }[chosen]);
    byId("theme").setAttribute("aria-label", `Theme: ${chosen}. Change it`);
}

setTheme(theme);
byId("theme").addEventListener("click", () => setTheme(themes[(themes.indexOf(theme) + 1) % themes.length]));
byId("filter").addEventListener("input", (e) => tree.show({ filter: e.target.value.trim() }));
byId("contended").addEventListener("change", (e) => tree.show({ contended: e.target.checked }));
addEventListener("hashchange", route);
addEventListener("popstate", route);
addEventListener("resize", () => {
    if (!byId("view-waits").hidden) {
        waits.render();
    }
});
tree.render();
route();
tick();
setInterval(tick, 1000);
