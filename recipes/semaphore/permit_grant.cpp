#include "semaphore/permit_grant.hpp"

#include "semaphore/permits.hpp"
#include "text/path.hpp"

#include <utility>

namespace latchkey {
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
                           owner& o)
    : core_(std::move(core)),
      as_(std::move(as)),
      terms_(terms),
      permits_(paths_of(terms_, prefix)),
      owner_(&o),
      retry_(core_->loop()) {}

void permit_grant::look_ahead() {
    look(false);
}

void permit_grant::begin(place p) {
    place_ = std::move(p.path);
    wait_ = p.wait;
    if (!p.first_since) {
        look(false);
    } else if (looked()) {
        on_looked();
    }
}

void permit_grant::session_connected() {
    if (!taking_ && !place_.empty()) {
        look(watcher_ != nullptr);
    }
}

void permit_grant::look(bool watch) {
    const std::uint64_t step = ++step_;
    limit_.reset();
    taken_.reset();
    watcher_.reset();
    retry_.cancel();
    if (!core_->connected()) {
        return;
    }
    if (watch) {
        watcher_ = std::make_shared<session::watcher>([weak = weak_from_this(), step](watch_event) {
            if (const auto self = weak.lock(); self && self->step_ == step) {
                self->look(true);
            }
        });
    }
    const auto into = [&](std::optional<reply> permit_grant::*answer) {
        return [weak = weak_from_this(), step, answer](reply r) {
            const auto self = weak.lock();
            if (self && self->step_ == step) {
                self.get()->*answer = std::move(r);
                if (self->looked()) {
                    self->on_looked();
                }
            }
        };
    };
    const auto send = [&](request r, std::optional<reply> permit_grant::*answer) {
        if (watcher_) {
            core_->submit(std::move(r), watcher_, into(answer));
        } else {
            core_->submit(std::move(r), into(answer));
        }
    };
    if (!terms_.leases) {
        send(request::get(terms_.semaphore), &permit_grant::limit_);
    }
    send(request::children(terms_.directory), &permit_grant::taken_);
}

bool permit_grant::looked() const noexcept {
    return taken_ && (limit_ || terms_.leases);
}

std::optional<std::uint32_t> permit_grant::limit() const {
    return terms_.leases ? terms_.limit : read_limit(limit_->data);
}

std::uint64_t permit_grant::taken() const noexcept {
    return terms_.leases ? taken_->names.size() : permits_taken(taken_->names);
}

/// What was seen and will not change by waiting.
failure permit_grant::refusal() const {
    const std::string name = '"' + escaped(terms_.semaphore) + '"';
    const auto is = [this](result_code code) { return limit_ && limit_->code == code; };
    if (is(result_code::no_auth) || taken_->code == result_code::no_auth) {
        return failure_of(result_code::no_auth, terms_.semaphore);
    }
    if (is(result_code::no_node) && !terms_.limit) {
        return {errc::no_such_znode,
                "there is no semaphore " + name + "; give a limit to create it"};
    }
    const auto known = limit();
    if (is(result_code::ok) && !known) {
        return {errc::malformed_participant,
                name + " is not a semaphore: its data is not a limit; use another path"};
    }
    if (known && terms_.limit.value_or(*known) != *known && !terms_.limit_was_right->load()) {
        return {errc::invalid_argument,
                name + " has a limit of " + std::to_string(*known) + ", not " +
                    std::to_string(*terms_.limit) + "; leave the limit out, or resize it"};
    }
    if (known && terms_.count > *known) {
        return {errc::invalid_argument,
                std::to_string(terms_.count) + " permits of " + name +
                    " can never be granted: its limit is " + std::to_string(*known)};
    }
    return {};
}

void permit_grant::on_looked() {
    const auto keep = shared_from_this();
    if (failure why = refusal()) {
        owner_->on_refused(std::move(why));
        return;
    }
    if (limit()) {
        terms_.limit_was_right->store(true);
    }
    if (!place_.empty()) {
        decide();
    }
}

void permit_grant::decide() {
    if (limit_ && limit_->code == result_code::no_node) {
        owner_->on_gone();  // the semaphore was removed, and our place with it
        return;
    }
    if (!limit() || (!taken_->ok() && taken_->code != result_code::no_node)) {
        if (core_->connected()) {
            retry_.later([this] { look(false); });
        }
        return;
    }
    if (taken() + terms_.count <= *limit()) {
        take();
    } else if (!wait_) {
        owner_->on_full();
    } else if (!watcher_) {
        owner_->on_waiting();
        look(true);
    }
}

void permit_grant::take() {
    watcher_.reset();
    ++step_;
    directory_refused_ = result_code::ok;
    if (!taken_->ok()) {
        // Nobody has had a permit for long, and the servers have removed the empty container.
        core_->submit(request::create(terms_.directory, {}, create_mode::container, as_->access),
                      [weak = weak_from_this(), step = step_](const reply& r) {
                          const auto self = weak.lock();
                          if (self && self->step_ == step && refused_for_good(r.code)) {
                              self->directory_refused_ = r.code;
                          }
                      });
    }
    std::vector<request> to;
    for (const std::string& path : permits_) {
        to.push_back(
            request::create(path, as_->data(as_->mode), create_mode::ephemeral, as_->access));
    }
    std::vector<request> guards;
    if (!terms_.leases) {
        guards.push_back(request::check(terms_.semaphore, limit_->stat.version));
    }
    taking_ = true;
    swap_.start(swap_znodes(core_, std::move(to), std::move(guards), place_),
                [this](swapped s) { on_taken(std::move(s)); });
}

void permit_grant::on_taken(swapped s) {
    using enum swapped::kind;
    const auto keep = shared_from_this();
    taking_ = false;
    switch (s.what) {
        case done:
            owner_->on_admitted({.paths = permits_, .found = s.in_doubt});
            break;
        case guard_failed:  // resized meanwhile, or the directory is not there
            if (directory_refused_ != result_code::ok) {
                owner_->on_refused(failure_of(directory_refused_, terms_.directory));
            } else {
                retry_.soon([this] { look(false); });
            }
            break;
        case gone:
            owner_->on_gone();
            break;
        case refused:
            if (s.in_doubt) {
                core_->deletes().add(permits_, nullptr);  // what was left of them
            }
            owner_->on_refused(std::move(s.why));
            break;
    }
}

}  // namespace latchkey
