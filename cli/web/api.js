// What the server says: answers, and a stream of events that is opened again when it ends.

const tokenKey = "latchkey-token";

/** The token of the address (#token=...) is kept for this tab, and removed from the address. */
export function takeToken() {
    const given = /^#token=(.+)$/.exec(location.hash);
    if (given) {
        try {
            setToken(decodeURIComponent(given[1]));
        } catch {
            // A malformed token is none: it is asked for.
        }
        history.replaceState(null, "", location.pathname);
    }
}

export function setToken(token) {
    try {
        sessionStorage.setItem(tokenKey, token);
    } catch {
        // Then it is asked for again.
    }
    memory = token;
}

let memory = null;

function headers() {
    let token = memory;
    try {
        token ??= sessionStorage.getItem(tokenKey);
    } catch {
        // Storage may be forbidden.
    }
    return token ? { Authorization: `Bearer ${token}` } : {};
}

/** Null if there is no such lock. */
export async function get(path) {
    const answer = await fetch(path, { headers: headers(), cache: "no-store" });
    if (answer.status === 404) {
        return null;
    }
    if (!answer.ok) {
        throw new Error(`${answer.status} ${answer.statusText}`);
    }
    return answer.json();
}

const silence = 40_000;
const longestPause = 15_000;

/** Calls `on.event(name, data)` for each event, `on.lost(seconds)` when there is no server, and `on.refused()`
 * when the server asks for a token. */
export class EventStream {
    constructor(on) {
        this.on = on;
        this.pause = 1000;
        this.open();
    }

    /** Tries at once. */
    retry() {
        clearTimeout(this.timer);
        this.pause = 1000;
        this.open();
    }

    async open() {
        this.abort?.abort();
        const abort = new AbortController();
        this.abort = abort;
        let watchdog = null;
        const alive = () => {
            clearTimeout(watchdog);
            watchdog = setTimeout(() => abort.abort(), silence);
        };
        try {
            alive();
            const answer = await fetch("/api/events", {
                headers: headers(),
                signal: abort.signal,
                cache: "no-store",
            });
            if (answer.status === 401) {
                this.on.refused();
                return;
            }
            if (!answer.ok) {
                throw new Error(String(answer.status));
            }
            this.pause = 1000;
            await this.read(answer.body.pipeThrough(new TextDecoderStream()).getReader(), alive);
        } catch {
            // Told below.
        } finally {
            clearTimeout(watchdog);
        }
        if (this.abort === abort) {
            this.later();
        }
    }

    async read(reader, alive) {
        let text = "";
        for (;;) {
            const { value, done } = await reader.read();
            if (done) {
                return;
            }
            alive();
            text += value;
            for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
                this.take(text.slice(0, end));
                text = text.slice(end + 2);
            }
        }
    }

    take(event) {
        const name = /^event: (.*)$/m.exec(event);
        const data = /^data: (.*)$/m.exec(event);
        if (name && data) {
            this.on.event(name[1], JSON.parse(data[1]));
        }
    }

    later() {
        this.on.lost(Math.round(this.pause / 1000));
        this.timer = setTimeout(() => this.open(), this.pause);
        this.pause = Math.min(2 * this.pause, longestPause);
    }
}
