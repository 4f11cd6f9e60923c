#include "semaphore/permit_grant.hpp"

#include "queue/own_znode.hpp"
#include "semaphore/permits.hpp"
#include "text/path.hpp"

#include <utility>

namespace latchkey::inline v0 {
namespace {

std::vector<std::string> paths_of(const permit_terms& terms, const std::string& prefix) {
    const auto path = [&](const std::string& ending) {
        return join_path(terms.directory, prefix + ending);
    };
    if (!terms.leases) {
        return {path(std::string(permit_marker) + std::to_string(terms.count))};
    }
    std::vector<std::string> all;
    for (std::uint32_t i = 0; i < terms.count; ++i) {
        all.push_back(path(lease_ending(i)));
    }
    return all;
}

}  // namespace

permit_grant::permit_grant(std::shared_ptr<client_core> core,
                           std::shared_ptr<const queue_recipe> as,
                           const permit_terms& terms,
                           const std::string& prefix,
                           std::function<void(failure)> refused)
    : last_step(false),
      core_(std::move(core)),
      as_(std::move(as)),
      terms_(terms),
      permits_(paths_of(terms_, prefix)),
      refused_(std::move(refused)),
      retry_(core_->loop()) {}

permit_grant::~permit_grant() {
    core_->heartbeat().withdraw(this);
}

void permit_grant::look_ahead() {
    ahead_.reset();
    looking_.start(look(nullptr), [this](seen s) {
        if (failure why = refusal(s)) {
            refused_(std::move(why));
            return;
        }
        ahead_ = std::move(s);
        if (const auto go_on = std::exchange(looked_, std::nullopt)) {
            (*go_on)();
        }
    });
}

task<last_step::end> permit_grant::take(place p) {
    using enum end::kind;
    if (p.first_since && !ahead_) {
        auto looked = until_called_back([this](resumption go_on) { looked_ = std::move(go_on); });
        co_await looked;
    }
    std::optional<seen> ahead = p.first_since ? std::exchange(ahead_, std::nullopt) : std::nullopt;
    bool watching = false;  // the permits, because there were too few
    while (true) {
        auto connected = core_->connection_made();
        co_await connected;
        const change_watch changes;
        seen s;
        if (ahead) {
            s = *std::exchange(ahead, std::nullopt);
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
        const std::optional<std::uint32_t> most = limit(s);
        if (most) {
            terms_.limit_was_right->store(true);
        }
        if (s.limit && s.limit->code == result_code::no_node) {
            co_return end{gone};  // the semaphore was removed, and our place with it
        }
        if (!most || !s.taken.tells_whether_there()) {
            watching = false;
            if (core_->connected()) {
                auto pause = retry_.pause();
                co_await pause;
            }
        } else if (terms_.taken(s.taken.names) + terms_.count <= *most) {
            watching = false;
            auto swapping = swap(p.znode.path(), std::move(s));
            std::optional<end> e = co_await swapping;
            if (e) {
                co_return *std::move(e);
            }
            auto pause = retry_.short_pause();
            co_await pause;
        } else if (!p.wait) {
            co_return end{full};
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
    std::optional<oneshot<reply>> limit_asked;
    if (!terms_.leases) {
        limit_asked.emplace(send(request::get(terms_.semaphore)));
    }
    auto taken_asked = send(request::children(terms_.directory));
    if (limit_asked) {
        auto& asked = *limit_asked;
        s.limit = co_await asked;
    }
    s.taken = co_await taken_asked;
    co_return s;
}

std::optional<std::uint32_t> permit_grant::limit(const seen& s) const {
    return terms_.leases ? terms_.limit : read_limit(s.limit->data);
}

/// What was seen and will not change by waiting.
failure permit_grant::refusal(const seen& s) const {
    const std::string name = '"' + escaped(terms_.semaphore) + '"';
    const auto is = [&s](result_code code) { return s.limit && s.limit->code == code; };
    for (const result_code code : {s.limit ? s.limit->code : result_code::ok, s.taken.code}) {
        if (refused_for_good(code)) {
            return failure_of(code, terms_.semaphore);
        }
    }
    if (is(result_code::no_node) && !terms_.limit) {
        return {errc::no_such_znode,
                "there is no semaphore " + name + "; give a number of permits to create it"};
    }
    const auto known = limit(s);
    if (is(result_code::ok) && !known) {
        return {
            errc::not_a_semaphore,
            name + " is not a semaphore: its data is not a number of permits; use another path"};
    }
    if (known && terms_.limit.value_or(*known) != *known && !terms_.limit_was_right->load()) {
        return {errc::invalid_argument,
                name + " has " + std::to_string(*known) + " permits, not " +
                    std::to_string(*terms_.limit) + "; leave the number out, or resize it"};
    }
    if (known && terms_.count > *known) {
        return {errc::invalid_argument,
                std::to_string(terms_.count) + " permits of " + name +
                    " can never be granted: its limit is " + std::to_string(*known)};
    }
    return {};
}

/// Nothing if the permits have to be looked at again.
task<std::optional<last_step::end>> permit_grant::swap(std::string from, seen s) {
    std::optional<oneshot<reply>> creation;
    if (!s.taken.ok()) {
        // There were no permits for long, and the servers have removed the empty container.
        creation.emplace(core_->send(
            request::create(terms_.directory, {}, create_mode::container, *as_->access)));
    }
    std::vector<request> to;
    for (const std::string& path : permits_) {
        to.push_back(
            request::create(path, as_->data(as_->mode), create_mode::ephemeral, *as_->access));
    }
    std::vector<request> guards;
    if (!terms_.leases) {
        guards.push_back(request::check(terms_.semaphore, s.limit->stat.version));
    }
    taking_ = true;
    auto swapping = swap_znodes(core_, std::move(to), std::move(guards), std::move(from));
    swapped done_now = co_await swapping;
    taking_ = false;
    if (done_now.what == swapped::kind::done) {
        co_return end{.what = end::kind::admitted, .paths = permits_, .found = done_now.in_doubt};
    }
    if (done_now.what == swapped::kind::gone) {
        co_return end{end::kind::gone};
    }
    if (done_now.what == swapped::kind::refused) {
        if (done_now.in_doubt) {
            core_->deletes().add(permits_, nullptr);  // what was left of them
        }
        co_return end{end::kind::refused, std::move(done_now.why)};
    }
    // Resized meanwhile, or the directory does not exist.
    if (creation) {
        auto& asked = *creation;
        const reply made = co_await asked;
        if (refused_for_good(made.code)) {
            co_return end{end::kind::refused, failure_of(made.code, terms_.directory)};
        }
    }
    co_return std::nullopt;
}

}  // namespace latchkey::inline v0
