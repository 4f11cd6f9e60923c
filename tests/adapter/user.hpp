#pragma once

#include "ensemble/random_source.hpp"
#include "ensemble/virtual_loop.hpp"
#include "io_loop.hpp"
#include "network.hpp"
#include "session.hpp"
#include "simulation.hpp"

#include <cstdint>
#include <deque>
#include <iosfwd>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace latchkey::test {

/// What users of a run share.
struct adapter_stage {
    testing::ensemble& servers;
    network& net;
    model::random_source random;
    adapter_run& result;
    std::ostream* tale;
    bool faults = true;                 ///< still come
    bool survivable = false;            ///< connections break, and one server can always be reached
    std::set<std::int64_t> taken_away;  ///< sessions that the servers replaced

    void broken(const std::string& what);
    void tell(const std::string& what) const;

    [[nodiscard]] bool chance(unsigned percent) { return random.below(100) < percent; }
};

/// One program: sessions one after the other, requests of all kinds on them, and what a session
/// promises is checked with each answer.
class adapter_user {
public:
    static constexpr int directories = 3;
    static constexpr int items = 3;

    adapter_user(adapter_stage& stage, int number, std::chrono::milliseconds timeout);
    ~adapter_user();
    adapter_user(const adapter_user&) = delete;
    adapter_user& operator=(const adapter_user&) = delete;

    [[nodiscard]] const std::shared_ptr<virtual_loop::process>& process() { return process_; }

    [[nodiscard]] bool connected() const { return connected_; }

    [[nodiscard]] std::int64_t id() const { return id_; }

    /// No more requests; the session stays.
    void rest() { resting_ = true; }

    [[nodiscard]] bool idle() const { return unanswered_ == 0; }

    /// After the run: what should have been told has been told.
    void check_watches();

    /// Ends the session, if it is not over.
    void close();

    [[nodiscard]] bool over() const { return over_; }

private:
    struct question;
    struct watched;

    void open();
    void on_event(const session_event& e);
    void on_connected(const session_event& e);
    void on_expired();
    void check_pace();
    void act();
    void ask_something();
    void ask(request r, bool watch);
    void answered(question& q, reply r);
    void check_answer(const question& q, const reply& r);
    void note(const std::string& what) const;
    [[nodiscard]] std::string item();

    adapter_stage& stage_;
    const int number_;
    const std::chrono::milliseconds timeout_;
    std::shared_ptr<virtual_loop::process> process_;
    std::shared_ptr<io_loop> loop_;
    std::unique_ptr<session_factory> sessions_;
    std::unique_ptr<session> session_;
    timer next_act_;
    int generation_ = 0;
    std::int64_t id_ = 0;
    bool connected_ = false;
    bool over_ = false;
    std::chrono::nanoseconds suspended_at_{};
    std::chrono::nanoseconds first_trouble_{};
    int troubles_ = 0;  ///< since it was connected
    bool closing_ = false;
    bool resting_ = false;
    bool in_callback_ = false;
    std::uint64_t asked_ = 0;
    std::uint64_t last_definite_ = 0;
    std::size_t unanswered_ = 0;
    std::int64_t last_czxid_ = 0;
    std::map<std::string, std::int64_t> seen_;  ///< the newest mzxid of each path, this session
    std::deque<std::string> own_;               ///< sequential znodes
    std::vector<std::shared_ptr<watched>> watches_;
    std::vector<std::shared_ptr<question>> questions_;
};

}  // namespace latchkey::test
