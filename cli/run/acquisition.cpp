#include "run/acquisition.hpp"

#include <latchkey/boottime_clock.hpp>

#include "text/escape.hpp"

#include <exception>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <poll.h>

namespace latchkey::cli {

acquisition::acquisition(client& c,
                         main_loop& loop,
                         const status_output& output,
                         const run_options& options,
                         const run_kind& kind,
                         handler done)
    : client_(c),
      loop_(loop),
      output_(output),
      options_(options),
      kind_(kind),
      done_(std::move(done)),
      connection_(c, loop, output),
      line_(c, loop, output, options.path, kind.waits_for),
      attempt_(loop) {}

void acquisition::begin() {
    canceled_ = false;
    line_.begin();
    attempt_.start([this](const std::stop_token& stop) -> main_loop::task {
        try {
            return [this, acquired = acquire(stop)] {
                line_.end();
                done_(acquired);
            };
        } catch (...) {
            return [this, failure = std::current_exception()] {
                line_.end();
                if (!canceled_) {
                    std::rethrow_exception(failure);
                }
                done_({});
            };
        }
    });
}

void acquisition::cancel() {
    canceled_ = true;
    line_.end();
    connection_.report_no_trouble();
    attempt_.request_stop();
}

/// The first deadline after a silence may be less than a long --grace away. It is renewed soon.
void acquisition::await_time_for_grace(const held_resource& held, const std::stop_token& stop) {
    const auto timeout = client_.session_timeout();
    const auto least = grace_within(options_, timeout) + timeout / 20;
    const auto end = boottime_clock::now() + timeout / 4;
    for (auto now = boottime_clock::now();
         now < end && held.valid() && held.valid_until() < now + least && !stop.stop_requested();
         now = boottime_clock::now()) {
        ::poll(nullptr, 0, 10);
    }
}

std::optional<held_resource> acquisition::acquire(const std::stop_token& stop) {
    auto acquired = kind_.acquire(
        client_, stop, [this](const queue_position& p) { loop_.post([this, p] { on_place(p); }); });
    if (acquired && options_.once_per) {
        once_record record(client_, options_.path, acquired->transact);
        acquired->ran_recently = record.succeeded_within(*options_.once_per);
    }
    if (acquired && !options_.command.empty()) {
        await_time_for_grace(*acquired, stop);
    }
    return acquired;
}

void acquisition::on_place(const queue_position& p) {
    static_cast<void>(grace_within(options_, client_.session_timeout()));
    line_.on_place(p);
    if (p.position == 0) {
        return;  // "acquired" says it
    }
    const auto predecessor = escaped(p.predecessor);
    output_.event(
        "waiting",
        fmt::format("waiting behind {}; the predecessor is {}", p.position, predecessor),
        {{"node", escaped(p.path)}, {"position", p.position}, {"predecessor", predecessor}});
}

}  // namespace latchkey::cli
