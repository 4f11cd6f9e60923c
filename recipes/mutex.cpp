#include <latchkey/mutex.hpp>

#include "ask.hpp"
#include "local_queue.hpp"
#include "path.hpp"
#include "record.hpp"

#include <thread>
#include <utility>

#include <boost/thread/thread_only.hpp>

namespace latchkey {
namespace {

/// Curator's InterProcessMutex; go-zookeeper's Lock orders by the same.
constexpr const char* lock_marker = "lock-";

}  // namespace

class mutex::impl {
public:
    impl(std::shared_ptr<client_core> core, participation as)
        : queue(std::make_shared<local_queue>(std::move(core), std::move(as))) {}

    [[nodiscard]] client_core& core() const noexcept { return *queue->core(); }

    [[nodiscard]] const std::string& path() const noexcept { return queue->as().directory; }

    /// No time at all means to take the lock only if nobody is ahead; the answer to that is waited
    /// for as long as a session.
    std::shared_ptr<acquisition> enter(std::chrono::nanoseconds limit,
                                       acquire_options options,
                                       std::function<void(local_queue::acquired)> done) const {
        if (limit > std::chrono::nanoseconds::zero()) {
            return queue->enter(
                local_queue::wish::wait, limit, std::move(options), std::move(done));
        }
        const auto known = core().session_timeout();
        return queue->enter(local_queue::wish::only_if_first,
                            known.count() > 0 ? known : core().options().session_timeout,
                            std::move(options),
                            std::move(done));
    }

    /// Waits for a result. When the thread is interrupted the place in the queue is given up first.
    hold wait(std::chrono::nanoseconds limit, acquire_options options) const {
        core().check_may_block();
        const auto result = std::make_shared<awaited<local_queue::acquired>>();
        const auto call = enter(limit, std::move(options), [result](local_queue::acquired a) {
            result->set(std::move(a));
        });
        try {
            return taken(result->get());
        } catch (const boost::thread_interrupted&) {
            const boost::this_thread::disable_interruption uninterrupted;
            call->cancel();
            result->get();
            throw;
        }
    }

    [[nodiscard]] std::vector<std::string> names() const {
        reply r = ask(core(), request::children(path()));
        if (r.code == result_code::no_node) {
            return {};
        }
        failure_of(r.code, path()).raise_unless(r.ok());
        return in_order(r.names, lock_marker);
    }

    [[nodiscard]] std::vector<participant> examine(const std::vector<std::string>& names) const {
        std::vector<request> questions;
        for (const std::string& name : names) {
            questions.push_back(request::get(join_path(path(), name)));
        }
        std::vector<reply> answers = ask(core(), questions);
        std::vector<participant> found;
        for (std::size_t i = 0; i < answers.size(); ++i) {
            reply& r = answers[i];
            if (r.code == result_code::no_node) {
                continue;  // it left meanwhile
            }
            failure_of(r.code, questions[i].path).raise_unless(r.ok());
            auto who = read_record(r.data);
            found.push_back({.name = names[i],
                             .sequence = place_of(names[i], lock_marker).sequence,
                             .session_id = r.stat.ephemeral_owner,
                             .czxid = r.stat.czxid,
                             .data = std::move(r.data),
                             .identified = std::move(who)});
        }
        return found;
    }

    const std::shared_ptr<local_queue> queue;

    // lock() keeps its hold here.
    boost::mutex guard;
    hold held LATCHKEY_GUARDED_BY(guard);
    std::thread::id locked_by LATCHKEY_GUARDED_BY(guard);

private:
    static hold taken(local_queue::acquired a) {
        a.why.raise();
        return std::move(a.granted);
    }
};

mutex::mutex(client& c, std::string path, mutex_options options) {
    check_path(path);
    if (options.data && options.data->size() > longest_record) {
        throw error(errc::invalid_argument,
                    "data of " + std::to_string(options.data->size()) +
                        " bytes: a participant's znode takes at most " +
                        std::to_string(longest_record));
    }
    auto core = client_core::of(c);
    participation as{.directory = std::move(path),
                     .marker = lock_marker,
                     .data = nullptr,
                     .access = options.access.value_or(core->access())};
    if (options.data) {
        as.data = [data = *std::move(options.data)] { return data; };
    } else {
        as.data = [record = record_writer::shared("exclusive")] { return record->write(); };
    }
    impl_ = std::make_shared<impl>(std::move(core), std::move(as));
}

mutex::~mutex() {
    if (impl_->core().forked()) {
        leak(impl_);
    }
}

hold mutex::acquire(acquire_options options) {
    return acquire_within(local_queue::for_ever, std::move(options));
}

hold mutex::try_acquire() {
    return acquire_within(std::chrono::nanoseconds::zero(), {});
}

hold mutex::acquire_within(std::chrono::nanoseconds limit, acquire_options options) {
    return impl_->wait(limit, std::move(options));
}

namespace {

template <class Acquire>
hold without_exception(std::error_code& ec, Acquire acquire) {
    ec.clear();
    try {
        return acquire();
    } catch (const error& e) {
        ec = e.code();
    }
    return {};
}

}  // namespace

hold mutex::acquire(acquire_options options, std::error_code& ec) {
    return without_exception(ec, [&] { return acquire(std::move(options)); });
}

hold mutex::try_acquire(std::error_code& ec) {
    return without_exception(ec, [&] { return try_acquire(); });
}

hold mutex::acquire_within(std::chrono::nanoseconds limit,
                           acquire_options options,
                           std::error_code& ec) {
    return without_exception(ec, [&] { return acquire_within(limit, std::move(options)); });
}

void mutex::async_acquire(acquire_options options, acquire_handler handler) {
    async_acquire(local_queue::for_ever, std::move(options), std::move(handler));
}

void mutex::async_acquire(std::chrono::nanoseconds limit,
                          acquire_options options,
                          acquire_handler handler) {
    if (impl_->core().forked()) {
        throw error(errc::forked, "connect a client of its own in the child");
    }
    impl_->enter(
        limit,
        std::move(options),
        [core = impl_->queue->core(), handler = std::move(handler)](local_queue::acquired a) {
            const auto result = std::make_shared<local_queue::acquired>(std::move(a));
            core->call(
                [handler, result] { handler(result->why.code, std::move(result->granted)); });
        });
}

// ---- Lockable ----

void mutex::lock() {
    static_cast<void>(lock_within(local_queue::for_ever));
}

bool mutex::try_lock() {
    return lock_within(std::chrono::nanoseconds::zero());
}

bool mutex::lock_within(std::chrono::nanoseconds limit) {
    {
        const monitor_lock lock(impl_->guard);
        if (impl_->held && impl_->locked_by == std::this_thread::get_id()) {
            if (limit == local_queue::for_ever) {
                throw error(errc::would_deadlock,
                            "this thread holds \"" + escaped(path()) +
                                "\" already: a mutex is not recursive");
            }
            return false;
        }
    }
    hold granted = acquire_within(limit, {});
    if (!granted) {
        return false;
    }
    const monitor_lock lock(impl_->guard);
    impl_->held = std::move(granted);
    impl_->locked_by = std::this_thread::get_id();
    return true;
}

void mutex::unlock() noexcept {
    if (impl_->core().forked()) {
        return;
    }
    hold released;
    const monitor_lock lock(impl_->guard);
    impl_->locked_by = {};
    released = std::move(impl_->held);
}

hold& mutex::held() {
    const monitor_lock lock(impl_->guard);
    if (!impl_->held) {
        throw error(errc::hold_lost,
                    "\"" + escaped(path()) + "\" is not locked through this object");
    }
    return impl_->held;
}

// ---- who is there ----

std::vector<participant> mutex::participants() {
    return impl_->examine(impl_->names());
}

std::optional<participant> mutex::holder() {
    auto names = impl_->names();
    while (!names.empty()) {
        if (auto found = impl_->examine({names.front()}); !found.empty()) {
            return std::move(found.front());
        }
        names.erase(names.begin());
    }
    return std::nullopt;
}

const std::string& mutex::path() const noexcept {
    return impl_->path();
}

}  // namespace latchkey
