#pragma once

#include <latchkey/ensemble.hpp>

#include "ensemble/channel.hpp"
#include "ensemble/cluster.hpp"
#include "ensemble/virtual/random_source.hpp"
#include "ensemble/wire/protocol_connection.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <sys/types.h>

namespace latchkey::test {

/// The network between programs that use the C client and a stepped in-process ensemble.
///
/// A socket is one half of a pair of local sockets, so reading, writing, duplicating, shutting down
/// and closing it are the kernel's, and cost no time. Connecting, delivery and readiness are the
/// network's, on the virtual clock. The copy of the C client that these tests are linked with calls
/// the network where the original calls the system: CMakeLists.txt. One network at a time.
///
/// Server i has the address 127.0.M.(i+1) after M moves.
class network {
public:
    using duration = std::chrono::nanoseconds;

    /// Chances, in percent, drawn for each attempt to connect.
    struct weather {
        unsigned refused = 0;    ///< at once, or later
        unsigned swallowed = 0;  ///< no answer ever
        unsigned slow = 0;       ///< up to a second
        unsigned cut = 0;        ///< breaks after some bytes, in the middle of a frame or not
        unsigned late_cut = 0;   ///< the same after many bytes
        unsigned garbled = 0;    ///< an answer that is none, and then nothing
        duration latency = std::chrono::microseconds(200);
        duration jitter = std::chrono::microseconds(300);
    };

    network(testing::ensemble& e, std::uint64_t seed);
    ~network();
    network(const network&) = delete;
    network& operator=(const network&) = delete;

    void set(const weather& w) { weather_ = w; }

    /// This server answers no attempt to connect any more.
    void swallow(int server) { swallowed_ = server; }

    /// All servers have other addresses from now on; the connections that there are stay.
    void move() { ++moves_; }

    [[nodiscard]] std::string address_of(int server) const;
    /// The address it had after so many moves.
    [[nodiscard]] static std::string address_of(int server, int moves);

    [[nodiscard]] int moves() const noexcept { return moves_; }

    /// Told of each request that is larger than servers take, by its length.
    std::function<void(std::size_t)> too_large;

    /// Told of each connection that goes on after a wrong frame.
    std::function<void()> believed;

    /// Whether a server has said of this session that there is none, and no other server that took
    /// itself for the leader can have been the cause.
    [[nodiscard]] bool wrongly_unknown(std::int64_t session) const {
        return wrongly_unknown_.contains(session);
    }

    /// Moves what is ready to be moved. To be called after each event.
    void pump();

    /// Looks whether what it waits for is ready; in place of epoll.
    class watcher {
    public:
        virtual void look() = 0;

    protected:
        ~watcher() = default;
    };

    void add(watcher& w) { watchers_.push_back(&w); }

    void remove(watcher& w) { std::erase(watchers_, &w); }

    /// What duplicates of a socket have in common.
    [[nodiscard]] static ino_t identity_of(int socket);
    [[nodiscard]] bool ready(int socket, ino_t identity, bool write) const;

    // Faults of the connections that there are; `i` counts them.
    [[nodiscard]] std::size_t connections() const noexcept { return links_.size(); }

    void cut(std::size_t i);
    /// Nothing arrives; what is sent is not lost, and arrives later.
    void stall(std::size_t i, bool to_server, bool to_client);
    void end_stalls();
    /// The connections that there are break no more; those that were garbled end.
    void end_faults();

    // For the C client.
    [[nodiscard]] static network& present();
    int open_socket();
    int connect(int socket, const void* address);
    [[nodiscard]] int error_of(int socket);

    [[nodiscard]] duration now() const { return loop_.now().time_since_epoch(); }

private:
    struct link;

    using link_ptr = std::shared_ptr<link>;

    [[nodiscard]] duration latency();

    [[nodiscard]] bool chance(unsigned percent) { return random_.below(100) < percent; }

    [[nodiscard]] link_ptr find(int socket) const;
    [[nodiscard]] link_ptr find_by(ino_t inode) const;
    void draw_faults(link& l);
    void established(link& l);
    void refused(link& l);

    virtual_loop& loop_;
    std::shared_ptr<model::cluster> cluster_;
    std::vector<std::shared_ptr<model::client_process>> ports_;  ///< by server
    model::random_source random_;
    weather weather_;
    int swallowed_ = -1;
    int moves_ = 0;
    std::set<std::int64_t> wrongly_unknown_;
    std::vector<link_ptr> links_;
    std::vector<watcher*> watchers_;
};

}  // namespace latchkey::test
