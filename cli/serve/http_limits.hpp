#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace latchkey::cli {

/// What a client of the HTTP server may take.
struct http_limits {
    /// One more takes the place of the oldest one on which nothing is asked. If all are answered or
    /// read events, it gets a 503, and is closed.
    std::size_t connections = 100;
    /// Of them, that read events: another one gets a 503, so that readers of events, which stay,
    /// leave room for requests.
    std::size_t event_readers = 50;
    /// Of them, from one address, without a complete request so far. Another one takes the place of
    /// the oldest.
    std::size_t silent_per_address = 16;
    std::uint32_t header_bytes = 8192;  ///< of one request; it must have no body
    /// How long a connection may stay without a complete request, and how long a client may take
    /// to read an answer, besides a second for each `bytes_a_second`.
    std::chrono::milliseconds idle = std::chrono::seconds(30);
    std::chrono::milliseconds first_request = std::chrono::seconds(5);  ///< in place of `idle`
    std::size_t bytes_a_second = 64 * 1024;
    /// How long a reader of events may read nothing while there is something to read.
    std::chrono::milliseconds event_write = std::chrono::seconds(10);
    std::size_t events_behind = 8;  ///< events that may wait for a client to read earlier ones
    std::chrono::milliseconds event_silence = std::chrono::seconds(15);  ///< then a comment is sent
    int event_buffer = 64 * 1024;  ///< bytes that the kernel keeps for a client
};

}  // namespace latchkey::cli
