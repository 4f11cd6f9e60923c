#include "standstills.hpp"

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

namespace latchkey::history {
namespace {

using namespace std::chrono_literals;

class Standstills : public testing::Test {
protected:
    void SetUp() override { told_.wall_offset = -20h; }

    void TearDown() override {
        for (const auto& log : logs_) {
            std::filesystem::remove(log);
        }
    }

    /// Proposed so long after 20:00.
    void proposed(std::int64_t session, std::chrono::milliseconds at) {
        told_.transactions.push_back({.zxid = static_cast<std::int64_t>(told_.transactions.size()),
                                      .session = session,
                                      .wall_ms = (20h + at).count(),
                                      .opens_session = true});
    }

    void server_wrote(const std::string& lines) {
        logs_.push_back(std::filesystem::temp_directory_path() /
                        ("latchkey-standstills-" + std::to_string(::getpid()) + '-' +
                         std::to_string(logs_.size())));
        std::ofstream(logs_.back()) << lines;
    }

    [[nodiscard]] std::vector<disturbance> found() const { return standstills(told_, logs_); }

    history told_;
    std::vector<std::filesystem::path> logs_;
};

TEST_F(Standstills, AreNoneWhereSessionsAreCommittedAtOnce) {
    proposed(0x10, 5s);
    proposed(0x11, 6s);
    server_wrote(
        "20:00:05.010 [x] INFO y - Committing global session 0x10\n"
        "20:00:05.999 [x] INFO y - Committing global session 0x11\n");
    server_wrote("starting\n20:00:09.000 [x] INFO y - Committing global session 0x10\n");
    EXPECT_TRUE(found().empty()) << "one server was late, and one clock a moment behind";
}

TEST_F(Standstills, LastFromTheFirstSessionThatIsProposedToItsCommit) {
    proposed(0x10, 5s);
    proposed(0x11, 6s);
    proposed(-0x7f00000000000000, 64s);
    proposed(0x12, 66s);
    server_wrote(
        "20:01:05.500 [x] INFO y - Committing global session 0x10\n"
        "20:01:05.500 [x] INFO y - Committing global session 0x11\n"
        "20:01:05.500 [x] INFO y - Committing global session 0x8100000000000000\n"
        "20:01:06.010 [x] INFO y - Committing global session 0x12\n");
    const auto all = found();
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].begin, 5s);
    EXPECT_EQ(all[0].end, 65500ms);
    EXPECT_FALSE(all[0].worker.has_value());
}

TEST_F(Standstills, DoNotDependOnTheTimeZone) {
    proposed(0x10, 5s);
    proposed(0x11, 6s);
    server_wrote(
        "01:30:08.000 [x] INFO y - Committing global session 0x10\n"
        "01:30:06.001 [x] INFO y - Committing global session 0x11\n");
    const auto all = found();
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].begin, 5s);
    EXPECT_EQ(all[0].end, 8s);
}

TEST_F(Standstills, AreNotMadeOfSessionsThatNobodyCommitted) {
    proposed(0x10, 5s);
    server_wrote(
        "20:00:05.010 [x] INFO y - Committing global session 0x99\n"
        "Committing global session 0x10\n");
    EXPECT_TRUE(found().empty());
}

}  // namespace
}  // namespace latchkey::history
