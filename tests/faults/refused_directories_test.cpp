#include "client/client_core.hpp"
#include "stepped_outcome.hpp"
#include "stepped_test.hpp"
#include "unreachable_calls.hpp"

#include <optional>
#include <ostream>
#include <string>
#include <tuple>

// A directory that the servers do not let a client create does not come by waiting. Each recipe
// says so at once.

namespace latchkey::test {
namespace {

using ::testing::Combine;
using ::testing::Values;
using ::testing::ValuesIn;

/// Why no directory can be created below /corp.
struct obstacle {
    const char* name;
    errc why;
    int code = 0;  ///< what the servers answer; 0 if the in-process ensemble knows by itself
};

constexpr obstacle obstacles[]{
    {"NoCreate", errc::not_authorized},
    {"EphemeralParent", errc::ephemeral_parent},
    {"Quota", errc::quota_exceeded, -125},
    {"List", errc::not_authorized, -114},
};

void PrintTo(const obstacle& o, std::ostream* out) {
    *out << o.name;
}

class RefusedDirectories
    : public SteppedTest,
      public ::testing::WithParamInterface<std::tuple<timed_recipe, obstacle, int>> {
protected:
    RefusedDirectories() {
        const auto& [recipe, what, missing] = GetParam();
        const bool ephemeral = what.why == errc::ephemeral_parent;
        if (ephemeral) {
            owner_.emplace(connected());
            const auto core = client_core::of(*owner_);
            core->submit(request::create("/corp", {}, create_mode::ephemeral, *core->access()),
                         [](const reply&) {});
            EXPECT_TRUE(ensemble_.run_until([this] { return ensemble_.exists("/corp"); }, 10s));
        } else if (what.code == 0 || missing == 2) {
            ensemble_.create("/corp");
        }
        if (what.code == 0 && !ephemeral) {
            ensemble_.set_acl("/corp",
                              {{"world", "anyone", permission::read | permission::remove}});
        }
        // The recipe's own directory is below this one.
        c_.emplace(
            ensemble_.connect({.session_timeout = 12s}, missing == 1 ? "/corp" : "/corp/team"));
        EXPECT_TRUE(ensemble_.run_until([&] { return c_->session_id() != 0; }, 10s));
        call_ = recipe.make(ensemble_, *c_);
        // The levels above the recipe's directory, and no more: below them there is no znode.
        ensemble_.refuse_next(ensemble::request_kind::create,
                              what.code,
                              c_->session_id(),
                              what.code == 0 ? 0 : missing);
    }

    std::optional<client> owner_;
    std::optional<client> c_;
    timed_call call_;
};

TEST_P(RefusedDirectories, EndTheCallAtOnce) {
    const auto o = std::make_shared<outcome>();
    const auto begun = ensemble_.now();
    call_.begin(60s, {}, outcome::into(o, ensemble_));
    ASSERT_TRUE(ensemble_.run_until([&] { return o->done; }, 100s));
    EXPECT_FALSE(o->passed);
    EXPECT_EQ(o->ec, std::get<obstacle>(GetParam()).why) << o->ec.message();
    EXPECT_LE(o->at - begun, 1s);
}

INSTANTIATE_TEST_SUITE_P(,
                         RefusedDirectories,
                         Combine(ValuesIn(timed_that_create()), ValuesIn(obstacles), Values(1, 2)),
                         [](const auto& p) {
                             return std::get<0>(p.param).name + std::get<1>(p.param).name +
                                    std::to_string(std::get<2>(p.param));
                         });

}  // namespace
}  // namespace latchkey::test
