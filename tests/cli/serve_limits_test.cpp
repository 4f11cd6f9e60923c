#include "serve_fixture.hpp"

#include <list>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// Whom `latchkey serve` answers, and what a client of it may take.

namespace latchkey::test {
namespace {

class ServeLimits : public serve_fixture {
protected:
    /// The status of the answer to a request of that host.
    [[nodiscard]] int status_for(const std::string& host, const std::string& more = {}) const {
        return ask(port_, "/metrics", "Host: " + host + "\r\n" + more).status;
    }

    [[nodiscard]] int status_of(const std::string& request) const {
        http_peer peer(port_);
        peer.send(request + "\r\n\r\n");
        return peer.reply().status;
    }
};

TEST_F(ServeLimits, EachAnswerForbidsMarkupAndCopies) {
    serve();
    ASSERT_TRUE(eventually([&] { return get("/api/locks").status == 200; }));
    for (const std::string& page :
         words_of("/ /main.js /style.css /metrics /api/locks /api/doctor /nothing")) {
        SCOPED_TRACE(page);
        auto reply = get(page);
        EXPECT_THAT(reply.headers["content-security-policy"],
                    AllOf(HasSubstr("default-src 'none'"),
                          HasSubstr("script-src 'self'"),
                          HasSubstr("frame-ancestors 'none'"),
                          HasSubstr("base-uri 'none'"),
                          HasSubstr("form-action 'none'"),
                          Not(HasSubstr("unsafe"))));
        EXPECT_EQ(reply.headers["x-content-type-options"], "nosniff");
        EXPECT_EQ(reply.headers["referrer-policy"], "no-referrer");
        EXPECT_EQ(reply.headers["cache-control"], "no-store");
    }
    EXPECT_EQ(events_peer(port_).header("x-content-type-options"), "nosniff");
}

TEST_F(ServeLimits, HasOnlyItsPages) {
    serve();
    ASSERT_TRUE(eventually([&] { return get("/api/locks").status == 200; }));
    EXPECT_EQ(get("/").headers["content-type"], "text/html; charset=utf-8");
    EXPECT_EQ(get("/main.js").headers["content-type"], "text/javascript; charset=utf-8");
    for (const std::string& none :
         words_of("/index.html /../main.js /api/ /api/x /%6Dain.js // /api/lock?path=/none")) {
        EXPECT_EQ(get(none).status, 404) << none;
    }
    for (const std::string& malformed :
         words_of("/api/lock /api/lock?path=%zz http://localhost/")) {
        EXPECT_EQ(get(malformed).status, 400) << malformed;
    }
}

TEST_F(ServeLimits, OnlyReads) {
    serve();
    const std::string host = "Host: localhost\r\n";
    for (const std::string& method : words_of("POST PUT DELETE PATCH OPTIONS TRACE BREW")) {
        auto reply = ask(port_, "/", host + "Content-Length: 0\r\n", method);
        EXPECT_EQ(reply.status, 405) << method;
        EXPECT_EQ(reply.headers["allow"], "GET, HEAD");
    }
    EXPECT_EQ(ask(port_, "/", host + "Content-Length: 3\r\n", "POST").status, 405);
    auto head = ask(port_, "/", host, "HEAD");
    EXPECT_EQ(head.status, 200);
    EXPECT_EQ(head.headers["content-length"], std::to_string(get("/").body.size()));
    EXPECT_EQ(ask(port_, "/api/events", host, "HEAD").status, 200);
}

TEST_F(ServeLimits, AnswersOnlyRequestsForThisMachine) {
    serve();
    for (const std::string& host :
         words_of("localhost LOCALHOST:80 LocalHost:1 127.0.0.1 127.0.0.1:8080 127.1.2.3 "
                  "127.255.0.1:65535 [::1] [::1]:9")) {
        EXPECT_EQ(status_for(host), 200) << host;
    }
    for (const std::string& host :
         words_of("rebound.example localhost.example 127.0.0.1.example 1.127.0.0.1 10.0.0.1 "
                  "[::2] :80 localhost: localhost:x localhost:65536 localhost:000080 127.0.0.-0 "
                  "localhost. x.localhost 127.0.0 127.0.0.1.1 127.0.0.256 128.0.0.1 ::1 [::1 "
                  "[::1]x [::]")) {
        EXPECT_EQ(status_for(host), 421) << host;
    }
    EXPECT_EQ(status_for(""), 421);
    EXPECT_THAT(ask(port_, "/api/locks", "Host: rebound.example\r\n").body,
                Not(HasSubstr("\"locks\"")));
    EXPECT_EQ(ask(port_, "/", "").status, 421);
    EXPECT_EQ(status_for("localhost", "Host: rebound.example\r\n"), 421);
}

TEST_F(ServeLimits, RefusesLongAndMalformedRequests) {
    serve();
    EXPECT_EQ(status_for("localhost", "X: " + std::string(9000, 'x') + "\r\n"), 431);
    EXPECT_EQ(get("/" + std::string(9000, 'x')).status, 431);
    EXPECT_EQ(status_for("localhost", "Content-Length: 1\r\n"), 413);
    EXPECT_EQ(status_of("nonsense"), 400);
    EXPECT_EQ(status_of("GET / HTTP/1.1\r\nno colon"), 400);
    EXPECT_EQ(get("/").status, 200);
}

TEST_F(ServeLimits, KeepsAConnectionForSeveralRequests) {
    serve();
    http_peer peer(port_);
    const std::string request = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
    peer.send(request + request);
    EXPECT_EQ(peer.reply().status, 200);
    EXPECT_EQ(peer.reply().status, 200);
}

TEST_F(ServeLimits, HasFiftyReadersOfEventsAndAnswersRequestsBesideThem) {
    serve();
    std::list<events_peer> all;
    while (all.size() < 50) {
        all.emplace_back(port_);
    }
    auto refused = get("/api/events");
    EXPECT_EQ(refused.status, 503);
    EXPECT_EQ(refused.headers["retry-after"], "5");
    EXPECT_THAT(refused.body, HasSubstr("too many readers of events"));
    EXPECT_EQ(get("/").status, 200);
    all.pop_front();
    all.pop_back();
    EXPECT_TRUE(eventually([&] {
        http_peer one(port_);
        one.send("GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
        return one.reply(false).status == 200;
    }));
}

TEST_F(ServeLimits, AHundredConnectionsThatAskNothingMoreKeepNobodyOut) {
    serve();
    const std::string request = "GET /style.css HTTP/1.1\r\nHost: localhost\r\n\r\n";
    std::list<http_peer> all;
    while (all.size() < 120) {
        all.emplace_back(port_);
        all.back().send(request);
        ASSERT_EQ(all.back().reply().status, 200) << all.size();
    }
    EXPECT_EQ(get("/").status, 200);
    all.back().send(request);
    EXPECT_EQ(all.back().reply().status, 200) << "the oldest go first";
}

TEST_F(ServeLimits, SaysWithoutATokenThatItIsAlive) {
    serve(with_token("0123456789abcdef\n"));
    const auto health = get("/healthz");
    EXPECT_EQ(health.status, 200);
    EXPECT_EQ(health.body, "ok\n");
}

TEST_F(ServeLimits, AsksForTheToken) {
    serve(with_token("0123456789abcdef\n"));
    const auto with = [&](const std::string& authorization) {
        return status_for("localhost", "Authorization: " + authorization + "\r\n");
    };
    EXPECT_EQ(with("Bearer 0123456789abcdef"), 200);
    EXPECT_EQ(with("bearer 0123456789abcdef"), 200);
    for (const char* wrong : {"Bearer 0123456789abcdeF",
                              "Bearer 0123456789abcde",
                              "Bearer 0123456789abcdef0",
                              "Bearer 0123456789abcdef0123456789abcdef",
                              "Bearer 0",
                              "Bearer ",
                              "Basic 0123456789abcdef",
                              "0123456789abcdef"}) {
        EXPECT_EQ(with(wrong), 401) << wrong;
    }
    for (const std::string& page :
         words_of("/metrics /api/locks /api/events /api/doctor /api/nothing")) {
        auto reply = get(page);
        EXPECT_EQ(reply.status, 401) << page;
        EXPECT_THAT(reply.headers["www-authenticate"], HasSubstr("Bearer"));
    }
    EXPECT_EQ(get("/").status, 200) << "the page itself holds nothing secret";
    EXPECT_THAT(program_->out() + program_->err(), Not(HasSubstr("0123456789abcdef")));
}

TEST_F(ServeLimits, OtherMachinesNeedTheToken) {
    EXPECT_THAT(err_of(run("serve " + with_token("0123456789abcdef\n", 0644)), 64),
                HasSubstr("chmod 600"));
    EXPECT_THAT(err_of(run("serve " + with_token("0123456789\n")), 64),
                AllOf(HasSubstr("at least 16 visible"), Not(HasSubstr("0123456789\n"))));
    serve("--listen 0.0.0.0:0 " + with_token("0123456789abcdef\n"));
    EXPECT_EQ(status_for("locks.example"), 401);
    EXPECT_EQ(status_for("locks.example", "Authorization: Bearer 0123456789abcdef\r\n"), 200);
}

}  // namespace
}  // namespace latchkey::test
