#include <latchkey/error.hpp>
#include <latchkey/multi_mutex.hpp>
#include <latchkey/mutex.hpp>
#include <latchkey/semaphore.hpp>
#include <latchkey/shared_mutex.hpp>

#include "commands.hpp"
#include "duration_text.hpp"
#include "exit_status.hpp"
#include "lock_options.hpp"
#include "supervised_run.hpp"
#include "text/escape.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
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

/// Zero is a try. nanoseconds::max() is no limit.
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
    /// Throws if other clients use the path for a lock of another kind: the two kinds do not
    /// exclude each other. Called while the lock is held, so that the later of two clients notices.
    std::function<void()> check_alone = [] {};
};

[[noreturn]] void refuse_mixture(const std::string& path, const char* others, const char* remedy) {
    throw command_failure(exit_status::failed,
                          fmt::format("{} is in use as {}, which this lock does not exclude; {}",
                                      escaped(path),
                                      others,
                                      remedy));
}

void refuse_shared(client& c, const std::string& path) {
    if (shared_mutex(c, path).first()) {
        refuse_mixture(path, "a shared lock", "give -x, or use another PATH");
    }
}

template <class Mutex>
auto acquire_with(std::shared_ptr<Mutex> m) {
    return [m = std::move(m)](nanoseconds limit, acquire_options how) {
        return m->try_acquire_for(limit, std::move(how));
    };
}

lock mutex_of(client& c, const lock_options& options) {
    return {acquire_with(std::make_shared<mutex>(c, options.path)),
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
    return {acquire_with(std::make_shared<multi_mutex>(c, options.paths)),
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

[[noreturn]] void refuse_unreachable(const client& c, nanoseconds limit) {
    const auto trouble = c.last_error();
    throw command_failure(exit_status::unreachable,
                          fmt::format("no server reached within {}{}{}",
                                      in_seconds(limit),
                                      trouble.empty() ? "" : ": ",
                                      escaped_message(trouble)));
}

std::optional<held_resource> acquire(client& c,
                                     const lock_options& options,
                                     const std::stop_token& stop,
                                     place_listener on_place) {
    const auto begin = steady_clock::now();
    const lock wanted = lock_of(c, options);
    if (!c.wait_connected(connect_limit(options), stop)) {
        if (!stop.stop_requested()) {
            refuse_unreachable(c, connect_limit(options));
        }
        return std::nullopt;
    }
    static_cast<void>(grace_within(options, c.session_timeout()));
    auto granted = wanted.acquire(acquire_limit(options, begin), {stop, std::move(on_place)});
    if (granted.path().empty()) {  // not granted; a hold that was lost at once is a loss
        return std::nullopt;
    }
    wanted.check_alone();
    const auto held = std::make_shared<hold>(std::move(granted));
    return held_by(held, held->paths());
}

}  // namespace

int lock_command(const std::vector<std::string>& arguments, status_output& output) {
    const auto options = parse_lock_options(arguments, environment_variable);
    output = status_output(options.verbose, options.json);
    const run_kind what{
        .acquire =
            [&options](client& c, const std::stop_token& stop, place_listener on_place) {
                return acquire(c, options, stop, std::move(on_place));
            },
        .not_acquired_status = options.conflict_status,
        .is_try = options.try_only};
    return supervised_run(options, what, output).execute();
}

}  // namespace latchkey::cli
