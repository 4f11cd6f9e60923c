// Turns with a shared_mutex: to read, to write, or to read first and perhaps write; and
// conversions.
#include <latchkey/shared_mutex.hpp>

#include "chaos_turns.hpp"
#include "in_time.hpp"

#include <array>

namespace latchkey::test {
namespace {

constexpr std::array modes{lock_mode::shared, lock_mode::upgrade, lock_mode::exclusive};

class shared_turns final : public turns {
public:
    shared_turns(worker_tools& tools, std::uint64_t seed) : turns(tools, seed) {
        for (int i = 0; i < order().locks; ++i) {
            locks_.push_back(std::make_unique<shared_mutex>(zk(), order().path(i)));
        }
    }

private:
    void take_one(const std::stop_token& stop) override {
        shared_mutex& lock = *locks_[below(locks_.size())];
        const lock_mode mode = below(2) == 0 ? lock_mode::shared : modes.at(below(modes.size()));
        attempt(
            {.locks = {lock.path()}, .mode = mode},
            [&](std::int64_t number) { return ask_for(lock, number, stop, mode); },
            [&](hold& h, std::int64_t number) { use(lock, h, number, stop); });
    }

    void use(shared_mutex& lock, hold& h, std::int64_t number, const std::stop_token& stop) {
        act(lock, h, number);
        for (std::size_t changes = below(4); changes > 0; --changes) {
            const lock_mode to = modes.at(below(modes.size()));
            tell_ended(number, h);
            if (to == h.mode() || !h.valid()) {
                return;
            }
            number = converted(lock, h, number, to, stop);
            if (number == 0) {
                return;
            }
            act(lock, h, number);
        }
        tell_ended(number, h);
    }

    void act(const shared_mutex& lock, const hold& h, std::int64_t number) {
        if (h.mode() == lock_mode::exclusive) {
            work(h, {lock.path()}, number);
        } else {
            linger(h, order().beside(lock.path()), number);
        }
    }

    /// The attempt that has the hold now, in whatever mode; 0 if it was lost.
    std::int64_t converted(
        shared_mutex& lock, hold& h, std::int64_t from, lock_mode to, const std::stop_token& stop) {
        history::wish asked{.locks = {lock.path()}, .mode = to, .converts = from};
        const std::int64_t number = invoke(asked);
        try {
            if (below(4) == 0) {
                static_cast<void>(
                    lock.try_convert_for(h, to, some_time() / 4, options(number, stop)));
            } else {
                static_cast<void>(lock.convert(h, to, options(number, stop)));
            }
        } catch (const error& e) {
            if (!ended_by_its_limit(e.code())) {
                tell_failure(number, asked, e);
                return 0;
            }
            // It is not converted, as if the time was over while others were ahead.
        }
        if (h.mode() == to) {
            tell_granted(number, h);
            return number;
        }
        log().ended(number, boottime_now());
        asked.mode = h.mode();
        const std::int64_t reached = invoke(asked);
        tell_granted(reached, h);
        return reached;
    }

    [[nodiscard]] bool excuses(const error& e, const history::wish& asked) const override {
        return turns::excuses(e, asked) || (asked.converts && e.code() == errc::hold_lost);
    }

    std::vector<std::unique_ptr<shared_mutex>> locks_;
};

}  // namespace

std::unique_ptr<turns> make_shared_turns(worker_tools& tools, std::uint64_t seed) {
    return std::make_unique<shared_turns>(tools, seed);
}

}  // namespace latchkey::test
