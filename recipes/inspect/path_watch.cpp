#include "inspect/path_watch.hpp"

#include "inspect/kind_rules.hpp"
#include "session/request.hpp"
#include "text/path.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace latchkey::inline v0 {
namespace {

/// All that a view of the path is made of, if they exist, except for the participants' data.
std::vector<request> watched_reads(const std::string& path) {
    std::vector<request> reads{request::children(path), request::get(path)};
    for (const lock_kind k : {lock_kind::semaphore, lock_kind::curator_semaphore}) {
        reads.push_back(request::children(join_path(path, queue_of_kind(k, {})->directory)));
        reads.push_back(request::children(join_path(path, permits_of_kind(k))));
    }
    return reads;
}

}  // namespace

path_watch::path_watch(std::shared_ptr<client_core> core,
                       std::string path,
                       std::function<void()> armed,
                       std::function<void()> changed)
    : core_(std::move(core)),
      path_(std::move(path)),
      armed_(std::move(armed)),
      changed_(std::move(changed)),
      again_(core_->loop()) {}

void path_watch::arm() {
    core_->post([self = shared_from_this()] {
        if (self->core_->closed_why()) {
            return;
        }
        if (!std::exchange(self->attached_, true)) {
            self->core_->attach(self);
        }
        self->wanted_ = true;
        self->set_ = false;
        if (self->core_->connected()) {
            self->watch();
        }
    });
}

void path_watch::end() noexcept {
    core_->post([self = shared_from_this()] { self->client_closed({}); });
}

/// The watches of the connection before have ended with it.
void path_watch::session_connected() {
    if (wanted_ && set_) {
        watching_.drop();
        wanted_ = false;
        changed_();
    } else if (wanted_) {
        watch();
    }
}

void path_watch::client_closed(const failure&) {
    const auto self = shared_from_this();
    watching_.drop();
    again_.cancel();
    wanted_ = false;
    if (std::exchange(attached_, false)) {
        core_->detach(this);
    }
}

void path_watch::watch() {
    again_.cancel();
    watching_.start(watch_once(), [this](bool fired) {
        if (fired) {
            wanted_ = false;
            changed_();
        } else {
            again_.later([this] {
                if (core_->connected() && wanted_ && !set_) {
                    watch();
                }
            });
        }
    });
}

/// Ends with true when something has changed, and with false if the watches could not be set.
task<bool> path_watch::watch_once() {
    const change_watch watch;
    std::vector<oneshot<reply>> asked;
    for (const request& r : watched_reads(path_)) {
        asked.push_back(watch.send(*core_, r));
    }
    bool exists = true;
    for (auto& one : asked) {
        const reply r = co_await one;
        if (outcome_unknown(r.code)) {
            co_return false;
        }
        exists = exists && (&one != &asked.front() || r.code != result_code::no_node);
    }
    // A znode that does not exist cannot be watched, but the directory in which it will be created.
    for (std::string_view child = path_; !exists && child != "/";) {
        const std::string directory(parent_of(child));
        auto listed = watch.send(*core_, request::children(directory));
        const reply r = co_await listed;
        if (outcome_unknown(r.code)) {
            co_return false;
        }
        exists = r.code != result_code::no_node;
        const auto& names = r.names;
        if (std::find(names.begin(), names.end(), name_of(child)) != names.end()) {
            co_return false;  // it was created meanwhile
        }
        child = child.substr(0, directory.size());
    }
    set_ = true;
    armed_();
    auto changed = watch.until_changed(*core_);
    co_await changed;
    co_return true;
}

}  // namespace latchkey::inline v0
