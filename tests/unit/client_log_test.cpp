#include "client_log.hpp"

#include <gtest/gtest.h>

namespace latchkey {
namespace {

TEST(ClientLog, NamesTheServerThatFailed) {
    EXPECT_EQ(server_in_client_log(
                  "2026-01-01 00:00:00,000:1(0x7f):ZOO_ERROR@handle_socket_error_msg@2047: "
                  "Socket 127.0.0.1:2181 zk retcode=-4, errno=111(Connection refused): ..."),
              "127.0.0.1:2181");
    EXPECT_EQ(server_in_client_log("Socket [::1]:2181 zk retcode=-7, errno=110"), "[::1]:2181");
}

TEST(ClientLog, NamesNobodyInOtherLines) {
    for (const auto* line :
         {"", "Socket ", " zk retcode=", " zk retcode= Socket x", "getaddrinfo: no"}) {
        EXPECT_EQ(server_in_client_log(line), "") << line;
    }
}

}  // namespace
}  // namespace latchkey
