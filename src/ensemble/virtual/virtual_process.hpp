#pragma once

#include "ensemble/virtual/virtual_loop.hpp"

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <utility>

namespace latchkey::inline v0 {

/// The loop of one simulated process. It can be stopped, as by SIGSTOP, while the others run. What
/// falls due meanwhile runs late, in the order in which it fell due. It keeps the virtual loop
/// alive.
class virtual_process final : public loop {
public:
    [[nodiscard]] static std::shared_ptr<virtual_process> make(std::shared_ptr<virtual_loop> owner);

    virtual_process(std::shared_ptr<virtual_loop> owner, std::uint32_t number) noexcept;

    /// The time of the process's own clock.
    [[nodiscard]] clock::time_point now() const noexcept override;

    void post(task t) override { owner_->post_as(number_, std::move(t)); }

    timer_id start_timer(clock::time_point at, task t) override {
        return owner_->start_timer_as(number_, at, due(at), std::move(t));
    }

    /// From now on its clock runs `rate` times as fast as the owner's: 0.5 to 2, in steps of a
    /// millionth. It does not jump. On the loop only.
    void set_clock_rate(double rate);

    /// The time, on the owner's clock, at which its own clock will show `at`.
    [[nodiscard]] clock::time_point due(clock::time_point at) const noexcept;

    /// The duration, on the owner's clock, of `d` on its own clock, at the present rate.
    [[nodiscard]] clock::duration lasting(clock::duration d) const noexcept;

    void cancel_timer(timer_id id) noexcept override { owner_->cancel_timer(id); }

    [[nodiscard]] std::uint64_t random() override { return owner_->processes_[number_].numbers(); }

    [[nodiscard]] bool on_loop() const noexcept override { return owner_->on_loop(); }

    [[nodiscard]] bool stepped() const noexcept override { return owner_->stepped(); }

    /// On the loop only.
    void pause() { owner_->processes_[number_].paused = true; }

    void resume() { owner_->resume(number_); }

    [[nodiscard]] bool paused() const noexcept { return owner_->processes_[number_].paused; }

    [[nodiscard]] std::uint32_t number() const noexcept { return number_; }

private:
    /// How the clock has run from some moment on.
    struct clock_rate {
        clock::time_point since;  ///< by the owner's clock
        clock::time_point shown;  ///< what this clock showed then
        std::int64_t millionths;
    };

    std::shared_ptr<virtual_loop> owner_;
    std::uint32_t number_;
    std::deque<clock_rate> rates_;  ///< all so far: other threads may still read an earlier one
    std::atomic<const clock_rate*> rate_{nullptr};  ///< null: the owner's clock
};

}  // namespace latchkey::inline v0
