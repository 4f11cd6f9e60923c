#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace latchkey::history {

/// What a transaction did to one znode.
struct znode_change {
    enum class kind : std::uint8_t { created, changed, removed };

    kind what = kind::created;
    std::string path;
    bool ephemeral = false;  ///< created
    std::string data = {};   ///< changed; created, if not ephemeral

    bool operator==(const znode_change&) const = default;
};

/// One entry of ZooKeeper's transaction log.
struct transaction {
    std::int64_t zxid = 0;
    std::int64_t session = 0;  ///< who asked for it; 0: the servers themselves
    std::int64_t wall_ms = 0;  ///< when the leader prepared it, by its wall clock
    std::int64_t wall_ns = 0;  ///< and so much later, if that clock tells it
    bool opens_session = false;
    bool closes_session = false;
    /// In order; empty for what was refused, and for what is of no interest here.
    std::vector<znode_change> changes = {};

    bool operator==(const transaction&) const = default;
};

/// The entries of one log file ("log.<zxid>"), given as its bytes. It ends where ZooKeeper stopped
/// writing: at the padding, at the end, or at an entry that was never finished. Throws
/// std::runtime_error for bytes that are no such file, or an entry whose checksum is wrong.
[[nodiscard]] std::vector<transaction> parse_log(std::string_view bytes);

/// All files of one server's folder ("version-2"), in the order of their zxids. What a server
/// wrote, dropped (a leader's last words that nobody else had) and wrote anew counts once, as
/// written last.
[[nodiscard]] std::vector<transaction> read_logs(const std::filesystem::path& folder);

/// The last transaction that the leader of an epoch had when the epoch began, by the first zxid of
/// the epoch.
using epoch_beginnings = std::map<std::int64_t, std::int64_t>;

/// Adds what a server's log for people tells of the epochs that it led.
void note_beginnings(epoch_beginnings& all, std::istream& server_log);

/// What the ensemble committed: the transactions that a majority of its servers have logged, but
/// for those that the next leader did not have. Servers of 3.8 log what they get of a leader that
/// they leave, and forget it (ZOOKEEPER-4712). Throws std::runtime_error when that leaves a gap, or
/// servers that contradict each other: then nothing can be checked against it.
[[nodiscard]] std::vector<transaction> committed(
    const std::vector<std::vector<transaction>>& servers, const epoch_beginnings& epochs = {});

}  // namespace latchkey::history
