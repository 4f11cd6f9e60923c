#include "attempt.hpp"

#include <latchkey/error.hpp>
#include <latchkey/mutex.hpp>

#include "exit_status.hpp"
#include "printable.hpp"
#include "seconds.hpp"
#include "usage_error.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include <fmt/format.h>

namespace latchkey::cli {

namespace {

using std::chrono::nanoseconds;
using std::chrono::steady_clock;

nanoseconds connect_limit(const lock_options& options) {
    const auto limit = options.limit.value_or(nanoseconds::max());
    return options.try_only ? std::min<nanoseconds>(limit, options.session_timeout) : limit;
}

/// Waits that the clock cannot count are for ever.
nanoseconds left_of(const lock_options& options, steady_clock::time_point begin) {
    if (!options.limit || *options.limit == nanoseconds::max()) {
        return nanoseconds::max();
    }
    return *options.limit - (steady_clock::now() - begin);
}

hold acquire(mutex& m,
             const lock_options& options,
             steady_clock::time_point begin,
             acquire_options how) {
    if (options.try_only) {
        return m.try_acquire();
    }
    const auto left = left_of(options, begin);
    return left == nanoseconds::max() ? m.acquire(std::move(how))
                                      : m.try_acquire_for(left, std::move(how));
}

attempt_result unguarded_attempt(client& c,
                                 const lock_options& options,
                                 const std::stop_token& stop,
                                 place_listener reserved) {
    const auto begin = steady_clock::now();
    mutex m(c, options.path);
    if (!c.wait_connected(connect_limit(options), stop)) {
        if (stop.stop_requested()) {
            return {};
        }
        const auto trouble = c.trouble();
        return {hold(),
                exit_status::unreachable,
                fmt::format("no server reached within {}{}{}",
                            in_seconds(connect_limit(options)),
                            trouble.empty() ? "" : ": ",
                            printable_message(trouble))};
    }
    static_cast<void>(grace_within(options, c.session_timeout()));
    auto granted = acquire(m, options, begin, {stop, std::move(reserved)});
    const int status = granted ? exit_status::success : options.conflict_status;
    return {std::move(granted), status};
}

}  // namespace

attempt_result attempt(client& c,
                       const lock_options& options,
                       std::stop_token stop,
                       place_listener reserved) {
    try {
        return unguarded_attempt(c, options, stop, std::move(reserved));
    } catch (const usage_error& e) {
        return {hold(), exit_status::usage, e.what()};
    } catch (const error& e) {
        return {hold(), exit_status::of_error(e.code()), printable_message(e.what())};
    } catch (const std::exception& e) {
        return {hold(), exit_status::system_failed, printable_message(e.what())};
    }
}

}  // namespace latchkey::cli
