#pragma once

#include "zookeeper_frames.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace latchkey::test {

/// Writes a frame as the protocol has it.
class frame_writer {
public:
    frame_writer& number(std::int32_t value) {
        return big_endian(static_cast<std::uint32_t>(value), 4);
    }

    frame_writer& long_number(std::int64_t value) {
        return big_endian(static_cast<std::uint64_t>(value), 8);
    }

    frame_writer& flag(bool value) { return big_endian(value ? 1 : 0, 1); }

    frame_writer& number(opcode value) { return number(static_cast<std::int32_t>(value)); }

    frame_writer& text(std::string_view value) {
        number(static_cast<std::int32_t>(value.size()));
        body_ += value;
        return *this;
    }

    [[nodiscard]] std::string frame() const {
        return frame_writer().number(static_cast<std::int32_t>(body_.size())).body_ + body_;
    }

private:
    frame_writer& big_endian(std::uint64_t value, unsigned size) {
        for (unsigned i = size; i-- > 0;) {
            body_ += static_cast<char>(value >> (8 * i));
        }
        return *this;
    }

    std::string body_;
};

inline std::string connect_frame(std::int64_t session = 0) {
    return frame_writer()
        .number(0)
        .long_number(77)
        .number(6000)
        .long_number(session)
        .text(std::string(16, '\0'))
        .flag(false)
        .frame();
}

inline std::string connected_frame(std::int64_t session, std::int32_t timeout = 6000) {
    return frame_writer()
        .number(0)
        .number(timeout)
        .long_number(session)
        .text(std::string(16, 'p'))
        .flag(false)
        .frame();
}

inline frame_writer request_of(std::int32_t xid, opcode what) {
    return frame_writer().number(xid).number(what);
}

inline std::string event_frame(std::string_view path) {
    return frame_writer()
        .number(-1)
        .long_number(-1)
        .number(0)
        .number(2)
        .number(3)
        .text(path)
        .frame();
}

inline frame_writer answer_to(std::int32_t xid, std::int32_t error = 0) {
    return frame_writer().number(xid).long_number(4711).number(error);
}

inline std::string reply_frame(std::int32_t xid, std::int32_t error = 0) {
    return answer_to(xid, error).frame();
}

}  // namespace latchkey::test
