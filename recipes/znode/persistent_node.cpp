#include "znode/persistent_node.hpp"

#include "session/request_check.hpp"
#include "text/path.hpp"
#include "znode/stray_znode.hpp"

#include <algorithm>
#include <utility>

namespace latchkey::inline v0 {

persistent_node::persistent_node(std::shared_ptr<client_core> core, settings s)
    : session_task(std::move(core)), settings_(std::move(s)), retry_(core_->loop()) {}

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
        client_closed(core_->closed_why());
        return;
    }
    creates_ = core_->want_again(settings_.path);
    core_->attach(shared_from_this());
    begin();
}

void persistent_node::begin() {
    running_.start(keep(), [this](failure why) {
        const auto self = shared_from_this();  // whom it notifies may drop it
        notify(std::move(why), false);
        leave();
    });
}

void persistent_node::session_ended(loss_reason) {
    here_ = false;
    creates_ = std::make_shared<znode_creates>();
    begin();
}

/// The session ends, and takes the znode along.
void persistent_node::client_closed(const failure& why) {
    notify(why, false);
    end();
}

/// In one session. Ends only before it has entered: with what the servers have refused, or with no
/// failure if the name is not free.
task<failure> persistent_node::keep() {
    bool creates = true;
    while (true) {
        auto connected = core_->connection_made();
        co_await connected;
        const change_watch watch;
        auto looking = look(watch, creates && makes_again_);
        const looked seen = co_await looking;
        if (seen.why) {
            co_return seen.why;
        }
        const bool is_ours = seen.is_ours(*core_);
        if (is_ours) {
            enter(seen.znode);
        } else if (seen.znode.tells_whether_there()) {
            here_ = false;
        }
        if (seen.znode.ok() && !is_ours) {
            taken_ = true;
            creates_->may_exist = creates_->may_come;
            if (settings_.only_if_free && first_) {
                co_return failure();
            }
        }
        if (seen.znode.code == result_code::no_node && !seen.refused) {
            auto pause = retry_.short_pause();
            co_await pause;
        } else {
            auto staying = until_news(watch, is_ours, !seen.znode.ok());
            co_await staying;
        }
        const bool deleted = watch.event() == watch_event::deleted;
        here_ = here_ && !deleted;
        creates = !here_ && (deleted || !watch.has_fired());
    }
}

/// A create and a look travel together: the look shows which session owns the znode. After a
/// refusal, too: an earlier create may have succeeded, and a client that has lost CREATE permission
/// would never learn that from the server.
task<persistent_node::looked> persistent_node::look(change_watch watch, bool creates) {
    looked seen;
    oneshot<reply> created;
    const bool may_have_existed = creates_->may_exist;
    if (creates && !directory_known_) {
        above_ = above_.then(
            core_->create_directories(std::string(parent_of(settings_.path)), settings_.access));
    }
    if (creates) {
        creates_->may_exist = true;
        core_->submit(request::create(
                          settings_.path, settings_.data, create_mode::ephemeral, settings_.access),
                      [note = creates_, answer = created.setter()](reply r) {
                          note->may_come = note->may_come || may_be_applied(r.code);
                          answer(std::move(r));
                      });
    }
    auto asked = watch.send(*core_, request::get(settings_.path));
    if (creates) {
        const reply r = co_await created;
        const result_code code = above_.cause_of(r.code);
        const bool is_there = code == result_code::ok || code == result_code::node_exists;
        directory_known_ = is_there || (directory_known_ && r.code != result_code::no_node);
        seen.refused = !is_there && !outcome_unknown(code);
        if (seen.refused) {
            creates_->may_exist = may_have_existed || creates_->may_come;
        }
        if (seen.refused && code != result_code::no_node && code != result_code::throttled) {
            if (first_) {
                seen.why = failure_of(code, settings_.path);
                co_return seen;
            }
            report("create the znode again", code);
        }
    }
    seen.znode = co_await asked;
    co_return seen;
}

void persistent_node::enter(const reply& seen) {
    written_ = settings_.received || seen.data == settings_.data;
    reported_ = reported_ && !written_;
    session_ = core_->session_id();
    here_ = true;
    notify({}, true);
    if (settings_.received) {
        core_->post([this, self = shared_from_this(), seen] {
            if (!ended_) {
                settings_.received(seen.stat, seen.data);
            }
        });
    }
}

/// Until the znode or the connection changes; the data of the member may change meanwhile. After a
/// refusal, until it is time to look again.
task<bool> persistent_node::until_news(change_watch watch, bool is_ours, bool refused) {
    const std::uint64_t connection = core_->connection();
    while (!refused && !watch.has_fired() && core_->connection() == connection) {
        if (is_ours && core_->connected() && !std::exchange(written_, true)) {
            auto sent = core_->send(request::set(settings_.path, settings_.data));
            const reply r = co_await sent;
            refused = !r.ok() && r.code != result_code::no_node;
            if (refused && !outcome_unknown(r.code) && r.code != result_code::throttled) {
                report("write data", r.code);
            }
        } else {
            auto news = first_of(watch.until_changed(*core_), until_resumed(on_new_data_));
            co_await news;
        }
    }
    if (refused && core_->connected()) {
        auto pause = first_of(watch.until_changed(*core_), retry_.pause());
        co_await pause;
    }
    co_return true;
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

/// Without a connection the next look shows the difference.
void persistent_node::set_data(std::string data) {
    settings_.data = std::move(data);
    written_ = false;
    on_new_data_();
}

void persistent_node::leave() {
    if (ended_) {
        return;
    }
    const bool is_ours = here();
    end();
    if (is_ours || creates_->may_exist || creates_->may_come) {
        delete_stray(core_, settings_.path, creates_, is_ours);
    }
}

void persistent_node::notify(failure why, bool entered) {
    if (const auto first = std::exchange(first_, nullptr)) {
        first(std::move(why), entered);
    }
}

void persistent_node::end() {
    ended_ = true;
    here_ = false;
    retry_.cancel();
    stop();
}

}  // namespace latchkey::inline v0
