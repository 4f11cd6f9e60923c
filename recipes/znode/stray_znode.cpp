#include "znode/stray_znode.hpp"

#include "text/path.hpp"

#include <utility>

namespace latchkey::inline v0 {
namespace {

/// In session timeouts. A server that holds a request for longer than a few of its own limits is no
/// longer part of the ensemble.
constexpr int patience = 10;

}  // namespace

bool too_old_to_come(client_core& core, loop::clock::time_point sent) {
    return core.loop().now() > sent + patience * core.session_timeout();
}

std::shared_ptr<stray_znode> stray_znode::make(std::shared_ptr<client_core> core,
                                               std::string path,
                                               bool may_come) {
    if (core->closed_why()) {
        return nullptr;  // the session ends
    }
    std::shared_ptr<stray_znode> made(new stray_znode(std::move(core), std::move(path), may_come));
    made->core_->attach(made);
    return made;
}

void stray_znode::await(std::shared_ptr<client_core> core, std::string path) {
    make(std::move(core), std::move(path), true);
}

void stray_znode::remove(std::shared_ptr<client_core> core, std::string path, bool may_come) {
    const auto made = make(std::move(core), std::move(path), may_come);
    if (made && made->core_->connected()) {
        made->send();
    }
}

stray_znode::stray_znode(std::shared_ptr<client_core> core, std::string path, bool may_come)
    : core_(std::move(core)),
      path_(std::move(path)),
      may_come_(may_come),
      since_(core_->loop().now()),
      retry_(core_->loop()) {}

void stray_znode::session_connected() {
    retry_.cancel();
    core_->submit(request::get(path_), [self = shared_from_this()](const reply& r) {
        if (self->ended_) {
            return;
        }
        if (r.ok() && r.stat.ephemeral_owner == self->core_->session_id()) {
            self->send();
        } else if (r.tells_whether_there()) {
            self->gone();
        } else {
            self->again();
        }
    });
}

/// A delete that was sent is ahead of the create that follows.
void stray_znode::znode_wanted(const std::string& path, leftover& before) {
    if (path == path_) {
        before.found = true;
        before.may_come = before.may_come || may_come_;
        end();
    }
}

void stray_znode::send() {
    core_->submit(request::remove(path_), [self = shared_from_this()](const reply& r) {
        if (self->ended_) {
            return;
        }
        if (r.ok() || r.code == result_code::no_node) {
            self->gone();
        } else {
            self->again();
        }
    });
}

void stray_znode::gone() {
    if (!may_come_ || too_old_to_come(*core_, since_)) {
        end();
    }
}

/// Again after a pause, or with the next connection.
void stray_znode::again() {
    if (core_->connected()) {
        retry_.later([this] {
            if (core_->connected()) {
                session_connected();
            }
        });
    }
}

void stray_znode::end() {
    const auto self = shared_from_this();
    ended_ = true;
    retry_.cancel();
    core_->detach(this);
}

}  // namespace latchkey::inline v0
