#include "zookeeper_frames.hpp"

#include <algorithm>
#include <map>

namespace latchkey::test {
namespace {

using kind = zookeeper_frame::kind;

constexpr std::size_t length_size = 4;

constexpr std::int32_t event_xid = -1;

/// More than a client of ours ever has in flight; what is asked beyond is not remembered.
constexpr std::size_t most_asked = 20'000;

/// Takes values off the front of a record. What is missing is zero or empty, and then `good()` is
/// false for good.
class reader {
public:
    explicit reader(std::string_view bytes) : bytes_(bytes) {}

    [[nodiscard]] bool good() const { return good_; }

    std::string_view bytes(std::size_t size) {
        if (!good_ || size > bytes_.size()) {
            good_ = false;
            return {};
        }
        const std::string_view result = bytes_.substr(0, size);
        bytes_.remove_prefix(size);
        return result;
    }

    std::int32_t number() { return static_cast<std::int32_t>(unsigned_number(4)); }

    std::int64_t long_number() { return static_cast<std::int64_t>(unsigned_number(8)); }

    bool flag() { return unsigned_number(1) != 0; }

    /// A string or a buffer; a length of -1 is an absent one.
    std::string_view text() {
        const std::int32_t size = number();
        if (size < -1) {
            good_ = false;
        }
        return size < 0 ? std::string_view() : bytes(static_cast<std::size_t>(size));
    }

private:
    std::uint64_t unsigned_number(std::size_t size) {
        std::uint64_t result = 0;
        for (const char c : bytes(size)) {
            result = result << 8U | static_cast<std::uint8_t>(c);
        }
        return result;
    }

    std::string_view bytes_;
    bool good_ = true;
};

/// Each entry takes bytes, so that a count is no promise to believe.
void skip_acl(reader& in) {
    const std::int32_t entries = in.number();
    for (std::int32_t i = 0; i < entries && in.good(); ++i) {
        in.number();
        in.text();
        in.text();
    }
}

void skip_operation(reader& in, opcode what) {
    in.text();
    switch (what) {
        case opcode::create_ttl:
        case opcode::create:
        case opcode::create2:
        case opcode::create_container:
            in.text();
            skip_acl(in);
            in.number();
            if (what == opcode::create_ttl) {
                in.long_number();
            }
            return;
        case opcode::set_data:
            in.text();
            in.number();
            return;
        case opcode::remove:
        case opcode::check:
            in.number();
            return;
        default:
            in.bytes(std::string_view::npos);
    }
}

std::vector<opcode> parts_of_multi(reader& in) {
    std::vector<opcode> parts;
    for (;;) {
        const auto what = static_cast<opcode>(in.number());
        const bool last = in.flag();
        in.number();
        if (last || !in.good()) {
            return parts;
        }
        parts.push_back(what);
        skip_operation(in, what);
    }
}

bool begins_with_a_path(opcode what) {
    switch (what) {
        case opcode::create:
        case opcode::remove:
        case opcode::exists:
        case opcode::get_data:
        case opcode::set_data:
        case opcode::get_acl:
        case opcode::set_acl:
        case opcode::get_children:
        case opcode::sync:
        case opcode::get_children2:
        case opcode::check:
        case opcode::create2:
        case opcode::create_container:
        case opcode::create_ttl:
            return true;
        default:
            return false;
    }
}

zookeeper_frame read_connect(reader& in) {
    zookeeper_frame frame;
    in.number();  // the version
    frame.zxid = in.long_number();
    in.number();  // the timeout
    frame.session = in.long_number();
    in.text();
    frame.what = kind::connect;
    frame.operation = opcode::connect;
    return frame;
}

zookeeper_frame read_connected(reader& in) {
    zookeeper_frame frame;
    in.number();  // the version
    const bool granted = in.number() > 0;
    const std::int64_t session = in.long_number();
    in.text();
    frame.what = kind::connected;
    frame.operation = opcode::connect;
    frame.session = granted ? session : 0;
    return frame;
}

zookeeper_frame read_request(reader& in) {
    zookeeper_frame frame;
    frame.what = kind::request;
    frame.xid = in.number();
    frame.operation = static_cast<opcode>(in.number());
    if (begins_with_a_path(frame.operation)) {
        frame.path = in.text();
    } else if (frame.operation == opcode::multi) {
        frame.parts = parts_of_multi(in);
    }
    return frame;
}

zookeeper_frame read_answer(reader& in) {
    zookeeper_frame frame;
    frame.xid = in.number();
    frame.zxid = in.long_number();
    frame.error = in.number();
    frame.what = kind::reply;
    if (frame.xid == event_xid) {
        frame.what = kind::event;
        in.number();  // its type
        in.number();  // the connection's state
        frame.path = in.text();
    }
    return frame;
}

std::string_view without_length(std::string_view frame) {
    return frame.substr(std::min(length_size, frame.size()));
}

}  // namespace

void frame_stream::feed(std::string_view bytes) {
    if (taken_ > 0) {
        bytes_.erase(0, std::exchange(taken_, 0));
    }
    bytes_ += bytes;
}

std::optional<std::string> frame_stream::next() {
    if (broken_ || bytes_.size() - taken_ < length_size) {
        return std::nullopt;
    }
    const std::string_view ahead = std::string_view(bytes_).substr(taken_);
    const std::int32_t body = reader(ahead).number();
    if (body < 0 || static_cast<std::size_t>(body) > longest) {
        broken_ = true;
        return std::nullopt;
    }
    const std::size_t size = length_size + static_cast<std::size_t>(body);
    if (ahead.size() < size) {
        return std::nullopt;
    }
    taken_ += size;
    return std::string(ahead.substr(0, size));
}

std::string frame_stream::rest() {
    std::string result = bytes_.substr(std::exchange(taken_, 0));
    bytes_.clear();
    return result;
}

zookeeper_frame zookeeper_conversation::from_client(std::string_view frame) {
    reader in(without_length(frame));
    zookeeper_frame result = client_began_ ? read_request(in) : read_connect(in);
    if (!in.good()) {
        return {};
    }
    client_began_ = true;
    if (result.what == kind::request && asked_.size() < most_asked) {
        asked_.emplace_back(result.xid, result.operation);
    }
    return result;
}

zookeeper_frame zookeeper_conversation::from_server(std::string_view frame) {
    reader in(without_length(frame));
    zookeeper_frame result = server_began_ ? read_answer(in) : read_connected(in);
    if (!in.good()) {
        return {};
    }
    if (!std::exchange(server_began_, true)) {
        session_ = result.session;
    }
    if (result.what == kind::reply) {
        result.operation = answered_by(result.xid);
    }
    return result;
}

/// Servers answer in order; pings, auths and watches that are set again each share one xid.
opcode zookeeper_conversation::answered_by(std::int32_t xid) {
    const auto found = std::find_if(
        asked_.begin(), asked_.end(), [xid](const auto& asked) { return asked.first == xid; });
    if (found == asked_.end()) {
        return opcode::none;
    }
    const opcode what = found->second;
    asked_.erase(found);
    return what;
}

std::string to_string(opcode o) {
    static const std::map<opcode, std::string> names{
        {opcode::none, "none"},
        {opcode::create, "create"},
        {opcode::remove, "delete"},
        {opcode::exists, "exists"},
        {opcode::get_data, "getData"},
        {opcode::set_data, "setData"},
        {opcode::get_acl, "getACL"},
        {opcode::set_acl, "setACL"},
        {opcode::get_children, "getChildren"},
        {opcode::sync, "sync"},
        {opcode::ping, "ping"},
        {opcode::get_children2, "getChildren2"},
        {opcode::check, "check"},
        {opcode::multi, "multi"},
        {opcode::create2, "create2"},
        {opcode::create_container, "createContainer"},
        {opcode::create_ttl, "createTTL"},
        {opcode::auth, "auth"},
        {opcode::set_watches, "setWatches"},
        {opcode::connect, "connect"},
        {opcode::close_session, "closeSession"},
    };
    const auto found = names.find(o);
    return found == names.end() ? std::to_string(static_cast<std::int32_t>(o)) : found->second;
}

}  // namespace latchkey::test
