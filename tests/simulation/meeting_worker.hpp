#pragma once

#include "caller.hpp"
#include "judge.hpp"
#include "loop/loop.hpp"
#include "program.hpp"
#include "stage.hpp"

#include <cstddef>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace latchkey::simulation {

/// Who uses a barrier or a group, which is its own: one call at a time, beside those of objects
/// that it has destroyed meanwhile.
class meeting_worker : public caller, public std::enable_shared_from_this<meeting_worker> {
public:
    meeting_worker(program& of, std::size_t object, std::string name);

    void rest() override;
    void cancel() override;

protected:
    /// The next step when the run ends. False when there is nothing left to do.
    virtual bool wind_up() = 0;

    struct asked {
        std::shared_ptr<call> what;
        std::stop_token stop;
    };

    /// A call that begins now; `tries` of them do not want to wait.
    [[nodiscard]] asked begins(double tries);
    /// That it was told.
    void ends(const call& c);

    [[nodiscard]] bool calls() const noexcept { return call_ != nullptr; }

    /// Not one that was left behind.
    [[nodiscard]] bool is_present(const call& c) const noexcept { return call_.get() == &c; }

    /// What waits goes on without us. If that has become too much, all of it is cancelled: each
    /// asks again after every loss of the session, and meets with faults by the number of requests.
    void leave_behind();

    /// All that wait, also what was left behind.
    void cancel_all();

    [[nodiscard]] bool waits() const noexcept { return !open_.empty(); }

    /// Now and then, from inside a callback: throws.
    void misbehave();

    [[nodiscard]] bool chance(std::string_view decision, double p) {
        return stage_.random(decision).chance(p);
    }

    judge& judge_;
    duration longest_rest_;

private:
    void stop(const call& c);

    std::vector<std::pair<std::shared_ptr<call>, std::stop_source>> open_;
    std::shared_ptr<call> call_;
    timer cancel_;
};

}  // namespace latchkey::simulation
