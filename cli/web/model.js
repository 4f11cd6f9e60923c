// What the page knows: the locks as the last reading showed them, and what has happened since the page was opened.

const mostEvents = 100;
const mostHistories = 2000;

export class Model extends EventTarget {
    locks = new Map();
    unreadable = [];
    reading = null;
    findings = [];
    histories = new Map();
    connection = "loading"; // live, lost, refused
    retryIn = 0;
    opened = new Date();
    #heard = 0;

    tell(what, detail) {
        this.dispatchEvent(new CustomEvent(what, { detail }));
    }

    connect(state, retryIn = 0) {
        this.connection = state;
        this.retryIn = retryIn;
        this.tell("state");
    }

    take(name, data) {
        this.connection = "live";
        if (name === "reading") {
            this.reading = data;
            this.#heard = performance.now();
            this.tell("state");
        } else if (name === "locks") {
            const before = this.locks;
            this.locks = new Map(data.locks.map((l) => [l.path, l]));
            this.unreadable = data.unreadable;
            const paths = new Set([...before.keys(), ...this.locks.keys()]);
            this.tell("locks", { paths, graph: true });
        } else if (name === "changes") {
            this.#change(data);
        }
    }

    #change(data) {
        const paths = new Set(data.removed);
        for (const path of data.removed) {
            this.locks.delete(path);
        }
        for (const lock of data.changed) {
            this.locks.set(lock.path, lock);
            paths.add(lock.path);
        }
        this.unreadable = data.unreadable;
        for (const event of data.events) {
            this.#remember(event);
        }
        this.tell("locks", { paths, graph: data.graph_changed });
    }

    #remember(event) {
        let history = this.histories.get(event.path);
        if (!history) {
            if (this.histories.size >= mostHistories) {
                this.histories.delete(this.histories.keys().next().value);
            }
            history = [];
            this.histories.set(event.path, history);
        }
        history.unshift({ ...event, time: this.reading?.time });
        history.length = Math.min(history.length, mostEvents);
    }

    setFindings(findings) {
        this.findings = findings;
        this.tell("findings");
    }

    get problems() {
        return this.findings.filter((f) => f.level === "problem");
    }

    /** The paths of all deadlocks. */
    get deadlocked() {
        const found = this.findings.filter((f) => f.check === "deadlock");
        return new Set(found.flatMap((f) => f.waits.map((w) => w.path)));
    }

    /** How old the last reading is. */
    get age() {
        return this.reading?.time ? this.reading.age_ms + performance.now() - this.#heard : null;
    }

    /** Now, by the clock of the machine that reads. */
    get now() {
        return this.reading?.time ? Date.parse(this.reading.time) + this.age : Date.now();
    }

    get isStale() {
        if (!this.reading) {
            return false;
        }
        const limit = 3 * this.reading.every_ms + 2 * (this.reading.took_ms ?? 0) + 2000;
        return this.reading.error !== null || (this.age !== null && this.age > limit);
    }

    ageOf(participant) {
        const since = this.reading?.age_ms ?? 0;
        return Math.max(participant.existed_ms + since, this.now - Date.parse(participant.created));
    }
}
