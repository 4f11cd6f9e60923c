#include <latchkey/barrier.hpp>
#include <latchkey/ensemble.hpp>

#include "in_time.hpp"

#include <string>
#include <tuple>

#include <gtest/gtest.h>

namespace latchkey::test {
namespace {

using testing::ensemble;
using when = ensemble::when;

/// A barrier that is set and taken away while connections break, before a server acts and after.
class BarrierLostReply : public ::testing::TestWithParam<std::tuple<when, int>> {
protected:
    void fail_next(ensemble::request_kind what) {
        const auto [moment, count] = GetParam();
        ensemble_.fail_next(what, moment, c_.session_id(), count);
    }

    ensemble ensemble_;
    client c_ = ensemble_.connect();
};

TEST_P(BarrierLostReply, MakesItStandOnceAndGoOnce) {
    barrier b(c_, "/where/it/stands");
    for (int round = 0; round < 3; ++round) {
        EXPECT_TRUE(b.wait_for(std::chrono::seconds(0)));
        fail_next(ensemble::request_kind::create);
        b.set();
        EXPECT_TRUE(ensemble_.exists(b.path()));
        EXPECT_FALSE(in_time(std::chrono::milliseconds(20),
                             [&b](std::chrono::milliseconds limit) { return b.wait_for(limit); }));
        fail_next(ensemble::request_kind::remove);
        b.remove();
        EXPECT_FALSE(ensemble_.exists(b.path()));
    }
}

INSTANTIATE_TEST_SUITE_P(,
                         BarrierLostReply,
                         ::testing::Combine(::testing::Values(when::before, when::after),
                                            ::testing::Values(1, 3)));

}  // namespace
}  // namespace latchkey::test
