#include "ensemble/wire/wire_answer.hpp"

#include "ensemble/wire/jute.hpp"

#include <cstddef>

namespace latchkey::model {
namespace {

void put(jute_writer& out, const server_stat& s) {
    out.long_number(s.czxid).long_number(s.mzxid).long_number(s.ctime).long_number(s.mtime);
    out.number(s.version).number(s.cversion).number(s.aversion).long_number(s.ephemeral_owner);
    out.number(s.data_length).number(s.num_children).long_number(s.pzxid);
}

void put(jute_writer& out, const acl& access) {
    out.number(static_cast<std::int32_t>(access.size()));
    for (const acl_entry& e : access) {
        out.number(static_cast<std::int32_t>(e.allowed)).text(e.scheme).text(e.id);
    }
}

void put_header(jute_writer& out, opcode what, bool last, std::int32_t code) {
    out.number(static_cast<std::int32_t>(what)).flag(last).number(code);
}

void put_body(jute_writer& out, opcode what, const reply& r) {
    switch (what) {
        case opcode::create:
            out.text(r.path);
            return;
        case opcode::create2:
        case opcode::create_container:
            put(out.text(r.path), r.stat);
            return;
        case opcode::exists:
        case opcode::set_data:
        case opcode::set_acl:
            put(out, r.stat);
            return;
        case opcode::get_data:
            put(r.no_data ? out.none() : out.text(r.data), r.stat);
            return;
        case opcode::get_acl:
            put(out, r.access);
            put(out, r.stat);
            return;
        case opcode::all_children_number:
            out.number(r.stat.num_children);
            return;
        case opcode::who_am_i:
            out.number(static_cast<std::int32_t>(r.access.size()));
            for (const acl_entry& who : r.access) {
                out.text(who.scheme).text(who.id);
            }
            return;
        case opcode::add_watch:
            out.number(0);  // the error code 0: none
            return;
        case opcode::get_children:
        case opcode::ephemerals:
            out.texts(r.names);
            return;
        case opcode::get_children2:
            put(out.texts(r.names), r.stat);
            return;
        default:
            return;  // remove, check, and answers without a path
    }
}

void put_results(jute_writer& out, const unanswered& u, const reply& r) {
    for (std::size_t i = 0; i < r.results.size(); ++i) {
        const auto code = static_cast<std::int32_t>(r.results[i].code);
        if (r.ok() && r.results[i].ok()) {
            put_header(out, u.parts[i], false, code);
            put_body(out, u.parts[i], r.results[i]);
        } else {
            put_header(out, opcode::error, false, code);
            out.number(code);
        }
    }
    put_header(out, opcode::error, true, -1);
}

std::int32_t type_of(watch_event e) {
    switch (e) {
        case watch_event::created:
            return 1;
        case watch_event::deleted:
            return 2;
        case watch_event::changed:
            return 3;
        case watch_event::children_changed:
            return 4;
    }
    return 0;
}

}  // namespace

std::string connect_frame(std::int64_t session,
                          std::chrono::milliseconds timeout,
                          std::string_view password,
                          bool knows_read_only) {
    jute_writer out;
    out.number(0).number(static_cast<std::int32_t>(timeout.count()));
    out.long_number(session).text(password);
    if (knows_read_only) {
        out.flag(false);
    }
    return out.take();
}

std::string answer_frame(const unanswered& u, const reply& r, std::int64_t zxid) {
    jute_writer out;
    // A failed multi reports its errors in the results. Its header is that of a success.
    const bool in_results =
        (u.what == opcode::multi || u.what == opcode::multi_read) && (r.ok() || !r.results.empty());
    const result_code code = in_results ? result_code::ok : r.code;
    out.number(u.xid).long_number(zxid).number(static_cast<std::int32_t>(code));
    if (in_results) {
        put_results(out, u, r);
    } else if (r.ok() && u.what == opcode::sync) {
        out.text(u.path);
    } else if (r.ok()) {
        put_body(out, u.what, r);
    }
    return out.take();
}

std::string event_frame(watch_event e, std::string_view path) {
    constexpr std::int32_t event_xid = -1;
    constexpr std::int32_t connected = 3;
    jute_writer out;
    out.number(event_xid).long_number(-1).number(0);
    return out.number(type_of(e)).number(connected).text(path).take();
}

// java.util.Random, seeded with the session id and a constant that is not secret.
std::string session_password(std::int64_t session) {
    constexpr std::uint64_t mask = (std::uint64_t{1} << 48U) - 1;
    constexpr std::uint64_t multiplier = 0x5DEECE66D;
    std::uint64_t state = ((static_cast<std::uint64_t>(session) ^ 0xB3415C00U) ^ multiplier) & mask;
    std::string bytes;
    for (int word = 0; word < 4; ++word) {
        state = (state * multiplier + 0xB) & mask;
        const auto bits = static_cast<std::uint32_t>(state >> 16U);
        for (unsigned shift = 0; shift < 32; shift += 8) {
            bytes += static_cast<char>(static_cast<std::uint8_t>(bits >> shift));
        }
    }
    return bytes;
}

}  // namespace latchkey::model
