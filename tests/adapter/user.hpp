#pragma once

#include "adapter_stage.hpp"
#include "counted_resolver.hpp"
#include "ensemble/virtual/virtual_loop.hpp"
#include "ensemble/virtual/virtual_process.hpp"
#include "loop/io_loop.hpp"
#include "session/session.hpp"
#include "user_watches.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace latchkey::test {

/// One program: sessions one after the other, requests of all kinds on them, and what a session
/// promises is checked with each answer.
class adapter_user {
public:
    static constexpr int many = 200;

    adapter_user(adapter_stage& stage, int number, std::chrono::milliseconds timeout);
    ~adapter_user();
    adapter_user(const adapter_user&) = delete;
    adapter_user& operator=(const adapter_user&) = delete;

    [[nodiscard]] const std::shared_ptr<virtual_process>& process() { return process_; }

    [[nodiscard]] bool connected() const { return connected_; }

    [[nodiscard]] std::int64_t id() const { return id_; }

    /// Connected, or without a session to go on with.
    [[nodiscard]] bool settled() const { return connected_ || id_ == 0 || over_; }

    /// No more requests; the session stays.
    void rest() { resting_ = true; }

    [[nodiscard]] bool idle() const { return unanswered_ == 0; }

    /// After the run, and once again when what the servers have told has come: watches tell.
    void note_changes();
    void check_watches();
    /// After the run: the session has let go of what it was asked.
    void check_memory();

    /// Watches `/many/iN`, each N below `many`, and forgets most of these watches.
    void watch_many();
    /// When these are answered: few are kept.
    void check_watches_kept();

    /// Ends the session, if it is not over.
    void close();

    [[nodiscard]] bool over() const { return over_; }

private:
    struct question;

    void open();
    void on_event(const session_event& e);
    void on_connected(const session_event& e);
    void on_expired();
    void check_pace();
    void act();
    void reconnect();
    void drop();
    void ask_something();
    void ask(request r, bool watch);
    void answered(question& q, reply r);
    void check_answer(const question& q, const reply& r);
    void note(const std::string& what) const;

    adapter_stage& stage_;
    const int number_;
    const std::chrono::milliseconds timeout_;
    std::shared_ptr<virtual_process> process_;
    std::shared_ptr<io_loop> loop_;
    counted_resolver names_;
    std::unique_ptr<session_factory> sessions_;
    std::unique_ptr<session> session_;
    timer next_act_;
    timer give_up_;
    timer close_limit_;
    int generation_ = 0;
    std::int64_t id_ = 0;
    bool connected_ = false;
    int connections_ = 0;
    bool over_ = false;
    std::chrono::nanoseconds suspended_at_{};
    std::chrono::nanoseconds first_trouble_{};
    int troubles_ = 0;  ///< since it was connected
    bool closing_ = false;
    bool resting_ = false;
    bool in_callback_ = false;
    bool barrier_awaited_ = false;  ///< the write that this connection begins with
    std::uint64_t asked_ = 0;
    std::uint64_t last_definite_ = 0;
    std::size_t unanswered_ = 0;
    std::int64_t last_czxid_ = 0;
    std::map<std::string, std::int64_t> seen_;  ///< the newest mzxid of each path, this session
    std::deque<std::string> own_;               ///< sequential znodes
    std::shared_ptr<int> kept_ = std::make_shared<int>(0);  ///< by each completion
    user_watches watches_;
    std::vector<std::shared_ptr<question>> questions_;
};

}  // namespace latchkey::test
