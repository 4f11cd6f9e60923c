#pragma once

#include "wire_frames.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/ip/tcp.hpp>

namespace latchkey::test {

/// An answer, with its header taken off.
struct raw_answer {
    std::int64_t zxid = 0;
    std::int32_t code = 0;
    std::string body;
};

/// A session of a client that sends bytes of its own to a server. Blocks, for 30 s at most; then
/// codes are -1000.
class raw_session {
public:
    static constexpr std::int32_t no_answer = -1000;

    explicit raw_session(const std::string& host_and_port);

    /// The header of the next request.
    template <class Operation>
    [[nodiscard]] jute_writer to(Operation what) {
        return header_of(++xid_, what);
    }

    /// Sends the request that to() has begun, and waits for its answer.
    raw_answer ask(jute_writer request);

    // The same for requests that the tests use often.
    raw_answer create(const std::string& path,
                      const acl& access = open_unsafe_acl(),
                      std::int32_t flags = 0,
                      opcode what = opcode::create);
    raw_answer read(opcode what, const std::string& path, bool watch = false);
    raw_answer set(const std::string& path, const std::string& data);
    raw_answer remove(const std::string& path);
    raw_answer set_acl(const std::string& path, const acl& access);
    raw_answer add_auth(const std::string& scheme, const std::string& secret);

    /// "deleted /path" for each event that came before an answer; forgets them.
    [[nodiscard]] std::vector<std::string> take_events();

    /// Whether the server ends the connection, without another frame.
    [[nodiscard]] bool is_hung_up();

private:
    [[nodiscard]] std::string frame();
    void send(const std::string& frame);

    boost::asio::ip::tcp::iostream stream_;
    std::int32_t xid_ = 0;
    std::vector<std::string> events_;
};

}  // namespace latchkey::test
