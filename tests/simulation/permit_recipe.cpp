#include "permit_recipe.hpp"

#include <latchkey/curator_semaphore.hpp>
#include <latchkey/error.hpp>
#include <latchkey/semaphore.hpp>

#include "permit_judge.hpp"
#include "stage.hpp"

#include <chrono>
#include <cmath>
#include <string_view>
#include <utility>

namespace latchkey::simulation {
namespace {

using std::chrono::nanoseconds;

/// Of the semaphore that has this queue.
std::string path_of(const std::string& queue) {
    return queue.substr(0, queue.rfind('/'));
}

template <class Semaphore>
class used_semaphore final : public used_object {
public:
    template <typename... Arguments>
    used_semaphore(const lock_options& o,
                   std::optional<std::uint32_t> stated,
                   Arguments&&... arguments)
        : used_object(o), semaphore_(std::forward<Arguments>(arguments)..., o), stated_(stated) {}

    [[nodiscard]] std::optional<std::uint32_t> stated_limit() const override { return stated_; }

    void acquire(const wish& w, limit l, acquire_options how, handler done) override {
        semaphore_.async_acquire(
            w.permits, l.value_or(nanoseconds::max()), std::move(how), std::move(done));
    }

private:
    Semaphore semaphore_;
    const std::optional<std::uint32_t> stated_;
};

/// All objects are semaphores: where they queue, and where they have their permits.
void lay_out(plan& p, std::string_view queue, std::string_view permits, model::random_source& r) {
    for (plan::client& c : p.clients) {
        for (plan::object& o : c.objects) {
            o.more_directories = {o.directory + '/' + std::string(permits)};
            o.directory += '/' + std::string(queue);
        }
    }
    p.permits = 1 + static_cast<std::uint32_t>(r.below(5));
    p.resizes = r.chance(0.3) ? 0 : 0.02 * std::exp2(r.below(4));
}

wish draw_permits(std::uint32_t most, model::random_source& random) {
    return {.permits = random.chance(0.4) ? 1 : 1 + static_cast<std::uint32_t>(random.below(most))};
}

}  // namespace

// ---- ours ----

/// An object may state the limit; a wrong one is reported.
std::unique_ptr<used_object> semaphore_recipe::make(stage& s,
                                                    client& c,
                                                    const std::vector<std::string>& paths) const {
    const std::string path = path_of(paths.front());
    const auto drawn = s.random("make").below(100);
    const std::uint32_t right = s.what.permits;
    if (drawn < 40) {
        return std::make_unique<used_semaphore<semaphore>>(
            draw_times(s, false), std::nullopt, c, path);
    }
    const std::uint32_t stated = drawn < 95 ? right : right + 1;
    return std::make_unique<used_semaphore<semaphore>>(
        draw_times(s, false), stated, c, path, stated);
}

std::unique_ptr<judge> semaphore_recipe::judge_of(stage& s) const {
    return std::make_unique<permit_judge>(s);
}

void semaphore_recipe::adapt(plan& p, model::random_source& random) const {
    lay_out(p, "queue", "permits", random);
}

wish semaphore_recipe::draw_wish(const plan& p, model::random_source& random) const {
    return draw_permits(random.chance(0.05) ? p.permits + 2 : p.permits, random);
}

/// Somebody resizes it, to anything from one permit to some more than there were.
void semaphore_recipe::meanwhile(stage& s, const plan::object& o) const {
    if (!s.random("meanwhile").chance(s.what.resizes)) {
        return;
    }
    try {
        s.servers.set(path_of(o.directory),
                      std::to_string(1 + s.random("meanwhile").below(s.what.permits + 2)));
    } catch (const error&) {  // it is not there yet, or there is no leader
    }
}

// ---- Curator's ----

std::unique_ptr<used_object> curator_semaphore_recipe::make(
    stage& s, client& c, const std::vector<std::string>& paths) const {
    return std::make_unique<used_semaphore<curator_semaphore>>(
        draw_times(s, false), s.what.permits, c, path_of(paths.front()), s.what.permits);
}

std::unique_ptr<judge> curator_semaphore_recipe::judge_of(stage& s) const {
    return std::make_unique<permit_judge>(s);
}

void curator_semaphore_recipe::adapt(plan& p, model::random_source& random) const {
    lay_out(p, "locks", "leases", random);
}

wish curator_semaphore_recipe::draw_wish(const plan& p, model::random_source& random) const {
    return draw_permits(p.permits, random);
}

}  // namespace latchkey::simulation
