#include <latchkey/group.hpp>

#include "in_time.hpp"
#include "notebook.hpp"
#include "recipe_test.hpp"

#include <future>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

namespace latchkey::test {
namespace {

using ::testing::ElementsAre;

class Group : public TwoLocksTest<group> {
protected:
    static std::vector<std::string> names_in(const std::vector<group_member>& all) {
        std::vector<std::string> names;
        for (const group_member& m : all) {
            names.push_back(m.name + '=' + m.data);
        }
        return names;
    }

    [[nodiscard]] group::members_listener listener() {
        return [this](const std::vector<group_member>& now) { seen_.note(names_in(now)); };
    }

    notebook<std::vector<std::string>> seen_;
};

TEST_P(Group, ShowsWhoIsThereWithData) {
    EXPECT_TRUE(other_.members().empty());
    membership one = mine_.join("one", {.data = "10.0.0.1"});
    ASSERT_TRUE(one.present());
    EXPECT_EQ(one.name(), "one");
    membership two = other_.join("two");
    EXPECT_TRUE(eventually([&] {
        return names_in(mine_.members()) == std::vector<std::string>{"one=10.0.0.1", "two="};
    }));
    EXPECT_EQ(mine_.members().at(0).session_id, a_.session_id());
    one.set_data("10.0.0.9");
    EXPECT_TRUE(eventually([&] { return other_.members().at(0).data == "10.0.0.9"; }));
    two.leave();
    EXPECT_FALSE(two);
    EXPECT_FALSE(two.present());
    EXPECT_TRUE(eventually([&] { return mine_.members().size() == 1; }));
    EXPECT_EQ(world_->get(path_ + "/one"), "10.0.0.9") << "Curator's GroupMember has the same";
}

TEST_P(Group, TellsWhoWatches) {
    {
        const subscription watching = mine_.on_change(listener());
        EXPECT_TRUE(seen_.eventually_end_with({}));
        membership one = other_.join("one", {.data = "x"});
        EXPECT_TRUE(seen_.eventually_end_with({"one=x"}));
        membership two = mine_.join("two", {.data = "y"});
        EXPECT_TRUE(seen_.eventually_end_with({"one=x", "two=y"}));
        one.set_data("z");
        EXPECT_TRUE(seen_.eventually_end_with({"one=z", "two=y"}));
        one.leave();
        EXPECT_TRUE(seen_.eventually_end_with({"two=y"}));
    }
    const auto told = seen_.all().size();
    const membership three = other_.join("three");
    EXPECT_TRUE(eventually([&] { return other_.members().size() == 1; }));
    EXPECT_EQ(seen_.all().size(), told) << "after the end of the subscription";
}

TEST_P(Group, MemberThatLosesItsSessionEntersAgain) {
    const subscription watching = other_.on_change(listener());
    membership one = mine_.join("one", {.data = "old"});
    one.set_data("new");
    EXPECT_TRUE(seen_.eventually_end_with({"one=new"}));
    const auto before = mine_.members().at(0);
    world_->expire(a_.session_id());
    ASSERT_TRUE(eventually([&] {
        const auto now = other_.members();
        return now.size() == 1 && now[0].session_id != before.session_id;
    }));
    EXPECT_TRUE(eventually([&] { return one.present(); }));
    EXPECT_TRUE(seen_.eventually_end_with({"one=new"}));
    const auto again = mine_.members().at(0).czxid;
    EXPECT_GT(again, before.czxid);
    world_->remove(path_ + "/one");
    EXPECT_TRUE(eventually([&] {
        const auto now = mine_.members();
        return now.size() == 1 && now[0].czxid > again;
    })) << "and when an operator deletes its znode";
    one.leave();
    EXPECT_TRUE(seen_.eventually_end_with({}));
}

TEST_P(Group, WatcherThatLosesItsSessionGoesOn) {
    const subscription watching = group(a_, path_).on_change(listener());
    const membership one = other_.join("one");
    EXPECT_TRUE(seen_.eventually_end_with({"one="}));
    const auto before = a_.session_id();
    world_->expire(before);
    const membership two = other_.join("two");
    EXPECT_TRUE(seen_.eventually_end_with({"one=", "two="}));
}

TEST_P(Group, NameOfSomebodyElseIsWaitedFor) {
    membership first = mine_.join("leader", {.data = "a"});
    EXPECT_FALSE(other_.join_for("leader", 0s));
    EXPECT_FALSE(in_time(50ms, [&](auto limit) { return other_.join_for("leader", limit); }));
    std::stop_source stop;
    auto stopped = std::async(std::launch::async, [&] {
        return static_cast<bool>(other_.join("leader", {.stop = stop.get_token()}));
    });
    stop.request_stop();
    EXPECT_FALSE(stopped.get());
    auto waiting =
        std::async(std::launch::async, [&] { return other_.join("leader", {.data = "b"}); });
    EXPECT_EQ(waiting.wait_for(50ms), std::future_status::timeout);
    EXPECT_TRUE(first.present()) << "who gave up has not taken it along";
    first.leave();
    const membership second = waiting.get();
    EXPECT_TRUE(second.present());
    EXPECT_TRUE(eventually(
        [&] { return names_in(mine_.members()) == std::vector<std::string>{"leader=b"}; }));
}

TEST_P(Group, EndsWithTheClient) {
    const membership one = mine_.join("one");
    const subscription watching = mine_.on_change([](const auto&) {});
    { const client gone(std::move(a_)); }
    EXPECT_FALSE(one.present());
    EXPECT_TRUE(eventually([&] { return other_.members().empty(); }));
    EXPECT_THROW(static_cast<void>(mine_.join("two")), error);
}

TEST_P(Group, RefusesBadNamesAndTooMuchData) {
    for (const char* name : {"", ".", "..", "a/b", "a\nb"}) {
        EXPECT_THROW(static_cast<void>(mine_.join(name)), error) << name;
    }
    EXPECT_THROW(static_cast<void>(mine_.join("one", {.data = std::string(1'000'001, 'x')})),
                 error);
    EXPECT_THROW(group(a_, "relative"), error);
    for (const auto pause : {std::chrono::nanoseconds(-1), std::chrono::nanoseconds::max()}) {
        EXPECT_THROW(group(a_, path_, {.coalesce_for = pause}), error);
    }
}

/// What is accepted can be sent, also when the member enters again.
TEST_P(Group, TakesAsMuchDataAsOneRequestDoes) {
    std::size_t most = 1'000'000;
    membership m = mine_.join("one");
    const auto fits = [&](std::size_t size) {
        const auto ec = code_of([&] { m.set_data(std::string(size, 'x')); });
        EXPECT_TRUE(!ec || ec == errc::invalid_argument) << ec.message();
        return !ec;
    };
    while (!fits(most)) {
        --most;
    }
    EXPECT_GT(most, 990'000U);
    const auto there = [&] {
        const auto z = world_->get(path_ + "/one");
        return z && z->size() == most;
    };
    EXPECT_TRUE(eventually(there));
    m.leave();
    m = mine_.join("one", {.data = std::string(most, 'x')});
    EXPECT_TRUE(there());
    EXPECT_THROW(static_cast<void>(mine_.join("two", {.data = std::string(most + 1, 'x')})), error);
}

LATCHKEY_IN_THIS_WORLD(Group);

}  // namespace
}  // namespace latchkey::test
