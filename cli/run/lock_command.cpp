#include <latchkey/error.hpp>
#include <latchkey/multi_mutex.hpp>
#include <latchkey/mutex.hpp>
#include <latchkey/semaphore.hpp>
#include <latchkey/shared_mutex.hpp>

#include "commands.hpp"
#include "options/duration_text.hpp"
#include "options/lock_options.hpp"
#include "options/owner_record.hpp"
#include "output/exit_status.hpp"
#include "run/supervised_run.hpp"
#include "text/escape.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace latchkey::cli {

namespace {

using std::chrono::nanoseconds;
using std::chrono::steady_clock;

/// Zero is a try. nanoseconds::max() is no limit.
nanoseconds acquire_limit(const lock_options& options, steady_clock::time_point begin) {
    if (options.try_only) {
        return nanoseconds::zero();
    }
    if (!options.wait || *options.wait == nanoseconds::max()) {
        return nanoseconds::max();
    }
    constexpr nanoseconds no_try{1};
    return std::max<nanoseconds>(*options.wait - (steady_clock::now() - begin), no_try);
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

/// Without --id and --data, the library writes its own record.
latchkey::lock_options how(const lock_options& options, std::string_view mode) {
    latchkey::lock_options made;
    made.lock_delay = options.lock_delay.value_or(nanoseconds::zero());
    if (!options.id.empty() || !options.data.empty()) {
        made.data = owner_record(mode, options.id, options.data);
    }
    return made;
}

template <class Mutex>
auto acquire_with(std::shared_ptr<Mutex> m) {
    return [m = std::move(m)](nanoseconds limit, acquire_options how) {
        return m->try_acquire_for(limit, std::move(how));
    };
}

lock mutex_of(client& c, const lock_options& options) {
    return {acquire_with(std::make_shared<mutex>(c, options.path, how(options, "exclusive"))),
            [&c, &path = options.path] { refuse_shared(c, path); }};
}

lock shared_mutex_of(client& c, const lock_options& options) {
    const auto m =
        std::make_shared<shared_mutex>(c, options.path, how(options, to_string(options.mode)));
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
    const auto s =
        options.limit
            ? std::make_shared<semaphore>(c, options.path, *options.limit, how(options, "permit"))
            : std::make_shared<semaphore>(c, options.path, how(options, "permit"));
    return {[s, permits = options.permits](nanoseconds limit, acquire_options how) {
        return s->try_acquire_for(permits, limit, std::move(how));
    }};
}

lock multi_mutex_of(client& c, const lock_options& options) {
    return {
        acquire_with(std::make_shared<multi_mutex>(c, options.paths, how(options, "exclusive"))),
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

/// A try waits for an answer for as long as the session timeout. With -n, -w can only make that
/// shorter, for connecting. Returns false if it is canceled.
bool connect_to_try(client& c, const lock_options& options, const std::stop_token& stop) {
    const bool is_shorter =
        options.try_only && options.wait && *options.wait < options.session_timeout;
    if (!is_shorter || c.wait_connected(*options.wait, stop)) {
        return true;
    }
    if (!stop.stop_requested()) {
        const auto trouble = c.last_error();
        throw command_failure(
            exit_status::unreachable,
            fmt::format("cannot try {} within {}: {}; check the servers and the network, or give a "
                        "longer -w",
                        escaped(options.path),
                        in_seconds(*options.wait),
                        trouble.empty() ? "no server has answered" : escaped_message(trouble)));
    }
    return false;
}

std::optional<held_resource> acquire(client& c,
                                     const lock_options& options,
                                     const std::stop_token& stop,
                                     place_listener on_place) {
    const auto begin = steady_clock::now();
    const lock wanted = lock_of(c, options);
    if (!connect_to_try(c, options, stop)) {
        return std::nullopt;
    }
    auto granted = wanted.acquire(acquire_limit(options, begin), {stop, std::move(on_place)});
    if (granted.path().empty()) {  // not granted; a hold that was lost at once is a loss
        return std::nullopt;
    }
    const auto held = std::make_shared<hold>(std::move(granted));
    auto resource = held_by(held, held->paths());
    resource.hand_over_requested = held->revocation_requested();
    static_cast<void>(grace_within(options, c.session_timeout()));
    wanted.check_alone();
    return resource;
}

}  // namespace

int lock_command(const std::vector<std::string>& arguments, status_output& output) {
    const auto options = parse_lock_options(arguments, environment_variable);
    output = options.output();
    const run_kind what{
        .acquire =
            [&options](client& c, const std::stop_token& stop, place_listener on_place) {
                return acquire(c, options, stop, std::move(on_place));
            },
        .not_acquired_status = options.conflict_status,
        .skipped_status = options.skipped_status,
        .is_try = options.try_only};
    return supervised_run(options, what, output).execute();
}

}  // namespace latchkey::cli
