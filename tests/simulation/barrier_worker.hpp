#pragma once

#include <latchkey/barrier.hpp>

#include "barrier_judge.hpp"
#include "meeting_worker.hpp"

#include <functional>
#include <memory>
#include <string>
#include <system_error>

namespace latchkey::simulation {

/// Sets a barrier, removes it, and waits for it, also if another client set it.
class barrier_worker final : public meeting_worker {
public:
    barrier_worker(program& of, std::size_t object, std::string name);

    /// Takes it away early.
    void release() override;

private:
    using deed = barrier_judge::deed;

    void go_on() override;
    bool wind_up() override;
    void destroy() override;
    void wait();
    void change(deed to);
    [[nodiscard]] std::function<void(std::error_code, bool)> told(const asked& a, deed what);

    barrier_judge& barriers_;
    std::unique_ptr<barrier> barrier_;
};

}  // namespace latchkey::simulation
