#include "leader/leader_grant.hpp"

#include "loop/paced_retry.hpp"
#include "queue/own_znode.hpp"
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

task<reply> leader_grant::read_record() {
    if (look_ && look_->await_ready()) {
        look_.reset();  // it was sent before the list that shows this candidate first
    }
    paced_retry again(core_->loop());
    while (true) {
        auto connected = core_->connection_made();
        co_await connected;
        if (!look_) {
            look_ahead();
        }
        oneshot<reply> look = *std::exchange(look_, std::nullopt);
        reply seen = co_await look;
        if (seen.tells_whether_there() || refused_for_good(seen.code)) {
            co_return seen;
        }
        if (core_->connected()) {
            auto pause = again.pause();
            co_await pause;
        }
    }
}

task<last_step::end> leader_grant::take(place p) {
    using enum end::kind;
    const std::string own = p.znode.path();
    auto reading = read_record();
    const reply seen = co_await reading;
    if (seen.code == result_code::no_node) {
        co_return end{gone};
    }
    failure why = seen.ok() ? refuse_foreign_data(as_->directory, seen.data)
                            : failure_of(seen.code, as_->directory);
    if (why) {
        co_return end{refused, std::move(why)};
    }
    const auto last = read_leader_record(seen.data);
    record_seen record{seen.stat.version, false, unclean_before(last, who_.id)};
    const bool let_in = last && last->successor == name_of(own);
    if (let_in || (p.first_since && seen.stat.mzxid < p.zxid)) {
        *who_.seen = std::move(record);
        co_return end{.what = admitted, .paths = {own}, .zxid = let_in ? seen.stat.mzxid : p.zxid};
    }
    guarded_write write{.own = own,
                        .path = as_->directory,
                        .text = write_leader_record({.id = who_.id,
                                                     .data = who_.data,
                                                     .znode = std::string(name_of(own)),
                                                     .token = 0,
                                                     .is = leader_record::state::leading,
                                                     .unclean = record.unclean}),
                        .version = record.version,
                        .may_replace = refuse_foreign_data};
    auto writing = write_guarded(*core_, write);
    guarded_written w = co_await writing;
    switch (w.what) {
        case guarded_written::kind::unknown:
            co_await until_dropped;  // the owner is notified itself of the session's end
            break;
        case guarded_written::kind::gone:
            co_return end{gone};
        case guarded_written::kind::refused:
            co_return end{refused, std::move(w.why)};
        case guarded_written::kind::written:
            break;
    }
    record.version = w.stat.version;
    record.written = true;
    *who_.seen = std::move(record);
    co_return end{.what = admitted, .paths = {own}, .zxid = w.stat.mzxid};
}

}  // namespace latchkey::inline v0
