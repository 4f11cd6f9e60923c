#pragma once

#include "serve/lock_reader.hpp"
#include "serve/snapshot.hpp"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace latchkey::cli {

/// Reads the locks again and again, on a thread of its own, for all that ask.
class reading_loop {
public:
    /// Called on that thread after each reading, and when one has failed. Must not throw.
    using listener = std::function<void(const std::shared_ptr<const snapshot>& before,
                                        const std::shared_ptr<const snapshot>& now)>;

    reading_loop(lock_reader reader, std::chrono::nanoseconds every, listener on_reading);
    reading_loop(const reading_loop&) = delete;
    reading_loop& operator=(const reading_loop&) = delete;

    /// Close the client of the reader first: then a reading that is under way ends at once.
    ~reading_loop();

    /// The latest; never null. Any thread.
    [[nodiscard]] std::shared_ptr<const snapshot> latest() const;

    /// Somebody has asked: while nobody does, it reads less often. Any thread.
    void asked();

private:
    using clock = std::chrono::steady_clock;

    void run(const std::stop_token& stop);
    void read(const std::stop_token& stop);
    void pause(const std::stop_token& stop);

    const lock_reader reader_;
    const std::chrono::nanoseconds every_;
    const listener on_reading_;

    mutable std::mutex guard_;
    std::condition_variable_any wake_;
    std::shared_ptr<const snapshot> latest_;
    clock::time_point asked_ = clock::now();
    clock::time_point began_{};
    std::chrono::nanoseconds took_{};
    std::jthread thread_;
};

/// How long after the begin of a reading that took `took` the next one begins, if the last one who
/// asked did so `unasked_for` ago. Not before the pause was as long as the reading. After two
/// minutes in which nobody asked (ten times `every` if that is longer), once a minute at most.
[[nodiscard]] std::chrono::nanoseconds next_reading_after(std::chrono::nanoseconds every,
                                                          std::chrono::nanoseconds took,
                                                          std::chrono::nanoseconds unasked_for);

}  // namespace latchkey::cli
