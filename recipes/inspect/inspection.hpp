#pragma once

#include <latchkey/inspect.hpp>

#include "client/client_core.hpp"
#include "inspect/kind_rules.hpp"
#include "session/request.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace latchkey::inline v0 {

/// One look at a path. Blocks; any thread. Throws latchkey::error.
class inspection {
public:
    inspection(std::shared_ptr<client_core> core, std::string path)
        : core_(std::move(core)), path_(std::move(path)) {}

    [[nodiscard]] queue_view look();

    /// Whether all holders left while this looked, or a waiter of a semaphore, which may hold now.
    [[nodiscard]] bool missed_the_holders() const noexcept { return missed_; }

private:
    [[nodiscard]] std::vector<reply> ask(const std::vector<request>& questions,
                                         std::size_t most_data);
    [[nodiscard]] lock_kind kind_by_children(const std::vector<std::string>& names);

    void look_at_queue(const queue_seen& queue, const std::vector<std::string>& names);
    void look_at_semaphore(const std::vector<std::string>& names);
    void look_at_barrier();
    void look_at_double_barrier(const std::vector<std::string>& names);
    void look_at_group(const std::vector<std::string>& names);
    void look_at_nothing_known(const std::vector<std::string>& names);

    /// Splits the children of a queue's directory; returns the participants, by number.
    [[nodiscard]] std::vector<std::string> sort_out(const std::vector<std::string>& names,
                                                    const queue_seen& queue);
    void count_sequence(const std::vector<std::string>& names,
                        const std::vector<std::string>& ordered,
                        const queue_markers& markers,
                        const server_stat& directory);
    [[nodiscard]] std::vector<participant> read(const std::vector<std::string>& paths,
                                                const queue_markers& markers);
    [[nodiscard]] std::vector<std::string> permits_in(const std::vector<std::string>& names);

    void decide_holders(const std::vector<std::string>& ordered, const queue_markers& markers);
    void decide_leader(const std::vector<std::string>& ordered, const queue_markers& markers);
    void finish();

    const std::shared_ptr<client_core> core_;
    const std::string path_;
    queue_view view_;
    reply znode_;              ///< of the path
    std::int64_t newest_ = 0;  ///< the newest time that the servers showed, in milliseconds
    bool left_ = false;        ///< a participant has left while this looked
    bool missed_ = false;
};

}  // namespace latchkey::inline v0
