#pragma once

#include "ensemble/channel.hpp"
#include "ensemble/server/identity.hpp"
#include "ensemble/server/tree.hpp"
#include "ensemble/virtual/fault_plan.hpp"
#include "session/request.hpp"
#include "session/session.hpp"

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace latchkey::model {

/// The first thing that a client sends on a connection.
struct hello {
    std::int64_t session = 0;  ///< 0: a new one
    std::int64_t seen = 0;     ///< the newest zxid that the client knows of
    std::chrono::milliseconds timeout{};
    std::vector<session_options::identity> credentials;
};

/// The kinds of a connection's watches on one path.
struct watch_kinds {
    bool data = false;
    bool children = false;
    bool lasting = false;    ///< reports everything that happens to the znode, again and again
    bool recursive = false;  ///< also those below it; not their parents' children
};

/// A later packet of a client.
struct packet {
    enum class kind : std::uint8_t {
        request,
        ping,
        set_watches,
        close,
        auth,
        add_watch,       ///< a lasting watch
        check_watches,   ///< asks whether there is one
        remove_watches,  ///< the same, and removes it
        who_am_i,        ///< asks for the identities of the connection
        ephemerals,      ///< asks for those of the session whose paths begin so
        count_below,     ///< asks how many znodes are below a path
        multi_read,      ///< any number of `get` and `children`, each answered by itself
        refused          ///< any packet whose answer is `code`
    };

    kind what = kind::ping;
    request body;  ///< request, multi_read; of other kinds about a path: the path
    bool watch = false;
    bool stats = false;    ///< request: children, and creates in a multi, return a Stat
    std::size_t size = 0;  ///< bytes on the wire, if its limit was checked there; otherwise 0
    loop::clock::time_point asked{};  ///< request: when the client was asked to send it
    std::int64_t seen = 0;            ///< for set_watches, as the fields below
    std::vector<std::string> data_watches;
    std::vector<std::string> exists_watches;
    std::vector<std::string> child_watches;
    std::vector<std::string> lasting_watches;
    std::vector<std::string> recursive_watches;
    session_options::identity credentials;  ///< auth
    watch_kinds kinds;                      ///< add_watch, check_watches, remove_watches
    result_code code = result_code::ok;     ///< refused
    bool hangs_up = false;                  ///< refused: the server ends the connection, too
};

/// The client's end of a connection.
class connection_client {
public:
    virtual void welcomed(std::int64_t session, std::chrono::milliseconds timeout) = 0;
    virtual void session_unknown() = 0;
    virtual void credentials_refused() = 0;
    virtual void answered(reply r, std::int64_t zxid) = 0;
    virtual void heard(std::int64_t zxid) = 0;  ///< the answer to a ping, to watches that were set
                                                ///< again, or to credentials
    virtual void notified(watch_event e, const std::string& path) = 0;
    virtual void session_closed() = 0;
    virtual void dropped(const char* why, result_code code) = 0;  ///< code: of what is lost

protected:
    ~connection_client() = default;
};

/// A packet that a server has received and not answered.
struct pending {
    std::shared_ptr<const packet> what;
    std::uint64_t ticket = 0;   ///< if not 0, the answer comes with the log or from the leader
    fault_plan::verdict fault;  ///< what happens instead of the answer
};

/// A connection between a client and a server, with the state of both ends.
struct connection : std::enable_shared_from_this<connection> {
    using duration = loop::clock::duration;

    connection(loop& client_loop, loop& server_loop, duration one_way, duration jitter)
        : to_client(client_loop),
          to_server(server_loop),
          random(client_loop.random()),
          one_way_(one_way),
          jitter_(jitter) {}

    /// `tell` is called with the client, unless the client has given up by then.
    template <typename Tell>
    void send_client(Tell tell) {
        to_client.send(
            shared_from_this(),
            [this, tell = std::move(tell)]() mutable {
                if (client != nullptr) {
                    tell(*client);
                }
            },
            latency());
    }

    void send_server(loop::task deliver) {
        to_server.send(shared_from_this(), std::move(deliver), latency());
    }

    /// While held, no message arrives on either side.
    void hold(bool on) {
        to_client.hold(on, shared_from_this());
        to_server.hold(on, shared_from_this());
    }

    channel to_client;
    channel to_server;

    connection_client* client = nullptr;  ///< null once the client has given up

    // The server's end.
    bool closed = false;
    std::int64_t session = 0;
    std::chrono::milliseconds timeout{};
    std::vector<identity> identities;
    bool unauthenticated = false;  ///< it has presented credentials that were refused
    std::deque<pending> waiting;
    text_set data_watches;
    text_set child_watches;
    text_set lasting_watches;
    text_set recursive_watches;
    random_source random;

private:
    [[nodiscard]] duration latency() {
        return one_way_ + duration(random.below(static_cast<std::uint64_t>(jitter_.count()) + 1));
    }

    duration one_way_;
    duration jitter_;
};

using connection_ptr = std::shared_ptr<connection>;

}  // namespace latchkey::model
