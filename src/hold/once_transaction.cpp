#include "hold/once_transaction.hpp"

#include "text/guid.hpp"
#include "text/path.hpp"

#include <utility>

namespace latchkey::inline v0 {

once_transaction::once_transaction(std::shared_ptr<hold_state> guard,
                                   std::string marker,
                                   const std::vector<operation>& operations)
    : retrying_call(guard->core()),
      guard_(std::move(guard)),
      marker_(std::move(marker)),
      operations_(requests_of(operations, *core()->access())),
      silence_(core()->loop()),
      open_(guard_) {
    check_path(marker_);
}

call_aim once_transaction::aim() const {
    return {"commit a transaction with the marker", {marker_}};
}

void once_transaction::begin() {
    begun_ = core()->loop().now();
    guards_ = guard_->paths();
    mark_ = guards_.front() + ' ' + guid(core()->loop());
    heard_of_servers();
    if (may_send()) {
        retrying_call::begin();
    } else {
        end_if_nothing_was_sent();
    }
}

task<once_transaction::attempted> once_transaction::attempt() {
    if (!waits_for_deletion_) {
        heard_of_servers();
    }
    if (applied_) {
        auto ending = end_known();
        attempted a = co_await ending;
        co_return a;
    }
    if (!end_ && !may_send()) {
        end_ = guard_is_gone();
    }
    if (!end_) {
        auto sent = send();
        attempted a = co_await sent;
        co_return a;
    }
    if (!in_doubt_) {
        co_return result{*end_};
    }
    auto found = find_out();
    attempted a = co_await found;
    co_return a;
}

user_transaction once_transaction::transaction() const {
    std::vector<request> ahead;
    for (const std::string& own : guards_) {
        // One check that fails is enough, so only the first znode's version counts.
        ahead.push_back(request::check(own, ahead.empty() ? version_ : request::any_version));
    }
    ahead.push_back(request::create(marker_, mark_, create_mode::persistent, *core()->access()));
    return {std::move(ahead), operations_};
}

/// Tries until there is an answer.
task<once_transaction::attempted> once_transaction::send() {
    while (may_send()) {
        const user_transaction all = transaction();
        request one_try = all.multi();
        one_try.urgent = true;  // as any guarded transaction
        const bool in_doubt = std::exchange(in_doubt_, true);
        auto sent = core()->send(std::move(one_try));
        const reply answer = co_await sent;
        if (answer.ok()) {
            in_doubt_ = in_doubt;
            applied_ = true;
            auto ending = end_known();
            attempted a = co_await ending;
            co_return a;
        }
        if (outcome_unknown(answer.code)) {
            co_return std::nullopt;
        }
        heard_of_servers();
        in_doubt_ = in_doubt || may_be_applied(answer.code);
        if (answer.code == result_code::throttled) {
            co_return std::nullopt;
        }
        if (answer.refused(all.ahead() - 1, result_code::node_exists)) {
            if (!in_doubt_) {
                co_return result{};
            }
            auto marker = read_marker();
            attempted a = co_await marker;
            if (!a || a->why) {
                co_return a;
            }
            applied_ = a->value;
            auto ending = end_known();
            attempted known = co_await ending;
            co_return known;
        }
        if (!answer.refused(0, result_code::bad_version)) {
            // That its znode is gone the hold learns from its watch, or knows: it was converted.
            end_ = all.guard_is_gone(answer) ? guard_is_gone() : all.why(answer);
            if (end_->code == errc::indeterminate) {
                end_->code = errc::protocol;  // it does not end before that is found out
            }
            co_return in_doubt_ ? std::nullopt : attempted(result{*end_});
        }
        auto asked = core()->send(request::get(guards_.front()));
        const reply own = co_await asked;
        if (!own.ok() && own.code != result_code::no_node) {
            co_return std::nullopt;
        }
        version_ = own.ok() ? own.stat.version : version_;
        auto pause = short_pause();
        co_await pause;
    }
    co_return std::nullopt;
}

/// Behind an answer that is at least as new as every try that was applied.
task<once_transaction::attempted> once_transaction::read_marker() {
    auto asked = core()->send(request::get(marker_));
    const reply there = co_await asked;
    if (there.ok()) {
        co_return result{{}, there.data == mark_};
    }
    if (there.code == result_code::no_node && end_) {
        co_return result{*end_};
    }
    if (there.code == result_code::no_auth) {
        co_return result{unknown("the marker cannot be read")};
    }
    co_return std::nullopt;
}

/// Whether it was applied is known. It is not to be applied later, when the marker is deleted.
task<once_transaction::attempted> once_transaction::end_known() {
    if (in_doubt_ && guard_->writable()) {
        auto barring = bar_late_tries();
        const std::optional<bool> barred = co_await barring;
        if (!barred) {
            co_return std::nullopt;
        }
        barred_ = *barred;
    }
    co_return result{{}, *applied_};
}

/// No try is sent any more.
task<once_transaction::attempted> once_transaction::find_out() {
    auto barring = bar_late_tries();
    const std::optional<bool> barred = co_await barring;
    if (!barred) {
        co_return std::nullopt;
    }
    barred_ = *barred;
    if (!barred_) {
        end_ = unknown(guard_->writable() ? "the znode of the hold cannot be read and written"
                                          : "the znode of a candidate is never written to");
    }
    auto marker = read_marker();
    attempted a = co_await marker;
    co_return a;
}

task<std::optional<bool>> once_transaction::bar_late_tries() {
    const std::string& own = guards_.front();
    auto asked = core()->send(request::get(own));
    const reply there = co_await asked;
    if (there.code == result_code::no_node) {
        co_return true;  // its name is unique, so it does not come back
    }
    if (!there.ok()) {
        co_return there.code == result_code::no_auth ? std::optional(false) : std::nullopt;
    }
    if (there.stat.version > version_) {
        co_return true;
    }
    if (!guard_->writable()) {
        // A term that is over takes its znode with it.
        waits_for_deletion_ = !guard_->may_transact();
        co_return waits_for_deletion_ ? std::nullopt : std::optional(false);
    }
    heard_of_servers();
    auto written = core()->send(request::set(own, there.data, there.stat.version));
    const reply raised = co_await written;
    if (raised.ok() || raised.code == result_code::no_node) {
        co_return true;
    }
    co_return refused_for_good(raised.code) ? std::optional(false) : std::nullopt;
}

// ---- the end ----

void once_transaction::give_up() {
    if (applied_) {
        finish({{}, *applied_});
        return;
    }
    finish({in_doubt_
                ? unknown(waits_for_deletion_ ? "its znode was not deleted within a session timeout"
                                              : "no server was reached for a session timeout")
                : failure{errc::unreachable,
                          '"' + escaped(marker_) + "\": nothing was sent: " +
                              (core()->trouble().empty() ? "no server was reached"
                                                         : core()->trouble())}});
}

void once_transaction::client_closed(const failure& why) {
    if (applied_) {
        finish({{}, *applied_});
        return;
    }
    finish({in_doubt_ ? unknown("the client was closed") : why});
}

void once_transaction::end_if_nothing_was_sent() {
    if (!in_doubt_ && !may_send()) {
        finish({guard_is_gone()});
    }
}

bool once_transaction::may_send() const {
    return guard_->may_transact() && guard_->paths() == guards_;
}

failure once_transaction::guard_is_gone() const {
    if (!guard_->may_transact()) {
        return guard_->hold_is_lost("nothing was applied");
    }
    return {errc::hold_lost,
            '"' + escaped(guards_.front()) +
                "\": nothing was applied: the znode is gone, because the hold was converted or "
                "somebody deleted it"};
}

void once_transaction::heard_of_servers() {
    silence_.start(core()->patience(), [this] { give_up(); });
}

failure once_transaction::unknown(const std::string& because) const {
    return {errc::indeterminate,
            '"' + escaped(marker_) +
                "\": it is not known whether the transaction was applied: " + because};
}

bool transact_once_and_wait(std::shared_ptr<hold_state> guard,
                            std::string marker,
                            const std::vector<operation>& operations) {
    return wait_for(
        std::make_shared<once_transaction>(std::move(guard), std::move(marker), operations),
        std::chrono::nanoseconds::max(),
        {});
}

void transact_once_and_tell(const std::shared_ptr<hold_state>& guard,
                            std::string marker,
                            const std::vector<operation>& operations,
                            hold::transact_once_handler handler) {
    start_new<once_transaction>(
        *guard->core(), std::move(handler), guard, std::move(marker), operations);
}

}  // namespace latchkey::inline v0
