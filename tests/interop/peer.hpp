#pragma once

#include "child_process.hpp"
#include "held_intervals.hpp"

#include <chrono>
#include <future>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace latchkey::test {

class peer;

/// What a peer said to a command. It ends with this object, and with the test.
using peer_answer = std::future<std::string>;

/// A lock of a peer. Commands to different locks do not wait for each other.
class peer_lock {
public:
    peer_lock(peer& p, std::string name) : peer_(&p), name_(std::move(name)) {}

    /// Ready when it has been granted.
    [[nodiscard]] peer_answer acquire(int permits = 1) const;
    [[nodiscard]] bool try_acquire(std::chrono::milliseconds limit, int permits = 1) const;
    void release() const;
    /// The same where it takes others to do so: Curator's double barrier. Ready when it has.
    [[nodiscard]] peer_answer leave() const;
    /// Makes Curator's barrier stand.
    void set() const;

    /// Curator tells names, and the data of a group's members behind them; kazoo tells data.
    [[nodiscard]] std::vector<std::string> participants() const;

    /// Acquires and releases again and again: the intervals. Whoever holds adds one to the number
    /// in the file `counter`, unless that is "-".
    [[nodiscard]] std::future<intervals> contend(std::chrono::milliseconds time,
                                                 const std::string& counter = "-",
                                                 int permits = 1) const;

    /// Whether it says that this has happened to the lock, now or soon.
    [[nodiscard]] bool says(const std::string& event) const;

private:
    peer* peer_;
    std::string name_;
};

/// A program in another language, with another library, that uses its locks as it is told. It ends
/// with this object, and with the test.
///
/// It reads commands, one a line, "<number> <verb> <lock> ...", and answers each with
/// "<number> ok ...", "<number> no", or "<number> error ...", in the order in which they end.
/// Commands to different locks do not wait for each other. "- ..." tells what happened by itself.
class peer {
public:
    [[nodiscard]] static std::vector<std::string> curator(const std::string& servers);
    [[nodiscard]] static std::vector<std::string> kazoo(const std::string& servers);

    explicit peer(std::vector<std::string> command);
    ~peer();
    peer(const peer&) = delete;
    peer& operator=(const peer&) = delete;

    /// Makes a lock. What `kind` there are, the programs say. Elections and groups know it by its
    /// name; others have one that nobody needs to know.
    peer_lock open(const std::string& kind,
                   const std::string& path,
                   int limit = 1,
                   std::string name = {});

    /// Curator's Revoker.
    void revoke(const std::string& znode);

    [[nodiscard]] peer_answer ask(const std::string& command);
    /// Whether it says that something has happened, now or soon.
    [[nodiscard]] bool says(const std::string& event);

private:
    void on_line(const std::string& line);

    child_process process_;
    std::mutex guard_;
    int asked_ = 0;
    std::map<std::string, std::promise<std::string>> awaited_;
    std::vector<std::string> events_;
    std::thread reader_;
};

/// The answer, which has to be there soon; throws what went wrong.
std::string answer_of(peer_answer answer);

/// For what may be `ready` in another way than by being granted, too.
template <class T>
[[nodiscard]] bool is_ready(const std::future<T>& answer, std::chrono::milliseconds limit = {}) {
    return answer.wait_for(limit) == std::future_status::ready;
}

}  // namespace latchkey::test
