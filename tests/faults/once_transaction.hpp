#pragma once

#include "stepped_outcome.hpp"
#include "stepped_test.hpp"

#include <memory>
#include <utility>
#include <vector>

namespace latchkey::test {

/// hold::transact_once(): the library finds out what became of a try whose answer was lost.
class OnceFaults : public SteppedTest {
protected:
    OnceFaults() { ensemble_.create("/effect"); }

    /// Counts how often it is applied in the version of /effect.
    std::shared_ptr<outcome> once(hold& h, std::vector<operation> more = {}) {
        auto o = std::make_shared<outcome>();
        more.insert(more.begin(), operation::set("/effect", "by the holder"));
        h.async_transact_once("/marker", std::move(more), outcome::into(o, ensemble_));
        return o;
    }

    void finish(const std::shared_ptr<outcome>& o, ensemble::duration limit = 60s) {
        ASSERT_TRUE(ensemble_.run_until([&] { return o->done; }, limit));
    }

    [[nodiscard]] int applied() const { return ensemble_.get("/effect")->version; }

    void lose(ensemble::when w, int count = 1) {
        ensemble_.fail_next(ensemble::request_kind::multi, w, a_.session_id(), count);
    }

    client a_ = connected();
    client b_ = connected();
    mutex mine_{a_, "/lock"};
    mutex theirs_{b_, "/lock"};
};

}  // namespace latchkey::test
