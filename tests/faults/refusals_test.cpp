#include "stepped_test.hpp"

#include <string>

namespace latchkey::test {
namespace {

constexpr int code_without_a_word = -999;
constexpr int no_auth = -102;

/// Servers that refuse, again and again, are not asked as fast as they answer, and are obeyed once
/// they do not.
class Refusals : public SteppedTest {
protected:
    /// Paced, so many take at least half the longest pause each after the first few; asked at once
    /// they would be used up in milliseconds.
    void refuse(ensemble::request_kind what, int code, int count) {
        ensemble_.refuse_next(what, code, c_.session_id(), count);
    }

    client c_ = connected();
    client other_ = connected();
    mutex m_{c_, "/lock"};
    mutex others_{other_, "/lock"};
};

TEST_F(Refusals, OfAWaitersReadsArePacedAndNoReasonForAList) {
    hold h = held(others_);
    const auto w = acquire(m_);
    ensemble_.run_for(1s);
    ensemble_.reset_counters();
    refuse(ensemble::request_kind::get, code_without_a_word, 20);
    ensemble_.cut(c_.session_id());
    ensemble_.run_for(2s);
    // Of two znodes, in pauses that double from 10 ms: a dozen each in two seconds at most.
    EXPECT_LE(ensemble_.count(c_.session_id()).gets, 24U);
    EXPECT_FALSE(w->done);
    ensemble_.run_for(30s);
    EXPECT_EQ(ensemble_.count(c_.session_id()).children, 0U);
    h.release();
    expect_granted(w, 1s);
}

TEST_F(Refusals, OfHeartbeatsArePacedAndEndTheHoldInTime) {
    const hold h = held(m_);
    ensemble_.run_for(1s);
    refuse(ensemble::request_kind::multi, no_auth, 1'000'000);
    const std::uint64_t before = ensemble_.count(c_.session_id()).checks;
    ensemble_.run_for(20s);
    EXPECT_LE(ensemble_.count(c_.session_id()).checks - before, 15U);
    EXPECT_FALSE(h.valid());
    EXPECT_EQ(h.why_lost(), loss_reason::deadline_passed);
}

}  // namespace
}  // namespace latchkey::test
