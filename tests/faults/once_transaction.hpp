#pragma once

#include "stepped_outcome.hpp"
#include "stepped_test.hpp"

#include <memory>
#include <system_error>
#include <utility>
#include <vector>

namespace latchkey::test {

/// hold::transact_once(): the library finds out what became of a try whose answer was lost.
class OnceFaults : public SteppedTest {
protected:
    OnceFaults() { ensemble_.create("/effect"); }

    /// Some time after its grant.
    hold granted() {
        hold h = held(mine_);
        ensemble_.run_for(1s);
        return h;
    }

    /// Of a hold or a term. Counts how often it is applied in the version of /effect.
    template <class Holder>
    std::shared_ptr<outcome> once(Holder& h, std::vector<operation> more = {}) {
        before_ = applied();
        auto o = std::make_shared<outcome>();
        more.insert(more.begin(), operation::set("/effect", "by the holder"));
        h.async_transact_once("/marker", std::move(more), outcome::into(o, ensemble_));
        return o;
    }

    /// The answer to the first try is lost, and its connection is gone.
    template <class Holder>
    std::shared_ptr<outcome> lost(ensemble::when w, Holder& h, std::vector<operation> more = {}) {
        lose(w);
        auto o = once(h, std::move(more));
        expect_met();
        return o;
    }

    void expect_met() {
        ASSERT_TRUE(ensemble_.run_until([&] { return ensemble_.faults_to_come() == 0; }, 10s));
    }

    void finish(const std::shared_ptr<outcome>& o, ensemble::duration limit = 60s) {
        ASSERT_TRUE(ensemble_.run_until([&] { return o->done; }, limit));
    }

    /// It has ended so, and was applied once if it says so, and otherwise not at all.
    void expect_end(const std::shared_ptr<outcome>& o,
                    bool passed,
                    const std::error_code& ec = {}) {
        finish(o);
        EXPECT_EQ(o->ec, ec) << o->ec.message();
        EXPECT_EQ(o->passed, passed);
        EXPECT_EQ(applied(), before_ + (passed ? 1 : 0));
    }

    [[nodiscard]] int applied() const { return ensemble_.get("/effect")->version; }

    void lose(ensemble::when w, int count = 1) {
        ensemble_.fail_next(ensemble::request_kind::multi, w, a_.session_id(), count);
    }

    client a_ = connected();
    client b_ = connected();
    mutex mine_{a_, "/lock"};
    mutex theirs_{b_, "/lock"};
    int before_ = 0;
};

}  // namespace latchkey::test
