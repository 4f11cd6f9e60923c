#include "queue/queue_wait.hpp"

#include "queue/stray_creates.hpp"
#include "text/path.hpp"

#include <utility>

namespace latchkey::inline v0 {

failure refusal_of(const queue_verdict& v, const std::string& directory) {
    const std::string blocker = "\"" + escaped(join_path(directory, v.blocker)) + "\" ";
    if (v.what == queue_verdict::answer::malformed) {
        return {errc::malformed_participant,
                blocker + "looks like a participant but has no valid sequence number; delete it " +
                    "if it is not one"};
    }
    return {errc::sequence_exhausted,
            blocker +
                "has one of the last sequence numbers of this directory; use another path, or wait "
                "until the directory is empty and the servers have removed it"};
}

queue_wait::queue_wait(const std::shared_ptr<client_core>& core,
                       const std::shared_ptr<const queue_recipe>& as,
                       own_znode& z,
                       std::string_view ignored,
                       queue_rule rule,
                       owner& o)
    : core_(core),
      as_(as),
      znode_(z),
      ignored_(ignored),
      owner_(o),
      front_(core, as),
      rule_(rule),
      delay_(core_->loop()),
      retry_(core_->loop()) {}

queue_wait::~queue_wait() {
    core_->heartbeat().withdraw(this);
}

std::string queue_wait::predecessor() const {
    return std::string(name_of(predecessor_->path()));
}

std::string queue_wait::directory() const {
    return std::string(parent_of(znode_.path()));
}

task<queue_wait::end> queue_wait::run(directory_lists::answer at_hand) {
    while (true) {
        if (!predecessor_) {
            auto looking = look(std::exchange(at_hand, nullptr));
            std::optional<end> decided = co_await looking;
            if (decided) {
                co_return *std::move(decided);
            }
        }
        demand_validity_if_next();
        auto connected = core_->connection_made();
        co_await connected;
        auto room = core_->room_to_send();
        co_await room;
        if (!core_->connected()) {
            continue;
        }
        auto watching = until_called_back([this](resumption go_on) { watch(std::move(go_on)); });
        co_await watching;
        if (ended_) {
            auto following = behind(*ended_);
            std::optional<end> decided = co_await following;
            if (decided) {
                co_return *std::move(decided);
            }
        }
    }
}

/// Behind which predecessor it waits, or how the wait ends at once.
task<std::optional<queue_wait::end>> queue_wait::look(directory_lists::answer at_hand) {
    while (true) {
        if (!at_hand) {
            auto connected = core_->connection_made();
            co_await connected;
            auto listed = core_->lists().list(directory(), may_show_the_first());
            at_hand = co_await listed;
        }
        const auto list = std::exchange(at_hand, nullptr);
        if (refused_for_good(list->code)) {
            co_return end{end::kind::refused, failure_of(list->code, directory())};
        }
        if (list->code == result_code::ok || list->code == result_code::no_node) {
            co_return judge(*list);
        }
        if (core_->connected()) {
            auto pause = retry_.pause();
            co_await pause;
        }
    }
}

/// Both watches, in one round trip. `go_on` is for the end of the predecessor's, and for the next
/// connection.
void queue_wait::watch(resumption go_on) {
    ended_.reset();
    wake_ = go_on;
    core_->at_next_connection(std::move(go_on));
    predecessor_->arm();
    if (!znode_.watched()) {
        znode_.watch();
    }
}

/// The wait for the predecessor has ended: by its deletion, by a failure, or its delay is over.
/// Nothing, if it is to be watched again, or another one.
task<std::optional<queue_wait::end>> queue_wait::behind(result_code code) {
    if (unwanted_) {
        co_return end{end::kind::unwanted};
    }
    bool record_is_gone = false;
    if (code == result_code::ok) {
        auto deleted = delete_delay_record(*core_, znode_.path(), predecessor_->path());
        const reply r = co_await deleted;
        record_is_gone = r.ok() || r.code == result_code::no_node;
        code = r.code;
    }
    if (refused_for_good(code)) {
        co_return end{end::kind::refused, failure_of(code, directory())};
    }
    if (record_is_gone) {
        predecessor_.reset();
    } else if (code != result_code::no_node) {
        if (core_->connected()) {
            auto pause = retry_.pause();
            co_await pause;
        }
    } else if (has_become_the_first()) {
        predecessor_.reset();
        co_return end{end::kind::first};
    } else {
        prove_ahead();
        if (verdict_.delay.count() == 0 && front_.may_name(predecessor())) {
            auto asked = front_.names(predecessor());
            const bool was_first = co_await asked;
            if (was_first && znode_.watched()) {
                predecessor_.reset();
                co_return end{end::kind::first};
            }
        }
        const bool was_watched = std::exchange(predecessor_, nullptr)->saw_deletion();
        if (!was_watched && core_->connected()) {
            auto pause = retry_.short_pause();
            co_await pause;
        }
    }
    co_return std::nullopt;
}

/// What is to be done behind a list that may show the own znode to be the first.
std::function<void()> queue_wait::may_show_the_first() {
    return verdict_.ahead <= 1 ? [this] { owner_.on_listing(); } : std::function<void()>();
}

/// How the wait ends by this list; nothing if it goes on behind a predecessor.
std::optional<queue_wait::end> queue_wait::judge(const listing& l) {
    using enum queue_verdict::answer;
    delete_strays(*core_, *as_, ignored_, znode_.path(), l);
    const queue_verdict v =
        queue_of(l, as_->markers).decide(name_of(znode_.path()), rule_, ignored_);
    verdict_ = {.delay = v.delay,
                .ahead = static_cast<std::uint32_t>(v.ahead),
                .grants_when_gone = v.grants_when_gone};
    front_.note_list(l, v);
    const bool delayed = v.delay.count() > 0;  // perhaps not any more
    if ((v.what == acquired || v.what == wait) && !delayed && !owner_.on_placed(znode_, v)) {
        return end{end::kind::unwanted};
    }
    switch (v.what) {
        case acquired:
            return end{end::kind::first};
        case gone:
            return end{end::kind::gone};
        case exhausted:
        case malformed:
            return end{end::kind::refused, refusal_of(v, directory())};
        case wait:
            break;
    }
    znode_watch::observer& self = *this;
    predecessor_ = std::make_shared<znode_watch>(*core_, join_path(directory(), v.blocker), self);
    return std::nullopt;
}

void queue_wait::demand_validity_if_next() {
    if (verdict_.ahead == 1) {
        core_->heartbeat().demand(this, znode_.path());
    } else {
        core_->heartbeat().withdraw(this);
    }
}

void queue_wait::on_watch_set(const server_stat& stat, const std::string&) {
    if (verdict_.delay.count() > 0) {
        note_delay(stat.czxid);
        return;
    }
    if (stat.ephemeral_owner == 0) {
        const std::string& blocker = predecessor_->path();
        core_->log(
            {log_level::error,
             "not-ephemeral",
             "waiting behind \"" + escaped(blocker) +
                 "\", which is not ephemeral: it blocks the queue until an operator deletes it",
             blocker});
    }
}

/// The holder was not there any more when the record was read.
void queue_wait::note_delay(std::int64_t czxid) {
    const std::string& record = predecessor_->path();
    const auto over = as_->notes->end_of_delay(core_->loop(), record, czxid, verdict_.delay);
    const queue_verdict place{.what = queue_verdict::answer::wait,
                              .blocker = predecessor(),
                              .ahead = verdict_.ahead,
                              .delay = verdict_.delay};
    if (core_->loop().now() < over && !owner_.on_placed(znode_, place)) {
        unwanted_ = true;
        end_watch(result_code::ok);
    } else {
        delay_.start(over, [this] { end_watch(result_code::ok); });
    }
}

/// Without a list: no other participant was ahead, and the events of a connection arrive in the
/// order of the changes. No participant can have come between, and the deletion of the own znode
/// would have been reported before, unless its watch was used up by a change and is being set
/// again.
bool queue_wait::has_become_the_first() const {
    return verdict_.grants_when_gone && predecessor_->saw_deletion() && predecessor_->armed() &&
           znode_.watched();
}

/// Probably the first now. The proof that a grant needs travels with the list instead of after it.
void queue_wait::prove_ahead() {
    if (core_->connected() && !core_->believable() && !as_->terms) {
        core_->submit(request::multi({request::check(znode_.path())}), [](const reply&) {});
    }
}

}  // namespace latchkey::inline v0
