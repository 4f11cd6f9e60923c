#include "queue/successor_watch.hpp"

#include "queue/queue_order.hpp"
#include "text/path.hpp"
#include "znode/change_watch.hpp"

#include <algorithm>
#include <utility>

namespace latchkey::inline v0 {

successor_watch::successor_watch(std::shared_ptr<client_core> core,
                                 std::shared_ptr<const queue_recipe> as,
                                 std::string own,
                                 std::int64_t joined,
                                 owner o)
    : core_(std::move(core)),
      as_(std::move(as)),
      own_(std::move(own)),
      joined_(joined),
      owner_(std::move(o)),
      passage_(core_->loop()),
      again_(core_->loop()) {
    follow();
}

void successor_watch::follow() {
    following_.start(list_until_changed(), [this](result_code end) {
        const bool changed = end == result_code::ok && alone_;
        if (end != result_code::ok) {
            again_.later([this] { follow(); });
        } else if (changed) {
            follow();
        }
        if (!changed) {
            owner_(behind::others);
        } else if (!as_->terms) {
            owner_(as_->mode == lock_mode::shared ? behind::unlisted : behind::others);
        }
    });
}

/// Ends with `ok` when another participant is there, or when the directory has changed.
task<result_code> successor_watch::list_until_changed() {
    const change_watch watch;
    auto asked = watch.send(*core_, request::children(as_->directory));
    std::vector<oneshot<reply>> also;
    if (as_->terms) {
        for (grant_terms::question& q : as_->terms->asked_about_demand()) {
            also.push_back(q.is_watched ? watch.send(*core_, std::move(q.what))
                                        : core_->send(std::move(q.what)));
        }
    }
    const reply r = co_await asked;
    std::vector<reply> answers;
    for (oneshot<reply>& one : also) {
        reply a = co_await one;
        answers.push_back(std::move(a));
    }
    if (r.code == result_code::no_node && as_->terms) {
        // The servers remove a queue that has been empty for a while; the next that joins makes it.
        auto looked = watch.send(*core_, request::children(std::string(parent_of(as_->directory))));
        const reply above = co_await looked;
        const auto name = name_of(as_->directory);
        alone_ = above.ok();
        if (!above.ok() || std::count(above.names.begin(), above.names.end(), name) > 0) {
            co_return above.code;
        }
    } else if (!r.ok()) {
        co_return r.code;
    }
    alone_ = !is_waited_for(r.names, answers);
    if (alone_) {
        owner_(behind::none);
        const auto& changed = watch.fired();
        co_await changed;
    }
    co_return result_code::ok;
}

bool successor_watch::is_waited_for(const std::vector<std::string>& queue,
                                    const std::vector<reply>& answers) {
    using enum grant_terms::demand;
    if (!as_->terms) {
        return !queue_list(queue, as_->markers).blocks_none(name_of(own_));
    }
    const std::vector<std::string> waiting = in_order(queue, as_->markers);
    if (waiting.empty() && !queue_list(queue, as_->markers).blocks_none({})) {
        return true;  // its place cannot be told
    }
    const auto found = as_->terms->demand_in(waiting.size(), answers, joined_);
    const std::string first = found == perhaps ? waiting.front() : std::string();
    if (first != passing_) {
        passage_.cancel();
        passing_ = first;
        if (!first.empty()) {
            passage_.start(core_->loop().now() + longest_passage, [this] {
                following_.drop();
                owner_(behind::others);
            });
        }
    }
    return found == certain;
}

}  // namespace latchkey::inline v0
