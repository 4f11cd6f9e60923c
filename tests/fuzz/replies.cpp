#include "input.hpp"
#include "wire_frames.hpp"
#include "zookeeper/frame_check.hpp"

#include <algorithm>
#include <array>

// Answers of servers, right ones at first, in which bytes are changed. What is believed goes to the
// C client, which checks nothing.

namespace {

using namespace latchkey;
using fuzz::require;
using test::answer_to;
using test::header_of;
using test::jute_writer;
using test::opcode;
using test::part;
using test::put_create;

std::string body_of(jute_writer w) {
    return w.take().substr(4);
}

struct exchange {
    jute_writer request;
    jute_writer answer;
};

void put_stat(jute_writer& w) {
    w.long_number(1).long_number(1).long_number(2).long_number(2).number(0).number(0).number(0);
    w.long_number(0).number(4).number(0).long_number(1);
}

exchange make_multi(fuzz::numbers& in, std::int32_t xid) {
    exchange made{header_of(xid, opcode::multi), answer_to(xid)};
    const bool fails = in.below(4) == 0;
    for (std::size_t left = 1 + in.below(4); left > 0; --left) {
        constexpr std::array types{opcode::check, opcode::create, opcode::remove, opcode::set_data};
        const opcode type = types.at(in.below(types.size()));
        part(made.request, type);
        part(made.answer, fails ? opcode::error : type, 0);
        if (type == opcode::create) {
            put_create(made.request, "/a", "data");
        } else {
            made.request.text("/a");
            if (type == opcode::set_data) {
                made.request.text("data");
            }
            made.request.number(-1);
        }
        if (fails) {
            made.answer.number(-101);
        } else if (type == opcode::create) {
            made.answer.text("/a");
        } else if (type == opcode::set_data) {
            put_stat(made.answer);
        }
    }
    made.request.number(-1).flag(true).number(-1);
    made.answer.number(-1).flag(true).number(-1);
    return made;
}

exchange make(fuzz::numbers& in, std::int32_t xid) {
    constexpr std::array types{opcode::exists,
                               opcode::get_data,
                               opcode::set_data,
                               opcode::get_acl,
                               opcode::get_children2,
                               opcode::sync,
                               opcode::remove,
                               opcode::create2,
                               opcode::multi};
    const opcode type = types.at(in.below(types.size()));
    if (type == opcode::multi) {
        return make_multi(in, xid);
    }
    exchange made{header_of(xid, type), answer_to(xid)};
    if (type == opcode::create2) {
        put_create(made.request, "/a", "data");
        made.answer.text("/a0000000001");
    } else {
        made.request.text("/a");
    }
    if (type == opcode::get_data) {
        made.answer.text(in.text(20));
    } else if (type == opcode::get_acl) {
        made.answer.number(1).number(31).text("world").text("anyone");
    } else if (type == opcode::get_children2) {
        const std::size_t names = in.below(5);
        made.answer.number(static_cast<std::int32_t>(names));
        for (std::size_t left = names; left > 0; --left) {
            made.answer.text("name");
        }
    } else if (type == opcode::sync) {
        made.answer.text("/a");
    }
    if (type != opcode::sync && type != opcode::remove) {
        put_stat(made.answer);
    }
    return made;
}

std::string changed(fuzz::numbers& in, std::string frame) {
    for (std::size_t left = 1 + in.below(3); left > 0; --left) {
        const std::size_t at = in.below(frame.size() + 1);
        switch (in.below(4)) {
            case 0:
                frame.resize(at);
                break;
            case 1:
                frame.insert(at, in.text(8));
                break;
            case 2:
                frame.replace(at, 4, std::string(4, static_cast<char>(in.below(256))));
                break;
            default:
                frame.replace(at, 1, 1, static_cast<char>(in.below(256)));
        }
    }
    return frame;
}

void check_reason(const std::string& why) {
    require(why.size() < 200, "a reason is short, whatever the server sends");
    require(std::ranges::all_of(why, [](char c) { return c >= ' ' && c <= '~'; }),
            "nothing of what the server sends is in it");
    require(why.empty() || why.starts_with("malformed "), "a reason says what is wrong");
}

}  // namespace

void fuzz::check_input(std::string_view text) {
    fuzz::numbers in(text);
    frame_check check(in.below(2) == 0);
    std::string hello = body_of(
        jute_writer().number(0).number(6000).long_number(7).text(std::string(16, 'p')).flag(false));
    const bool begins_well = in.below(8) != 0;
    const std::string why = check.received(begins_well ? hello : changed(in, hello));
    check_reason(why);
    require(!begins_well || why.empty(), "a right answer is believed");
    for (std::int32_t xid = 1; why.empty() && !in.empty(); ++xid) {
        const exchange next = make(in, xid);
        check.sent(body_of(next.request));
        const bool right = in.below(3) == 0;
        const std::string answer = body_of(next.answer);
        std::string reason = check.received(right ? answer : changed(in, answer));
        check_reason(reason);
        require(!right || reason.empty(), "a right answer is believed");
        if (!reason.empty()) {
            break;
        }
        if (in.below(4) == 0) {
            const std::int32_t out_of_turn = -1 - static_cast<std::int32_t>(in.below(4));
            const std::string frame = out_of_turn == -1 ? test::event_frame("/a").substr(4)
                                                        : body_of(answer_to(out_of_turn));
            check.sent(body_of(header_of(out_of_turn == -4 ? -4 : -2, opcode::none)));
            reason = check.received(in.below(2) == 0 ? frame : changed(in, frame));
            check_reason(reason);
            if (!reason.empty()) {
                break;
            }
        }
    }
}
