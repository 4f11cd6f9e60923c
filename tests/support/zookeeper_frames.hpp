#pragma once

#include "ensemble/wire/opcode.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace latchkey::test {

using model::opcode;

/// One frame between a client and its server, as far as tests need to distinguish them.
struct zookeeper_frame {
    enum class kind : std::uint8_t {
        malformed,
        connect,    ///< the client's first
        connected,  ///< the server's first
        request,
        reply,
        event,  ///< of a watch
    };

    kind what = kind::malformed;
    opcode operation = opcode::none;  ///< of a reply: of the request that it answers
    std::int32_t xid = 0;
    std::int64_t zxid = 0;      ///< connect: the last one seen; reply
    std::int32_t error = 0;     ///< reply
    std::int64_t session = 0;   ///< connect, connected
    std::string path = {};      ///< of requests that begin with one; event
    std::vector<opcode> parts;  ///< of a multi
};

/// Cuts a stream of bytes into frames, which are length-prefixed.
///
/// Bytes are not trusted: memory is needed for what has arrived, never for what a length promises.
/// A length that no frame has (a four letter word read as one, too) breaks the stream for good.
class frame_stream {
public:
    static constexpr std::size_t longest = 16U << 20U;

    void feed(std::string_view bytes);

    /// The next whole frame, with its length.
    [[nodiscard]] std::optional<std::string> next();

    /// What follows is no frame.
    [[nodiscard]] bool broken() const { return broken_; }

    /// What was fed and is not part of a whole frame; it is forgotten.
    [[nodiscard]] std::string rest();

private:
    std::string bytes_;
    std::size_t taken_ = 0;
    bool broken_ = false;
};

/// Reads both sides' frames of one connection. The server's say nothing of what they answer: for
/// that it remembers what was asked, in order. Frames are not trusted: a bad one is `malformed` and
/// changes nothing.
class zookeeper_conversation {
public:
    /// A whole frame, with its length.
    [[nodiscard]] zookeeper_frame from_client(std::string_view frame);
    [[nodiscard]] zookeeper_frame from_server(std::string_view frame);

    /// As granted, or 0.
    [[nodiscard]] std::int64_t session() const { return session_; }

private:
    opcode answered_by(std::int32_t xid);

    std::int64_t session_ = 0;
    bool client_began_ = false;
    bool server_began_ = false;
    std::deque<std::pair<std::int32_t, opcode>> asked_;
};

/// "create2", or the number.
[[nodiscard]] std::string to_string(opcode o);

}  // namespace latchkey::test
