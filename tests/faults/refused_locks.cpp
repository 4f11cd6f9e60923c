#include <latchkey/curator_semaphore.hpp>
#include <latchkey/multi_mutex.hpp>
#include <latchkey/mutex.hpp>
#include <latchkey/semaphore.hpp>
#include <latchkey/shared_mutex.hpp>

#include "refused_use.hpp"

#include <chrono>
#include <string>
#include <system_error>
#include <utility>

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;
using testing::ensemble;

struct attempt {
    bool done = false;
    hold granted;
};

using pending = std::shared_ptr<attempt>;

/// Something to acquire, with everything but how often left out.
struct lock {
    std::function<void(std::chrono::nanoseconds, std::function<void(std::error_code, hold)>)> ask;

    [[nodiscard]] pending acquire(std::chrono::nanoseconds limit = for_ever) const {
        auto a = std::make_shared<attempt>();
        ask(limit, [a](std::error_code, hold h) {
            a->done = true;
            a->granted = std::move(h);
        });
        return a;
    }
};

using make_lock = std::function<lock(client&)>;

template <class T>
lock lock_of(const std::shared_ptr<T>& t) {
    return {[t](std::chrono::nanoseconds limit, auto handler) {
        t->async_acquire(limit, {}, std::move(handler));
    }};
}

lock mutex_of(client& c) {
    return lock_of(std::make_shared<mutex>(c, "/lock"));
}

lock multi_mutex_of(client& c) {
    return lock_of(
        std::make_shared<multi_mutex>(c, std::vector<std::string>{"/lock/one", "/lock/two"}));
}

lock shared(client& c, lock_mode mode) {
    return {[m = std::make_shared<shared_mutex>(c, "/lock"), mode](std::chrono::nanoseconds limit,
                                                                   auto handler) {
        m->async_acquire(mode, limit, {}, std::move(handler));
    }};
}

template <class Semaphore>
lock permit_of(client& c) {
    return {[s = std::make_shared<Semaphore>(c, "/lock", 1)](std::chrono::nanoseconds limit,
                                                             auto handler) {
        s->async_acquire(1, limit, {}, std::move(handler));
    }};
}

/// A hold of the client, and then one of the other: nothing is left in anybody's way.
class lock_use : public refused_use {
public:
    lock_use(const refused_stage& on, const make_lock& of)
        : on_(on), mine_(of(on.mine)), theirs_(of(on.other)) {}

protected:
    [[nodiscard]] bool granted(const pending& p) const {
        return on_.in.run_until([&] { return p->done; }, 60s) && p->granted.valid();
    }

    /// What was under way is over, one way or the other.
    [[nodiscard]] bool can_be_had(pending p) const {
        if (p && !on_.in.run_until([&] { return p->done; }, 60s)) {
            return false;
        }
        p.reset();
        const pending again = mine_.acquire();
        if (!granted(again)) {
            return false;
        }
        again->granted.release();
        return granted(theirs_.acquire());
    }

    const refused_stage on_;
    const lock mine_;
    const lock theirs_;
};

class acquires final : public lock_use {
public:
    /// `gone`: a directory that is there, and then is not any more.
    acquires(const refused_stage& on,
             const make_lock& of,
             bool known,
             std::chrono::nanoseconds l,
             const std::string& gone)
        : lock_use(on, of), limit_(l) {
        if (known) {
            const pending p = mine_.acquire();
            static_cast<void>(granted(p));
            p->granted.release();
            on.in.run_for(1s);
        }
        if (!gone.empty()) {
            on.in.remove(gone);
        }
    }

    void begin() override { pending_ = mine_.acquire(limit_); }

    bool goes_on() override { return can_be_had(std::exchange(pending_, nullptr)); }

private:
    const std::chrono::nanoseconds limit_;
    pending pending_;
};

/// Behind the other, with a new connection, and then ahead of everybody.
class waits final : public lock_use {
public:
    waits(const refused_stage& on, const make_lock& of, bool released)
        : lock_use(on, of), released_(released), held_(theirs_.acquire()) {
        static_cast<void>(granted(held_));
        pending_ = mine_.acquire();
        on.in.run_for(1s);
    }

    void begin() override {
        if (released_) {
            held_->granted.release();
        } else {
            on_.in.cut(on_.mine.session_id());
        }
    }

    bool goes_on() override {
        held_->granted.release();
        return can_be_had(std::exchange(pending_, nullptr));
    }

private:
    const bool released_;
    const pending held_;
    pending pending_;
};

class holds final : public lock_use {
public:
    holds(const refused_stage& on, const make_lock& of, bool releases)
        : lock_use(on, of), releases_(releases), held_(mine_.acquire()) {
        static_cast<void>(granted(held_));
        on.in.run_for(1s);
    }

    void begin() override {
        if (releases_) {
            held_->granted.release();
        } else {
            on_.in.cut(on_.mine.session_id());
        }
    }

    bool goes_on() override {
        held_->granted.release();
        return can_be_had(nullptr);
    }

private:
    const bool releases_;
    const pending held_;
};

class converts final : public lock_use {
public:
    converts(const refused_stage& on, lock_mode from, lock_mode to)
        : lock_use(on, [](client& c) { return shared(c, lock_mode::exclusive); }),
          m_(on.mine, "/lock"),
          to_(to) {
        if (to == lock_mode::exclusive) {
            // A reader ahead of it, which goes while requests are refused.
            reader_ = shared(on.other, lock_mode::shared).acquire();
            static_cast<void>(granted(reader_));
        }
        const pending p = shared(on.mine, from).acquire();
        static_cast<void>(granted(p));
        held_ = std::move(p->granted);
        on.in.run_for(1s);
    }

    void begin() override {
        m_.async_convert(
            std::move(held_), to_, for_ever, {}, [p = pending_](std::error_code, hold h) {
                p->done = true;
                p->granted = std::move(h);
            });
        on_.in.run_for(10ms);
        reader_.reset();
    }

    bool goes_on() override {
        if (!on_.in.run_until([&] { return pending_->done; }, 60s)) {
            return false;
        }
        pending_->granted.release();
        return can_be_had(nullptr);
    }

private:
    shared_mutex m_;
    const lock_mode to_;
    hold held_;
    pending reader_;
    const pending pending_ = std::make_shared<attempt>();
};

}  // namespace

std::vector<refused_use_kind> uses_of_locks() {
    std::vector<refused_use_kind> all;
    const auto add = [&all](const char* name, auto make) {
        all.push_back({name, std::move(make)});
    };
    const auto acquire = [&add](const char* name,
                                make_lock of,
                                bool known,
                                std::chrono::nanoseconds limit = for_ever,
                                const std::string& gone = {}) {
        add(name, [of = std::move(of), known, limit, gone](const refused_stage& on) {
            return std::make_unique<acquires>(on, of, known, limit, gone);
        });
    };
    const auto wait = [&add](const char* name, make_lock of, bool released) {
        add(name, [of = std::move(of), released](const refused_stage& on) {
            return std::make_unique<waits>(on, of, released);
        });
    };
    const auto keep = [&add](const char* name, make_lock of, bool releases) {
        add(name, [of = std::move(of), releases](const refused_stage& on) {
            return std::make_unique<holds>(on, of, releases);
        });
    };
    const auto convert = [&add](const char* name, lock_mode from, lock_mode to) {
        add(name, [from, to](const refused_stage& on) {
            return std::make_unique<converts>(on, from, to);
        });
    };
    acquire("MutexOnANewPath", mutex_of, false);
    acquire("Mutex", mutex_of, true);
    acquire("MutexThatIsTried", mutex_of, true, 0ns);
    wait("MutexWaiting", mutex_of, false);
    wait("MutexNextInLine", mutex_of, true);
    keep("MutexHeld", mutex_of, false);
    keep("MutexReleased", mutex_of, true);
    acquire("MultiMutexOnNewPaths", multi_mutex_of, false);
    acquire("MultiMutex", multi_mutex_of, true);
    wait("MultiMutexWaiting", multi_mutex_of, false);
    keep("MultiMutexHeld", multi_mutex_of, false);
    keep("MultiMutexReleased", multi_mutex_of, true);
    const auto reader = [](client& c) { return shared(c, lock_mode::shared); };
    const auto writer = [](client& c) { return shared(c, lock_mode::exclusive); };
    acquire("SharedMutexForReading", reader, false);
    wait("SharedMutexForWriting", writer, false);
    convert("SharedMutexDowngraded", lock_mode::exclusive, lock_mode::shared);
    convert("SharedMutexUpgraded", lock_mode::upgrade, lock_mode::exclusive);
    acquire("SemaphoreOnANewPath", permit_of<semaphore>, false);
    acquire("Semaphore", permit_of<semaphore>, true);
    acquire("SemaphoreWithoutPermits", permit_of<semaphore>, true, for_ever, "/lock/permits");
    wait("SemaphoreWaiting", permit_of<semaphore>, false);
    wait("SemaphoreNextInLine", permit_of<semaphore>, true);
    keep("SemaphoreReleased", permit_of<semaphore>, true);
    acquire("CuratorSemaphoreOnANewPath", permit_of<curator_semaphore>, false);
    acquire("CuratorSemaphore", permit_of<curator_semaphore>, true);
    acquire("CuratorSemaphoreWithoutLeases",
            permit_of<curator_semaphore>,
            true,
            for_ever,
            "/lock/leases");
    wait("CuratorSemaphoreWaiting", permit_of<curator_semaphore>, false);
    wait("CuratorSemaphoreNextInLine", permit_of<curator_semaphore>, true);
    return all;
}

}  // namespace latchkey::test
