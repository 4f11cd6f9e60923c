#include "lock_attempt.hpp"

#include <latchkey/error.hpp>
#include <latchkey/multi_mutex.hpp>
#include <latchkey/mutex.hpp>
#include <latchkey/semaphore.hpp>
#include <latchkey/shared_mutex.hpp>

#include "duration_text.hpp"
#include "exit_status.hpp"
#include "text/escape.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include <fmt/format.h>

namespace latchkey::cli {

namespace {

using std::chrono::nanoseconds;
using std::chrono::steady_clock;

nanoseconds connect_limit(const lock_options& options) {
    const auto limit = options.wait.value_or(nanoseconds::max());
    return options.try_only ? std::min<nanoseconds>(limit, options.session_timeout) : limit;
}

/// Zero is a try. Waits that the clock cannot count are for ever.
nanoseconds acquire_limit(const lock_options& options, steady_clock::time_point begin) {
    if (options.try_only) {
        return nanoseconds::zero();
    }
    if (!options.wait || *options.wait == nanoseconds::max()) {
        return nanoseconds::max();
    }
    return *options.wait - (steady_clock::now() - begin);
}

/// A lock of one of the kinds.
struct lock {
    std::function<hold(nanoseconds limit, acquire_options how)> acquire;
    /// Refuses a path that others take for a lock of another kind: neither would see the other.
    /// Asked while it is held, so that of two the later one notices.
    std::function<void()> check_alone = [] {};
};

[[noreturn]] void refuse_mixture(const std::string& path, const char* others, const char* remedy) {
    throw error(
        errc::malformed_participant,
        fmt::format(
            "{} is in use as {}, which this lock does not see; {}", escaped(path), others, remedy));
}

void refuse_shared(client& c, const std::string& path) {
    if (shared_mutex(c, path).first()) {
        refuse_mixture(path, "a shared lock", "give -x, or use another PATH");
    }
}

lock mutex_of(client& c, const lock_options& options) {
    const auto m = std::make_shared<mutex>(c, options.path);
    return {[m](nanoseconds limit, acquire_options how) {
                return m->try_acquire_for(limit, std::move(how));
            },
            [&c, &path = options.path] { refuse_shared(c, path); }};
}

lock shared_mutex_of(client& c, const lock_options& options) {
    const auto m = std::make_shared<shared_mutex>(c, options.path);
    return {[m, mode = options.mode](nanoseconds limit, acquire_options how) {
                return m->try_acquire_for(mode, limit, std::move(how));
            },
            [&c, &path = options.path] {
                if (mutex(c, path).holder()) {
                    refuse_mixture(path, "a mutex", "leave -s or -x out, or use another PATH");
                }
            }};
}

lock semaphore_of(client& c, const lock_options& options) {
    const auto s = options.limit ? std::make_shared<semaphore>(c, options.path, *options.limit)
                                 : std::make_shared<semaphore>(c, options.path);
    return {[s, permits = options.permits](nanoseconds limit, acquire_options how) {
        return s->try_acquire_for(permits, limit, std::move(how));
    }};
}

lock multi_mutex_of(client& c, const lock_options& options) {
    const auto m = std::make_shared<multi_mutex>(c, options.paths);
    return {[m](nanoseconds limit, acquire_options how) {
                return m->try_acquire_for(limit, std::move(how));
            },
            [&c, &paths = options.paths] {
                for (const std::string& path : paths) {
                    refuse_shared(c, path);
                }
            }};
}

lock lock_of(client& c, const lock_options& options) {
    switch (options.what) {
        case lock_options::kind::read_write:
            return shared_mutex_of(c, options);
        case lock_options::kind::semaphore:
            return semaphore_of(c, options);
        case lock_options::kind::all:
            return multi_mutex_of(c, options);
        default:
            return mutex_of(c, options);
    }
}

class held_lock final : public held_resource {
public:
    explicit held_lock(hold granted) : hold_(std::move(granted)) {}

    [[nodiscard]] bool valid() const override { return hold_.valid(); }

    [[nodiscard]] boottime_clock::time_point valid_until() const override {
        return hold_.valid_until();
    }

    [[nodiscard]] std::stop_token lost() const override { return hold_.lost(); }

    [[nodiscard]] loss why_lost() const override { return hold_.why_lost(); }

    [[nodiscard]] std::int64_t token() const override { return hold_.fencing_token().zxid; }

    [[nodiscard]] std::vector<std::string> nodes() const override { return hold_.paths(); }

    [[nodiscard]] std::stop_token wanted() const override { return {}; }

private:
    hold hold_;
};

attempt_result attempt_lock(client& c,
                            const lock_options& options,
                            const std::stop_token& stop,
                            place_listener reserved) {
    const auto begin = steady_clock::now();
    const lock wanted = lock_of(c, options);
    if (!c.wait_connected(connect_limit(options), stop)) {
        if (stop.stop_requested()) {
            return {};
        }
        const auto trouble = c.trouble();
        return {nullptr,
                exit_status::unreachable,
                fmt::format("no server reached within {}{}{}",
                            in_seconds(connect_limit(options)),
                            trouble.empty() ? "" : ": ",
                            escaped_message(trouble))};
    }
    static_cast<void>(grace_within(options, c.session_timeout()));
    auto granted = wanted.acquire(acquire_limit(options, begin), {stop, std::move(reserved)});
    if (!granted) {
        return {nullptr, options.conflict_status};
    }
    wanted.check_alone();
    return {std::make_unique<held_lock>(std::move(granted))};
}

}  // namespace

run_kind to_lock(const lock_options& options) {
    return {.attempt =
                [&options](client& c, std::stop_token stop, place_listener reserved) {
                    return without_throwing(
                        [&] { return attempt_lock(c, options, stop, std::move(reserved)); });
                },
            .is_try = options.try_only};
}

}  // namespace latchkey::cli
