#include <latchkey/error.hpp>

#include "ensemble_fixture.hpp"

#include <memory>
#include <string>

#include <gmock/gmock.h>

namespace latchkey::test {
namespace {

using ::testing::ElementsAre;

TEST_F(Ensemble, TheOperatorWorksOnTheTreeAndClientsSeeIt) {
    const auto s = connect(follower());
    EXPECT_EQ(servers().create("/a", "1"), "/a");
    servers().create("/a/b");
    EXPECT_EQ(s->ask(request::get("/a")).data, "1");
    const auto w = s->watcher("w");
    s->ask(request::get("/a"), w);
    servers().set("/a", "2");
    EXPECT_EQ(servers().get("/a")->data, "2");
    EXPECT_EQ(servers().get("/a")->version, 1);
    EXPECT_THAT(servers().children("/a"), ElementsAre("b"));
    EXPECT_TRUE(s->wait_for("w:changed"));
    EXPECT_THROW(servers().remove("/a"), latchkey::error);
    EXPECT_THROW(servers().create("/no/child"), latchkey::error);
    servers().remove("/a/b");
    servers().remove("/a");
    EXPECT_FALSE(servers().exists("/a"));
    EXPECT_FALSE(servers().get("/a").has_value());
}

TEST_F(Ensemble, TheOperatorChangesAccess) {
    const auto s = connect(0);
    s->ask(create("/a"));
    servers().set_acl("/a", {{"world", "anyone", permission::write}});
    servers().run_for(1s);
    EXPECT_EQ(s->ask(request::get("/a")).code, result_code::no_auth);
    EXPECT_EQ(s->ask(request::set("/a", "")).code, result_code::ok);
}

TEST_F(Ensemble, AnEmptyContainerThatWasUsedGoesAfterTheInterval) {
    const auto s = connect(0);
    s->ask(create("/used", create_mode::container));
    s->ask(create("/unused", create_mode::container));
    s->ask(create("/busy", create_mode::container));
    s->ask(create("/used/a"));
    s->ask(create("/busy/a"));
    s->ask(request::remove("/used/a"));
    servers().run_for(2min);
    EXPECT_FALSE(servers().exists("/used"));
    EXPECT_TRUE(servers().exists("/unused"));
    EXPECT_TRUE(servers().exists("/busy"));
    s->ask(request::remove("/busy/a"));
    servers().reap_containers();
    EXPECT_EQ(s->ask(request::exists("/busy")).code, result_code::no_node);
}

TEST_F(Ensemble, ARecreatedDirectoryCountsFromZero) {
    const auto s = connect(0);
    for (int i = 0; i < 2; ++i) {
        s->ask(create("/c", create_mode::container));
        EXPECT_EQ(s->ask(create("/c/n", numbered)).path, "/c/n0000000000");
        s->ask(request::remove("/c/n0000000000"));
        servers().reap_containers();
        servers().run_for(1s);
    }
}

TEST_F(Ensemble, AtTheEndOfTheNumbersTheLastOneRepeats) {
    const auto s = connect(0);
    s->ask(create("/d"));
    servers().set_sequence("/d", 2147483646);
    servers().run_for(1s);
    EXPECT_EQ(s->ask(create("/d/n", numbered)).path, "/d/n2147483646");
    EXPECT_EQ(s->ask(create("/d/n", numbered)).path, "/d/n2147483647");
    EXPECT_EQ(s->ask(create("/d/n", numbered)).code, result_code::node_exists);
    EXPECT_EQ(s->ask(create("/d/m", numbered)).path, "/d/m2147483647");
}

TEST_F(Ensemble, PastTheEndOfTheNumbersPipelinedCreatesGetNegativeOnes) {
    ensemble::options how = stepped_options();
    how.between_servers = 1ms;
    start(how);
    const auto s = connect(0);
    s->ask(create("/d"));
    servers().set_sequence("/d", 2147483647);
    servers().run_for(1s);
    s->on_loop([&] {
        for (const char* const label : {"1", "2", "3"}) {
            s->send(label, create("/d/n", numbered));
        }
    });
    ASSERT_TRUE(s->wait_for("3:ok"));
    EXPECT_EQ(s->answer("1")->path, "/d/n2147483647");
    EXPECT_EQ(s->answer("2")->path, "/d/n-2147483648");
    EXPECT_EQ(s->answer("3")->path, "/d/n-2147483647");
    EXPECT_EQ(s->ask(create("/d/m", numbered)).path, "/d/m2147483647") << "nothing is outstanding";
}

}  // namespace
}  // namespace latchkey::test
