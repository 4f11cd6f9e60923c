#pragma once

#include "election.hpp"
#include "leader/transfer/mailbox.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace latchkey::test {

/// An election whose candidates take part in transfers.
class election_with_transfers : public election {
protected:
    using election::election;

    static leader_options taking_part(std::string id, int priority = 0) {
        return {.id = std::move(id),
                .preference = leader_preference{
                    .priority = priority, .hysteresis = 10s, .cool_down = 60s, .drain = 5s}};
    }

    /// What a transfer came to; nothing yet.
    using pending = std::shared_ptr<std::optional<leader_latch::transfer>>;

    static pending transfer(candidate& from, const std::string& to) {
        auto p = std::make_shared<std::optional<leader_latch::transfer>>();
        from.latch->async_transfer_to(to,
                                      std::chrono::nanoseconds::max(),
                                      [p](std::error_code, leader_latch::transfer r) { *p = r; });
        return p;
    }

    std::optional<leader_latch::transfer> told(const pending& p) {
        run_until([&] { return p->has_value(); });
        return *p;
    }

    /// As many that take part, called "0", "1" and so on; the first leads.
    std::vector<candidate*> queue_of(int size, int priority = 0) {
        std::vector<candidate*> all;
        for (int i = 0; i < size; ++i) {
            const auto o = taking_part(std::to_string(i), priority);
            all.push_back(i == 0 ? &leading(o) : &following(o));
        }
        return all;
    }

    /// The same, when the last one has accepted the leadership.
    std::vector<candidate*> queue_that_hands_over(int size) {
        auto all = queue_of(size);
        EXPECT_EQ(told(transfer(*all[0], std::to_string(size - 1))),
                  leader_latch::transfer::accepted);
        return all;
    }

    /// The path of a candidate's znode; empty if it has none.
    std::string znode_of(const candidate& c) const {
        for (const std::string& znode : znodes()) {
            if (ensemble_.get(znode)->ephemeral_owner == c.id()) {
                return znode;
            }
        }
        return {};
    }

    static bool is_to_hand_over(const leadership& term) {
        return term.hand_over_requested().stop_requested();
    }

    static bool is_to_hand_over(const candidate& c) { return is_to_hand_over(c.latch->term()); }

    /// The path of its mailbox; empty if there is none.
    std::string mailbox_of(const std::string& znode) const {
        const auto guid = guid_in(std::string_view(znode).substr(znode.rfind('/') + 1));
        for (const std::string& mailbox : ensemble_.children(peers_of(path))) {
            if (mailbox.ends_with(guid)) {
                return peers_of(path) + "/" + mailbox;
            }
        }
        return {};
    }

    /// Asks one that leads, as leader_latch::request_resignation() does, which blocks.
    void ask(const candidate& whom, const std::string& to = {}) {
        ensemble_.set(mailbox_of(whom.latch->term().path()),
                      write_mailbox_message({mailbox_message::kind::resign, to}));
    }

    /// The znodes with the number of the first one's.
    std::ptrdiff_t twins(const candidate& first) const {
        const std::string own = first.latch->term().path();
        const auto all = znodes();
        return std::count_if(all.begin(), all.end(), [&](const std::string& znode) {
            return znode.ends_with(own.substr(own.rfind('-')));
        });
    }

    std::size_t mailboxes() const { return ensemble_.children(peers_of(path)).size(); }
};

}  // namespace latchkey::test
