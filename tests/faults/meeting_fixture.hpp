#pragma once

#include <latchkey/acl.hpp>
#include <latchkey/double_barrier.hpp>
#include <latchkey/group.hpp>

#include "barrier_calls.hpp"
#include "recipe_forms.hpp"
#include "stepped_outcome.hpp"
#include "stepped_test.hpp"

#include <functional>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace latchkey::test {

/// Two clients that meet at barriers and in groups.
class MeetingTrouble : public SteppedTest {
protected:
    using pending = std::shared_ptr<outcome>;

    using SteppedTest::SteppedTest;

    pending enter(double_barrier& b) const { return test::enter(b, ensemble_); }

    pending leave(double_barrier& b) const { return test::leave(b, ensemble_); }

    bool comes_true(const std::function<bool()>& what, ensemble::duration limit = 60s) {
        return ensemble_.run_until(what, limit);
    }

    void finish(const pending& o, const std::error_code& ec = {}) {
        ASSERT_TRUE(comes_true([&] { return o->done; }));
        EXPECT_EQ(o->ec, ec) << o->ec.message();
        EXPECT_EQ(o->passed, !ec);
    }

    /// It is not inside, and there was no error.
    void expect_given_up(const pending& o) {
        ASSERT_TRUE(comes_true([&] { return o->done; }));
        EXPECT_FALSE(o->passed);
        EXPECT_FALSE(o->ec) << o->ec.message();
    }

    void finish_both(const pending& one, const pending& two) {
        finish(one);
        finish(two);
    }

    std::shared_ptr<membership> join(group& g, std::string data = "x") {
        auto m = std::make_shared<membership>();
        g.async_join("name",
                     for_ever,
                     {.data = std::move(data), .stop = {}},
                     [m](std::error_code ec, membership joined) {
                         EXPECT_FALSE(ec) << ec.message();
                         *m = std::move(joined);
                     });
        return m;
    }

    std::shared_ptr<membership> joined(group& g) {
        const auto m = join(g);
        EXPECT_TRUE(comes_true([&] { return static_cast<bool>(*m); }));
        return m;
    }

    void allow(const std::string& path, permission what) {
        ensemble_.set_acl(path, {{"world", "anyone", what}});
    }

    /// Permits no operation.
    static constexpr auto nothing = static_cast<permission>(0);

    std::vector<std::string> logged_;  ///< by the first client
    client a_ = connected({.session_timeout = 12s, .log = [this](const log_record& line) {
                               logged_.emplace_back(line.text);
                           }});
    client b_ = connected();
};

}  // namespace latchkey::test
