#pragma once

#include <latchkey/group.hpp>

#include "ensemble/server/transaction.hpp"
#include "stage.hpp"
#include "truth.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace latchkey::simulation {

/// What the servers' log tells of groups: who was ever in one, and with which data. On the loop
/// only.
class group_log {
public:
    explicit group_log(const truth& t) : truth_(t) {}

    using duration = std::chrono::nanoseconds;

    void applied(const model::transaction& t, duration now);

    /// Who is there, by name.
    [[nodiscard]] std::vector<group_member> now(const std::string& directory) const;

    /// Whether that was so in some state of the servers.
    [[nodiscard]] bool was_there(const std::string& directory, const group_member& m) const;

    /// Whether it was so at some time since `then`.
    [[nodiscard]] bool was_so_since(const std::string& directory,
                                    const group_member& m,
                                    duration then) const;

    /// When its entry was new.
    [[nodiscard]] duration came(const std::string& directory, const group_member& m) const;

    /// When somebody came to that path, was written there, or went, last.
    [[nodiscard]] duration changed(const std::string& path) const;

    /// How often something has happened below a path, or to it.
    struct events {
        std::uint64_t creates = 0;
        std::uint64_t writes = 0;
        std::uint64_t removes = 0;
        duration last{};

        [[nodiscard]] events since(const events& then) const {
            return {creates - then.creates, writes - then.writes, removes - then.removes, last};
        }

        [[nodiscard]] std::uint64_t all() const { return creates + writes + removes; }
    };

    [[nodiscard]] events in(const std::string& directory) const;
    [[nodiscard]] events of(const std::string& path) const;

private:
    using entry = std::pair<std::string, std::int64_t>;  ///< path, czxid

    struct version {
        std::string data;
        duration since{};
    };

    struct story {
        std::int64_t owner = 0;
        std::vector<version> versions;  ///< by number
        std::optional<duration> gone = std::nullopt;
    };

    [[nodiscard]] const story& story_of(const std::string& directory, const group_member& m) const;

    const truth& truth_;
    std::map<entry, story> stories_;
    std::map<std::string, entry> present_;  ///< by path
    std::map<std::string, events> in_;      ///< by directory
    std::map<std::string, events> of_;      ///< by path
};

}  // namespace latchkey::simulation
