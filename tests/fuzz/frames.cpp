#include "input.hpp"
#include "zookeeper/frame_check.hpp"
#include "zookeeper_frames.hpp"

// What goes through the fault proxy, and what the client believes of it. The first two bytes say
// how the stream is cut into pieces, and who sends which frame.

namespace {

using namespace latchkey;
using fuzz::require;
using kind = test::zookeeper_frame::kind;

struct cut {
    std::vector<std::string> frames;
    std::string rest;
    bool broken = false;
};

cut cut_up(std::string_view bytes, std::size_t piece) {
    test::frame_stream stream;
    cut result;
    while (!bytes.empty()) {
        stream.feed(bytes.substr(0, piece));
        bytes.remove_prefix(std::min(piece, bytes.size()));
        while (auto frame = stream.next()) {
            result.frames.push_back(std::move(*frame));
        }
    }
    result.broken = stream.broken();
    result.rest = stream.rest();
    return result;
}

void check_frame(const test::zookeeper_frame& f, std::string_view bytes, bool from_client) {
    const bool clients = f.what == kind::connect || f.what == kind::request;
    const bool servers =
        f.what == kind::connected || f.what == kind::reply || f.what == kind::event;
    require(f.what == kind::malformed || (from_client ? clients : servers),
            "each side says what is its to say");
    require(f.path.size() <= bytes.size() && f.parts.size() <= bytes.size(),
            "nothing is larger than what brought it");
    require(!test::to_string(f.operation).empty(), "an operation has a name or a number");
}

}  // namespace

void fuzz::check_input(std::string_view bytes) {
    if (bytes.size() < 2) {
        return;
    }
    const std::size_t piece = 1U + static_cast<std::uint8_t>(bytes[0]) % 16U;
    const unsigned order = static_cast<std::uint8_t>(bytes[1]);
    const std::string_view stream = bytes.substr(2);

    const cut whole = cut_up(stream, stream.size());
    const cut pieces = cut_up(stream, piece);
    require(
        whole.frames == pieces.frames && whole.broken == pieces.broken && whole.rest == pieces.rest,
        "how the bytes arrive does not matter");
    std::string together;
    for (const std::string& frame : whole.frames) {
        together += frame;
    }
    require(together + whole.rest == stream, "no byte is lost or made up");

    frame_check check((order & 1U) != 0);
    test::zookeeper_conversation talk;
    bool right = true;
    unsigned turn = 0;
    for (const std::string& frame : whole.frames) {
        const bool from_client = (order >> turn++ % 8U & 1U) != 0;
        const auto seen = from_client ? talk.from_client(frame) : talk.from_server(frame);
        check_frame(seen, frame, from_client);
        const std::string_view body = std::string_view(frame).substr(4);
        if (from_client) {
            check.sent(body);
        } else if (right) {
            right = check.received(body).empty();
            require(!right || seen.what != kind::malformed, "what is malformed is not believed");
        }
    }
    // Those who cut frames themselves.
    check_frame(talk.from_client(stream), stream, true);
    check_frame(talk.from_server(stream), stream, false);
}
