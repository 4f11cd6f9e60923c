#include "ensemble/server/request_counters.hpp"

#include "ensemble/server/frame_size.hpp"

#include <algorithm>
#include <cstddef>

namespace latchkey::model {

std::uint64_t& request_counters::counter_for(testing::counters& c, const request& r) {
    switch (r.what) {
        case request::kind::create:
            return c.creates;
        case request::kind::remove:
            return c.removes;
        case request::kind::get:
        case request::kind::get_acl:
            return c.gets;
        case request::kind::exists:
            return c.exists;
        case request::kind::children:
            return c.children;
        case request::kind::set:
        case request::kind::set_acl:
            return c.sets;
        case request::kind::sync:
            return c.syncs;
        case request::kind::check:
        case request::kind::multi:
            break;
    }
    const bool only_checks =
        r.what == request::kind::check ||
        std::all_of(r.operations.begin(), r.operations.end(), [](const request& operation) {
            return operation.what == request::kind::check;
        });
    return only_checks ? c.checks : c.multis;
}

void request_counters::request_of(std::int64_t session, const packet& p) {
    const std::size_t bytes = frame_size(p.body);
    for (testing::counters* const c : {&total_, &by_session_[session]}) {
        ++counter_for(*c, p.body);
        c->watches_set += p.watch ? 1U : 0U;
        c->bytes_in += bytes;
    }
}

void request_counters::answer(std::int64_t session, const packet& to, const reply& r) {
    const std::size_t bytes = answer_size(to, r);
    total_.bytes_out += bytes;
    by_session_[session].bytes_out += bytes;
}

void request_counters::event(std::int64_t session, std::string_view path) {
    for (testing::counters* const c : {&total_, &by_session_[session]}) {
        ++c->watch_events;
        c->bytes_out += event_size(path);
    }
}

testing::counters request_counters::of(std::int64_t session) const {
    const auto found = by_session_.find(session);
    return found == by_session_.end() ? testing::counters{} : found->second;
}

void request_counters::reset() {
    total_ = {};
    by_session_.clear();
}

}  // namespace latchkey::model
