#pragma once

#include <latchkey/double_barrier.hpp>

#include "double_barrier_judge.hpp"
#include "meeting_worker.hpp"

#include <memory>
#include <string>

namespace latchkey::simulation {

/// One participant, as a service would be: it enters, stays for a while, leaves, and enters again,
/// with the same object or another one.
class double_barrier_worker final : public meeting_worker {
public:
    double_barrier_worker(program& of, std::size_t object, std::string name);

    void release() override;

private:
    void go_on() override;
    bool wind_up() override;
    void destroy() override;
    void make();
    void enter();
    void leave();
    void enter_once_more();

    [[nodiscard]] bool inside() const { return attender_ && attender_->in; }

    double_barrier_judge& rounds_;
    std::unique_ptr<double_barrier> barrier_;
    std::shared_ptr<attender> attender_;  ///< of it
    int made_ = 0;
};

}  // namespace latchkey::simulation
