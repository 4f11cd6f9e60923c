#pragma once

#include "held_intervals.hpp"

#include <chrono>
#include <cstdint>
#include <future>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <sys/types.h>

namespace latchkey::test {

/// A program in another language, with another library, that uses its locks as it is told. It ends
/// with this object, and with the test.
///
/// It reads commands, one a line, "<number> <verb> <lock> ...", and answers each with
/// "<number> ok ...", "<number> no", or "<number> error ...", in the order in which they end.
/// Commands to different locks do not wait for each other. "- ..." tells what happened by itself.
class peer {
public:
    [[nodiscard]] static peer curator(const std::string& servers);
    [[nodiscard]] static peer kazoo(const std::string& servers);

    ~peer();
    peer(const peer&) = delete;
    peer& operator=(const peer&) = delete;

    /// Makes a lock that the others speak of by its name. What `kind` there are, the programs say.
    void open(const std::string& lock,
              const std::string& kind,
              const std::string& path,
              int limit = 1);

    /// Ready when it has been granted.
    [[nodiscard]] std::future<std::string> acquire(const std::string& lock, int permits = 1);

    [[nodiscard]] bool try_acquire(const std::string& lock,
                                   std::chrono::milliseconds limit,
                                   int permits = 1);
    void release(const std::string& lock);
    /// The same where it takes others to do so: Curator's double barrier. Ready when it has.
    [[nodiscard]] std::future<std::string> leave(const std::string& barrier);
    /// Makes Curator's barrier stand.
    void set(const std::string& barrier);

    /// Curator tells names, and the data of a group's members behind them; kazoo tells data.
    [[nodiscard]] std::vector<std::string> participants(const std::string& lock);

    /// Curator's Revoker.
    void revoke(const std::string& znode);

    /// Acquires and releases again and again. Whoever holds adds one to the number in the file
    /// `counter`, unless that is "-".
    [[nodiscard]] std::future<std::string> contend(const std::string& lock,
                                                   std::chrono::milliseconds time,
                                                   const std::string& counter,
                                                   int permits = 1);

    /// Whether it says that something has happened, now or soon.
    [[nodiscard]] bool says(const std::string& event);

private:
    explicit peer(const std::vector<std::string>& command);

    std::future<std::string> ask(const std::string& command);
    void read();
    void on_line(const std::string& line);

    pid_t pid_ = 0;
    int in_ = -1;   ///< what it reads from
    int out_ = -1;  ///< what it writes to
    std::mutex guard_;
    int asked_ = 0;
    std::map<std::string, std::promise<std::string>> awaited_;
    std::vector<std::string> events_;
    std::thread reader_;
};

/// The answer, which has to be there soon; throws what went wrong.
std::string answer_of(std::future<std::string> answer);

/// What a contend() was answered with.
[[nodiscard]] std::vector<held_interval> intervals_of(std::future<std::string> answer);

[[nodiscard]] bool is_ready(const std::future<std::string>& answer,
                            std::chrono::milliseconds limit = {});

}  // namespace latchkey::test
