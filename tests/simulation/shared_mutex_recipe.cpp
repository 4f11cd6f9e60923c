#include "shared_mutex_recipe.hpp"

#include <latchkey/shared_mutex.hpp>

#include "shared_mutex_judge.hpp"

#include <utility>

namespace latchkey::simulation {
namespace {

using std::chrono::nanoseconds;

class used_shared_mutex final : public used_object {
public:
    used_shared_mutex(client& c, const std::string& path, const lock_options& o)
        : used_object(o), mutex_(c, path, o) {}

    void acquire(const wish& w, limit l, acquire_options how, handler done) override {
        mutex_.async_acquire(w.mode, l.value_or(for_ever), std::move(how), std::move(done));
    }

    void convert(hold h, lock_mode to, limit l, acquire_options how, handler done) override {
        mutex_.async_convert(
            std::move(h), to, l.value_or(for_ever), std::move(how), std::move(done));
    }

private:
    static constexpr auto for_ever = nanoseconds::max();

    shared_mutex mutex_;
};

}  // namespace

std::unique_ptr<used_object> shared_mutex_recipe::make(
    stage& s, client& c, const std::vector<std::string>& paths) const {
    return std::make_unique<used_shared_mutex>(c, paths.front(), draw_times_and_turns(s));
}

std::unique_ptr<judge> shared_mutex_recipe::judge_of(stage& s) const {
    return std::make_unique<shared_mutex_judge>(s);
}

wish shared_mutex_recipe::draw_wish(const plan&, model::random_source& random) const {
    const auto drawn = random.below(10);
    return {.mode = drawn < 5   ? lock_mode::shared
                    : drawn < 8 ? lock_mode::exclusive
                                : lock_mode::upgrade};
}

std::optional<lock_mode> shared_mutex_recipe::draw_change(model::random_source& random,
                                                          lock_mode from) const {
    if (!random.chance(0.4)) {
        return std::nullopt;
    }
    const bool one = random.chance(0.5);
    switch (from) {
        case lock_mode::shared:
            return one ? lock_mode::upgrade : lock_mode::exclusive;
        case lock_mode::upgrade:
            return one ? lock_mode::exclusive : lock_mode::shared;
        default:
            return one ? lock_mode::upgrade : lock_mode::shared;
    }
}

}  // namespace latchkey::simulation
