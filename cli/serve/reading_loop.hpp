#pragma once

#include "output/main_loop.hpp"
#include "serve/lock_reader.hpp"
#include "serve/snapshot.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>

namespace latchkey::cli {

/// Reads the locks again and again, for all that ask. Used by the thread that runs the loop; each
/// reading has a thread of its own.
class reading_loop {
public:
    using shown = std::shared_ptr<const snapshot>;

    /// Called on the thread of a reading when it has ended or failed. The loop runs what it
    /// returns, as soon as `now` is the latest. Must not throw.
    using listener = std::function<main_loop::task(const shown& before, const shown& now)>;

    /// `loop` must outlive this object. To be destroyed when the client of the reader was closed:
    /// then a reading that is under way ends at once.
    reading_loop(main_loop& loop,
                 lock_reader reader,
                 std::chrono::nanoseconds every,
                 listener on_reading);
    reading_loop(const reading_loop&) = delete;
    reading_loop& operator=(const reading_loop&) = delete;

    /// Never null.
    [[nodiscard]] const shown& latest() const noexcept { return latest_; }

    /// A client has asked: while none does, it reads less often.
    void asked();

private:
    using clock = std::chrono::steady_clock;

    void begin();
    [[nodiscard]] shown read(const snapshot& before, const std::stop_token& stop) const;
    void read_when_due();

    const lock_reader reader_;
    const std::chrono::nanoseconds every_;
    const listener on_reading_;
    shown latest_;
    clock::time_point asked_ = clock::now();
    clock::time_point began_{};
    bool under_way_ = false;
    loop_timer due_;
    background_call reading_;
};

/// How long after the begin of a reading that took `took` the next one begins, if the last one who
/// asked did so `unasked_for` ago. Not before the pause was as long as the reading. After two
/// minutes in which nobody asked (ten times `every` if that is longer), once a minute at most.
[[nodiscard]] std::chrono::nanoseconds next_reading_after(std::chrono::nanoseconds every,
                                                          std::chrono::nanoseconds took,
                                                          std::chrono::nanoseconds unasked_for);

}  // namespace latchkey::cli
