#include "leader/leader_grant.hpp"

#include "loop/paced_retry.hpp"
#include "text/path.hpp"
#include "znode/guarded_write.hpp"

#include <string>
#include <utility>

namespace latchkey::inline v0 {

void leader_grant::look_ahead() {
    look_.reset();
    if (core_->connected()) {
        look_.emplace(core_->send(request::get(as_->directory)));
    }
}

void leader_grant::begin(place p) {
    if (look_ && look_->await_ready()) {
        look_.reset();  // it was sent before the list that shows this candidate first
    }
    running_.start(become_leader(p), [this, path = p.path](outcome o) {
        if (o.why) {
            owner_->on_refused(std::move(o.why));
        } else if (o.token == 0) {
            owner_->on_gone();
        } else {
            *who_.seen = std::move(o.seen);
            owner_->on_admitted({.paths = {path}, .zxid = o.token});
        }
    });
}

task<leader_grant::outcome> leader_grant::become_leader(place p) {
    paced_retry again(core_->loop());
    reply seen;
    while (true) {
        auto connected = core_->connection_made();
        co_await connected;
        if (!look_) {
            look_ahead();
        }
        oneshot<reply> look = *std::move(look_);
        look_.reset();
        seen = co_await look;
        if (seen.ok()) {
            break;
        }
        if (seen.code == result_code::no_node) {
            co_return outcome{};
        }
        if (refused_for_good(seen.code)) {
            co_return outcome{.why = failure_of(seen.code, as_->directory)};
        }
        if (core_->connected()) {
            auto pause = again.pause();
            co_await pause;
        }
    }
    failure foreign = refuse_foreign_data(as_->directory, seen.data);
    if (foreign) {
        co_return outcome{.why = std::move(foreign)};
    }
    const auto last = read_leader_record(seen.data);
    record_seen record{seen.stat.version, false, unclean_before(last, who_.id)};
    const bool let_in = last && last->successor == name_of(p.path);
    if (let_in || (p.first_since && seen.stat.mzxid < p.zxid)) {
        co_return outcome{let_in ? seen.stat.mzxid : p.zxid, std::move(record)};
    }
    guarded_write write{.own = p.path,
                        .path = as_->directory,
                        .text = write_leader_record({.id = who_.id,
                                                     .data = who_.data,
                                                     .znode = std::string(name_of(p.path)),
                                                     .token = 0,
                                                     .is = leader_record::state::leading,
                                                     .unclean = record.unclean}),
                        .version = record.version,
                        .may_replace = refuse_foreign_data};
    auto writing = write_guarded(*core_, write);
    guarded_written w = co_await writing;
    if (w.what == guarded_written::kind::unknown) {
        co_await until_dropped;  // the owner is notified itself of the session's end
    }
    record.version = w.stat.version;
    record.written = true;
    co_return outcome{w.stat.mzxid, std::move(record), std::move(w.why)};
}

}  // namespace latchkey::inline v0
