#include "stepped_test.hpp"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace latchkey::test {
namespace {

using when = ensemble::when;
using op = ensemble::request_kind;

/// Reads, and transactions without a hold, while connections and servers fail.
class ReadFaults : public SteppedTest {
protected:
    struct read {
        bool done = false;
        std::error_code ec;
        std::optional<std::string> data;
        ensemble::duration at{};
    };

    std::shared_ptr<read> get(read_from from) {
        auto r = std::make_shared<read>();
        c_.async_get("/a", from, [this, r](std::error_code ec, const std::optional<znode>& z) {
            r->done = true;
            r->ec = ec;
            r->at = ensemble_.now();
            if (z) {
                r->data = z->data;
            }
        });
        return r;
    }

    void finish(const std::shared_ptr<read>& r) {
        ASSERT_TRUE(ensemble_.run_until([&] { return r->done; }, 60s));
    }

    client c_ = connected();
};

TEST_F(ReadFaults, QuorumReadIsOneRequestMoreInTheSameRoundTrip) {
    ensemble_.create("/a", "x");
    for (const auto from : {read_from::any_server, read_from::quorum}) {
        settle();
        const auto before = ensemble_.now();
        const auto r = get(from);
        finish(r);
        EXPECT_EQ(r->data, "x");
        EXPECT_EQ(r->at - before, round_trip);
        const testing::counters n = ensemble_.count();
        EXPECT_EQ(n.gets, 1U);
        EXPECT_EQ(n.checks, from == read_from::quorum ? 1U : 0U);
        EXPECT_EQ(n.requests(), 1U);
    }
}

TEST_F(ReadFaults, OnlyAQuorumReadSeesWhatAServerBehindDoesNotKnowYet) {
    const int behind = (ensemble_.leader() + 1) % 3;
    ensemble_.create("/a", "old");
    ensemble_.move(c_.session_id(), behind);
    ensemble_.run_for(1s);
    ensemble_.lag(behind, 500ms);
    ensemble_.set("/a", "new");
    ensemble_.run_for(10ms);
    const auto stale = get(read_from::any_server);
    finish(stale);
    EXPECT_EQ(stale->data, "old");
    const auto r = get(read_from::quorum);
    finish(r);
    EXPECT_EQ(r->data, "new");
}

TEST_F(ReadFaults, QuorumReadIsNotAnsweredByAServerThatIsCutOff) {
    const int cut_off = (ensemble_.leader() + 1) % 3;
    ensemble_.create("/a", "old");
    ensemble_.move(c_.session_id(), cut_off);
    ensemble_.run_for(1s);
    ensemble_.isolate(cut_off);
    ensemble_.set("/a", "new");
    const auto stale = get(read_from::any_server);
    finish(stale);
    EXPECT_EQ(stale->data, "old");
    const auto r = get(read_from::quorum);
    finish(r);
    EXPECT_FALSE(r->ec) << r->ec.message();
    EXPECT_EQ(r->data, "new");
}

TEST_F(ReadFaults, AreSentAgainIfTheirAnswerIsLost) {
    ensemble_.create("/a", "x");
    for (const auto from : {read_from::any_server, read_from::quorum}) {
        for (const op lost : {op::get, op::multi}) {
            for (const when w : {when::before, when::after}) {
                ensemble_.run_for(20s);
                ensemble_.fail_next(lost, w, c_.session_id());
                const auto r = get(from);
                finish(r);
                EXPECT_FALSE(r->ec) << r->ec.message();
                EXPECT_EQ(r->data, "x");
                ensemble_.fail_next(op::any, when::before, c_.session_id(), 0);
                ensemble_.fail_next(op::multi, when::before, c_.session_id(), 0);
            }
        }
    }
}

TEST_F(ReadFaults, QuorumReadIsRepeatedIfItsWriteWasNotAppliedInOrder) {
    ensemble_.create("/a", "x");
    for (const int code : {-127, -999, -4}) {
        settle();
        ensemble_.refuse_next(op::multi, code, c_.session_id());
        const auto r = get(read_from::quorum);
        finish(r);
        EXPECT_FALSE(r->ec) << r->ec.message();
        EXPECT_EQ(r->data, "x");
        EXPECT_GE(ensemble_.count().gets, 2U) << code;
    }
}

TEST_F(ReadFaults, WithoutAServerEndAfterTheSessionTimeout) {
    ensemble_.create("/a", "x");
    ensemble_.suspend(c_.session_id());
    ensemble_.run_for(1s);
    const auto before = ensemble_.now();
    const auto r = get(read_from::any_server);
    std::error_code ec;
    c_.async_transact({operation::create("/b")}, [&](std::error_code e, const auto&) { ec = e; });
    finish(r);
    EXPECT_EQ(r->ec, errc::unreachable) << r->ec.message();
    EXPECT_EQ(r->at - before, 12s);
    ASSERT_TRUE(ensemble_.run_until([&] { return static_cast<bool>(ec); }, 1s));
    EXPECT_EQ(ec, errc::unreachable) << "it was not sent";
    ensemble_.resume(c_.session_id());
    ensemble_.run_for(30s);
    EXPECT_FALSE(ensemble_.exists("/b"));
}

TEST_F(ReadFaults, OfAClosedClientFail) {
    ensemble_.black_hole(c_.session_id());
    const auto r = get(read_from::any_server);
    std::vector<std::error_code> told;
    const auto note = [&](std::error_code ec, const auto&) { told.push_back(ec); };
    c_.async_transact({operation::create("/b")}, note);
    ensemble_.run_for(1s);
    c_.close();
    finish(r);
    EXPECT_EQ(r->ec, errc::closed);
    const auto later = get(read_from::quorum);
    c_.async_transact({operation::create("/b")}, note);
    finish(later);
    EXPECT_EQ(later->ec, errc::closed);
    ASSERT_TRUE(ensemble_.run_until([&] { return told.size() == 2; }, 10s));
    EXPECT_EQ(told[0], errc::indeterminate);
    EXPECT_EQ(told[1], errc::closed);
}

TEST_F(ReadFaults, TransactionWaitsForAConnectionAndIsOneRequest) {
    ensemble_.suspend(c_.session_id());
    ensemble_.run_for(1s);
    std::vector<operation_result> results;
    bool done = false;
    c_.async_transact({operation::create("/b")},
                      [&](std::error_code ec, std::vector<operation_result> r) {
                          EXPECT_FALSE(ec) << ec.message();
                          results = std::move(r);
                          done = true;
                      });
    ensemble_.run_for(2s);
    EXPECT_FALSE(done);
    ensemble_.resume(c_.session_id());
    ASSERT_TRUE(ensemble_.run_until([&] { return done; }, 10s));
    EXPECT_EQ(results, (std::vector{operation_result{.path = "/b", .version = 0, .zxid = 0}}));
    EXPECT_EQ(ensemble_.count().multis, 1U);
}

}  // namespace
}  // namespace latchkey::test
