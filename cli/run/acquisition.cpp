#include "run/acquisition.hpp"

#include "text/escape.hpp"

#include <algorithm>
#include <exception>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace latchkey::cli {

acquisition::acquisition(client& c,
                         main_thread_queue& queue,
                         const status_output& output,
                         const run_options& options,
                         const run_kind& kind,
                         handler done)
    : client_(c),
      queue_(queue),
      output_(output),
      options_(options),
      kind_(kind),
      done_(std::move(done)),
      connection_(c, queue, output),
      line_(c, queue, output, options.path, kind.waits_for) {}

void acquisition::begin() {
    canceled_ = false;
    line_.begin();
    cancel_ = std::stop_source();
    attempt_.emplace([this, stop = cancel_.get_token()] {
        try {
            const auto acquired = std::make_shared<std::optional<held_resource>>(acquire(stop));
            queue_.post([this, acquired] {
                line_.end();
                done_(std::move(*acquired));
            });
        } catch (...) {
            queue_.post([this, failure = std::current_exception()] {
                line_.end();
                if (!canceled_) {
                    std::rethrow_exception(failure);
                }
                done_({});
            });
        }
    });
}

void acquisition::cancel() {
    canceled_ = true;
    line_.end();
    cancel_.request_stop();
}

std::optional<held_resource> acquisition::acquire(const std::stop_token& stop) {
    auto acquired = kind_.acquire(client_, stop, [this](const queue_position& p) {
        queue_.post([this, p] { on_place(p); });
    });
    if (acquired && options_.once_per) {
        once_record record(client_, options_.path, acquired->transact);
        acquired->ran_recently = record.succeeded_within(*options_.once_per);
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

void acquisition::report() {
    connection_.report_trouble();
    line_.refresh();
}

int acquisition::poll_limit() const noexcept {
    const int one = connection_.poll_limit();
    const int other = line_.poll_limit();
    return one < 0 || other < 0 ? std::max(one, other) : std::min(one, other);
}

}  // namespace latchkey::cli
