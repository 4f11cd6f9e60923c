#include "lock_fixture.hpp"

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
class ReadFaults : public LockSteps {
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
            *r = {true, ec, z ? std::optional(z->data) : std::nullopt, ensemble_.now()};
        });
        return r;
    }

    std::error_code error_of_read(const std::shared_ptr<read>& r) {
        EXPECT_TRUE(soon([&] { return r->done; }));
        return r->ec;
    }

    void expect_read(read_from from, const std::string& data) {
        const auto r = get(from);
        EXPECT_FALSE(error_of_read(r)) << r->ec.message();
        EXPECT_EQ(r->data, data);
    }

    /// The client is connected to it.
    void move_to(int server) {
        ensemble_.move(c_.session_id(), server);
        ensemble_.run_for(1s);
    }

    ReadFaults() { ensemble_.create("/a", "old"); }

    client c_ = connected();
};

TEST_F(ReadFaults, QuorumReadIsOneRequestMoreInTheSameRoundTrip) {
    for (const auto from : {read_from::any_server, read_from::quorum}) {
        settle();
        const auto before = ensemble_.now();
        const auto r = get(from);
        EXPECT_FALSE(error_of_read(r));
        EXPECT_EQ(r->at - before, round_trip);
        const testing::counters n = ensemble_.count();
        EXPECT_EQ(n.gets, 1U);
        EXPECT_EQ(n.checks, from == read_from::quorum ? 1U : 0U);
        EXPECT_EQ(n.requests(), 1U);
    }
}

TEST_F(ReadFaults, OnlyAQuorumReadSeesWhatAServerBehindDoesNotKnowYet) {
    for (const bool cut_off : {false, true}) {
        const int server = follower();
        ensemble_.set("/a", "old");
        move_to(server);
        if (cut_off) {
            ensemble_.isolate(server);
        } else {
            ensemble_.lag(server, 500ms);
        }
        ensemble_.set("/a", "new");
        ensemble_.run_for(10ms);
        expect_read(read_from::any_server, "old");
        expect_read(read_from::quorum, "new");
        ensemble_.lag(server, 0s);
    }
}

TEST_F(ReadFaults, AreSentAgainIfTheirAnswerIsLost) {
    for (const auto from : {read_from::any_server, read_from::quorum}) {
        for (const op lost : {op::get, op::multi}) {
            for (const when w : {when::before, when::after}) {
                ensemble_.run_for(20s);
                ensemble_.fail_next(lost, w, c_.session_id());
                expect_read(from, "old");
                ensemble_.fail_next(op::any, when::before, c_.session_id(), 0);
                ensemble_.fail_next(op::multi, when::before, c_.session_id(), 0);
            }
        }
    }
}

TEST_F(ReadFaults, QuorumReadIsRepeatedIfItsWriteWasNotAppliedInOrder) {
    for (const int code : {-127, -999, -4}) {
        settle();
        ensemble_.refuse_next(op::multi, code, c_.session_id());
        expect_read(read_from::quorum, "old");
        EXPECT_GE(ensemble_.count().gets, 2U) << code;
    }
}

TEST_F(ReadFaults, WithoutAServerEndAfterTheSessionTimeout) {
    ensemble_.suspend(c_.session_id());
    ensemble_.run_for(1s);
    const auto before = ensemble_.now();
    const auto r = get(read_from::any_server);
    EXPECT_EQ(error_of_transaction(c_, operation::create("/b")), errc::unreachable);
    EXPECT_EQ(error_of_read(r), errc::unreachable) << r->ec.message();
    EXPECT_EQ(r->at - before, timeout);
    ensemble_.resume(c_.session_id());
    ensemble_.run_for(30s);
    EXPECT_FALSE(ensemble_.exists("/b")) << "it was not sent";
}

TEST_F(ReadFaults, OfAClosedClientFail) {
    ensemble_.black_hole(c_.session_id());
    const auto r = get(read_from::any_server);
    std::error_code told;
    c_.async_transact({operation::create("/b")},
                      [&](std::error_code ec, const auto&) { told = ec; });
    ensemble_.run_for(1s);
    c_.close();
    EXPECT_EQ(error_of_read(r), errc::closed);
    EXPECT_EQ(error_of_read(get(read_from::quorum)), errc::closed);
    EXPECT_EQ(error_of_transaction(c_, operation::create("/b")), errc::closed);
    EXPECT_EQ(told, errc::indeterminate) << "it was on its way";
}

TEST_F(ReadFaults, TransactionWaitsForAConnectionAndIsOneRequest) {
    ensemble_.suspend(c_.session_id());
    ensemble_.run_for(1s);
    std::vector<operation_result> results;
    c_.async_transact({operation::create("/b")},
                      [&](std::error_code, std::vector<operation_result> r) { results = r; });
    ensemble_.run_for(2s);
    EXPECT_TRUE(results.empty());
    ensemble_.resume(c_.session_id());
    ASSERT_TRUE(soon([&] { return !results.empty(); }, 10s));
    EXPECT_EQ(results, (std::vector{operation_result{.path = "/b", .version = 0, .zxid = 0}}));
    EXPECT_EQ(ensemble_.count().multis, 1U);
}

}  // namespace
}  // namespace latchkey::test
