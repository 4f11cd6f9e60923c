#pragma once

#include <latchkey/double_barrier.hpp>

#include "barrier_judge.hpp"
#include "meeting_worker.hpp"

#include <cstddef>
#include <memory>
#include <optional>
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

    /// Of the object of that number: nothing if it was destroyed.
    [[nodiscard]] std::optional<bool> says(int object) const;

    [[nodiscard]] std::string data() const { return name_ + '#' + std::to_string(made_); }

    barrier_judge& rounds_;
    std::unique_ptr<double_barrier> barrier_;
    int made_ = 0;                     ///< objects
    std::optional<std::size_t> turn_;  ///< while it is inside
};

}  // namespace latchkey::simulation
