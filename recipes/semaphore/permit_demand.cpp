#include "semaphore/permit_demand.hpp"

#include "client/blocking_read.hpp"
#include "loop/paced_retry.hpp"
#include "queue/own_znode.hpp"
#include "queue/participants.hpp"
#include "queue/queue_order.hpp"
#include "session/failure.hpp"
#include "text/path.hpp"
#include "znode/change_watch.hpp"
#include "znode/znode_swap.hpp"

#include <algorithm>
#include <utility>

namespace latchkey::inline v0 {
namespace {

/// As many znodes, with their data, as one transaction has room for.
constexpr std::uint32_t most_leases_at_once = 100;

/// `prefix` is what the name of the place in the queue begins with.
std::vector<std::string> paths_of(const permit_demand& demand, std::string_view prefix) {
    const auto path = [&](const std::string& ending) {
        return join_path(demand.directory, std::string(prefix) + ending);
    };
    if (!demand.leases) {
        return {path(std::string(permit_marker) + std::to_string(demand.count))};
    }
    std::vector<std::string> all;
    for (std::uint32_t i = 0; i < demand.count; ++i) {
        all.push_back(path(lease_ending(i)));
    }
    return all;
}

/// Waits, at the head of a semaphore's queue, until enough permits are free, and takes them.
///
/// Only heads take permits, and in the same transaction leave the queue. So the view of a new head
/// holds all that were taken before: one that is out of date can only count too many.
class permit_grant final : public last_step {
public:
    /// `demand` is that of `recipe`.
    permit_grant(std::shared_ptr<client_core> core,
                 std::shared_ptr<const queue_recipe> recipe,
                 const permit_demand& demand,
                 std::function<void(failure)> refused)
        : last_step(false),
          core_(std::move(core)),
          recipe_(std::move(recipe)),
          demand_(demand),
          refused_(std::move(refused)),
          retry_(core_->loop()) {}

    ~permit_grant() override { core_->heartbeat().withdraw(this); }

    /// Asks what is free. The answer counts if this participant was the first already then. Refuses
    /// what can never be granted.
    void ask_early() override {
        early_.emplace();
        asking_.start(look(nullptr), [this](seen s) {
            failure why = refusal(s);
            why ? refused_(std::move(why)) : early_->setter()(std::move(s));
        });
    }

    task<end> take(place p) override;

    [[nodiscard]] bool is_swapping() const override { return taking_; }

private:
    struct seen {
        reply limit = {};  ///< empty if it is not stored
        reply taken = {};
    };

    task<seen> look(const change_watch* changes) const;
    [[nodiscard]] task<std::optional<end>> swap(std::string from, seen s);
    [[nodiscard]] failure refusal(const seen& s) const;

    const std::shared_ptr<client_core> core_;
    const std::shared_ptr<const queue_recipe> recipe_;
    const permit_demand& demand_;       ///< kept by `recipe_`
    std::vector<std::string> permits_;  ///< the paths of the znodes to be
    const std::function<void(failure)> refused_;

    running_task asking_;                 ///< early
    std::optional<oneshot<seen>> early_;  ///< the answer to that
    bool taking_ = false;
    paced_retry retry_;
};

task<last_step::end> permit_grant::take(place p) {
    using enum step_end;
    const std::string_view own = name_of(p.znode.path());
    permits_ = paths_of(demand_, own.substr(0, own.rfind(recipe_->markers.get().exclusive)));
    std::optional<seen> early;
    if (p.first_since) {
        auto& asked = *early_;
        early = co_await asked;
    }
    bool watching = false;  // the permits, because there were too few
    while (true) {
        auto connected = core_->connection_made();
        co_await connected;
        const change_watch changes;
        seen s;
        if (early) {
            s = *std::exchange(early, std::nullopt);
        } else {
            auto looking = look(watching ? &changes : nullptr);
            s = co_await looking;
        }
        if (changes.has_fired()) {
            continue;
        }
        if (failure why = refusal(s)) {
            co_return end{refused, std::move(why)};
        }
        const std::optional<std::uint32_t> most = demand_.limit_in(s.limit.data);
        if (most) {
            demand_.limit_was_right->store(true);
        }
        if (s.limit.code == result_code::no_node) {
            co_return end{gone};  // the semaphore was removed, and our place with it
        }
        if (!most || !s.taken.tells_whether_there()) {
            watching = false;
            auto pause = core_->pause(retry_);
            co_await pause;
        } else if (demand_.taken(s.taken.names) + demand_.count <= *most) {
            watching = false;
            auto swapping = swap(p.znode.path(), std::move(s));
            std::optional<end> e = co_await swapping;
            if (e) {
                co_return *std::move(e);
            }
            auto pause = retry_.short_pause();
            co_await pause;
        } else if (!p.wait) {
            co_return end{refused};
        } else if (!watching) {
            // Next to be granted: it has to be believed then, and its znode has to be there.
            core_->heartbeat().demand(this, p.znode.path());
            p.znode.watch();
            watching = true;
        } else {
            auto changed = changes.until_changed(*core_);
            co_await changed;
        }
    }
}

task<permit_grant::seen> permit_grant::look(const change_watch* changes) const {
    const auto send = [&](request r) {
        return changes != nullptr ? changes->send(*core_, std::move(r)) : core_->send(std::move(r));
    };
    seen s;
    auto limit_asked = demand_.leases ? oneshot<reply>() : send(request::get(demand_.semaphore));
    auto taken_asked = send(request::children(demand_.directory));
    if (!demand_.leases) {
        s.limit = co_await limit_asked;
    }
    s.taken = co_await taken_asked;
    co_return s;
}

/// What was seen and will not change by waiting.
failure permit_grant::refusal(const seen& s) const {
    for (const result_code code : {s.limit.code, s.taken.code}) {
        if (refused_for_good(code)) {
            return failure_of(code, demand_.semaphore);
        }
    }
    const std::string name = '"' + escaped(demand_.semaphore) + '"';
    if (s.limit.code == result_code::no_node && !demand_.limit) {
        return {errc::no_such_znode,
                "there is no semaphore " + name + "; give a number of permits to create it"};
    }
    const auto known = demand_.limit_in(s.limit.data);
    if (s.limit.ok() && !known) {
        return demand_.not_a_semaphore();
    }
    if (known && demand_.limit.value_or(*known) != *known && !demand_.limit_was_right->load()) {
        return {errc::invalid_argument,
                name + " has " + std::to_string(*known) + " permits, not " +
                    std::to_string(*demand_.limit) + "; leave the number out, or resize it"};
    }
    return known && demand_.count > *known ? demand_.more_than(*known) : failure();
}

/// Nothing if the permits have to be looked at again.
task<std::optional<last_step::end>> permit_grant::swap(std::string from, seen s) {
    std::optional<oneshot<reply>> creation;
    if (!s.taken.ok()) {
        // There were no permits for long, and the servers have removed the empty container.
        creation.emplace(core_->send(
            request::create(demand_.directory, {}, create_mode::container, *recipe_->access)));
    }
    std::vector<request> to;
    for (const std::string& path : permits_) {
        to.push_back(request::create(
            path, recipe_->data(recipe_->mode), create_mode::ephemeral, *recipe_->access));
    }
    std::vector<request> guards;
    if (!demand_.leases) {
        guards.push_back(request::check(demand_.semaphore, s.limit.stat.version));
    }
    taking_ = true;
    auto swapping = swap_znodes(core_, std::move(to), std::move(guards), std::move(from));
    swapped done_now = co_await swapping;
    taking_ = false;
    if (done_now.what == swapped::kind::done) {
        co_return end{.what = step_end::done, .new_paths = permits_, .found = done_now.in_doubt};
    }
    if (done_now.what == swapped::kind::gone) {
        co_return end{step_end::gone};
    }
    if (done_now.what == swapped::kind::refused) {
        co_return end{step_end::refused, std::move(done_now.why)};
    }
    // Resized meanwhile, or the directory does not exist.
    if (creation) {
        auto& asked = *creation;
        const reply made = co_await asked;
        if (refused_for_good(made.code)) {
            co_return end{step_end::refused, failure_of(made.code, demand_.directory)};
        }
    }
    co_return std::nullopt;
}

queue_recipe permit_queue_of(const client_core& core,
                             const permit_demand& demand,
                             lock_options options) {
    check_path(demand.semaphore);
    queue_recipe recipe = queue_recipe_of(core,
                                          demand.semaphore + (demand.leases ? "/locks" : "/queue"),
                                          demand.leases ? curator_semaphore_names : semaphore_names,
                                          std::move(options),
                                          "permit");
    recipe.set_options([&demand](queue_options& own) { own.owner_path = demand.semaphore; });
    return recipe;
}

}  // namespace

std::unique_ptr<last_step> permit_demand::make_step(std::shared_ptr<client_core> core,
                                                    std::shared_ptr<const queue_recipe> recipe,
                                                    std::function<void(failure)> refused) const {
    return std::make_unique<permit_grant>(
        std::move(core), std::move(recipe), *this, std::move(refused));
}

directory_creation permit_demand::create_directories(client_core& core,
                                                     const queue_recipe& recipe) const {
    directory_creation made = leases ? core.create_directories(semaphore, *recipe.access)
                                     : core.create_parents(semaphore, *recipe.access);
    if (limit && !leases) {
        core.submit(request::create(
                        semaphore, std::to_string(*limit), create_mode::persistent, *recipe.access),
                    made.level());
    }
    core.submit(request::create(recipe.directory, {}, create_mode::container, *recipe.access),
                made.level());
    // That of the permits is looked for, and created, by whoever takes one: permit_grant.
    core.submit(request::create(directory, {}, create_mode::container, *recipe.access),
                [](const reply&) {});
    for (const std::string& each : {semaphore, recipe.directory, directory}) {
        core.look_at_access(each, *recipe.access);
    }
    return made;
}

std::optional<std::uint32_t> permit_demand::limit_in(std::string_view data) const noexcept {
    return leases ? limit : read_limit(data);
}

std::uint32_t permit_demand::permits_in(std::string_view name) const noexcept {
    return leases ? 1 : permits_of(name).value_or(0);
}

std::uint64_t permit_demand::taken(const std::vector<std::string>& names) const noexcept {
    return leases ? names.size() : permits_taken(names);
}

failure permit_demand::not_a_semaphore() const {
    return {errc::not_a_semaphore,
            '"' + escaped(semaphore) +
                "\" is not a semaphore: its data is not a number of permits; use another path"};
}

failure permit_demand::more_than(std::uint32_t most) const {
    return {errc::invalid_argument,
            std::to_string(count) + " permits of \"" + escaped(semaphore) +
                "\" can never be granted: its limit is " + std::to_string(most)};
}

// ---- the calls ----

void check_permits(std::uint32_t permits, const char* what, std::uint32_t most) {
    if (permits == 0 || permits > most) {
        throw error(errc::invalid_argument,
                    std::string(what) + " of " + std::to_string(permits) + " permits: give 1 to " +
                        std::to_string(most));
    }
}

permit_calls::permit_calls(const std::shared_ptr<client_core>& core,
                           permit_demand d,
                           lock_options options)
    : demand(std::move(d)),
      queue(permit_queue_of(*core, demand, std::move(options))),
      acquire(core) {}

std::shared_ptr<const queue_recipe> permit_calls::recipe(std::uint32_t permits) const {
    check_permits(permits, "an acquire", demand.leases ? most_leases_at_once : most_permits);
    auto mine = std::make_shared<permit_demand>(demand);
    mine->count = permits;
    if (demand.leases) {
        mine->more_than(*demand.limit).raise_unless(permits <= *demand.limit);
    }
    auto recipe = std::make_shared<queue_recipe>(queue);
    recipe->step_maker = std::move(mine);
    return recipe;
}

std::vector<reply> permit_calls::look(std::vector<request> questions) const {
    if (!demand.leases) {
        questions.insert(questions.begin(), request::get(demand.semaphore));
    }
    std::vector<reply> answers = blocking_read(acquire.core(), questions);
    for (std::size_t i = 0; i < answers.size(); ++i) {
        const bool may_be_missing = demand.leases || i > 0;  // the servers remove empty containers
        failure_of(answers[i].code, questions[i].path, questions[i].what)
            .raise_unless(answers[i].ok() || (may_be_missing && answers[i].tells_whether_there()));
    }
    return answers;
}

std::uint32_t permit_calls::limit_in(const reply& first) const {
    const auto limit = demand.limit_in(first.data);
    demand.not_a_semaphore().raise_unless(limit.has_value());
    return *limit;
}

std::uint32_t permit_calls::available() const {
    const auto answers = look({request::children(demand.directory)});
    const std::uint64_t most = limit_in(answers.front());
    return static_cast<std::uint32_t>(most - std::min(most, demand.taken(answers.back().names)));
}

std::vector<participant> permit_calls::participants() const {
    const auto answers =
        look({request::children(demand.directory), request::children(queue.directory)});
    std::vector<std::string> holders = answers[answers.size() - 2].names;
    std::erase_if(holders, [this](const auto& name) { return demand.permits_in(name) == 0; });
    std::vector<std::string> paths = paths_in(demand.directory, holders);
    for (auto& path : paths_in(queue.directory, in_order(answers.back().names, queue.markers))) {
        paths.push_back(std::move(path));
    }
    std::vector<participant> found = read_participants(acquire.core(), queue.markers, paths);
    for (participant& p : found) {
        if (parent_of(p.path) == demand.directory) {
            p.sequence = 0;
            p.permits = demand.permits_in(p.name);
        }
    }
    return found;
}

/// Curator counts every child of `leases`, whatever its name is.
bool permit_calls::revoke(const participant& whom) const {
    return whom.permits > 0 && demand.permits_in(whom.name) > 0
               ? revoke_in(acquire.core(), demand.directory, whom)
               : revoke_in(acquire.core(), queue.directory, queue.markers, whom);
}

}  // namespace latchkey::inline v0
