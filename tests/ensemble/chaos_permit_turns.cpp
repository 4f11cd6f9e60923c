// Turns with permits of a semaphore, which is resized now and then, or of one like Curator's.
#include <latchkey/curator_semaphore.hpp>
#include <latchkey/semaphore.hpp>

#include "chaos_turns.hpp"
#include "in_time.hpp"

namespace latchkey::test {
namespace {

/// What a resize leaves at least.
constexpr std::uint32_t fewest = permits_at_first - 1;

template <class Semaphore>
class permit_turns : public turns {
public:
    template <class... Limit>
    permit_turns(worker_tools& tools, std::uint64_t seed, Limit... limit) : turns(tools, seed) {
        for (int i = 0; i < order().locks; ++i) {
            semaphores_.push_back(std::make_unique<Semaphore>(zk(), order().path(i), limit...));
        }
    }

protected:
    [[nodiscard]] Semaphore& some() { return *semaphores_[below(semaphores_.size())]; }

    void take_one(const std::stop_token& stop) override {
        Semaphore& s = some();
        const auto permits = static_cast<std::uint32_t>(1 + below(permits_at_first));
        attempt(
            {.locks = {s.path()}, .permits = permits},
            [&](std::int64_t number) { return ask_for(s, number, stop, permits); },
            [&](hold& h, std::int64_t number) {
                linger(h, order().beside(s.path()), number);
                tell_ended(number, h);
            });
    }

private:
    /// More than there are left after a resize is refused.
    [[nodiscard]] bool excuses(const error& e, const history::wish& asked) const override {
        return turns::excuses(e, asked) ||
               (asked.permits > fewest && e.code() == errc::invalid_argument);
    }

    std::vector<std::unique_ptr<Semaphore>> semaphores_;
};

class semaphore_turns final : public permit_turns<semaphore> {
public:
    using permit_turns::permit_turns;

private:
    void take_one(const std::stop_token& stop) override {
        if (below(30) == 0) {
            resize(some());
        }
        permit_turns::take_one(stop);
    }

    void resize(semaphore& s) {
        try {
            s.resize(static_cast<std::uint32_t>(fewest + below(4)));
        } catch (const error& e) {
            if (!(e.code() == errc::version_mismatch || e.code() == errc::indeterminate ||
                  ended_by_its_limit(e.code()))) {
                throw;
            }
        }
    }
};

}  // namespace

std::unique_ptr<turns> make_permit_turns(worker_tools& tools, std::uint64_t seed) {
    if (layout_of(tools.order.what) == history::layout::semaphore) {
        return std::make_unique<semaphore_turns>(tools, seed);
    }
    return std::make_unique<permit_turns<curator_semaphore>>(tools, seed, permits_at_first);
}

}  // namespace latchkey::test
