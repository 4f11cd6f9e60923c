#pragma once

#include "datagram/datagram_socket.hpp"
#include "direct/direct_message.hpp"
#include "loop/loop.hpp"
#include "loop/task.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace latchkey::inline v0 {

/// How to reach a participant, as its record says.
struct direct_contact {
    std::vector<std::string> addresses;
    direct_key key{};
};

/// How to reach the participant `name` of the client with this shared contact. Nothing as
/// direct_key_of().
[[nodiscard]] std::optional<direct_contact> contact_from(const direct_contact& shared,
                                                         std::string_view name);

/// The direct messages of a client: its participants tell those ahead of them that they wait, and
/// those behind them that they hold no more. Each message may be lost; then the servers' event does
/// what it always does, and nobody waits for a message. On the loop only.
class direct_handoffs {
public:
    /// That a participant waits behind another one; until it is destroyed.
    class waiting {
    public:
        /// `of` outlives it.
        waiting(direct_handoffs& of,
                std::string own,
                const std::string& ahead,
                direct_contact contact);
        waiting(const waiting&) = delete;
        waiting& operator=(const waiting&) = delete;
        ~waiting();

        /// What it was told since the last such call, by one that knows the key of the one ahead.
        [[nodiscard]] std::unique_ptr<direct_message> take_message() noexcept {
            return std::exchange(told_, nullptr);
        }

        /// `resume` is called with the next message.
        void at_message(resumption resume) { resume_ = std::move(resume); }

    private:
        friend class direct_handoffs;

        void announce();

        direct_handoffs& of_;
        const std::string own_;
        const direct_contact contact_;
        const std::string announcement_;
        loop::clock::time_point next_;     ///< announcement
        std::chrono::milliseconds pause_;  ///< behind that; each is longer than the one before
        resumption resume_;
        std::unique_ptr<direct_message> told_;
    };

    /// On any thread. Announcements are repeated after a `period`, and then less and less often.
    direct_handoffs(loop& l,
                    std::unique_ptr<datagram_socket> socket,
                    std::chrono::milliseconds period);

    void open();

    /// Nothing is sent or received any more.
    void close() { socket_.reset(); }

    /// For the record of the participants whose names begin with `name`; nothing if it has none.
    [[nodiscard]] std::optional<direct_contact> contact_of(std::string_view name) const;

    /// For the participants of this client whose records have no room for one: see
    /// contact_from().
    [[nodiscard]] std::optional<direct_contact> shared_contact() const;

    /// The one that has announced itself behind the participant `name`; empty: none.
    [[nodiscard]] std::string successor_of(const std::string& name) const;

    /// The participant `name` holds no more: tells the one behind it, if that has announced itself.
    void hand_on(const std::string& name, const std::string& text = {});

private:
    struct successor {
        std::string name;
        std::string from;
        direct_key key;
        loop::clock::time_point heard;
    };

    void send(const std::string& to, const std::string& message) {
        if (socket_ && !message.empty()) {
            socket_->send(to, message);
        }
    }

    void on_datagram(const std::string& from, std::string_view datagram);
    [[nodiscard]] std::optional<direct_key> known_key(const std::string& name,
                                                      std::string_view datagram) const;
    void note_successor(const direct_message& m,
                        const std::string& from,
                        std::string_view datagram);
    void note_told(direct_message m, std::string_view datagram);
    void repeat_later();
    void repeat();

    loop& loop_;
    std::unique_ptr<datagram_socket> socket_;
    const std::chrono::milliseconds period_;
    std::string secret_;
    std::optional<direct_key> shared_;  ///< a secret too: see shared_contact()
    /// By the participant of this client that it waits for. Those that announce themselves no more
    /// are dropped.
    std::unordered_map<std::string, successor> successors_;
    std::unordered_map<std::string, waiting*> waiting_;  ///< by the own name
    timer repeat_;  ///< while there is something to repeat, or to forget
};

}  // namespace latchkey::inline v0
