#include "session/request_check.hpp"

#include <string>

#include <gtest/gtest.h>

namespace latchkey {
namespace {

using namespace std::string_literals;

request create(std::string path, create_mode mode = create_mode::persistent) {
    return request::create(std::move(path), "", mode, open_unsafe_acl());
}

TEST(RequestCheck, TakesThePathsOfZooKeeper) {
    for (const auto* path : {"/", "/a", "/a/b", "/...", "/.a", "/a./b", "/a b", "/\xc3\xa4"}) {
        EXPECT_TRUE(acceptable(request::get(path))) << path;
    }
}

TEST(RequestCheck, RefusesPathsThatTheServersOrTheClientRefuse) {
    for (const auto& path : {""s,
                             "a"s,
                             "a/b"s,
                             "/a/"s,
                             "//"s,
                             "//a"s,
                             "/a//b"s,
                             "/."s,
                             "/.."s,
                             "/a/."s,
                             "/a/../b"s,
                             "/./a"s,
                             "/a\0b"s,
                             "/\x01"s,
                             "/a\x1f"s,
                             "/\x7f"s}) {
        EXPECT_FALSE(acceptable(request::get(path))) << path;
        EXPECT_FALSE(acceptable(request::multi({request::check(path)}))) << path;
        EXPECT_FALSE(acceptable(create(path))) << path;
    }
}

TEST(RequestCheck, TakesASequentialCreateWhoseNameIsOnlyTheDigits) {
    EXPECT_TRUE(acceptable(create("/a/", create_mode::ephemeral_sequential)));
    EXPECT_TRUE(acceptable(create("/a/..", create_mode::persistent_sequential)));
    EXPECT_FALSE(acceptable(create("/a//", create_mode::ephemeral_sequential)));
    EXPECT_FALSE(acceptable(create("/../a", create_mode::ephemeral_sequential)));
}

TEST(RequestCheck, RefusesAContainerInsideAMultiOnly) {
    EXPECT_TRUE(acceptable(create("/a", create_mode::container)));
    EXPECT_TRUE(acceptable(request::multi({create("/a", create_mode::ephemeral)})));
    EXPECT_FALSE(acceptable(request::multi({create("/a", create_mode::container)})));
}

TEST(RequestCheck, TakesOnlyWritesAndChecksInAMultiAndCheckNowhereElse) {
    EXPECT_FALSE(acceptable(request::check("/a")));
    EXPECT_FALSE(acceptable(request::multi({})));
    EXPECT_FALSE(acceptable(request::multi({request::get("/a")})));
    EXPECT_FALSE(acceptable(request::multi({request::multi({request::check("/a")})})));
    EXPECT_TRUE(acceptable(request::multi(
        {request::check("/a"), request::set("/a", "x"), create("/b"), request::remove("/c")})));
}

TEST(RequestCheck, RefusesWhatTheServersWouldHangUpOn) {
    const std::string much(900'000, 'x');
    const std::string too_much(largest_request, 'x');
    EXPECT_TRUE(acceptable(request::set("/a", much)));
    EXPECT_FALSE(acceptable(request::set("/a", too_much)));
    EXPECT_FALSE(acceptable(request::multi({request::set("/a", much), request::set("/b", much)})));
}

}  // namespace
}  // namespace latchkey
