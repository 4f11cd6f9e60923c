#include <latchkey/leader_latch.hpp>

#include "once_transaction.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace latchkey::test {
namespace {

using when = ensemble::when;

/// A candidate of Curator's that watches the leader's znode loses its watch when the data changes.
class OnceOfALeader : public OnceFaults {
protected:
    OnceOfALeader() {
        ensemble_.create("/service");
        latch_.start();
        ensemble_.run_until([&] { return latch_.is_leader(); }, 10s);
        ensemble_.run_for(1s);
        term_ = latch_.term();
    }

    std::shared_ptr<outcome> once(std::vector<operation> more = {}) {
        auto o = std::make_shared<outcome>();
        more.insert(more.begin(), operation::set("/effect", "by the leader"));
        term_.async_transact_once("/marker", std::move(more), outcome::into(o, ensemble_));
        ensemble_.run_until([&] { return ensemble_.faults_to_come() == 0; }, 10s);
        return o;
    }

    leader_latch latch_{a_, "/service", {.id = "a"}};
    leadership term_;
};

TEST_F(OnceOfALeader, NeverWritesToTheZnodeWhenItIsRefused) {
    lose(when::before);
    const auto o = once({operation::check("/effect", 1)});
    ensemble_.set("/effect", "by another client");
    finish(o);
    EXPECT_EQ(o->ec, errc::indeterminate) << o->ec.message();
    EXPECT_EQ(ensemble_.get(term_.path())->version, 0);
    EXPECT_FALSE(ensemble_.exists("/marker"));
    EXPECT_TRUE(term_.valid());
}

TEST_F(OnceOfALeader, IsFoundOutWhenItIsRefusedBehindATryThatWasApplied) {
    lose(when::after);
    const auto o = once({operation::check("/effect", 1)});
    ASSERT_TRUE(ensemble_.run_until([&] { return ensemble_.exists("/marker"); }, 10s));
    ensemble_.set("/effect", "by another client");
    finish(o);
    EXPECT_FALSE(o->ec) << o->ec.message();
    EXPECT_TRUE(o->passed);
    EXPECT_EQ(ensemble_.get(term_.path())->version, 0);
}

TEST_F(OnceOfALeader, IsFoundOutWhenTheTermEndsMeanwhile) {
    const std::string path = term_.path();
    for (const when w : {when::before, when::after}) {
        lose(w);
        const auto o = once();
        latch_.resign();
        finish(o);
        EXPECT_EQ(o->ec, w == when::after ? std::error_code() : errc::hold_lost) << o->ec.message();
        EXPECT_EQ(applied(), w == when::after ? 1 : 0);
        EXPECT_FALSE(ensemble_.exists(path));
        ASSERT_TRUE(ensemble_.run_until([&] { return latch_.is_leader(); }, 60s));
        ensemble_.run_for(1s);
        term_ = latch_.term();
    }
}

}  // namespace
}  // namespace latchkey::test
