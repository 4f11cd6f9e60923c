#pragma once

#include "network.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <sys/types.h>

namespace latchkey::test {

/// One connection, or an attempt at one. The far half of the pair of sockets is ours.
struct network::link final : std::enable_shared_from_this<link>,
                             model::protocol_connection::transport {
    enum class state : std::uint8_t { fresh, connecting, refused, up, dead };

    static constexpr std::size_t unlimited = SIZE_MAX;

    link(network& n, int near, int far_half);
    ~link();

    /// Duplicates of a socket have it in common.
    [[nodiscard]] static ino_t inode_of(int socket);

    /// Both ends learn of it, and what is on its way is lost.
    void break_off();
    void end_faults();

    void read_far();
    void write_far();
    /// An attempt that the client has given up is forgotten after a while, in which it may still
    /// ask what has become of it.
    void forget_attempt();

    // protocol_connection::transport
    void send(std::string bytes) override;
    void hang_up() override;

    [[nodiscard]] std::size_t unsent() const override { return to_write.size(); }

    void read_on() override {}

    network& net;
    const ino_t inode;
    int far;
    state now_is = state::fresh;
    int server = -1;
    int error = 0;
    bool ended = false;       ///< the client has hung up
    bool last_words = false;  ///< the server has
    std::size_t in_budget = unlimited;
    std::size_t out_budget = unlimited;
    std::uint64_t good_frames = UINT64_MAX;  ///< before the one that is garbled
    bool garbled = false;
    std::string to_write;
    model::channel to_server;
    model::channel to_client;
    timer opening;
    std::unique_ptr<model::protocol_connection> protocol;

private:
    void close_far();
    void deliver(std::string bytes);
    void inspect(std::string_view bytes);
    [[nodiscard]] bool asks_by_a_word() const;  ///< which is no frame
    void inspect_welcome(std::string_view frame);
    void garble(std::string& frame, bool first);
    void check_ended() const;
    [[nodiscard]] bool two_lead() const;

    std::string head_;       ///< of the frame that the client sends
    std::size_t rest_ = 0;   ///< of that frame
    std::string hello_;      ///< the beginning of what the client has sent
    bool doubtful_ = false;  ///< two servers took themselves for the leader when it said hello
    bool welcomed_ = false;
    bool farewell_ = false;     ///< the client looks at no answer any more
    bool wrong_ = false;        ///< the garbled frame is whole, so that it is known to be none
    duration wrong_since_{-1};  ///< sent to the client; less than zero: it was not
};

}  // namespace latchkey::test
