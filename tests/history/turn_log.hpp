#pragma once

#include "history.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace latchkey::history {

/// What one worker process tells of its turns: a file of JSON lines, each written at once, so that
/// a process killed at any moment leaves whole lines, but perhaps the last. From any thread.
class turn_log {
public:
    explicit turn_log(const std::filesystem::path& file);
    ~turn_log();
    turn_log(const turn_log&) = delete;
    turn_log& operator=(const turn_log&) = delete;

    void session(std::int64_t id);
    /// `attempt` numbers the process's turns; it is reported before anything else of the turn.
    void invoked(std::int64_t attempt, nanoseconds at, const wish& asked);
    void reserved(std::int64_t attempt, const std::string& znode);
    void granted(std::int64_t attempt,
                 std::int64_t token,
                 const std::vector<std::string>& znodes,
                 std::int64_t session,
                 const observation& first);
    void saw(std::int64_t attempt, const observation& o);
    void wrote(std::int64_t attempt, const effect& e);
    void guarded(std::int64_t attempt, const guarded_effect& e);
    void ended(std::int64_t attempt, nanoseconds at);
    /// It begins to leave its round; what it was told in the end: whether all have left.
    void leaving(std::int64_t attempt, nanoseconds at);
    void left(std::int64_t attempt, nanoseconds at, bool all);
    void failed(std::int64_t attempt, nanoseconds at, const std::string& why);

    /// An observer begins, and ends; `number` tells it from the process's others.
    void observes(std::int64_t number, nanoseconds at, const std::string& lock);
    void observed(std::int64_t number, const observer::sighting& s);
    void observed_last(std::int64_t number, nanoseconds at);

private:
    void write(std::string line) const;

    int file_;
};

/// Adds what the file tells to the history, as worker `worker`'s. Throws std::runtime_error for a
/// line that is none of the above.
void read_turns(const std::filesystem::path& file, int worker, history& to);

}  // namespace latchkey::history
