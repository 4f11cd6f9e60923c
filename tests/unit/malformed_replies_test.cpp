#include <latchkey/client.hpp>
#include <latchkey/ensemble.hpp>
#include <latchkey/mutex.hpp>

#include "changed_replies.hpp"
#include "eventually.hpp"
#include "make_watcher.hpp"
#include "session_probe.hpp"
#include "tcp_proxy.hpp"
#include "test_authority.hpp"
#include "tls_front.hpp"
#include "wire_frames.hpp"
#include "zookeeper_frames.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// What a server, or whoever changes the network's traffic, sends instead of a right frame.

namespace latchkey::test {
namespace {

using cause = session_event::cause;
using kind = session_event::kind;
using ::testing::HasSubstr;

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
        auto how = options_for(address(), std::chrono::seconds(20));
        how.identities.push_back({.scheme = "digest", .secret = "a:b"});
        return front_ ? std::make_unique<session_probe>(how, trusting())
                      : std::make_unique<session_probe>(how);
    }

    [[nodiscard]] client connect() const {
        client_options o{.session_timeout = std::chrono::seconds(4), .access = open_unsafe_acl()};
        if (front_) {
            o.tls = trusting();
        }
        return client::connect(address(), o);
    }

    /// What two calls with a time limit come to, while all answers are wrong of which `which` says
    /// so.
    void expect_calls_to_end_with(errc code,
                                  const std::string& reason,
                                  const std::function<bool(opcode)>& which,
                                  const change& how) {
        changes_.make_each(which, how);
        const client c = connect();
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
    /// False: an attempt to connect has ended before the wrong answer came. The first attempts are
    /// short, and this machine may be busy.
    [[nodiscard]] bool is_noticed(const session_probe& s, std::size_t connections) {
        EXPECT_TRUE(s.wait_for(kind::trouble));
        EXPECT_TRUE(s.wait_for(kind::connected, connections));
        const auto any_says = [&](const std::string& text, bool unreachable) {
            return std::ranges::any_of(s.events(), [&](const session_event& e) {
                return e.detail.starts_with(address() + text) &&
                       (e.why == cause::unreachable) == unreachable;
            });
        };
        const bool noticed = any_says(": malformed ", false);
        EXPECT_TRUE(noticed || any_says(": no answer", true)) << s.last(kind::trouble).detail;
        return noticed;
    }

    using wrong_frames = std::vector<std::pair<std::string, change>>;

    /// `expose` makes the server send such a frame to a session.
    void expect_each_to_end_the_connection(opcode what,
                                           const wrong_frames& wrong,
                                           const std::function<void(session_probe&)>& expose) {
        const auto s = open();
        std::size_t connections = 1;
        ASSERT_TRUE(s->wait_for(kind::connected));
        for (const auto& [name, how] : wrong) {
            SCOPED_TRACE(to_string(what) + ": " + name);
            const auto troubles = s->count(kind::trouble);
            changes_.make(what, how);
            expose(*s);
            ASSERT_TRUE(s->wait_for(kind::trouble, troubles + 1));
            EXPECT_THAT(s->last(kind::trouble).detail, HasSubstr(address() + ": malformed "));
            EXPECT_EQ(s->last(kind::trouble).why, cause::wrong_answer);
            ASSERT_TRUE(s->wait_for(kind::connected, ++connections));
            EXPECT_TRUE(s->call(request::exists("/d")).ok()) << "the next answer is believed";
        }
        EXPECT_EQ(s->count(kind::suspended), connections - 1);
    }

    /// The same while a session begins.
    void expect_each_to_be_noticed(opcode what,
                                   const wrong_frames& wrong,
                                   std::size_t connections) {
        for (const auto& [name, how] : wrong) {
            SCOPED_TRACE(name);
            EXPECT_TRUE(eventually([&] {
                changes_.make(what, how);
                const auto s = open();
                const bool noticed = is_noticed(*s, connections);
                EXPECT_TRUE(!noticed || s->count(kind::suspended) == connections - 1);
                EXPECT_TRUE(s->call(request::exists("/d")).ok());
                return noticed;
            }));
        }
    }

    /// Frames that are wrong in place of any answer, or but for `right`.
    static wrong_frames any_of_these(const std::vector<std::string>& right) {
        wrong_frames all{{"nothing", cut_to(0)},
                         {"half a header", cut_to(6)},
                         {"a header alone", cut_to(header)},
                         {"a byte too few", without_its_last_byte},
                         {"a byte too many", [](const std::string& f) { return f + "x"; }},
                         {"another number", put_number(0, 5)},
                         {"the number of a ping", put_number(0, -2)},
                         {"the number of credentials", put_number(0, -4)},
                         {"the number of an event", put_number(0, -1)}};
        std::erase_if(all, [&](const auto& each) {
            return std::find(right.begin(), right.end(), each.first) != right.end();
        });
        return all;
    }

    /// And with these numbers in one place.
    static wrong_frames numbers(wrong_frames all,
                                std::size_t at,
                                const std::vector<std::int32_t>& values) {
        for (const std::int32_t value : values) {
            all.emplace_back(std::to_string(value) + " at " + std::to_string(at),
                             put_number(at, value));
        }
        return all;
    }

    static constexpr std::size_t header = 16;

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

TEST_P(MalformedReplies, EndTheConnectionAndNameServerAndReason) {
    for (const question& q : questions()) {
        auto wrong = any_of_these({});
        if (q.begins_with_a_length) {
            wrong = numbers(std::move(wrong), header, {-5, INT32_MAX, 1000});
        }
        expect_each_to_end_the_connection(q.type, wrong, [&](session_probe& s) {
            EXPECT_TRUE(outcome_unknown(s.call(q.what).code));
        });
    }
}

TEST_P(MalformedReplies, InEventsOfWatchesEndTheConnection) {
    constexpr std::size_t type = header;
    constexpr std::size_t length = 24;
    auto wrong = numbers(any_of_these({"the number of an event"}), type, {-1, -2, 0, 5, 99});
    wrong = numbers(std::move(wrong), length, {-1, 0, 1, 1000, INT32_MAX});
    const auto w = make_watcher([](watch_event) {});
    expect_each_to_end_the_connection(opcode::none, wrong, [&](session_probe& s) {
        EXPECT_TRUE(session_probe::awaited(s.submit(request::get("/d"), w)).ok());
        ensemble_.set("/d", "changed");
    });
}

TEST_P(MalformedReplies, OfCredentialsEndTheConnection) {
    const auto wrong = any_of_these({"a header alone", "the number of credentials"});
    expect_each_to_be_noticed(opcode::auth, wrong, 2);
}

TEST_P(MalformedReplies, ToTheRequestForASessionEndTheAttempt) {
    auto wrong = numbers({}, 4, {0, -5});                 // the timeout
    wrong = numbers(std::move(wrong), header, {-1, 15});  // the length of the password
    wrong.insert(wrong.end(),
                 {{"nothing", cut_to(0)},
                  {"too short", cut_to(8)},
                  {"two bytes too few", [](std::string f) { return f.substr(0, f.size() - 2); }},
                  {"a byte too many", [](std::string f) { return f + '\0'; }},
                  {"no session", [](std::string f) { return f.replace(8, 8, 8, '\0'); }},
                  {"a long password", [](std::string f) { return f + std::string(100'000, 'p'); }},
                  {"a server that only reads",
                   [](std::string f) { return without_its_last_byte(f) + '\1'; }}});
    expect_each_to_be_noticed(opcode::connect, wrong, 1);
}

// The C client reads no further than the code, which an unusual server may send without the rest.
TEST_P(MalformedReplies, AreNotErrorsOfRequestsWithOrWithoutABody) {
    const auto fails = put_number(12, static_cast<std::int32_t>(result_code::marshalling_error));
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
    for (const change& how : {change(without_its_last_byte), put_number(0, 4711)}) {
        expect_calls_to_end_with(errc::protocol, "malformed ", all, how);
    }
}

TEST_P(MalformedReplies, ToTheRequestForASessionLeaveACallUnreachable) {
    expect_calls_to_end_with(
        errc::unreachable,
        "malformed answer to the request for a session",
        [](opcode what) { return what == opcode::connect; },
        cut_to(8));
}

TEST_P(MalformedReplies, ThatAreMissingAreALostConnection) {
    const client c = connect();
    changes_.leave_out(opcode::get_data);
    std::jthread others([&](const std::stop_token& stop) {
        while (!stop.stop_requested()) {
            std::error_code ignored;
            static_cast<void>(c.exists("/d", ignored));
        }
    });
    try {
        static_cast<void>(c.get("/d"));
        ADD_FAILURE() << "no error";
    } catch (const error& e) {
        EXPECT_EQ(e.code(), errc::unreachable) << e.what();
    }
    changes_.leave_out(std::nullopt);
    EXPECT_TRUE(c.get("/d")) << "the next answers are believed";
}

INSTANTIATE_TEST_SUITE_P(InClear, MalformedReplies, ::testing::Values(false));
INSTANTIATE_TEST_SUITE_P(Encrypted, MalformedReplies, ::testing::Values(true));

}  // namespace
}  // namespace latchkey::test
