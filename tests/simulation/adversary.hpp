#pragma once

#include "ensemble/connection.hpp"
#include "ensemble/virtual/fault_plan.hpp"
#include "judge.hpp"
#include "loop/loop.hpp"
#include "program.hpp"
#include "stage.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace latchkey::simulation {

/// Makes things go wrong: at any time, and right before or after a request is done, aimed at who
/// sent it, who is ahead of it, or who holds. Each trouble ends by itself. On the loop only.
class adversary {
public:
    using programs = std::vector<std::shared_ptr<program>>;

    adversary(stage& s, judge& j, const programs& all);

    adversary(const adversary&) = delete;
    adversary& operator=(const adversary&) = delete;

    void begin();

    /// No new trouble, and the present one is over.
    void end();

    [[nodiscard]] model::fault_plan::verdict at_request(const model::connection& c,
                                                        const model::packet& p);
    void at_answer(const model::connection& c, const request& r);

private:
    [[nodiscard]] bool rests() const noexcept;
    void strike_later();
    [[nodiscard]] fault some_fault();
    [[nodiscard]] std::int64_t some_session();
    [[nodiscard]] std::int64_t aim(std::int64_t sender);
    [[nodiscard]] duration lasting();
    [[nodiscard]] int some_server(bool leading);
    [[nodiscard]] program* program_of(std::int64_t session) const;
    [[nodiscard]] std::string some_directory();

    void strike(fault f, std::int64_t session);
    void note_disturbance(fault f);
    void connection_trouble(fault f, std::int64_t session);
    void late(fault f, std::int64_t session, duration lasting);
    void cut_off(std::int64_t session);
    void process_trouble(fault f, std::int64_t session);
    void operator_trouble(fault f, std::int64_t session);
    void delete_directory(const std::string& directory);
    void add_foreign_child(const std::string& directory);
    void rename(std::string& name);
    void lag(int follower, duration by);
    void server_trouble(fault f);
    void undo_later(duration after, std::function<void()> undo);

    struct trouble {
        std::unique_ptr<timer> until;
        std::function<void()> undo;
    };

    stage& stage_;
    judge& judge_;
    const programs& programs_;
    double all_weights_ = 0;
    timer next_;
    std::vector<std::shared_ptr<trouble>> present_;
    std::map<std::int64_t, fault> after_answer_;  ///< by session
    std::uint64_t strikes_ = 0;
    int crashes_left_ = 2;
    bool cut_off_ = false;                   ///< a follower is, with a client
    std::set<std::string> sequences_ended_;  ///< directories: numbers never go back
};

}  // namespace latchkey::simulation
