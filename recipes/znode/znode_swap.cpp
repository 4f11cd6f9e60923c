#include "znode/znode_swap.hpp"

#include "text/path.hpp"

#include <algorithm>
#include <utility>

namespace latchkey {
namespace {

std::vector<request> in_order(std::vector<request> to,
                              const std::vector<request>& guards,
                              std::string from) {
    to.insert(to.end(), guards.begin(), guards.end());
    to.push_back(request::remove(std::move(from)));
    return to;
}

}  // namespace

znode_swap::znode_swap(std::shared_ptr<client_core> core,
                       std::vector<request> to,
                       const std::vector<request>& guards,
                       std::string from,
                       handler done)
    : core_(std::move(core)),
      creations_(to.size()),
      all_(in_order(std::move(to), guards, std::move(from))),
      done_(std::move(done)),
      retry_(core_->loop()) {}

void znode_swap::send() {
    if (!core_->connected()) {
        return;
    }
    sent_ = true;
    core_->submit(request::multi(all_),
                  [self = shared_from_this()](const reply& r) { self->answered(r); });
}

void znode_swap::answered(const reply& r) {
    const std::size_t removal = all_.size() - 1;
    sent_ = false;
    const auto refused = [&r](std::size_t i, result_code code) {
        return i < r.results.size() && r.results[i].code == code;
    };
    const auto one_of = [&r](std::size_t first, std::size_t end, result_code code) {
        const auto at = [&r](std::size_t i) {
            return r.results.begin() + std::ptrdiff_t(std::min(i, r.results.size()));
        };
        return std::any_of(
            at(first), at(end), [code](const reply& one) { return one.code == code; });
    };
    // The creations come first: whatever else has changed since, they tell that it was done before.
    if (r.ok() || one_of(0, creations_, result_code::node_exists)) {
        finish(result::done, {});
    } else if (refused(removal, result_code::no_node)) {
        finish(result::gone, {});
    } else if (one_of(0, creations_, result_code::no_node)) {
        no_directory();
    } else if (one_of(creations_, removal, result_code::bad_version) ||
               one_of(creations_, removal, result_code::no_node)) {
        finish(result::guard_failed, {});
    } else if (outcome_unknown(r.code) || r.code == result_code::throttled) {
        in_doubt_ = in_doubt_ || outcome_unknown(r.code);
        retry();
    } else if (in_doubt_ || may_be_applied(r.code)) {
        // Refused now, for a reason that may be newer than an attempt that was not answered; or the
        // server failed, which does not say when.
        in_doubt_ = true;
        find_out(all_.front().path,
                 result::done,
                 result::refused,
                 failure_of(r.code, all_.front().path));
    } else {
        finish(result::refused, failure_of(r.code, all_.front().path));
    }
}

/// The old one went with it if that was its directory, too; and may have gone with another one.
void znode_swap::no_directory() {
    const std::string& old = all_.back().path;
    if (parent_of(all_.front().path) == parent_of(old)) {
        finish(result::gone, {});
    } else {
        find_out(old, result::guard_failed, result::gone, {});
    }
}

/// What it came to, by whether a znode is there.
void znode_swap::find_out(const std::string& path, result if_there, result if_not, failure why) {
    sent_ = true;
    core_->submit(
        request::multi({request::check(path)}),
        [self = shared_from_this(), if_there, if_not, why = std::move(why)](const reply& r) {
            self->sent_ = false;
            if (r.ok() || r.code == result_code::no_node) {
                const result what = r.ok() ? if_there : if_not;
                self->finish(what, what == result::refused ? why : failure());
            } else {
                self->retry();
            }
        });
}

void znode_swap::retry() {
    retry_.later([weak = weak_from_this()] {
        if (const auto self = weak.lock(); self && self->done_ && !self->sent_) {
            self->send();
        }
    });
}

void znode_swap::finish(result what, failure why) {
    retry_.cancel();
    if (const auto done = std::exchange(done_, nullptr)) {
        done(what, std::move(why));
    }
}

}  // namespace latchkey
