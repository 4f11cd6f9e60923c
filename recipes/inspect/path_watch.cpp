#include "inspect/path_watch.hpp"

#include "inspect/kind_rules.hpp"
#include "loop/paced_retry.hpp"
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
      changed_(std::move(changed)) {}

void path_watch::arm() {
    core_->post([self = shared_from_this()] {
        if (self->core_->closed_why()) {
            return;
        }
        if (!std::exchange(self->attached_, true)) {
            self->core_->attach(self);
        }
        self->watching_.start(self->watch(), [here = self.get()](bool) { here->changed_(); });
    });
}

void path_watch::end() noexcept {
    core_->post([self = shared_from_this()] { self->client_closed({}); });
}

void path_watch::client_closed(const failure&) {
    const auto self = shared_from_this();
    watching_.drop();
    if (std::exchange(attached_, false)) {
        core_->detach(this);
    }
}

task<bool> path_watch::watch() {
    paced_retry again(core_->loop());
    while (true) {
        auto connected = core_->connection_made();
        co_await connected;
        const change_watch changes;
        auto setting = set(changes);
        const bool is_set = co_await setting;
        if (is_set) {
            armed_();
            auto changed = changes.until_changed(*core_);
            co_await changed;
            co_return true;
        }
        if (core_->connected()) {
            auto pause = again.pause();
            co_await pause;
        }
    }
}

/// False if the watches could not be set.
task<bool> path_watch::set(change_watch changes) const {
    std::vector<oneshot<reply>> asked;
    for (const request& r : watched_reads(path_)) {
        asked.push_back(changes.send(*core_, r));
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
        auto listed = changes.send(*core_, request::children(directory));
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
    co_return true;
}

}  // namespace latchkey::inline v0
