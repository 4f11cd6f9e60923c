// `latchkey doctor` and two programs with Curator that wait for each other.
#include "interop_test.hpp"
#include "program.hpp"

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace latchkey::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class DeadlockInterop : public InteropTest {
protected:
    /// "latchkey doctor OPTIONS PATH", asking a server that has seen what the others did.
    [[nodiscard]] std::unique_ptr<program> doctor(std::vector<std::string> options) const {
        catch_up(client_);
        options.insert(options.begin(), "doctor");
        options.push_back(path_);
        return std::make_unique<program>(
            options, program_surroundings{.environment = {{"LATCHKEY_SERVERS", server_}}});
    }

    const std::string servers_ = real_ensemble::shared().connect_string();
    const std::string server_ = servers_.substr(0, servers_.find(','));
    client client_ = client::connect(server_);
};

TEST_F(DeadlockInterop, DoctorFindsTwoInterProcessMutexesThatWaitForEachOther) {
    peer second(peer::curator(servers_));
    const peer_lock held_by_first = java().open("mutex", path_ + "/a");
    const peer_lock held_by_second = second.open("mutex", path_ + "/b");
    answer_of(held_by_first.acquire());
    answer_of(held_by_second.acquire());
    auto first_waits = java().open("mutex", path_ + "/b").acquire();
    ASSERT_TRUE(queue_has(2, "/b"));
    const auto before = doctor({});
    EXPECT_EQ(before->wait(), 0) << before->out() << before->err();

    auto second_waits = second.open("mutex", path_ + "/a").acquire();
    ASSERT_TRUE(queue_has(2, "/a"));
    const auto text = doctor({});
    EXPECT_EQ(text->wait(), 1) << text->err();
    EXPECT_THAT(text->out(),
                AllOf(HasSubstr("PROBLEM: deadlock\n  2 clients wait for each other:"),
                      HasSubstr("waits for " + path_ + "/a, which "),
                      HasSubstr("waits for " + path_ + "/b, which "),
                      HasSubstr("2 locks below " + path_ + ": 1 problem,")));
    const auto as_json = doctor({"--json"});
    EXPECT_EQ(as_json->wait(), 1);
    std::istringstream lines(as_json->out());
    std::string line;
    std::getline(lines, line);
    const auto found = nlohmann::json::parse(line);
    EXPECT_EQ(found["check"], "deadlock");
    ASSERT_EQ(found["waits"].size(), 2U);
    for (const auto& wait : found["waits"]) {
        EXPECT_EQ(wait["waiter"]["library"], "curator");
        EXPECT_EQ(wait["blocker"]["library"], "curator");
    }
    EXPECT_EQ(found["waits"][0]["waiter"]["session"], found["waits"][1]["blocker"]["session"]);
    EXPECT_EQ(found["waits"][1]["waiter"]["session"], found["waits"][0]["blocker"]["session"]);

    held_by_first.release();
    answer_of(std::move(second_waits));
    const auto after = doctor({});
    EXPECT_EQ(after->wait(), 0) << after->out() << after->err();
    held_by_second.release();
    answer_of(std::move(first_waits));
}

}  // namespace
}  // namespace latchkey::test
