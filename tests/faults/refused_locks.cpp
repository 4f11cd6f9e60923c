#include "recipe_forms.hpp"
#include "refused_use.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;

struct refused_acquire {
    bool done = false;
    hold granted;
};

using pending = std::shared_ptr<refused_acquire>;

/// A hold of the client, and then one of the other: nothing is left in anybody's way.
class lock_use : public refused_use {
public:
    lock_use(const refused_stage& on, const make_lock& of)
        : refused_use(on), mine_(of(on.mine)), theirs_(of(on.other)) {}

protected:
    static acquire_handler into(pending p) {
        return [p = std::move(p)](std::error_code, hold h) {
            p->done = true;
            p->granted = std::move(h);
        };
    }

    static pending acquire(const acquire_form& l, std::chrono::nanoseconds limit = for_ever) {
        auto p = std::make_shared<refused_acquire>();
        l(limit, {}, into(p));
        return p;
    }

    [[nodiscard]] bool over(const pending& p) const {
        return on_.comes([&] { return p->done; });
    }

    [[nodiscard]] bool granted(const pending& p) const { return over(p) && p->granted.valid(); }

    /// What was under way is over, one way or the other.
    [[nodiscard]] bool can_be_had(pending p) const {
        if (p && !over(p)) {
            return false;
        }
        p.reset();
        const pending again = acquire(mine_);
        if (!granted(again)) {
            return false;
        }
        again->granted.release();
        return granted(acquire(theirs_));
    }

    const acquire_form mine_;
    const acquire_form theirs_;
};

class queues final : public lock_use {
public:
    enum class what {
        comes,       ///< on a path that it does not know
        comes_back,  ///< on one that it has used
        tries,
        waits,    ///< on a new connection, behind the other
        is_next,  ///< the other releases
        holds,    ///< on a new connection
        releases
    };

    /// `gone`: a directory that was there, and is not any more.
    queues(const refused_stage& on, what w, const make_lock& of, const std::string& gone)
        : lock_use(on, of), w_(w) {
        if (w == what::waits || w == what::is_next) {
            held_ = had(theirs_);
            pending_ = acquire(mine_);
        } else if (w != what::comes) {
            held_ = had(mine_);
        }
        if (w == what::comes_back || w == what::tries) {
            std::exchange(held_, nullptr)->granted.release();
        }
        on.in.run_for(1s);
        if (!gone.empty()) {
            on.in.remove(gone);
        }
    }

    void begin() override {
        if (w_ == what::waits || w_ == what::holds) {
            on_.in.cut(on_.mine.session_id());
        } else if (held_) {
            held_->granted.release();
        } else {
            pending_ = acquire(mine_, w_ == what::tries ? 0ns : for_ever);
        }
    }

    bool goes_on() override {
        if (held_) {
            held_->granted.release();
        }
        return can_be_had(std::exchange(pending_, nullptr));
    }

private:
    [[nodiscard]] pending had(const acquire_form& l) const {
        const pending p = acquire(l);
        static_cast<void>(granted(p));
        return p;
    }

    const what w_;
    pending held_;
    pending pending_;
};

class converts final : public lock_use {
public:
    converts(const refused_stage& on, lock_mode from, lock_mode to)
        : lock_use(on, shared_mutex_as(lock_mode::exclusive)), m_(on.mine, "/lock"), to_(to) {
        if (to == lock_mode::exclusive) {
            // A reader ahead of it, which goes while requests are refused.
            reader_ = acquire(shared_mutex_as(lock_mode::shared)(on.other));
            static_cast<void>(granted(reader_));
        }
        held_ = acquire(shared_mutex_as(from)(on.mine));
        static_cast<void>(granted(held_));
        on.in.run_for(1s);
    }

    void begin() override {
        m_.async_convert(std::move(held_->granted), to_, for_ever, {}, into(pending_));
        on_.in.run_for(10ms);
        reader_.reset();
    }

    bool goes_on() override {
        if (!over(pending_)) {
            return false;
        }
        pending_->granted.release();
        return can_be_had(nullptr);
    }

private:
    shared_mutex m_;
    const lock_mode to_;
    pending held_;
    pending reader_;
    const pending pending_ = std::make_shared<refused_acquire>();
};

}  // namespace

std::vector<refused_use_kind> uses_of_locks() {
    using enum queues::what;
    const auto use = [](const char* name, queues::what w, make_lock of, std::string gone = {}) {
        return refused<queues>(name, w, std::move(of), std::move(gone));
    };
    const auto permits = permits_of<semaphore>;
    const auto leases = permits_of<curator_semaphore>;
    return {use("MutexOnANewPath", comes, mutex_of),
            use("Mutex", comes_back, mutex_of),
            use("MutexThatIsTried", tries, mutex_of),
            use("MutexWaiting", waits, mutex_of),
            use("MutexNextInLine", is_next, mutex_of),
            use("MutexHeld", holds, mutex_of),
            use("MutexReleased", releases, mutex_of),
            use("MultiMutexOnNewPaths", comes, multi_mutex_of),
            use("MultiMutex", comes_back, multi_mutex_of),
            use("MultiMutexWaiting", waits, multi_mutex_of),
            use("MultiMutexHeld", holds, multi_mutex_of),
            use("MultiMutexReleased", releases, multi_mutex_of),
            use("SharedMutexForReading", comes, shared_mutex_as(lock_mode::shared)),
            use("SharedMutexForWriting", waits, shared_mutex_as(lock_mode::exclusive)),
            refused<converts>("SharedMutexDowngraded", lock_mode::exclusive, lock_mode::shared),
            refused<converts>("SharedMutexUpgraded", lock_mode::upgrade, lock_mode::exclusive),
            use("SemaphoreOnANewPath", comes, permits),
            use("Semaphore", comes_back, permits),
            use("SemaphoreWithoutPermits", comes_back, permits, "/lock/permits"),
            use("SemaphoreWaiting", waits, permits),
            use("SemaphoreNextInLine", is_next, permits),
            use("SemaphoreReleased", releases, permits),
            use("CuratorSemaphoreOnANewPath", comes, leases),
            use("CuratorSemaphore", comes_back, leases),
            use("CuratorSemaphoreWithoutLeases", comes_back, leases, "/lock/leases"),
            use("CuratorSemaphoreWaiting", waits, leases),
            use("CuratorSemaphoreNextInLine", is_next, leases)};
}

}  // namespace latchkey::test
