#pragma once

#include <latchkey/server_preference.hpp>

#include "loop/io_loop.hpp"
#include "tls/tls_identity.hpp"
#include "zookeeper/server_list.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace latchkey::inline v0 {

/// What a server says of itself in its answer to the word `srvr`.
struct server_answer {
    bool usable = false;               ///< it serves clients, and accepts writes
    bool leads = false;                ///< the leader, or the only server
    std::chrono::nanoseconds after{};  ///< the question

    /// A server that does not allow the word is usable.
    [[nodiscard]] static server_answer of(std::string_view text);
};

/// How much later than the first, which answered after `first`, a server may answer to count as
/// equally near.
[[nodiscard]] std::chrono::nanoseconds about_as_near(std::chrono::nanoseconds first) noexcept;

/// Which of these a client prefers; nothing: none of them.
[[nodiscard]] std::optional<std::size_t> preferred(server_preference what,
                                                   const std::vector<server_answer>& answers);

/// Asks all servers at once which of them a client prefers: one connection to each, with the word
/// `srvr`. On the loop only. Destroying it ends the connections; nothing is called after that.
class server_survey {
public:
    /// `servers` in the order in which the user named them. `decided` is called once, when best()
    /// is known: for the leader, when it has answered, or all others have; for the nearest, when
    /// those that are about as near as the first to answer have had the time to answer too. At the
    /// latest after `limit`. It may destroy this object.
    server_survey(io_loop& l,
                  const std::shared_ptr<tls_identity>& tls,
                  server_preference prefer,
                  const std::vector<server_address>& servers,
                  std::chrono::milliseconds limit,
                  std::function<void()> decided);
    ~server_survey();
    server_survey(const server_survey&) = delete;
    server_survey& operator=(const server_survey&) = delete;

    [[nodiscard]] bool is_decided() const noexcept { return !decided_; }

    /// None if no server has answered that could be preferred.
    [[nodiscard]] const std::optional<server_address>& best() const noexcept { return best_; }

    /// Whether no server that is silent now could become the best: the leader was found, or all
    /// have answered.
    [[nodiscard]] bool is_final() const noexcept;

private:
    class inquiry;

    [[nodiscard]] bool all_over() const;
    void ended(const inquiry& one);
    void decide();

    io_loop* loop_;
    const server_preference prefer_;
    const loop::clock::time_point begun_;
    std::function<void()> decided_;  ///< empty when decided
    std::optional<server_address> best_;
    std::list<inquiry> inquiries_;
    timer decision_;
    timer limit_;
};

}  // namespace latchkey::inline v0
