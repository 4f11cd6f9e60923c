#pragma once

#include <latchkey/fencing_token.hpp>

#include <chrono>
#include <cstdint>
#include <string>

#include <sys/types.h>

namespace latchkey::test {

/// A holder, or a leader, in a process of its own, which can be killed and stopped. It holds when
/// the constructor returns.
///
/// The program's main() calls run_holder() if is_holder(): the process is this program again.
class holder_process {
public:
    enum class held_by : std::uint8_t { mutex, leader_latch };

    holder_process(const std::string& servers,
                   const std::string& lock,
                   std::chrono::milliseconds session_timeout,
                   held_by what = held_by::mutex);
    holder_process(const holder_process&) = delete;
    holder_process& operator=(const holder_process&) = delete;
    /// Kills it, if it still runs.
    ~holder_process();

    [[nodiscard]] fencing_token token() const { return token_; }

    void kill();    ///< SIGKILL
    void stop();    ///< SIGSTOP; returns when all of it stands still
    void resume();  ///< SIGCONT

    // Orders, which it carries out one after the other; a stopped one does when it is resumed.
    void look() { say("look"); }  ///< "valid", or "lost"

    void write(const std::string& znode) { say("write " + znode); }  ///< "done", or why not

    void release() { say("release"); }  ///< "released"

    /// What the next order has led to. Blocks; throws when the process is no more.
    [[nodiscard]] std::string answer();

private:
    void say(const std::string& line);

    pid_t pid_ = 0;
    int orders_ = -1;
    int answers_ = -1;
    fencing_token token_;
};

[[nodiscard]] bool is_holder(int argc, char** argv);
int run_holder(char** argv);

}  // namespace latchkey::test
