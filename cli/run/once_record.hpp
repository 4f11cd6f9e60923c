#pragma once

#include <latchkey/client.hpp>
#include <latchkey/transaction.hpp>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace latchkey::cli {

/// When the command of a lock last succeeded, by the servers' clock: the znode
/// `<path>.last-success` beside the lock, for --once-per. Blocks; throws latchkey::error.
///
/// Each write is guarded by the hold. Only a write shows the servers' time, so a run that looks
/// writes too: it moves the time of the last success, which was the znode's mtime, into its data.
/// Empty data: the mtime is that of the last success. Else the data is that time, in milliseconds
/// since 1970.
class once_record {
public:
    /// hold::transact() or leadership::transact().
    using guarded_write = std::function<void(std::vector<operation>)>;

    once_record(client c, const std::string& path, guarded_write write);

    /// Whether the command has succeeded less than `time` ago. Cost: 1 read if it has never run;
    /// else 1 read, 1 write and 1 more read.
    [[nodiscard]] bool succeeded_within(std::chrono::nanoseconds time);

    /// The command has succeeded now. Cost: 1 write; up to 3 if connections fail.
    void succeeded();

    /// What went wrong, for people; empty if nothing did.
    [[nodiscard]] std::string try_succeeded();

private:
    client client_;
    std::string path_;
    guarded_write write_;
    bool exists_ = false;
};

}  // namespace latchkey::cli
