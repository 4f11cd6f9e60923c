#include <latchkey/client.hpp>
#include <latchkey/ensemble.hpp>
#include <latchkey/mutex.hpp>

#include "eventually.hpp"
#include "session_probe.hpp"
#include "tcp_proxy.hpp"
#include "test_authority.hpp"
#include "tls_front.hpp"
#include "zookeeper_frames.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// What a server, or whoever changes the network's traffic, sends instead of a right frame.

namespace latchkey::test {
namespace {

using kind = session_event::kind;
using ::testing::HasSubstr;

/// Makes another frame of one, both without their lengths.
using change = std::function<std::string(std::string)>;

std::string big_endian(std::int32_t value) {
    std::string bytes;
    for (const unsigned shift : {24U, 16U, 8U, 0U}) {
        bytes += static_cast<char>(static_cast<std::uint32_t>(value) >> shift);
    }
    return bytes;
}

change put(std::size_t at, std::int32_t value) {
    return [=](std::string frame) {
        return frame.size() < at + 4 ? frame + "!" : frame.replace(at, 4, big_endian(value));
    };
}

/// What is changed, shared by the test's thread and the proxy's.
class changes {
public:
    /// The next answer to `what`; an event of a watch is `none`.
    void make(opcode what, change how) {
        const std::lock_guard lock(mutex_);
        what_ = what;
        how_ = std::move(how);
    }

    /// All answers of which `which` says so, from now on.
    void make_each(std::function<bool(opcode)> which, change how) {
        const std::lock_guard lock(mutex_);
        which_ = std::move(which);
        each_ = std::move(how);
    }

    std::string apply(opcode what, std::string frame) {
        const std::lock_guard lock(mutex_);
        const bool each = each_ && which_(what);
        if (!each && (!how_ || what != what_)) {
            return frame;
        }
        const std::string body = (each ? each_ : std::exchange(how_, nullptr))(frame.substr(4));
        return big_endian(static_cast<std::int32_t>(body.size())) + body + std::exchange(more_, "");
    }

    /// This as well, behind the answer.
    void add(opcode what, std::string frame) {
        make(what, [](std::string right) { return right; });
        const std::lock_guard lock(mutex_);
        more_ = big_endian(static_cast<std::int32_t>(frame.size())) + frame;
    }

private:
    std::mutex mutex_;
    opcode what_{};
    change how_;
    std::string more_;
    std::function<bool(opcode)> which_;
    change each_;
};

class changing_filter final : public traffic_filter {
public:
    explicit changing_filter(changes& c) : changes_(c) {}

    std::vector<piece> take(tcp_proxy::direction way, std::string_view bytes) override {
        const bool to_server = way == tcp_proxy::direction::to_server;
        frame_stream& stream = streams_.at(to_server ? 0 : 1);
        stream.feed(bytes);
        std::vector<piece> result;
        while (auto frame = stream.next()) {
            const auto seen = to_server ? talk_.from_client(*frame) : talk_.from_server(*frame);
            const auto what =
                seen.what == zookeeper_frame::kind::event ? opcode::none : seen.operation;
            result.push_back({to_server ? *frame : changes_.apply(what, *std::move(frame))});
        }
        return result;
    }

    std::string kept(tcp_proxy::direction) override { return {}; }

private:
    changes& changes_;
    std::array<frame_stream, 2> streams_;
    zookeeper_conversation talk_;
};

/// A session through a proxy that changes what the server says; with the parameter through TLS.
class MalformedReplies : public ::testing::TestWithParam<bool> {
protected:
    MalformedReplies() {
        ensemble_.create("/d", "data");
        ensemble_.create("/d/a");
        if (GetParam()) {
            front_.emplace(proxy_.address(), tls_front::options{.own = authority_.issue()});
        }
    }

    [[nodiscard]] std::string address() const {
        return front_ ? front_->address() : proxy_.address();
    }

    [[nodiscard]] tls_options trusting() const {
        return {.ca_file = folder_.write("ca.pem", authority_.certificate()),
                .server_name = "127.0.0.1"};
    }

    std::unique_ptr<session_probe> open() {
        auto how = options_for(address());
        how.identities.push_back({.scheme = "digest", .secret = "a:b"});
        return front_ ? std::make_unique<session_probe>(how, trusting())
                      : std::make_unique<session_probe>(how);
    }

    /// What two calls with a time limit come to, while all answers are wrong of which `which` says
    /// so.
    void expect_calls_to_end_with(errc code,
                                  const std::string& reason,
                                  const std::function<bool(opcode)>& which,
                                  const change& how) {
        changes_.make_each(which, how);
        client_options options{.session_timeout = std::chrono::seconds(4),
                               .access = open_unsafe_acl()};
        if (front_) {
            options.tls = trusting();
        }
        const client c = client::connect(address(), options);
        mutex m(c, "/lock");
        const auto expect = [&](const auto& call) {
            try {
                call();
                ADD_FAILURE() << "no error";
            } catch (const error& e) {
                EXPECT_EQ(e.code(), code) << e.what();
                EXPECT_THAT(e.what(), HasSubstr(address() + ": " + reason));
            }
        };
        expect([&] { static_cast<void>(m.try_acquire_for(std::chrono::seconds(2))); });
        expect([&] { static_cast<void>(c.get("/d")); });
        changes_.make_each(nullptr, nullptr);
        EXPECT_TRUE(m.acquire()) << "the next answers are believed";
    }

    /// The line that names the server and the reason; the session is connected again behind it.
    void expect_noticed(const session_probe& s, std::size_t connections) {
        EXPECT_TRUE(s.wait_for(kind::trouble));
        const auto all = s.events();
        EXPECT_TRUE(std::any_of(all.begin(), all.end(), [&](const session_event& e) {
            return e.malformed && e.detail.starts_with(address() + ": malformed ");
        })) << s.last(kind::trouble).detail;
        EXPECT_TRUE(s.wait_for(kind::connected, connections));
    }

    static latchkey::testing::ensemble::options one_server() {
        latchkey::testing::ensemble::options how;
        how.servers = 1;
        how.one_way = std::chrono::nanoseconds(0);
        return how;
    }

    latchkey::testing::ensemble ensemble_{one_server()};
    changes changes_;
    tcp_proxy proxy_{ensemble_.serve(),
                     [this] { return std::make_unique<changing_filter>(changes_); }};
    test_authority authority_;
    test_folder folder_;
    std::optional<tls_front> front_;
};

struct question {
    opcode type;
    request what;
    bool begins_with_a_length;  ///< or with a count, a type, an error
};

std::vector<question> questions() {
    const auto create =
        request::create("/d/n", "", create_mode::persistent_sequential, open_unsafe_acl());
    return {
        {opcode::exists, request::exists("/d"), false},
        {opcode::get_data, request::get("/d"), true},
        {opcode::set_data, request::set("/d", "more"), false},
        {opcode::get_acl, request::access_of("/d"), true},
        {opcode::get_children2, request::children("/d"), true},
        {opcode::create2, create, true},
        {opcode::sync, request::sync("/d"), true},
        {opcode::multi, request::multi({request::check("/d"), create}), true},
        {opcode::multi, request::multi({request::check("/none"), create}), true},
    };
}

std::vector<std::pair<std::string, change>> wrong_frames(bool begins_with_a_length) {
    constexpr std::size_t header = 16;
    const auto most = std::numeric_limits<std::int32_t>::max();
    std::vector<std::pair<std::string, change>> all{
        {"nothing", [](const std::string&) { return std::string(); }},
        {"half a header", [](std::string f) { return f.substr(0, 6); }},
        {"a header alone", [](std::string f) { return f.substr(0, header); }},
        {"a byte too few", [](std::string f) { return f.substr(0, f.size() - 1); }},
        {"a byte too many", [](std::string f) { return f + "x"; }},
        {"another number", put(0, 5)},
        {"the number of a ping", put(0, -2)},
        {"the number of credentials", put(0, -4)},
        {"the number of an event", put(0, -1)},
    };
    for (const std::int32_t length : {-5, most, 1000}) {
        if (begins_with_a_length) {
            all.emplace_back("a length of " + std::to_string(length), put(header, length));
        }
    }
    return all;
}

TEST_P(MalformedReplies, EndTheConnectionAndNameServerAndReason) {
    const auto s = open();
    ASSERT_TRUE(s->wait_for(kind::connected));
    std::size_t connections = 1;
    for (const question& q : questions()) {
        const auto expected = s->call(q.what).code;
        for (const auto& [name, how] : wrong_frames(q.begins_with_a_length)) {
            SCOPED_TRACE(to_string(q.type) + ": " + name);
            changes_.make(q.type, how);
            const auto troubles = s->count(kind::trouble);
            EXPECT_TRUE(outcome_unknown(s->call(q.what).code));
            EXPECT_TRUE(s->wait_for(kind::trouble, troubles + 1));
            EXPECT_THAT(s->last(kind::trouble).detail, HasSubstr(address() + ": malformed "));
            ASSERT_TRUE(s->wait_for(kind::connected, ++connections));
            EXPECT_EQ(s->call(q.what).code, expected) << "the next answer is believed";
        }
    }
    EXPECT_EQ(s->count(kind::suspended), connections - 1);
}

TEST_P(MalformedReplies, OfCredentialsEndTheConnection) {
    auto wrong = wrong_frames(true);
    // These are right for credentials.
    std::erase_if(wrong, [](const auto& each) {
        return each.first == "a header alone" || each.first == "the number of credentials";
    });
    for (const auto& [name, how] : wrong) {
        SCOPED_TRACE(name);
        changes_.make(opcode::auth, how);
        const auto s = open();
        expect_noticed(*s, 2);
        EXPECT_TRUE(s->call(request::exists("/d")).ok()) << "the credentials were answered before";
    }
}

TEST_P(MalformedReplies, ToTheRequestForASessionEndTheAttempt) {
    const std::vector<std::pair<std::string, change>> wrong{
        {"nothing", [](const std::string&) { return std::string(); }},
        {"too short", [](std::string f) { return f.substr(0, 8); }},
        {"two bytes too few", [](std::string f) { return f.substr(0, f.size() - 2); }},
        {"a byte too many", [](std::string f) { return f + '\0'; }},
        {"a timeout of 0", put(4, 0)},
        {"a negative timeout", put(4, -5)},
        {"no session", [](std::string f) { return f.replace(8, 8, 8, '\0'); }},
        {"a password of -1", put(16, -1)},
        {"a password of 15", put(16, 15)},
        {"a long password", [](std::string f) { return f + std::string(100'000, 'p'); }},
        {"a server that only reads",
         [](std::string f) {
             f.back() = 1;
             return f;
         }},
    };
    for (const auto& [name, how] : wrong) {
        SCOPED_TRACE(name);
        changes_.make(opcode::connect, how);
        const auto s = open();
        expect_noticed(*s, 1);
        EXPECT_EQ(s->count(kind::suspended), 0U);
    }
}

TEST_P(MalformedReplies, InEventsOfWatchesEndTheConnection) {
    auto wrong = wrong_frames(false);
    constexpr std::size_t type = 16;
    constexpr std::size_t length = 24;
    for (const std::int32_t value : {-1, -2, 0, 5, 99}) {
        wrong.emplace_back("type " + std::to_string(value), put(type, value));
    }
    for (const std::int32_t value : {-1, 0, 1, 1000, std::numeric_limits<std::int32_t>::max()}) {
        wrong.emplace_back("a length of " + std::to_string(value), put(length, value));
    }
    // This number is right for an event.
    std::erase_if(wrong, [](const auto& each) { return each.first == "the number of an event"; });
    const auto s = open();
    ASSERT_TRUE(s->wait_for(kind::connected));
    std::size_t connections = 1;
    for (const auto& [name, how] : wrong) {
        SCOPED_TRACE(name);
        const auto w = make_watcher([](watch_event) {});
        ASSERT_TRUE(session_probe::awaited(s->submit(request::get("/d"), w)).ok());
        changes_.make(opcode::none, how);
        ensemble_.set("/d", name);
        ASSERT_TRUE(s->wait_for(kind::connected, ++connections));
        EXPECT_THAT(s->last(kind::trouble).detail, HasSubstr(address() + ": malformed "));
    }
}

TEST_P(MalformedReplies, ThatNothingAskedForEndTheConnection) {
    const auto s = open();
    ASSERT_TRUE(s->wait_for(kind::connected));
    std::size_t connections = 1;
    for (const std::int32_t xid : {7, -2, -4, -8}) {
        SCOPED_TRACE(xid);
        changes_.add(opcode::get_data, big_endian(xid) + std::string(12, '\0'));
        EXPECT_TRUE(s->call(request::get("/d")).ok()) << "it came first";
        ASSERT_TRUE(s->wait_for(kind::connected, ++connections));
        EXPECT_THAT(s->last(kind::trouble).detail, HasSubstr("malformed answer: to "));
    }
}

// The C client reads no further than the code, which an unusual server may send without the rest.
TEST_P(MalformedReplies, AreNotErrorsOfRequestsWithOrWithoutABody) {
    constexpr std::size_t header = 16;
    const auto fails = put(12, static_cast<std::int32_t>(result_code::marshalling_error));
    const auto s = open();
    ASSERT_TRUE(s->wait_for(kind::connected));
    for (const question& q : questions()) {
        for (const std::size_t left : {header, header + 1, std::size_t(SIZE_MAX)}) {
            SCOPED_TRACE(to_string(q.type) + ": " + std::to_string(left));
            changes_.make(q.type, [=](const std::string& f) { return fails(f).substr(0, left); });
            EXPECT_EQ(s->call(q.what).code, result_code::marshalling_error);
        }
    }
    EXPECT_EQ(s->count(kind::suspended), 0U);
}

TEST_P(MalformedReplies, AreTheErrorOfACallWhoseTimeIsOver) {
    const auto all = [](opcode what) { return what != opcode::connect; };
    const change too_short = [](const std::string& f) { return f.substr(0, f.size() - 1); };
    for (const change& how : {too_short, put(0, 4711)}) {
        expect_calls_to_end_with(errc::protocol, "malformed ", all, how);
    }
}

TEST_P(MalformedReplies, ToTheRequestForASessionLeaveACallUnreachable) {
    expect_calls_to_end_with(
        errc::unreachable,
        "malformed answer to the request for a session",
        [](opcode what) { return what == opcode::connect; },
        [](const std::string& f) { return f.substr(0, 8); });
}

INSTANTIATE_TEST_SUITE_P(InClear, MalformedReplies, ::testing::Values(false));
INSTANTIATE_TEST_SUITE_P(Encrypted, MalformedReplies, ::testing::Values(true));

}  // namespace
}  // namespace latchkey::test
