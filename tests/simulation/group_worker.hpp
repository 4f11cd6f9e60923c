#pragma once

#include <latchkey/group.hpp>

#include "group_judge.hpp"
#include "meeting_worker.hpp"

#include <memory>
#include <string>

namespace latchkey::simulation {

/// Joins a group, says something else of itself now and then, leaves, and joins again; and watches
/// who is there.
class group_worker final : public meeting_worker {
public:
    group_worker(program& of, std::size_t object, std::string name);

    void release() override;

private:
    void go_on() override;
    bool wind_up() override;
    void destroy() override;
    void join();
    void leave();
    void change_data();
    void watch();
    void end_watch();
    [[nodiscard]] bool make();
    [[nodiscard]] std::string some_data();

    group_judge& groups_;
    std::unique_ptr<group> group_;
    std::shared_ptr<enrolment> enrolment_;  ///< while it is a member
    std::shared_ptr<watching> watching_;
    duration pause_{};
    std::string suffix_;  ///< of its names
    int said_ = 0;
};

}  // namespace latchkey::simulation
