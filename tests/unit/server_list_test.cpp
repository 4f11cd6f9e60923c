#include "server_list.hpp"

#include <algorithm>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace latchkey {
namespace {

/// Makes each step of the shuffle exchange an element with itself.
std::uint64_t in_order() {
    return 839;  // one less than a multiple of 1 to 8
}

std::vector<server_address> addresses(int count) {
    std::vector<server_address> result;
    for (int i = 0; i < count; ++i) {
        result.push_back({"10.0.0." + std::to_string(i + 1), 2181, "zk" + std::to_string(i)});
    }
    return result;
}

std::vector<std::string> entries(const std::string& connect_string) {
    std::vector<std::string> result;
    std::istringstream in(connect_string);
    for (std::string one; std::getline(in, one, ',');) {
        result.push_back(one);
    }
    return result;
}

TEST(ServerList, GivesTheClientAnOddNumberOfAddresses) {
    for (int count = 1; count <= 8; ++count) {
        const server_list list(addresses(count), &in_order);
        const auto all = entries(list.connect_string());
        EXPECT_EQ(all.size() % 2, 1U) << count;
        EXPECT_EQ(all.size(), list.round());
        EXPECT_EQ(list.size(), static_cast<std::size_t>(count));
    }
}

TEST(ServerList, NamesTheServersInOrderAndRepeatsTheFirstOfAnEvenNumber) {
    EXPECT_EQ(server_list(addresses(3), &in_order).connect_string(),
              "10.0.0.1:2181,10.0.0.2:2181,10.0.0.3:2181");
    EXPECT_EQ(server_list(addresses(2), &in_order).connect_string(),
              "10.0.0.1:2181,10.0.0.2:2181,10.0.0.1:2181");
}

TEST(ServerList, IsShuffled) {
    std::set<std::string> firsts;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        std::uint64_t state = seed * 7919;
        const server_list list(addresses(3), [&state] {
            state = state * 6364136223846793005U + 1442695040888963407U;
            return state >> 33U;
        });
        firsts.insert(list.order().front().address);
    }
    EXPECT_EQ(firsts.size(), 3U);
}

TEST(ServerList, NamesEachAddressOnce) {
    auto twice = addresses(2);
    twice.push_back({"10.0.0.1", 2181, "alias"});
    twice.push_back({"10.0.0.1", 2182, "other-port"});
    EXPECT_EQ(server_list(twice, &in_order).size(), 3U);
}

TEST(ServerList, WritesIpv6WithoutBracketsForTheClientAndWithThemForPeople) {
    const server_list list({{"::1", 2181, "::1"}}, &in_order);
    EXPECT_EQ(list.connect_string(), "::1:2181");
    EXPECT_EQ(list.order().front().described(), "[::1]:2181");
    EXPECT_EQ(list.described("[::1]:2181"), "[::1]:2181");
    EXPECT_EQ(list.described("::1:2181"), "[::1]:2181");
}

TEST(ServerList, DescribesServersByTheirConfiguredName) {
    const server_list list(addresses(2), &in_order);
    EXPECT_EQ(list.described("10.0.0.2:2181"), "zk1 (10.0.0.2):2181");
    EXPECT_EQ(list.described("10.9.9.9:1"), "10.9.9.9:1");
}

TEST(ServerList, MayBeEmpty) {
    EXPECT_TRUE(server_list({}, &in_order).empty());
    EXPECT_EQ(server_list({}, &in_order).connect_string(), "");
}

}  // namespace
}  // namespace latchkey
