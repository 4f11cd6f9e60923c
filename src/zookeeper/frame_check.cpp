#include "zookeeper/frame_check.hpp"

#include <algorithm>
#include <utility>

namespace latchkey::inline v0 {
namespace {

// The numbers of the protocol.
constexpr std::int32_t event_xid = -1;
constexpr std::int32_t ping_xid = -2;
constexpr std::int32_t credentials_xid = -4;
/// Of the operations of a multi that failed because of another one.
constexpr std::int32_t runtime_inconsistency = -2;
constexpr std::int32_t type_error = -1;
constexpr std::int32_t type_create = 1;
constexpr std::int32_t type_delete = 2;
constexpr std::int32_t type_exists = 3;
constexpr std::int32_t type_get_data = 4;
constexpr std::int32_t type_set_data = 5;
constexpr std::int32_t type_get_acl = 6;
constexpr std::int32_t type_sync = 9;
constexpr std::int32_t type_get_children2 = 12;
constexpr std::int32_t type_check = 13;
constexpr std::int32_t type_multi = 14;
constexpr std::int32_t type_create2 = 15;
constexpr std::int32_t type_create_container = 19;

constexpr std::size_t header_size = 16;
constexpr std::size_t password_size = 16;

/// Of the number that a server appends to a sequential name: ten digits, or "-2147483648".
constexpr std::size_t longest_number = 11;

/// So that a list of short names cannot take much more memory than the frame that brings it.
constexpr std::int32_t most_names = 1U << 22U;

const char* name_of(std::int32_t type) noexcept {
    switch (type) {
        case type_create:
        case type_create2:
        case type_create_container:
            return "create";
        case type_delete:
            return "delete";
        case type_exists:
            return "exists";
        case type_get_data:
            return "getData";
        case type_set_data:
            return "setData";
        case type_get_acl:
            return "getACL";
        case type_sync:
            return "sync";
        case type_get_children2:
            return "getChildren";
        case type_check:
            return "check";
        case type_multi:
            return "multi";
        default:
            return "an unknown request";
    }
}

bool creates(std::int32_t type) noexcept {
    return type == type_create || type == type_create2 || type == type_create_container;
}

}  // namespace

/// Takes values off the front of a frame. The first that is not there, or cannot be, is what is
/// wrong; what is read after it is zero or empty.
class frame_check::reader {
public:
    explicit reader(std::string_view bytes) noexcept : rest_(bytes) {}

    [[nodiscard]] bool good() const noexcept { return wrong_.empty(); }

    [[nodiscard]] const std::string& wrong() const noexcept { return wrong_; }

    [[nodiscard]] std::size_t left() const noexcept { return rest_.size(); }

    void fail(std::string why) {
        if (good()) {
            wrong_ = std::move(why);
        }
    }

    void require(bool held, const char* why) {
        if (!held) {
            fail(why);
        }
    }

    std::string_view bytes(std::size_t size) {
        if (size > rest_.size()) {
            fail("it ends " + std::to_string(size - rest_.size()) + " bytes too early");
        }
        if (!good()) {
            return {};
        }
        const auto taken = rest_.substr(0, size);
        rest_.remove_prefix(size);
        return taken;
    }

    std::int32_t number() { return static_cast<std::int32_t>(unsigned_number(4)); }

    std::int64_t long_number() { return static_cast<std::int64_t>(unsigned_number(8)); }

    std::uint8_t byte() { return static_cast<std::uint8_t>(unsigned_number(1)); }

    /// Of entries that take `least` bytes each.
    std::int32_t count(std::size_t least) {
        const std::int32_t value = number();
        if (value < 0 || static_cast<std::size_t>(value) > left() / least) {
            fail("a list of " + std::to_string(value) + " entries in " + std::to_string(left()) +
                 " bytes");
        }
        return good() ? value : 0;
    }

    /// `least`: -1 where there may be no value, which is not an empty one.
    std::string_view text(std::int32_t least) {
        const std::int32_t size = number();
        if (size < least) {
            fail("a length of " + std::to_string(size));
        }
        return bytes(static_cast<std::size_t>(std::max(size, 0)));
    }

    /// The C client would take it for the part before a NUL.
    std::string_view string(std::int32_t least = 0) {
        const auto value = text(least);
        require(value.find('\0') == std::string_view::npos, "a string with a NUL");
        return value;
    }

    void stat() {
        bytes(4 * 8);   // two zxids, two times
        bytes(3 * 4);   // versions
        long_number();  // the owner
        const std::int32_t data = number();
        const std::int32_t children = number();
        long_number();  // a zxid
        require(data >= 0 && children >= 0, "a Stat with a negative count");
    }

private:
    std::uint64_t unsigned_number(std::size_t size) {
        std::uint64_t value = 0;
        for (const char c : bytes(size)) {
            value = value << 8U | static_cast<std::uint8_t>(c);
        }
        return value;
    }

    std::string_view rest_;
    std::string wrong_;
};

// ---- what the client asks

void frame_check::sent(std::string_view frame) {
    reader in(frame);
    question asked;
    asked.xid = in.number();
    asked.what.type = in.number();
    if (asked.xid == ping_xid) {
        ++pings_;
        return;
    }
    if (asked.xid == credentials_xid) {
        ++credentials_;
        return;
    }
    if (creates(asked.what.type)) {
        asked.what.creates = in.text(0);
    }
    while (asked.what.type == type_multi && in.good()) {
        operation part{.type = in.number(), .creates = {}};
        const bool last = in.byte() != 0;
        in.number();
        if (last) {
            break;
        }
        const auto path = in.text(0);
        if (creates(part.type)) {
            part.creates = path;
            in.text(-1);
            for (std::int32_t left = in.count(3 * 4); left > 0; --left) {
                in.number();
                in.text(0);
                in.text(0);
            }
        } else if (part.type == type_set_data) {
            in.text(-1);
        }
        in.number();  // flags or a version
        asked.parts.push_back(std::move(part));
    }
    asked_.push_back(std::move(asked));
}

// ---- what the server says

std::string frame_check::received(std::string_view frame) {
    reader in(frame);
    if (!welcomed_) {
        welcomed_ = true;
        check_session(in, continues_);
        in.require(in.left() == 0, "bytes behind its end");
        return in.good() ? "" : "malformed answer to the request for a session: " + in.wrong();
    }
    const std::int32_t xid = in.number();
    in.long_number();  // the zxid
    const std::int32_t error = in.number();
    if (!in.good()) {
        return "malformed answer: its header has " + std::to_string(frame.size()) + " of " +
               std::to_string(header_size) + " bytes";
    }
    if (xid != event_xid) {
        return answered(xid, error, in);
    }
    check_event(in);
    in.require(in.left() == 0, "bytes behind its end");
    return in.good() ? "" : "malformed event of a watch: " + in.wrong();
}

std::string frame_check::answered(std::int32_t xid, std::int32_t error, reader& body) {
    if (xid == ping_xid || xid == credentials_xid) {
        std::size_t& open = xid == ping_xid ? pings_ : credentials_;
        const std::string what = xid == ping_xid ? "a ping" : "credentials";
        if (open == 0) {
            return "malformed answer: to " + what + ", which was not sent";
        }
        --open;
        return body.left() == 0 ? "" : "malformed answer to " + what + ": bytes behind its end";
    }
    if (asked_.empty()) {
        return "malformed answer: to request " + std::to_string(xid) + ", and none is open";
    }
    const question asked = std::move(asked_.front());
    asked_.pop_front();
    if (xid != asked.xid) {
        const bool open = std::any_of(
            asked_.begin(), asked_.end(), [xid](const question& q) { return q.xid == xid; });
        left_out_ = open;
        return (open ? "an answer was left out: to request " : "malformed answer: to request ") +
               std::to_string(xid) + " instead of " + std::to_string(asked.xid);
    }
    if (error != 0) {
        return {};  // the C client reads no further
    }
    check_body(asked, body);
    body.require(body.left() == 0, "bytes behind its end");
    return body.good() ? ""
                       : std::string("malformed answer to ") + name_of(asked.what.type) + ": " +
                             body.wrong();
}

void frame_check::check_session(reader& in, bool continues) {
    in.number();  // the version of the protocol
    const std::int32_t timeout = in.number();
    const std::int64_t id = in.long_number();
    in.require(in.text(0).size() == password_size, "a password of another length than 16");
    if (in.left() > 0) {  // servers before 3.4 do not say it
        in.require(in.byte() == 0, "a server that only reads, which was not asked for");
    }
    in.require(id != 0 || continues, "no session");
    in.require(id == 0 || timeout > 0, "a session timeout that is not positive");
}

void frame_check::check_event(reader& in) {
    constexpr std::int32_t created = 1;
    constexpr std::int32_t children_changed = 4;
    const std::int32_t type = in.number();
    if (type < created || type > children_changed) {
        in.fail("a type of " + std::to_string(type));
    }
    in.number();  // the state of the connection
    in.require(in.string(1).substr(0, 1) == "/", "a path that does not begin with /");
}

void frame_check::check_body(const question& asked, reader& in) {
    switch (asked.what.type) {
        case type_exists:
            return in.stat();
        case type_get_data:
            in.text(-1);
            return in.stat();
        case type_get_acl:
            for (std::int32_t left = in.count(3 * 4); left > 0 && in.good(); --left) {
                in.number();
                in.string();
                in.string();
            }
            return in.stat();
        case type_get_children2: {
            const std::int32_t names = in.count(4 + 1);
            in.require(names <= most_names, "more names than any directory has");
            for (std::int32_t left = names; left > 0 && in.good(); --left) {
                const auto name = in.string(1);
                in.require(name.find('/') == std::string_view::npos, "a name with a /");
            }
            return in.stat();
        }
        case type_sync:
            in.string();
            return;
        case type_multi:
            return check_results(asked.parts, in);
        default:
            check_result(asked.what, in);
            if (asked.what.type == type_create2 || asked.what.type == type_create_container) {
                in.stat();
            }
    }
}

/// What an operation answers, alone or in a multi.
void frame_check::check_result(const operation& asked, reader& in) {
    if (creates(asked.type)) {
        const auto made = in.string(1);
        in.require(
            made.starts_with(asked.creates) && made.size() <= asked.creates.size() + longest_number,
            "the path of another znode");
    } else if (asked.type == type_set_data) {
        in.stat();
    }
}

/// Each operation has its result, or each has an error, which is one for one of them at least.
void frame_check::check_results(const std::vector<operation>& asked, reader& in) {
    std::size_t refused = 0;
    bool fails = false;
    for (const operation& one : asked) {
        const std::int32_t type = in.number();
        in.require(in.byte() == 0, "fewer results than operations");
        in.number();  // an error, again
        if (type == type_error) {
            ++refused;
            const std::int32_t error = in.number();
            fails = fails || (error != 0 && error != runtime_inconsistency);
        } else if (type == one.type) {
            check_result(one, in);
        } else {
            in.fail("a result of type " + std::to_string(type) + " for " + name_of(one.type));
        }
        if (!in.good()) {
            return;
        }
    }
    in.require(fails ? refused == asked.size() : refused == 0,
               "results that contradict each other");
    in.number();
    in.require(in.byte() == 1, "more results than operations");
    in.number();
}

}  // namespace latchkey::inline v0
