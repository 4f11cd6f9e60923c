#include "serve_fixture.hpp"

#include <list>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// Whom `latchkey serve` answers, and what a client of it may take.

namespace latchkey::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class ServeLimits : public serve_fixture {
protected:
    [[nodiscard]] http_reply answer_to(const std::string& request) const {
        http_peer peer(port_);
        peer.send(request);
        return peer.reply();
    }
};

TEST_F(ServeLimits, EachAnswerForbidsMarkupAndCopies) {
    serve();
    ASSERT_TRUE(eventually([&] { return get("/api/locks").status == 200; }));
    for (const char* page :
         {"/", "/main.js", "/style.css", "/metrics", "/api/locks", "/api/doctor", "/nothing"}) {
        auto reply = get(page);
        EXPECT_THAT(reply.headers["content-security-policy"],
                    AllOf(HasSubstr("default-src 'none'"),
                          HasSubstr("script-src 'self'"),
                          HasSubstr("frame-ancestors 'none'"),
                          HasSubstr("base-uri 'none'"),
                          HasSubstr("form-action 'none'"),
                          Not(HasSubstr("unsafe"))))
            << page;
        EXPECT_EQ(reply.headers["x-content-type-options"], "nosniff") << page;
        EXPECT_EQ(reply.headers["referrer-policy"], "no-referrer") << page;
        EXPECT_EQ(reply.headers["cache-control"], "no-store") << page;
    }
    http_peer peer(port_);
    peer.send("GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
    EXPECT_EQ(peer.reply(false).headers["x-content-type-options"], "nosniff");
}

TEST_F(ServeLimits, HasOnlyItsPages) {
    serve();
    ASSERT_TRUE(eventually([&] { return get("/api/locks").status == 200; }));
    EXPECT_EQ(get("/").headers["content-type"], "text/html; charset=utf-8");
    EXPECT_EQ(get("/main.js").headers["content-type"], "text/javascript; charset=utf-8");
    for (const char* none : {"/index.html", "/../main.js", "/api/", "/api/x", "/%6Dain.js", "//"}) {
        EXPECT_EQ(get(none).status, 404) << none;
    }
    EXPECT_EQ(get("/api/lock").status, 400);
    EXPECT_EQ(get("/api/lock?path=%zz").status, 400);
    EXPECT_EQ(get("/api/lock?path=/none").status, 404);
    EXPECT_EQ(get("http://localhost/").status, 400);
}

TEST_F(ServeLimits, OnlyReads) {
    serve();
    for (const char* method : {"POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW"}) {
        auto reply = ask(port_, "/", "Host: localhost\r\nContent-Length: 0\r\n", method);
        EXPECT_EQ(reply.status, 405) << method;
        EXPECT_EQ(reply.headers["allow"], "GET, HEAD");
    }
    EXPECT_EQ(ask(port_, "/", "Host: localhost\r\nContent-Length: 3\r\n", "POST").status, 405);
    auto head = ask(port_, "/", "Host: localhost\r\n", "HEAD");
    EXPECT_EQ(head.status, 200);
    EXPECT_EQ(head.headers["content-length"], std::to_string(get("/").body.size()));
    EXPECT_EQ(ask(port_, "/api/events", "Host: localhost\r\n", "HEAD").status, 200);
}

TEST_F(ServeLimits, AnswersOnlyRequestsForThisMachine) {
    serve();
    for (const char* host :
         {"localhost", "LOCALHOST:80", "127.0.0.1:8080", "127.1.2.3", "[::1]:9"}) {
        EXPECT_EQ(ask(port_, "/", std::string("Host: ") + host + "\r\n").status, 200) << host;
    }
    for (const char* host : {"rebound.example",
                             "localhost.example",
                             "127.0.0.1.example",
                             "1.127.0.0.1",
                             "10.0.0.1",
                             "[::2]",
                             ""}) {
        const auto reply = ask(port_, "/api/locks", std::string("Host: ") + host + "\r\n");
        EXPECT_EQ(reply.status, 421) << host;
        EXPECT_THAT(reply.body, Not(HasSubstr("\"locks\""))) << host;
    }
    EXPECT_EQ(ask(port_, "/", "").status, 421);
    EXPECT_EQ(ask(port_, "/", "Host: localhost\r\nHost: rebound.example\r\n").status, 421);
}

TEST_F(ServeLimits, RefusesLongAndMalformedRequests) {
    serve();
    const std::string host = "Host: localhost\r\n";
    EXPECT_EQ(ask(port_, "/", host + "X: " + std::string(9000, 'x') + "\r\n").status, 431);
    EXPECT_EQ(ask(port_, "/" + std::string(9000, 'x'), host).status, 431);
    EXPECT_EQ(ask(port_, "/", host + "Content-Length: 1\r\n").status, 413);
    EXPECT_EQ(answer_to("nonsense\r\n\r\n").status, 400);
    EXPECT_EQ(answer_to("GET / HTTP/1.1\r\nno colon\r\n\r\n").status, 400);
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

TEST_F(ServeLimits, HasAHundredConnections) {
    serve();
    std::list<http_peer> all;
    for (int i = 0; i < 100; ++i) {
        all.emplace_back(port_);
        all.back().send("GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
        ASSERT_EQ(all.back().reply(false).status, 200) << i;
    }
    auto refused = get("/");
    EXPECT_EQ(refused.status, 503);
    EXPECT_EQ(refused.headers["retry-after"], "5");
    all.pop_front();
    EXPECT_TRUE(eventually([&] { return get("/").status == 200; }));
}

TEST_F(ServeLimits, AHundredConnectionsThatAskNothingMoreKeepNobodyOut) {
    serve();
    const std::string request = "GET /style.css HTTP/1.1\r\nHost: localhost\r\n\r\n";
    std::list<http_peer> all;
    for (int i = 0; i < 120; ++i) {
        all.emplace_back(port_);
        all.back().send(request);
        ASSERT_EQ(all.back().reply().status, 200) << i;
    }
    EXPECT_EQ(get("/").status, 200);
    all.back().send(request);
    EXPECT_EQ(all.back().reply().status, 200) << "the oldest go first";
}

TEST_F(ServeLimits, SaysWithoutATokenThatItIsAlive) {
    const token_file token("0123456789abcdef\n");
    serve({"--token-file", token.name()});
    const auto health = get("/healthz");
    EXPECT_EQ(health.status, 200);
    EXPECT_EQ(health.body, "ok\n");
}

TEST_F(ServeLimits, AsksForTheToken) {
    const token_file token("0123456789abcdef\n");
    serve({"--token-file", token.name()});
    const std::string host = "Host: localhost\r\n";
    const auto with = [&](const std::string& authorization) {
        return ask(port_, "/api/doctor", host + "Authorization: " + authorization + "\r\n");
    };
    ASSERT_TRUE(eventually([&] { return with("Bearer 0123456789abcdef").status == 200; }));
    EXPECT_EQ(with("bearer 0123456789abcdef").status, 200);
    for (const char* wrong : {"Bearer 0123456789abcdeF",
                              "Bearer 0123456789abcde",
                              "Bearer 0123456789abcdef0",
                              "Bearer ",
                              "Basic 0123456789abcdef",
                              "0123456789abcdef"}) {
        EXPECT_EQ(with(wrong).status, 401) << wrong;
    }
    for (const char* page : {"/metrics", "/api/locks", "/api/events", "/api/nothing"}) {
        auto reply = get(page);
        EXPECT_EQ(reply.status, 401) << page;
        EXPECT_THAT(reply.headers["www-authenticate"], HasSubstr("Bearer"));
    }
    EXPECT_EQ(get("/").status, 200) << "the page itself holds nothing secret";
    EXPECT_THAT(program_->out() + program_->err(), Not(HasSubstr("0123456789abcdef")));
}

TEST_F(ServeLimits, OtherMachinesNeedTheToken) {
    const token_file token("0123456789abcdef\n");
    const token_file open_to_all("0123456789abcdef\n", 0644);
    const token_file too_short("0123456789\n");
    for (const auto& [file, says] :
         {std::pair(&open_to_all, "chmod 600"), std::pair(&too_short, "at least 16 visible")}) {
        program p({"serve", "-z", "127.0.0.1:1", "--token-file", file->name()});
        EXPECT_EQ(p.wait(), 64);
        EXPECT_THAT(p.err(), AllOf(HasSubstr(says), Not(HasSubstr("0123456789\n"))));
    }
    serve({"--listen", "0.0.0.0:0", "--token-file", token.name()});
    const std::string any_host = "Host: locks.example\r\n";
    EXPECT_EQ(ask(port_, "/metrics", any_host).status, 401);
    EXPECT_EQ(
        ask(port_, "/metrics", any_host + "Authorization: Bearer 0123456789abcdef\r\n").status,
        200);
}

}  // namespace
}  // namespace latchkey::test
