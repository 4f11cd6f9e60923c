#include "zookeeper/server_list.hpp"

#include <set>
#include <string>
#include <vector>

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

TEST(ServerList, TriesEachInTurnAndBeginsAgain) {
    for (int count = 1; count <= 5; ++count) {
        server_list list(addresses(count), &in_order);
        for (int i = 0; i < 2 * count; ++i) {
            EXPECT_EQ(list.next().name, "zk" + std::to_string(i % count));
        }
        EXPECT_EQ(list.size(), static_cast<std::size_t>(count));
    }
}

TEST(ServerList, IsShuffled) {
    std::set<std::string> firsts;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        std::uint64_t state = seed * 7919;
        server_list list(addresses(3), [&state] {
            state = state * 6364136223846793005U + 1442695040888963407U;
            return state >> 33U;
        });
        firsts.insert(list.next().address);
    }
    EXPECT_EQ(firsts.size(), 3U);
}

TEST(ServerList, NamesEachAddressOnce) {
    auto twice = addresses(2);
    twice.push_back({"10.0.0.1", 2181, "alias"});
    twice.push_back({"10.0.0.1", 2182, "other-port"});
    EXPECT_EQ(server_list(twice, &in_order).size(), 3U);
}

TEST(ServerList, TriesNewAddressesFirstAndTheOthersWhereItWas) {
    server_list list(addresses(3), &in_order);
    EXPECT_EQ(list.next().name, "zk0");
    auto next = addresses(5);
    next.erase(next.begin() + 1);
    list.replace(next, &in_order);
    for (const char* const name : {"zk3", "zk4", "zk2", "zk0", "zk3"}) {
        EXPECT_EQ(list.next().name, name);
    }
}

/// Two names at two addresses, which then change places.
std::string after_an_exchange(server_list list) {
    list.replace({{"10.0.0.1", 2181, "a"}, {"10.0.0.2", 2181, "b"}}, &in_order);
    list.replace({{"10.0.0.2", 2181, "a"}, {"10.0.0.1", 2181, "b"}}, &in_order);
    std::set<std::string> all;
    for (std::size_t i = 0; i < list.size(); ++i) {
        all.insert(list.next().described());
    }
    EXPECT_EQ(all.size(), 2U);
    return *all.begin() + ", " + *all.rbegin();
}

TEST(ServerList, KnowsEachAddressByItsPresentName) {
    EXPECT_EQ(after_an_exchange(server_list()), "a (10.0.0.2):2181, b (10.0.0.1):2181");
    EXPECT_EQ(after_an_exchange(server_list(true)), "a (10.0.0.2):2181, b (10.0.0.1):2181");
}

TEST(ServerList, TriesAnAddressByEachOfItsNamesIfNamesCount) {
    auto twice = addresses(2);
    twice.push_back({"10.0.0.1", 2181, "alias"});
    twice.push_back({"10.0.0.1", 2181, "alias"});
    server_list list(true);
    list.replace(twice, &in_order);
    EXPECT_EQ(list.size(), 3U);
}

}  // namespace
}  // namespace latchkey
