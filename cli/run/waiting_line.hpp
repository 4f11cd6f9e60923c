#pragma once

#include <latchkey/client.hpp>
#include <latchkey/participant.hpp>

#include "output/main_loop.hpp"
#include "output/status_output.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace latchkey::cli {

/// A place among the names of a queue's znodes.
struct line_place {
    std::size_t ahead = 0;  ///< how many are ahead
    std::string nearest;    ///< the nearest of them; empty: there is none

    bool operator==(const line_place&) const = default;
};

/// The place of `own`, by the last ten digits of the names; a reader waits only for writers.
/// Nothing if it is not there. With an empty name: behind all, and the nearest is the first.
[[nodiscard]] std::optional<line_place> place_among(const std::vector<std::string>& names,
                                                    std::string_view own);

/// "1st", "2nd", "11th".
[[nodiscard]] std::string ordinal(std::size_t number);

/// "00:31", "1:02:03".
[[nodiscard]] std::string clock_text(std::chrono::seconds time);

/// The line on a terminal that says for what latchkey waits, behind whom, and for how long.
///
/// - Shown when a wait has lasted two seconds, at most twice a second; never if the output shows no
///   progress.
/// - Cost while it is shown: one list of the queue's names every five seconds, and one read for
///   each new predecessor.
/// - Threads: that of `loop` alone.
class waiting_line {
public:
    /// What the line is about.
    enum class about {
        own_place,  ///< on_place() says where
        first,      ///< the first of the queue: of an election
        nothing,    ///< no queue
    };

    /// All must outlive this object.
    waiting_line(
        client& c, main_loop& loop, const status_output& output, std::string path, about what);
    waiting_line(const waiting_line&) = delete;
    waiting_line& operator=(const waiting_line&) = delete;

    ~waiting_line() { end(); }

    void begin();
    void on_place(const queue_position& p);
    void end();

private:
    using clock = std::chrono::steady_clock;

    void refresh();
    void look();
    void on_names(std::uint64_t wait, std::error_code ec, const std::vector<std::string>& names);
    void on_znode(std::uint64_t wait, const std::string& name, const std::optional<znode>& found);
    [[nodiscard]] std::string place_text() const;

    client& client_;
    main_loop& loop_;
    const status_output& output_;
    const std::string path_;
    const about about_;
    const bool shown_;
    loop_timer refresh_;

    std::uint64_t wait_ = 0;  ///< counts the waits: answers for another one are dropped
    clock::time_point begin_;
    clock::time_point look_at_;
    std::string directory_;
    std::string own_;
    std::optional<line_place> place_;
    std::string owner_of_;  ///< the name of the znode that `owner_` describes
    znode owner_;
};

}  // namespace latchkey::cli
