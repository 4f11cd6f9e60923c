#include "permit_admission.hpp"

#include "path.hpp"
#include "permits.hpp"

#include <utility>

namespace latchkey {

permit_admission::permit_admission(std::shared_ptr<client_core> core,
                                   std::shared_ptr<const participation> as,
                                   std::string prefix,
                                   owner& o)
    : core_(std::move(core)),
      as_(std::move(as)),
      permit_(join_path(
          as_->permits->directory,
          std::move(prefix) + std::string(permit_marker) + std::to_string(as_->permits->count))),
      owner_(&o),
      retry_(core_->loop()) {}

permit_admission::~permit_admission() {
    if (exchange_) {
        exchange_->forget();
    }
}

void permit_admission::look_ahead() {
    look(false);
}

void permit_admission::begin(std::string place, bool first_since, bool wait) {
    place_ = std::move(place);
    wait_ = wait;
    if (!first_since) {
        look(false);
    } else if (limit_ && taken_) {
        on_looked();
    }
}

void permit_admission::session_connected() {
    if (exchange_) {
        exchange_->session_connected();
    } else if (!place_.empty()) {
        look(watcher_ != nullptr);
    }
}

void permit_admission::look(bool watch) {
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
    const auto into = [&](std::optional<reply> permit_admission::*answer) {
        return [weak = weak_from_this(), step, answer](reply r) {
            const auto self = weak.lock();
            if (self && self->step_ == step) {
                self.get()->*answer = std::move(r);
                if (self->limit_ && self->taken_) {
                    self->on_looked();
                }
            }
        };
    };
    const auto send = [&](request r, std::optional<reply> permit_admission::*answer) {
        if (watcher_) {
            core_->submit(std::move(r), watcher_, into(answer));
        } else {
            core_->submit(std::move(r), into(answer));
        }
    };
    send(request::get(as_->permits->semaphore), &permit_admission::limit_);
    send(request::children(as_->permits->directory), &permit_admission::taken_);
}

void permit_admission::on_looked() {
    const auto keep = shared_from_this();
    const auto limit = read_limit(limit_->data);
    if (limit_->code == result_code::no_auth || taken_->code == result_code::no_auth) {
        owner_->on_refused(failure_of(result_code::no_auth, as_->permits->semaphore));
    } else if (limit_->code == result_code::no_node && !as_->permits->limit) {
        owner_->on_refused({errc::no_such_znode,
                            "there is no semaphore \"" + escaped(as_->permits->semaphore) +
                                "\"; give a limit to make it"});
    } else if (limit_->ok() && !limit) {
        owner_->on_refused({errc::malformed_participant,
                            '"' + escaped(as_->permits->semaphore) +
                                "\" is not a semaphore: its data is no limit"});
    } else if (limit && as_->permits->limit.value_or(*limit) != *limit &&
               !as_->permits->limit_was_right->load()) {
        owner_->on_refused({errc::invalid_argument,
                            '"' + escaped(as_->permits->semaphore) + "\" has a limit of " +
                                std::to_string(*limit) + ", not " +
                                std::to_string(*as_->permits->limit) +
                                "; leave the limit out, or resize it"});
    } else if (limit && as_->permits->count > *limit) {
        owner_->on_refused({errc::invalid_argument,
                            std::to_string(as_->permits->count) + " permits of \"" +
                                escaped(as_->permits->semaphore) + "\", whose limit is " +
                                std::to_string(*limit) + ": they would never be free"});
    } else {
        if (limit) {
            as_->permits->limit_was_right->store(true);
        }
        if (!place_.empty()) {
            decide();
        }
    }
}

void permit_admission::decide() {
    if (limit_->code == result_code::no_node) {
        owner_->on_gone();  // the semaphore was removed, and our place with it
        return;
    }
    if (!limit_->ok() || (!taken_->ok() && taken_->code != result_code::no_node)) {
        if (core_->connected()) {
            retry_.start(backoff_.next(core_->loop().random()), [this] { look(false); });
        }
        return;
    }
    if (permits_taken(taken_->names) + as_->permits->count <= *read_limit(limit_->data)) {
        take();
    } else if (!wait_) {
        owner_->on_full();
    } else if (!watcher_) {
        owner_->on_waiting();
        look(true);
    }
}

void permit_admission::take() {
    watcher_.reset();
    ++step_;
    if (!taken_->ok()) {
        // Nobody has had a permit for long, and the servers have removed the empty container.
        core_->submit(
            request::create(as_->permits->directory, {}, create_mode::container, as_->access),
            [](const reply&) {});
    }
    exchange_ = std::make_shared<znode_exchange>(
        core_,
        request::create(permit_, as_->data(as_->mode), create_mode::ephemeral, as_->access),
        request::check(as_->permits->semaphore, limit_->stat.version),
        place_,
        [weak = weak_from_this()](znode_exchange::result r, failure why) {
            if (const auto self = weak.lock()) {
                self->on_taken(r, std::move(why));
            }
        });
    exchange_->send();
}

void permit_admission::on_taken(znode_exchange::result r, failure why) {
    using enum znode_exchange::result;
    const auto keep = shared_from_this();
    exchange_.reset();
    switch (r) {
        case done:
            owner_->on_admitted(permit_);
            break;
        case guard_failed:  // resized meanwhile, or the empty container was removed
            look(false);
            break;
        case gone:
            owner_->on_gone();
            break;
        case refused:
            owner_->on_refused(std::move(why));
            break;
    }
}

}  // namespace latchkey
