#include "transaction_log.hpp"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace latchkey::history {
namespace {

using kind = znode_change::kind;
using testing::ElementsAre;
using testing::IsEmpty;

std::string big_endian(std::uint64_t value, int bytes) {
    std::string result;
    for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) {
        result += static_cast<char>(value >> static_cast<unsigned>(shift) & 0xffU);
    }
    return result;
}

std::string text(const std::string& s) {
    return big_endian(s.size(), 4) + s;
}

/// What a create of ours looks like: path, data, one entry of access control, ephemeral, cversion.
std::string create_record(const std::string& path, bool ephemeral) {
    return text(path) + text("data") + big_endian(1, 4) + big_endian(31, 4) + text("world") +
           text("anyone") + big_endian(ephemeral ? 1 : 0, 1) + big_endian(1, 4);
}

std::string entry(std::int64_t zxid, std::int64_t session, int type, const std::string& record) {
    const std::string body = big_endian(static_cast<std::uint64_t>(session), 8) + big_endian(7, 4) +
                             big_endian(static_cast<std::uint64_t>(zxid), 8) +
                             big_endian(1'000'000, 8) +
                             big_endian(static_cast<std::uint32_t>(type), 4) + record;
    std::uint32_t a = 1;
    std::uint32_t b = 0;
    for (const char c : body) {
        a = (a + static_cast<unsigned char>(c)) % 65521;
        b = (b + a) % 65521;
    }
    return big_endian(b << 16U | a, 8) + text(body) + 'B';
}

const std::string header = "ZKLG" + big_endian(2, 4) + big_endian(0, 8);

TEST(TransactionLog, TellsCreatesDeletesAndSessions) {
    const auto log = parse_log(header + entry(1, 5, -10, big_endian(3000, 4)) +
                               entry(2, 5, 19, text("/lock") + text("") + big_endian(0, 8)) +
                               entry(3, 5, 15, create_record("/lock/a", true)) +
                               entry(4, 5, 1, create_record("/b", false)) +
                               entry(5, 5, 2, text("/lock/a")) + entry(6, 5, -11, "") +
                               entry(7, 0, 20, text("/lock")) + entry(8, 5, -1, big_endian(0, 4)));
    ASSERT_EQ(log.size(), 8U);
    EXPECT_TRUE(log[0].opens_session);
    EXPECT_EQ(log[2].session, 5);
    EXPECT_EQ(log[2].zxid, 3);
    EXPECT_EQ(log[2].wall_ms, 1'000'000);
    EXPECT_THAT(log[1].changes, ElementsAre(znode_change{kind::created, "/lock", false}));
    EXPECT_THAT(log[2].changes, ElementsAre(znode_change{kind::created, "/lock/a", true}));
    EXPECT_THAT(log[3].changes, ElementsAre(znode_change{kind::created, "/b", false, "data"}));
    EXPECT_THAT(log[4].changes, ElementsAre(znode_change{kind::removed, "/lock/a", false}));
    EXPECT_TRUE(log[5].closes_session);
    EXPECT_THAT(log[6].changes, ElementsAre(znode_change{kind::removed, "/lock", false}));
    EXPECT_THAT(log[7].changes, IsEmpty()) << "what was refused changes nothing";
}

TEST(TransactionLog, TellsTheStepsOfATransaction) {
    const auto step = [](int type, const std::string& record) {
        return big_endian(static_cast<std::uint32_t>(type), 4) + text(record);
    };
    const std::string steps = big_endian(4, 4) + step(13, text("/lock/a") + big_endian(0, 4)) +
                              step(1, create_record("/lock/b", true)) +
                              step(5, text("/c") + text("x") + big_endian(1, 4)) +
                              step(2, text("/d"));
    const auto log = parse_log(header + entry(1, 5, 14, steps));
    ASSERT_EQ(log.size(), 1U);
    EXPECT_THAT(log[0].changes,
                ElementsAre(znode_change{kind::created, "/lock/b", true},
                            znode_change{kind::changed, "/c", false, "x"},
                            znode_change{kind::removed, "/d", false}));
}

TEST(TransactionLog, KnowsThatARefusedTransactionHasNoSteps) {
    const auto step = [](int type, const std::string& record) {
        return big_endian(static_cast<std::uint32_t>(type), 4) + text(record);
    };
    const std::string steps = big_endian(2, 4) + step(1, create_record("/lock/b", true)) +
                              step(-1, big_endian(static_cast<std::uint32_t>(-103), 4));
    EXPECT_THAT(parse_log(header + entry(1, 5, 14, steps)).at(0).changes, IsEmpty());
}

TEST(TransactionLog, EndsAtThePaddingAndAtWhatWasNeverFinished) {
    const std::string good = header + entry(1, 5, 2, text("/a"));
    EXPECT_EQ(parse_log(good + std::string(1024, '\0')).size(), 1U);
    const std::string cut = entry(2, 5, 2, text("/b"));
    for (std::size_t kept = 0; kept < cut.size(); ++kept) {
        EXPECT_EQ(parse_log(good + cut.substr(0, kept)).size(), 1U);
        EXPECT_EQ(parse_log(good + cut.substr(0, kept) + std::string(1024, '\0')).size(), 1U)
            << kept;
    }
}

TEST(TransactionLog, RefusesWhatIsNoLogAndWhatWasDamaged) {
    EXPECT_THROW(static_cast<void>(parse_log("")), std::runtime_error);
    EXPECT_THROW(static_cast<void>(parse_log("ZKSN............")), std::runtime_error);
    std::string damaged = header + entry(1, 5, 2, text("/a"));
    damaged[damaged.size() - 2] = 'x';
    EXPECT_THROW(static_cast<void>(parse_log(damaged)), std::runtime_error);
}

TEST(TransactionLog, ReadsAFoldersFilesInOrderAndNothingElse) {
    const auto folder =
        std::filesystem::temp_directory_path() / ("latchkey-logs-" + std::to_string(::getpid()));
    std::filesystem::create_directory(folder);
    std::ofstream(folder / "log.a") << header << entry(10, 5, 2, text("/later"));
    std::ofstream(folder / "log.9")
        << header << entry(9, 5, 2, text("/first")) << entry(10, 5, 2, text("/dropped"));
    std::ofstream(folder / "log.b");
    std::ofstream(folder / "snapshot.1") << "else";
    const auto log = read_logs(folder);
    std::filesystem::remove_all(folder);
    ASSERT_EQ(log.size(), 2U);
    EXPECT_EQ(log[0].changes[0].path, "/first");
    EXPECT_EQ(log[1].changes[0].path, "/later");
}

transaction numbered(std::int64_t epoch, std::int64_t n, std::int64_t session = 5) {
    return {.zxid = (epoch << 32) + n, .session = session};
}

using entries = std::vector<transaction>;

TEST(TransactionLog, TakesWhatAMajorityLogged) {
    const auto history = committed({entries{numbered(1, 1), numbered(1, 2), numbered(1, 3)},
                                    entries{numbered(1, 1), numbered(1, 2), numbered(2, 1)},
                                    entries{numbered(1, 1), numbered(2, 1)}});
    EXPECT_THAT(history, ElementsAre(numbered(1, 1), numbered(1, 2), numbered(2, 1)));
}

TEST(TransactionLog, LeavesOutWhatTheNextLeaderDidNotHave) {
    const entries all{numbered(1, 1), numbered(1, 2), numbered(2, 1)};
    std::istringstream told(
        "22:41:40 [QuorumPeer] INFO Leader - setting last processed zxid: 0x100000000\n"
        "22:41:41 [QuorumPeer[myid=2]] INFO FileTxnSnapLog - Snapshotting: 0x100000002 to /d\n"
        "22:41:42 [QuorumPeer[myid=2]] INFO FileTxnSnapLog - Snapshotting: 0x100000001 to /d\n"
        "22:41:42 [Snapshot Thread] INFO FileTxnSnapLog - Snapshotting: 0x100000002 to /d\n"
        "22:41:43 [QuorumPeer[myid=2]] INFO Leader - Have quorum of supporters, sids: [[1, 2]]; "
        "starting up and setting last processed zxid: 0x200000000\n");
    epoch_beginnings epochs;
    note_beginnings(epochs, told);
    EXPECT_EQ(epochs, (epoch_beginnings{{0x2'0000'0001, 0x1'0000'0001}}));
    EXPECT_THAT(committed({all, all, all}, epochs), ElementsAre(numbered(1, 1), numbered(2, 1)));
}

TEST(TransactionLog, RefusesAHistoryWithAGap) {
    const entries gap{numbered(1, 1), numbered(1, 3)};
    EXPECT_THROW(static_cast<void>(committed({gap, gap, gap})), std::runtime_error);
    const entries late{numbered(1, 1), numbered(2, 2)};
    EXPECT_THROW(static_cast<void>(committed({late, late, late})), std::runtime_error);
}

TEST(TransactionLog, RefusesServersThatContradictEachOther) {
    EXPECT_THROW(static_cast<void>(
                     committed({entries{numbered(1, 1)}, entries{numbered(1, 1, 6)}, entries{}})),
                 std::runtime_error);
}

}  // namespace
}  // namespace latchkey::history
