#include "inspect/path_watch.hpp"

#include "inspect/kind_rules.hpp"
#include "session/request.hpp"
#include "text/path.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace latchkey::inline v0 {
namespace {

/// All that a view of the path is made of, if they exist, except for the participants' data.
std::vector<request> watched_reads(const std::string& path) {
    std::vector<request> reads{request::children(path), request::get(path)};
    for (const lock_kind k : {lock_kind::semaphore, lock_kind::curator_semaphore}) {
        const queue_seen queue = queue_of_kind(k, {});
        reads.push_back(request::children(join_path(path, queue.directory)));
        reads.push_back(request::children(join_path(path, queue.permits)));
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
        self->core_->attach(self);
        self->watching_.start(self->until_changed(), [watch = self.get()](bool) {
            const auto kept = watch->shared_from_this();
            watch->core_->detach(watch);
            watch->changed_();
        });
    });
}

void path_watch::end() noexcept {
    core_->post([self = shared_from_this()] { self->client_closed({}); });
}

void path_watch::client_closed(const failure&) {
    const auto self = shared_from_this();
    watching_.drop();
    again_.cancel();
    core_->detach(this);
}

/// Sets the watches, however often that takes, and waits for the first change.
task<bool> path_watch::until_changed() {
    while (true) {
        auto connected = core_->connection_made();
        co_await connected;
        const std::uint64_t connection = core_->connection();
        const change_watch watch;
        auto setting = set(watch);
        const bool is_set = co_await setting;
        if (is_set && connection == core_->connection()) {
            armed_();
            auto changed = watch.until_changed(*core_);
            co_await changed;
            co_return true;
        }
        if (core_->connected()) {
            auto pause = again_.pause();
            co_await pause;
        }
    }
}

/// Ends with false if the watches could not be set.
task<bool> path_watch::set(const change_watch& watch) {
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
    for (std::string child = path_; !exists && child != "/";) {
        std::string directory(parent_of(child));
        auto listed = watch.send(*core_, request::children(directory));
        const reply r = co_await listed;
        const auto& names = r.names;
        const bool was_created =
            std::find(names.begin(), names.end(), name_of(child)) != names.end();
        if (outcome_unknown(r.code) || was_created) {
            co_return false;
        }
        exists = r.code != result_code::no_node;
        child = std::move(directory);
    }
    co_return true;
}

}  // namespace latchkey::inline v0
