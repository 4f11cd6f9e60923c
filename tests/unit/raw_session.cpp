#include "raw_session.hpp"

#include <array>
#include <chrono>
#include <utility>

namespace latchkey::test {

raw_session::raw_session(const std::string& host_and_port) {
    const auto colon = host_and_port.rfind(':');
    stream_.expires_after(std::chrono::seconds(30));
    stream_.connect(host_and_port.substr(0, colon), host_and_port.substr(colon + 1));
    send(connect_frame(0, std::string(16, '\0'), 0));
    static_cast<void>(frame());
}

void raw_session::send(const std::string& frame) {
    stream_.expires_after(std::chrono::seconds(30));
    stream_.write(frame.data(), static_cast<std::streamsize>(frame.size()));
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

raw_answer raw_session::ask(jute_writer request) {
    send(request.take());
    for (;;) {
        const std::string whole = frame();
        if (whole.empty()) {
            return {0, no_answer, {}};
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
    return ask(put_create(out, path, "", flags, access));
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
    return ask(to(opcode::set_data).text(path).text(data).number(-1));
}

raw_answer raw_session::remove(const std::string& path) {
    return ask(to(opcode::remove).text(path).number(-1));
}

raw_answer raw_session::set_acl(const std::string& path, const acl& access) {
    jute_writer out = to(opcode::set_acl);
    return ask(put(out.text(path), access).number(-1));
}

raw_answer raw_session::add_auth(const std::string& scheme, const std::string& secret) {
    return ask(to(opcode::auth).number(0).text(scheme).text(secret));
}

std::vector<std::string> raw_session::take_events() {
    return std::exchange(events_, {});
}

bool raw_session::is_hung_up() {
    return frame().empty() && stream_.error() == boost::asio::error::eof;
}

}  // namespace latchkey::test
