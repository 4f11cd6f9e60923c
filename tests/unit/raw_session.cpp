#include "raw_session.hpp"

#include <array>
#include <chrono>
#include <utility>

namespace latchkey::test {

void put(jute_writer& out, const acl& access) {
    out.number(static_cast<std::int32_t>(access.size()));
    for (const acl_entry& e : access) {
        out.number(static_cast<std::int32_t>(e.allowed)).text(e.scheme).text(e.id);
    }
}

raw_session::raw_session(const std::string& host_and_port) {
    const auto colon = host_and_port.rfind(':');
    stream_.expires_after(std::chrono::seconds(30));
    stream_.connect(host_and_port.substr(0, colon), host_and_port.substr(colon + 1));
    jute_writer hello;
    hello.number(0).long_number(0).number(10'000).long_number(0).text(std::string(16, '\0'));
    send(hello.flag(false));
    const std::string whole = frame();
    jute_reader in(whole);
    in.number();
    in.number();
    id_ = in.long_number();
}

void raw_session::send(jute_writer& request) {
    const std::string bytes = request.take();
    stream_.expires_after(std::chrono::seconds(30));
    stream_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    stream_.flush();
}

/// Without its length. Empty if none comes.
std::string raw_session::frame() {
    std::array<char, 4> length{};
    if (!stream_.read(length.data(), length.size())) {
        return {};
    }
    std::string bytes(static_cast<std::size_t>(jute_reader({length.data(), 4}).number()), '\0');
    stream_.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return bytes;
}

jute_writer raw_session::to(std::int32_t what) {
    jute_writer out;
    out.number(++xid_).number(what);
    return out;
}

raw_answer raw_session::ask(jute_writer request) {
    send(request);
    for (;;) {
        const std::string whole = frame();
        if (whole.empty()) {
            raw_answer none;
            none.code = no_answer;
            return none;
        }
        jute_reader in(whole);
        const std::int32_t xid = in.number();
        raw_answer a;
        a.zxid = in.long_number();
        a.code = in.number();
        if (xid == xid_) {
            a.body = in.bytes(in.left());
            return a;
        }
        const std::array kinds{"none ", "created ", "deleted ", "changed ", "children "};
        const auto kind = static_cast<std::size_t>(in.number());
        in.number();
        events_.push_back(kinds.at(kind) + std::string(in.text()));
    }
}

raw_answer raw_session::create(const std::string& path,
                               const acl& access,
                               std::int32_t flags,
                               opcode what) {
    jute_writer out = to(what);
    out.text(path).text("");
    put(out, access);
    return ask(std::move(out.number(flags)));
}

raw_answer raw_session::read(opcode what, const std::string& path, bool watch) {
    jute_writer out = to(what);
    out.text(path);
    if (what != opcode::get_acl && what != opcode::all_children_number) {
        out.flag(watch);
    }
    return ask(std::move(out));
}

raw_answer raw_session::set(const std::string& path, const std::string& data) {
    return ask(std::move(to(opcode::set_data).text(path).text(data).number(-1)));
}

raw_answer raw_session::remove(const std::string& path) {
    return ask(std::move(to(opcode::remove).text(path).number(-1)));
}

raw_answer raw_session::set_acl(const std::string& path, const acl& access) {
    jute_writer out = to(opcode::set_acl);
    out.text(path);
    put(out, access);
    return ask(std::move(out.number(-1)));
}

raw_answer raw_session::add_auth(const std::string& scheme, const std::string& secret) {
    return ask(std::move(to(opcode::auth).number(0).text(scheme).text(secret)));
}

std::vector<std::string> raw_session::take_events() {
    return std::exchange(events_, {});
}

bool raw_session::is_hung_up() {
    return frame().empty() && stream_.error() == boost::asio::error::eof;
}

}  // namespace latchkey::test
