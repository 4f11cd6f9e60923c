#include "hold/user_transaction.hpp"

#include "text/path.hpp"

#include <iterator>
#include <utility>

namespace latchkey::inline v0 {
namespace {

create_mode mode_of(operation::lifetime life) noexcept {
    switch (life) {
        case operation::lifetime::persistent:
            return create_mode::persistent;
        case operation::lifetime::ephemeral:
            return create_mode::ephemeral;
        case operation::lifetime::persistent_sequential:
            return create_mode::persistent_sequential;
        case operation::lifetime::ephemeral_sequential:
            return create_mode::ephemeral_sequential;
    }
    return create_mode::persistent;
}

request request_of(const operation& o, const acl& access) {
    check_path(o.path());
    switch (o.what()) {
        case operation::kind::create:
            return request::create(o.path(), o.data(), mode_of(o.life()), access);
        case operation::kind::set:
            return request::set(o.path(), o.data(), o.version());
        case operation::kind::remove:
            return request::remove(o.path(), o.version());
        case operation::kind::check:
            break;
    }
    return request::check(o.path(), o.version());
}

}  // namespace

std::vector<request> requests_of(const std::vector<operation>& operations, const acl& access) {
    if (operations.empty()) {
        throw error(errc::invalid_argument, "a transaction without operations: give at least one");
    }
    std::vector<request> requests;
    for (const operation& o : operations) {
        requests.push_back(request_of(o, access));
    }
    return requests;
}

user_transaction::user_transaction(std::vector<request> ahead, std::vector<request> operations)
    : ahead_(ahead.size()), multi_(request::multi(std::move(ahead))) {
    multi_.operations.insert(multi_.operations.end(),
                             std::make_move_iterator(operations.begin()),
                             std::make_move_iterator(operations.end()));
}

std::vector<operation_result> user_transaction::results(const reply& r) const {
    std::vector<operation_result> all;
    std::int64_t zxid = 0;
    for (std::size_t i = ahead_; i < multi_.operations.size() && i < r.results.size(); ++i) {
        const request& asked = multi_.operations[i];
        const reply& answer = r.results[i];
        operation_result one{.path = asked.path, .version = asked.version, .zxid = 0};
        if (asked.what == request::kind::create) {
            // The C client cannot ask for the Stat of a create inside a multi: zoo_amulti() sends
            // no create2.
            one.path = answer.path;
            one.version = 0;
        } else if (asked.what == request::kind::set) {
            one.version = answer.stat.version;
            zxid = answer.stat.mzxid;
        }
        all.push_back(std::move(one));
    }
    for (operation_result& one : all) {
        one.zxid = zxid;
    }
    return all;
}

bool user_transaction::is_guard(std::size_t operation) const {
    return operation < ahead_ && multi_.operations[operation].what == request::kind::check;
}

bool user_transaction::guard_is_gone(const reply& r) const {
    const auto at = r.refused_operation();
    return at && is_guard(*at) && r.refused(*at, result_code::no_node);
}

std::string user_transaction::described(std::size_t operation) const {
    if (operation >= ahead_) {
        return "operation " + std::to_string(operation - ahead_ + 1) + " on ";
    }
    return is_guard(operation) ? "the check of the hold's znode " : "the marker ";
}

failure user_transaction::why(const reply& r) const {
    if (r.ok()) {
        return {};
    }
    const std::string& first = multi_.operations.front().path;
    if (outcome_unknown(r.code)) {
        return {
            errc::indeterminate,
            (ahead_ > 0 ? "the transaction guarded by \"" : "the transaction that begins with \"") +
                escaped(first) + '"'};
    }
    if (const auto at = r.refused_operation(); at && *at < multi_.operations.size()) {
        failure f = failure_of(
            r.results[*at].code, multi_.operations[*at].path, multi_.operations[*at].what);
        f.detail = described(*at) + f.detail + "; nothing was applied";
        if (*at >= ahead_) {
            f.known.operation = *at - ahead_;
        }
        return f;
    }
    failure f = failure_of(r.code, first);
    if (f.code == errc::protocol) {
        f.code = errc::indeterminate;  // an unknown code says nothing about what was applied
    }
    return f;
}

}  // namespace latchkey::inline v0
