#include "turn.hpp"

#include "path.hpp"

#include <utility>

namespace latchkey {

failure refusal_of(const queue_verdict& v, const std::string& directory) {
    const std::string who = "\"" + escaped(join_path(directory, v.blocker)) + "\" ";
    if (v.what == queue_verdict::answer::malformed) {
        return {errc::malformed_participant,
                who + "looks like a participant and cannot be ordered; delete it if it is not one"};
    }
    return {errc::sequence_exhausted,
            who +
                "has a sequence number at the end of what can be ordered; use another path, or "
                "let this directory be removed when it is empty"};
}

turn::turn(std::shared_ptr<client_core> core,
           std::shared_ptr<const participation> as,
           std::string own,
           std::string ignored,
           queue_rule rule,
           owner& o)
    : core_(std::move(core)),
      as_(std::move(as)),
      own_(std::move(own)),
      directory_(parent_of(own_)),
      ignored_(std::move(ignored)),
      rule_(rule),
      owner_(&o),
      retry_(core_->loop()) {}

turn::~turn() {
    core_->heartbeat().withdraw(this);
}

std::string turn::path_of(const std::string& name) const {
    return join_path(directory_, name);
}

void turn::list() {
    ++step_;
    predecessor_.reset();
    retry_.cancel();
    if (!core_->connected()) {
        return;  // the owner calls again with the next connection
    }
    core_->submit(request::children(directory_), here([this](const reply& r) {
                      if (r.ok() || r.code == result_code::no_node) {
                          judge(r.names);
                      } else {
                          retry_list(r.code);
                      }
                  }));
    if (verdict_.ahead <= 1) {
        owner_->on_listing();
    }
}

void turn::judge(const std::vector<std::string>& names) {
    using enum queue_verdict::answer;
    const auto keep = shared_from_this();
    owner_->on_listed(names);
    verdict_ = decide(names, name_of(own_), as_->markers, rule_, ignored_);
    switch (verdict_.what) {
        case acquired:
            if (!owner_->on_placed(verdict_)) {
                break;
            }
            confirm();
            break;
        case wait:
            if (owner_->on_placed(verdict_)) {
                watch_predecessor();
            }
            break;
        case gone:
            owner_->on_gone();
            break;
        case exhausted:
        case malformed:
            owner_->on_refused(refusal_of(verdict_, directory_));
            break;
    }
}

void turn::watch_predecessor() {
    ++step_;
    if (verdict_.ahead == 1) {
        core_->heartbeat().demand(this, own_);
    } else {
        core_->heartbeat().withdraw(this);
    }
    znode_watch::observer& self = *this;
    predecessor_ = std::make_shared<znode_watch>(core_, path_of(verdict_.blocker), self);
    predecessor_->arm();
    if (znode_watch& own = owner_->own_watch(); !own.armed_here()) {
        own.arm();
    }
}

void turn::on_watch_set(const znode_stat& stat, const std::string&) {
    if (stat.ephemeral_owner == 0) {
        core_->log("waiting behind \"" + escaped(path_of(verdict_.blocker)) +
                   "\", which is not ephemeral: no session's end will remove it");
    }
}

void turn::on_watch_refused(result_code code) {
    retry_list(code);
}

void turn::on_znode_deleted() {
    // Nobody else was ahead, and events of this connection come in the order of what happened:
    // nobody can have come between, and our own znode would have been told gone before, unless its
    // watch was used up by a change and is being set again. Otherwise who is next is not known.
    if (verdict_.grants_when_gone && predecessor_->saw_deletion() && predecessor_->armed_here() &&
        owner_->own_watch().armed_here()) {
        confirm();
        return;
    }
    if (core_->connected() && !core_->believable() && !as_->leads) {
        // Probably our turn. The proof that a grant needs travels with the list instead of after
        // it.
        core_->submit(request::multi({request::check(own_)}), [](const reply&) {});
    }
    list();
}

/// First in the queue; our turn once that can be believed.
void turn::confirm() {
    ++step_;
    if (as_->is_believed_later()) {
        owner_->on_turn();
        return;
    }
    confirmation_ = std::make_shared<confirmation>(
        core_, std::vector{own_}, [this, step = step_](result_code code) {
            const auto keep = shared_from_this();
            if (step != step_) {
                return;
            }
            if (code == result_code::ok) {
                owner_->on_turn();
            } else if (code == result_code::no_node) {
                owner_->on_gone();
            } else {
                retry_list(code);
            }
        });
    confirmation_->start();
}

/// Something was not answered, or refused.
void turn::retry_list(result_code code) {
    const auto keep = shared_from_this();
    if (code == result_code::no_auth) {
        owner_->on_refused(failure_of(code, directory_));
        return;
    }
    ++step_;
    retry_.start(backoff_.next(core_->loop().random()), [this] { list(); });
}

}  // namespace latchkey
