// --audit and --metrics-file.
#include <latchkey/inspect.hpp>

#include "lock_fixture.hpp"

#include <csignal>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

namespace latchkey::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class EventOutputs : public lock_fixture {
protected:
    EventOutputs() : lock_fixture(real_ensemble::shared().connect_string()) {}

    [[nodiscard]] std::string file(const char* name) const { return (folder_ / name).string(); }

    [[nodiscard]] std::vector<nlohmann::json> audit() const {
        std::vector<nlohmann::json> lines;
        std::istringstream text(content_of(file("audit")));
        for (std::string line; std::getline(text, line);) {
            lines.push_back(nlohmann::json::parse(line));
        }
        return lines;
    }
};

TEST_F(EventOutputs, AuditHasALineForEachGrantAndRelease) {
    ASSERT_EQ(lock({"--audit", file("audit")}, {"--", "true"})->wait(), 0);
    ASSERT_EQ(lock({"--audit", file("audit")}, {"--", "true"})->wait(), 0);
    const auto lines = audit();
    ASSERT_EQ(lines.size(), 4U) << content_of(file("audit"));
    std::vector<std::string> events;
    for (const auto& line : lines) {
        events.push_back(line["event"]);
        EXPECT_EQ(line["path"], path_);
        EXPECT_THAT(line["node"].get<std::string>(), HasSubstr(path_ + "/"));
        EXPECT_EQ(line["mode"], "exclusive");
        EXPECT_THAT(line["time"].get<std::string>(),
                    testing::MatchesRegex("....-..-..T..:..:..\\....Z"));
        EXPECT_THAT(line["session"].get<std::string>(), testing::StartsWith("0x"));
    }
    EXPECT_THAT(events, ElementsAre("acquired", "released", "acquired", "released"));
    EXPECT_EQ(lines[0]["token"], lines[1]["token"]);
    EXPECT_LT(std::stoll(lines[1]["token"].get<std::string>()),
              std::stoll(lines[2]["token"].get<std::string>()));

    struct stat about {};

    ASSERT_EQ(::stat(file("audit").c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & S_IRWXO, 0U) << "others may not read who holds what";
}

TEST_F(EventOutputs, AuditTellsOfALossAndWhy) {
    const auto p = lock({"--audit", file("audit")});
    ASSERT_TRUE(eventually([&] { return audit().size() == 1; })) << p->err();
    const client c = client::connect(servers_);
    const auto first = queue().participants();
    ASSERT_EQ(first.size(), 1U);
    ASSERT_TRUE(break_hold(c, first.front(), "a test"));
    EXPECT_NE(p->wait(), 0);
    const auto lines = audit();
    ASSERT_EQ(lines.size(), 2U);
    EXPECT_EQ(lines[1]["event"], "lost");
    EXPECT_EQ(lines[1]["why"], "znode_deleted");
}

TEST_F(EventOutputs, MetricsAreAWholeFileAtAnyTime) {
    const auto p = lock({"--metrics-file", file("lock.prom")});
    ASSERT_TRUE(eventually([&] {
        return content_of(file("lock.prom")).find("latchkey_held{client=\"latchkey\"} 1\n") !=
               std::string::npos;
    })) << p->err();
    p->send(SIGTERM);
    p->wait();
    const std::string text = content_of(file("lock.prom"));
    EXPECT_THAT(text, HasSubstr("latchkey_held{client=\"latchkey\"} 0\n"));
    EXPECT_THAT(
        text,
        HasSubstr("latchkey_hold_seconds_count{lock=\"" + path_ + "\",mode=\"exclusive\"} 1\n"));
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
        names.push_back(entry.path().filename());
    }
    EXPECT_THAT(names, ElementsAre("lock.prom"));
}

TEST_F(EventOutputs, FilesThatCannotBeWrittenAreRefusedBeforeAnythingIsDone) {
    for (const char* option : {"--audit", "--metrics-file"}) {
        const auto p = lock({option, file("no/such/folder")}, {"--", "touch", file("ran")});
        EXPECT_EQ(p->wait(), 64);
        EXPECT_THAT(p->err(), HasSubstr(option));
        EXPECT_THAT(p->err(), HasSubstr("no/such/folder"));
        EXPECT_FALSE(exists("ran"));
    }
}

}  // namespace
}  // namespace latchkey::test
