#include "client/access_check.hpp"

#include <latchkey/error.hpp>

#include "story.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

namespace latchkey::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// printf %s ops:secret | openssl dgst -sha1 -binary | base64
const acl_entry ops{"digest", "ops:w4PIv8/Wzcq4qj4/MfEQ8pvUSS4=", permission::all};
constexpr auto enough = permission::read | permission::create | permission::remove;

const client_options nobody;

client_options with(std::vector<credentials> own) {
    client_options o;
    o.auth = std::move(own);
    return o;
}

const client_options as_ops = with({{"digest", "ops:secret"}});

client_options with_a_certificate() {
    client_options o;
    o.tls = tls_options{.certificate_file = "/etc/zookeeper/client.pem"};
    return o;
}

std::string problem(const acl& access, const client_options& own) {
    try {
        check_access(access, own);
    } catch (const error& e) {
        EXPECT_EQ(e.code(), errc::invalid_argument);
        return e.what();
    }
    return {};
}

TEST(AccessCheck, AcceptsListsThatLetTheirAuthorWork) {
    EXPECT_EQ(problem({{"world", "anyone", enough}}, nobody), "");
    EXPECT_EQ(problem({{"auth", "", enough}}, as_ops), "");
    EXPECT_EQ(problem({ops}, as_ops), "");
    EXPECT_EQ(problem({ops}, with({{"digest", "other:secret"}, {"digest", "ops:secret"}})), "");
    EXPECT_EQ(problem({{ops.scheme, ops.id, permission::create},
                       {"world", "anyone", permission::read},
                       {"auth", "", permission::remove}},
                      as_ops),
              "");
}

TEST(AccessCheck, AcceptsIdentitiesThatTheClientMayHave) {
    const acl creator{{"auth", "", enough}};
    const acl subject{{"x509", "CN=zk,O=Example", enough}};
    const acl house{{"house", "7", enough}};
    EXPECT_EQ(problem(creator, as_ops), "");
    EXPECT_EQ(problem(creator, with_a_certificate()), "");
    EXPECT_NE(problem(creator, nobody), "");
    EXPECT_EQ(problem(subject, with_a_certificate()), "");
    EXPECT_EQ(problem(house, with({{"house", "secret"}})), "");
    for (const acl& list : {subject, house}) {
        EXPECT_NE(problem(list, nobody), "") << list.front().scheme;
        EXPECT_NE(problem(list, as_ops), "") << list.front().scheme;
    }
}

TEST(AccessCheck, AcceptsAddressesOfThisMachine) {
    for (const std::string& id :
         words_of("127.0.0.1 127.0.0.1/32 127.0.0.0/8 127.9.9.9/8 0.0.0.0/0")) {
        EXPECT_EQ(problem({{"ip", id, enough}}, nobody), "") << id;
    }
    for (const std::string& id :
         words_of("203.0.113.7 203.0.113.0/24 127.0.0.2/31 foo 127.0.0.1/99 /8 2001:db8::7 "
                  "127.0.0.1/ 127.0.0.1:1")) {
        EXPECT_THAT(problem({{"ip", id, enough}}, as_ops), HasSubstr("ip:")) << id;
    }
    EXPECT_THAT(problem({{"ip", "", enough}}, as_ops), HasSubstr("ip:"));
}

TEST(AccessCheck, RefusesDigestsThatAreNoHashesAndShowsNoPassword) {
    const std::string hash = ops.id.substr(4);
    for (const std::string& id :
         words_of("ops:secret ops:secret:more ops: secret ops:AAAA ops:x:" + hash +
                  " ops:" + hash.substr(0, 27) + " ops:" + hash + "= ops:" + hash.substr(0, 26) +
                  "== ops:" + hash.substr(1) + "A ops:" + hash.substr(0, 26) + "-=")) {
        const acl list{{"auth", "", permission::all}, {"digest", id, permission::read}};
        EXPECT_THAT(problem(list, as_ops), HasSubstr("openssl dgst -sha1 -binary | base64")) << id;
    }
    EXPECT_THAT(problem({{"digest", "ops:hunter2", permission::all}}, as_ops),
                AllOf(HasSubstr("\"ops\""), Not(HasSubstr("hunter2"))));
}

TEST(AccessCheck, RefusesListsThatShutTheirAuthorOut) {
    EXPECT_THAT(
        problem({{"world", "anyone", permission::read}}, as_ops),
        AllOf(
            HasSubstr("world:anyone"), HasSubstr("CREATE, DELETE"), Not(HasSubstr("client READ"))));
    for (const permission missing : {permission::read, permission::create, permission::remove}) {
        const auto rest = static_cast<permission>(31 - static_cast<int>(missing));
        EXPECT_NE(problem({{"auth", "", rest}}, as_ops), "") << static_cast<int>(missing);
        EXPECT_NE(problem({{"ip", "127.0.0.1", rest}}, nobody), "") << static_cast<int>(missing);
    }
    EXPECT_THAT(problem({ops}, nobody), HasSubstr("digest:ops"));
    EXPECT_NE(problem({ops}, with({{"digest", "ops:other"}})), "");
    EXPECT_NE(problem({ops}, with({{"house", "ops:secret"}})), "");
    EXPECT_NE(problem({{"world", "someone", permission::all}}, as_ops), "");
    EXPECT_NE(problem({{"sasl", "ops", permission::all}}, as_ops), "");
    EXPECT_THAT(problem({}, as_ops), HasSubstr("is empty"));
}

}  // namespace
}  // namespace latchkey::test
