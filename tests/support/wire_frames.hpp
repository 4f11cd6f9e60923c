#pragma once

#include <latchkey/acl.hpp>

#include "ensemble/wire/jute.hpp"
#include "ensemble/wire/opcode.hpp"
#include "session/request.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace latchkey::test {

using model::jute_reader;
using model::jute_writer;
using model::opcode;

constexpr std::size_t stat_size = 68;

inline jute_writer header_of(std::int32_t xid, std::int32_t what) {
    return jute_writer().number(xid).number(what);
}

inline jute_writer header_of(std::int32_t xid, opcode what) {
    return header_of(xid, static_cast<std::int32_t>(what));
}

inline jute_writer& put(jute_writer& out, const acl& access) {
    out.number(static_cast<std::int32_t>(access.size()));
    for (const acl_entry& e : access) {
        out.number(static_cast<std::int32_t>(e.allowed)).text(e.scheme).text(e.id);
    }
    return out;
}

/// What follows the header of a create.
inline jute_writer& put_create(jute_writer& out,
                               std::string_view path,
                               std::string_view data = "",
                               std::int32_t flags = 0,
                               const acl& access = open_unsafe_acl()) {
    return put(out.text(path).text(data), access).number(flags);
}

/// The header of a part of a transaction, or of its answer.
inline jute_writer& part(jute_writer& out, opcode what, std::int32_t error = -1) {
    return out.number(static_cast<std::int32_t>(what)).flag(false).number(error);
}

inline jute_writer end_of(jute_writer out) {
    return out.number(-1).flag(true).number(-1);
}

/// A transaction of checks, writes and creates. `header`: up to where the parts begin.
inline jute_writer transaction(jute_writer header, const std::vector<request>& parts) {
    jute_writer& out = header;
    for (const request& r : parts) {
        if (r.what == request::kind::create) {
            const bool sequential = r.mode == create_mode::persistent_sequential;
            put_create(part(out, opcode::create), r.path, r.data, sequential ? 2 : 0, r.access);
            continue;
        }
        part(out,
             r.what == request::kind::check ? opcode::check
             : r.what == request::kind::set ? opcode::set_data
                                            : opcode::remove)
            .text(r.path);
        if (r.what == request::kind::set) {
            r.no_data ? out.none() : out.text(r.data);
        }
        out.number(r.version);
    }
    return end_of(out);
}

inline std::string connect_frame(std::int64_t session = 0,
                                 const std::string& password = std::string(16, '\0'),
                                 std::int64_t zxid = 77) {
    jute_writer out;
    out.number(0).long_number(zxid).number(10'000).long_number(session).text(password);
    return out.flag(false).take();
}

inline std::string connected_frame(std::int64_t session, std::int32_t timeout = 6000) {
    jute_writer out;
    out.number(0).number(timeout).long_number(session).text(std::string(16, 'p'));
    return out.flag(false).take();
}

inline std::string event_frame(std::string_view path) {
    jute_writer out;
    return out.number(-1).long_number(-1).number(0).number(2).number(3).text(path).take();
}

inline jute_writer answer_to(std::int32_t xid, std::int32_t error = 0) {
    return jute_writer().number(xid).long_number(4711).number(error);
}

inline std::string reply_frame(std::int32_t xid, std::int32_t error = 0) {
    return answer_to(xid, error).take();
}

}  // namespace latchkey::test
