#include "queue/turn.hpp"

#include "text/path.hpp"

#include <utility>
#include <vector>

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
           std::shared_ptr<const queue_recipe> as,
           std::string own,
           std::string ignored,
           queue_rule rule,
           owner& o)
    : core_(std::move(core)),
      as_(std::move(as)),
      own_(std::move(own)),
      ignored_(std::move(ignored)),
      rule_(rule),
      owner_(&o),
      retry_(core_->loop()) {}

turn::~turn() {
    core_->heartbeat().withdraw(this);
}

std::string turn::path_of(const std::string& name) const {
    return join_path(directory(), name);
}

void turn::resume() {
    if (predecessor_) {
        watch_predecessor();
    } else {
        list();
    }
}

void turn::list() {
    ++step_;
    predecessor_.reset();
    retry_.cancel();
    if (!core_->connected()) {
        return;  // the owner calls again with the next connection
    }
    directory_lists::question q{
        .directory = directory(),
        .answered = here([this](const directory_lists::answer& a) {
            if (a->code == result_code::ok || a->code == result_code::no_node) {
                judge(*a);
            } else {
                retry(a->code, &turn::list);
            }
        })};
    if (verdict_.ahead <= 1) {
        q.sent = here([this] { owner_->on_listing(); });
    }
    core_->lists().ask(std::move(q));
}

void turn::judge(const listing& l) {
    using enum queue_verdict::answer;
    const auto keep = shared_from_this();
    owner_->on_listed(l);
    verdict_ = queue_of(l, as_->markers).decide(name_of(own_), rule_, ignored_);
    switch (verdict_.what) {
        case acquired:
            if (!owner_->on_placed(verdict_)) {
                break;
            }
            confirm();
            break;
        case wait:
            if (owner_->on_placed(verdict_)) {
                znode_watch::observer& self = *this;
                predecessor_ =
                    std::make_shared<znode_watch>(core_, path_of(verdict_.blocker), self);
                watch_predecessor();
            }
            break;
        case gone:
            owner_->on_gone();
            break;
        case exhausted:
        case malformed:
            owner_->on_refused(refusal_of(verdict_, directory()));
            break;
    }
}

void turn::watch_predecessor() {
    ++step_;
    retry_.cancel();
    if (verdict_.ahead == 1) {
        core_->heartbeat().demand(this, own_);
    } else {
        core_->heartbeat().withdraw(this);
    }
    core_->send_paced(here([this] {
        if (!core_->connected()) {
            return;  // as with a list
        }
        predecessor_->arm();
        if (znode_watch& own = owner_->own_watch(); !own.armed()) {
            own.arm();
        }
    }));
}

void turn::on_watch_set(const znode_stat& stat, const std::string&) {
    if (stat.ephemeral_owner == 0) {
        core_->log("waiting behind \"" + escaped(path_of(verdict_.blocker)) +
                   "\", which is not ephemeral: no session's end will remove it");
    }
}

void turn::on_watch_refused(result_code code) {
    retry(code, &turn::resume);
}

void turn::on_znode_deleted() {
    // Nobody else was ahead, and events of this connection come in the order of what happened:
    // nobody can have come between, and our own znode would have been told gone before, unless its
    // watch was used up by a change and is being set again. Otherwise who is next is not known.
    if (verdict_.grants_when_gone && predecessor_->saw_deletion() && predecessor_->armed() &&
        owner_->own_watch().armed()) {
        confirm();
        return;
    }
    if (core_->connected() && !core_->believable() && !as_->terms) {
        // Probably our turn. The proof that a grant needs travels with the list instead of after
        // it.
        core_->submit(request::multi({request::check(own_)}), [](const reply&) {});
    }
    if (predecessor_->saw_deletion()) {
        list();
    } else {
        retry_.soon([this] { list(); });
    }
}

/// First in the queue; our turn once that can be believed.
void turn::confirm() {
    ++step_;
    predecessor_.reset();
    if (as_->is_believed_later()) {
        owner_->on_turn();
        return;
    }
    confirmation_ = std::make_shared<quorum_check>(
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
                retry(code, &turn::list);
            }
        });
    confirmation_->start();
}

/// Something was not answered, or refused.
void turn::retry(result_code code, void (turn::*step)()) {
    const auto keep = shared_from_this();
    if (code == result_code::no_auth) {
        owner_->on_refused(failure_of(code, directory()));
        return;
    }
    ++step_;
    retry_.later([this, step] { (this->*step)(); });
}

}  // namespace latchkey
