#include "znode/persistent_node.hpp"

#include "session/request_check.hpp"
#include "text/path.hpp"
#include "znode/stray_znode.hpp"

#include <algorithm>
#include <utility>

namespace latchkey::inline v0 {

persistent_node::persistent_node(std::shared_ptr<client_core> core, settings s)
    : core_(std::move(core)), settings_(std::move(s)), retry_(core_->loop()) {}

void persistent_node::check_data(const std::string& data) const {
    const auto empty = request::create(
        core_->chroot() + settings_.path, {}, create_mode::ephemeral, settings_.access);
    const std::size_t most = largest_request - std::min(weight(empty), largest_request);
    if (data.size() > most) {
        throw error(errc::invalid_argument,
                    "data of " + std::to_string(data.size()) + " bytes is too long for \"" +
                        escaped(settings_.path) + "\": give at most " + std::to_string(most));
    }
}

void persistent_node::start(told first) {
    first_ = std::move(first);
    if (core_->closed_why()) {
        tell(core_->closed_why(), false);
        end();
        return;
    }
    const leftover before = core_->want_again(settings_.path);
    sent_ = before.found;
    in_doubt_ = before.may_come;
    core_->attach(shared_from_this());
    if (core_->connected()) {
        create();
    }
}

void persistent_node::session_connected() {
    retry_.cancel();
    if (leaving_) {
        watch();
    } else if (here_) {
        watch();  // it may have been deleted, or a write may be lost
    } else {
        create();
    }
}

void persistent_node::session_ended(loss_reason) {
    ++step_;
    here_ = false;
    sent_ = false;
    in_doubt_ = false;
    watch_.reset();
    if (leaving_) {
        end();
    }
}

void persistent_node::client_closed(const failure& why) {
    here_ = false;
    tell(why, false);
    end();  // the session ends and takes the znode along
}

// ---- entering ----

void persistent_node::create() {
    ++step_;
    const std::string directory(parent_of(settings_.path));
    const directory_creation above = directory_known_
                                         ? directory_creation()
                                         : core_->create_directories(directory, settings_.access);
    const bool before = std::exchange(sent_, true);
    core_->submit(
        request::create(settings_.path, settings_.data, create_mode::ephemeral, settings_.access),
        [weak = weak_from_this(), step = step_, before, above](const reply& r) {
            const auto self = weak.lock();
            if (!self) {
                return;
            }
            self->in_doubt_ = self->in_doubt_ || may_be_applied(r.code);
            if (self->step_ == step && !self->ended_) {
                self->directory_known_ = self->directory_known_ && r.code != result_code::no_node;
                self->on_created(above.cause_of(r.code), before);
            }
        });
    watch();  // at the same time: it shows which session owns the znode
}

/// `before`: an earlier create may have been applied.
void persistent_node::on_created(result_code code, bool before) {
    if (code == result_code::ok || code == result_code::node_exists || outcome_unknown(code)) {
        directory_known_ = directory_known_ || !outcome_unknown(code);
        return;
    }
    sent_ = before || in_doubt_;
    if (code == result_code::no_node || code == result_code::throttled) {
        retry();
    } else if (first_) {
        tell(failure_of(code, settings_.path), false);
        leave();
    } else {
        // Keep trying: the caller was already told that it joined. Keep the watch as well: an
        // earlier create may have succeeded, and a client that has lost CREATE permission would
        // never learn that from the server.
        report("create the znode again", code);
        try_later();
    }
}

/// Reports each refusal once.
void persistent_node::report(const char* what, result_code code) {
    if (!std::exchange(reported_, true)) {
        const failure why = failure_of(code, settings_.path);
        core_->log({log_level::error,
                    "cannot-write",
                    std::string("cannot ") + what + ": " + why.detail + ": " + why.code.message() +
                        "; trying again",
                    settings_.path});
    }
}

void persistent_node::watch() {
    znode_watch::observer& self = *this;
    watch_ = std::make_shared<znode_watch>(*core_, settings_.path, self);
    watch_->arm();
}

void persistent_node::on_watch_set(const server_stat& stat, const std::string& data) {
    const bool ours = stat.ephemeral_owner == core_->session_id();
    retry_.cancel();
    if (leaving_) {
        end(ours);
    } else if (ours) {
        const auto self = shared_from_this();
        if (data != settings_.data && !settings_.received) {
            write_data();  // older data, or another client's
        } else {
            reported_ = false;
        }
        entered();
        if (settings_.received) {
            settings_.received(stat, data);
        }
    } else {
        // The own znode, if it existed, was not seen.
        here_ = false;
        taken_ = true;
        if (settings_.only_if_free && first_) {
            tell({}, false);
            end();
        }
    }
}

void persistent_node::entered() {
    session_ = core_->session_id();
    here_ = true;
    tell({}, true);
}

void persistent_node::on_znode_deleted() {
    here_ = false;
    if (leaving_) {
        end();
    } else if (watch_->saw_deletion()) {
        create();
    } else if (!retry_.running()) {
        retry_.soon([this] {
            if (core_->connected()) {
                create();
            }
        });
    }
}

void persistent_node::on_watch_refused(result_code code) {
    if (!outcome_unknown(code) || core_->connected()) {
        retry();  // otherwise with the next connection
    }
}

void persistent_node::retry() {
    ++step_;
    watch_.reset();
    try_later();
}

void persistent_node::try_later() {
    retry_.later([this] {
        if (core_->connected()) {
            const auto self = shared_from_this();
            session_connected();
        }
    });
}

// ---- here ----

void persistent_node::set_data(std::string data) {
    settings_.data = std::move(data);
    if (here_ && core_->connected()) {
        write_data();
    }
    // Otherwise the next look shows the difference.
}

void persistent_node::write_data() {
    core_->submit(request::set(settings_.path, settings_.data),
                  [weak = weak_from_this(), step = step_](const reply& r) {
                      const auto self = weak.lock();
                      if (self && self->step_ == step && self->here_) {
                          self->on_written(r.code);
                      }
                  });
}

/// A write that was not applied is found by a look, later or on the next connection.
void persistent_node::on_written(result_code code) {
    if (code == result_code::ok || code == result_code::no_node || !core_->connected()) {
        return;
    }
    if (!outcome_unknown(code) && code != result_code::throttled) {
        report("write data", code);
    }
    if (!retry_.running()) {
        try_later();
    }
}

void persistent_node::leave() {
    if (ended_) {
        return;
    }
    if (here()) {
        end(true);
    } else if (sent_) {
        leaving_ = true;
        retry_.cancel();
        if (core_->connected()) {
            ++step_;
            watch();
        }
    } else {
        end();
    }
}

void persistent_node::tell(failure why, bool entered) {
    if (const auto first = std::exchange(first_, nullptr)) {
        first(std::move(why), entered);
    }
}

/// `there`: the own znode exists, and must be deleted.
void persistent_node::end(bool there) {
    const auto self = shared_from_this();
    ended_ = true;
    here_ = false;
    ++step_;
    watch_.reset();
    retry_.cancel();
    core_->detach(this);
    const bool may_come = std::exchange(in_doubt_, false);
    if (there) {
        stray_znode::remove(core_, settings_.path, may_come);
    } else if (may_come) {
        stray_znode::await(core_, settings_.path);
    }
}

}  // namespace latchkey::inline v0
