#include "datagram/datagram_address.hpp"

#include <latchkey/error.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace latchkey::test {
namespace {

using ::testing::HasSubstr;

datagram_address at(const std::string& host, std::uint16_t first, std::uint16_t last) {
    return {.host = host, .first_port = first, .last_port = last};
}

TEST(DatagramAddress, ANumericAddressHasAPortOrARange) {
    EXPECT_EQ(parse_datagram_address("10.1.2.3:0"), at("10.1.2.3", 0, 0));
    EXPECT_EQ(parse_datagram_address("10.1.2.3:65535"), at("10.1.2.3", 65535, 65535));
    EXPECT_EQ(parse_datagram_address("127.0.0.1:4000-4100"), at("127.0.0.1", 4000, 4100));
    EXPECT_EQ(parse_datagram_address("[::1]:4000"), at("::1", 4000, 4000));
    EXPECT_EQ(parse_datagram_address("[fd00::12]:7-7"), at("fd00::12", 7, 7));
}

TEST(DatagramAddress, WhatCannotBeReachedIsRefusedByItsText) {
    const std::vector<std::string> wrong{"",
                                         "10.1.2.3",
                                         "10.1.2.3:",
                                         "host.example:1",
                                         "10.1.2.3:x",
                                         "10.1.2.3:1-",
                                         "10.1.2.3:-1",
                                         "10.1.2.3:2-1",
                                         "10.1.2.3:0-5",
                                         "10.1.2.3:65536",
                                         "::1:4000",
                                         "[10.1.2.3]:1",
                                         "[::1]",
                                         "[]:1",
                                         "0.0.0.0:0",
                                         "[::]:0",
                                         "10.1.2.3:1 ",
                                         " 10.1.2.3:1",
                                         "10.1.2:1",
                                         "[fe80::1%lo]:1",
                                         "[0:0::0]:1",
                                         "10.1.2.3:+1"};
    for (const std::string& text : wrong) {
        try {
            (void)parse_datagram_address(text);
            ADD_FAILURE() << "accepted: " << text;
        } catch (const error& e) {
            EXPECT_EQ(e.code(), errc::invalid_argument);
            EXPECT_THAT(e.what(), HasSubstr('"' + text + '"'));
            EXPECT_THAT(e.what(), HasSubstr("10.1.2.3:0"));
        }
    }
}

TEST(DatagramAddress, AClientHasAtMostFour) {
    EXPECT_EQ(parse_datagram_addresses({"127.0.0.1:0", "[::1]:0"}).size(), 2U);
    EXPECT_THROW((void)parse_datagram_addresses(std::vector<std::string>(5, "127.0.0.1:0")), error);
}

TEST(DatagramAddress, AnAddressOfASocketIsWrittenAsItIsRead) {
    for (const char* text : {"10.1.2.3:4000", "[::1]:1", "[fd00::12]:65535"}) {
        const datagram_address a = parse_datagram_address(text);
        EXPECT_EQ(text_of(socket_address_of(a.host, a.first_port)), text);
    }
    EXPECT_EQ(text_of({}), "");
}

}  // namespace
}  // namespace latchkey::test
