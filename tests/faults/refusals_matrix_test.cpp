#include "refused_use.hpp"
#include "request_faults.hpp"
#include "stepped_test.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace latchkey::test {
namespace {

using when = ensemble::when;
using op = ensemble::request_kind;

std::vector<refused_use_kind> every_use() {
    std::vector<refused_use_kind> all;
    for (auto some : {uses_of_locks(), uses_of_meetings(), uses_of_elections()}) {
        std::move(some.begin(), some.end(), std::back_inserter(all));
    }
    return all;
}

struct refusal {
    int code;
    when w = when::before;
    /// No server says so of a znode for which it is not so. Who is told that its znode is gone does
    /// not come back to it.
    bool true_to_fact = true;
};

constexpr refusal refusals[]{
    {-102},  // no permission
    {-125},  // a quota
    {-127},  // throttled
    {-5},    // the server failed while it processed it
    {-5, when::after},
    {-999},  // a code without a known meaning
    {-999, when::after},
    {-4},  // outcomes that are not known, on a connection that is kept
    {-4, when::after},
    {-2},
    {-2, when::after},
    {-7},
    {-7, when::after},
    {-112},
    {-112, when::after},
    {-101, when::before, false},  // is not there
    {-110, when::before, false},  // is there
    {-103, when::before, false},  // has another version
    {-111, when::before, false},  // has children
};

constexpr op kinds[]{op::create, op::remove, op::get, op::children, op::set, op::multi, op::any};

/// Once it has failed for a second a step is repeated twice a second in the long run, and three
/// times in any second (PacedRetry). It is a dozen requests at most. Of a candidate with a mailbox
/// each place has parts of its own, which take their first tries at once. Without pauses it would
/// be a thousand, and with pauses that begin anew each time a hundred.
constexpr std::uint64_t most_a_second = 50;

class EveryUse : public ::testing::TestWithParam<refused_use_kind> {
protected:
    struct seen {
        std::uint64_t requests = 0;
        bool goes_on = false;
    };

    static seen use(const refused_use_kind& what, op kind, const refusal& r) {
        ensemble::options o;
        o.mode = ensemble::mode::stepped;
        o.one_way = 1ms;
        ensemble in(o);
        client mine = in.connect({.session_timeout = 12s});
        client other = in.connect({.session_timeout = 12s});
        in.run_until([&] { return mine.session_id() != 0 && other.session_id() != 0; }, 10s);
        const auto used = what.make({in, mine, other});
        const std::int64_t session = mine.session_id();
        in.refuse_next(kind, r.code, session, 1'000'000, r.w);
        used->begin();
        in.run_for(1s);
        const auto all = [&] { return in.count().requests() + in.count().checks; };
        const std::uint64_t before = all();
        in.run_for(measured);
        seen s;
        s.requests = all() - before;
        in.refuse_next(kind, r.code, session, 0);
        s.goes_on = r.true_to_fact && used->goes_on();
        return s;
    }

    static constexpr auto measured = 5s;
};

TEST_P(EveryUse, OfARecipeIsPacedWhileServersRefuseAndGoesOnWhenTheyDoNot) {
    for (const op kind : kinds) {
        for (const refusal& r : refusals) {
            const request_fault fault{r.w, r.code, false};
            SCOPED_TRACE(name_of(kind) + fault.name());
            const seen s = use(GetParam(), kind, r);
            EXPECT_LE(s.requests, most_a_second * std::uint64_t(measured / 1s));
            EXPECT_TRUE(s.goes_on || !r.true_to_fact);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(, EveryUse, ::testing::ValuesIn(every_use()), [](const auto& p) {
    return std::string(p.param.name);
});

}  // namespace
}  // namespace latchkey::test
