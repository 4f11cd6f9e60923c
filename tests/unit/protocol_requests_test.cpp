#include "wire_client.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include <gmock/gmock.h>

// What wire_contract_*_test.cpp cannot say of real servers, or not of their ports alone.

namespace latchkey::test {
namespace {

using ::testing::ElementsAre;

/// "1/path" for each event of that type.
std::vector<std::string> events(wire_client& c, int count) {
    std::vector<std::string> all;
    for (int i = 0; i < count; ++i) {
        const answer a = c.next();
        EXPECT_EQ(a.xid, -1);
        EXPECT_EQ(a.zxid, -1);
        EXPECT_EQ(a.code, 0);
        jute_reader in(a.body);
        const std::string type = std::to_string(in.number());
        EXPECT_EQ(in.number(), 3) << "connected";
        all.push_back(type + std::string(in.text()));
    }
    return all;
}

TEST_F(ProtocolRequests, AreAnsweredInOrderUnderTheirXids) {
    wire_client& c = client();
    c.say(wire_client::create(1, "/a", "data") +
          wire_client::read(2, opcode::get_data, "/a", false) + header_of(-2, opcode::ping).take() +
          header_of(3, opcode::sync).text("/a").take() +
          wire_client::read(4, opcode::exists, "/none", false));
    const answer created = c.next();
    EXPECT_EQ(created.xid, 1);
    EXPECT_EQ(jute_reader(created.body).text(), "/a");
    const answer got = c.next();
    EXPECT_EQ(got.xid, 2);
    EXPECT_EQ(got.zxid, created.zxid);
    jute_reader body(got.body);
    EXPECT_EQ(body.text(), "data");
    EXPECT_EQ(body.long_number(), created.zxid) << "the Stat begins with the czxid";
    EXPECT_EQ(body.left(), stat_size - 8U);
    EXPECT_EQ(c.next().xid, -2);
    EXPECT_EQ(jute_reader(c.next().body).text(), "/a");
    const answer none = c.next();
    EXPECT_EQ(none.code, -101);
    EXPECT_TRUE(none.body.empty());
}

TEST_F(ProtocolRequests, ThatCannotBeReadOrDoneAreAnsweredWithAnError) {
    wire_client& c = client();
    jute_writer absent = header_of(1, opcode::multi);
    part(absent, opcode::check).none().number(-1);
    jute_writer short_lived = header_of(1, opcode::create_ttl);
    EXPECT_EQ(c.ask(header_of(1, opcode::create).number(1000)).code, -5);
    EXPECT_EQ(c.ask(put_create(short_lived, "/ttl", "", 5)).code, -6);
    EXPECT_EQ(c.ask(header_of(1, opcode::set_watches).long_number(0).number(1 << 30)).code, -5);
    EXPECT_EQ(c.ask(end_of(absent)).code, -5) << "a transaction without a path";
    c.say(wire_client::read(5, opcode::exists, "/", false) + header_of(6, 77).take());
    EXPECT_EQ(c.next().xid, 5);
    EXPECT_EQ(c.next().code, -6);
    EXPECT_TRUE(c.ended());
}

TEST_F(ProtocolRequests, ForAContainerAreOfItsOwnOperationWhateverTheFlagsOfOthersAre) {
    wire_client& c = client();
    c.say(wire_client::create(1, "/own", "", opcode::create_container, 0) +
          wire_client::create(2, "/flag", "", opcode::create, 4));
    EXPECT_EQ(c.next().code, 0);
    EXPECT_EQ(c.next().code, 0);
    for (const char* const path : {"/own", "/flag"}) {
        ensemble_.create(std::string(path) + "/child");
        ensemble_.remove(std::string(path) + "/child");
    }
    ensemble_.reap_containers();
    EXPECT_FALSE(ensemble_.exists("/own"));
    EXPECT_TRUE(ensemble_.exists("/flag"));
}

TEST_F(ProtocolRequests, ThatSetWatchesAgainTellWhatWasMissed) {
    ensemble_.create("/there");
    wire_client& c = client();
    jute_writer again = header_of(-8, opcode::set_watches);
    again.long_number(INT64_MAX).texts({"/gone"}).texts({"/there", "/later"}).texts({"/there"});
    c.say(again.take());
    EXPECT_THAT(events(c, 2), ElementsAre("2/gone", "1/there"));
    EXPECT_EQ(c.next().xid, -8);
    ensemble_.create("/later");
    EXPECT_THAT(events(c, 1), ElementsAre("1/later"));
}

TEST_F(ProtocolRequests, FindAndRemoveWatches) {
    ensemble_.create("/d");
    wire_client& c = client();
    const auto ask = [&](opcode what, const std::string& path, std::int32_t type) {
        return c.ask(header_of(2, what).text(path).number(type)).code;
    };
    c.say(wire_client::read(1, opcode::get_data, "/", true));
    EXPECT_EQ(c.next().code, 0);
    EXPECT_EQ(ask(opcode::check_watches, "/", 1), -121) << "children";
    EXPECT_EQ(ask(opcode::check_watches, "/", 2), 0) << "data";
    EXPECT_EQ(ask(opcode::remove_watches, "/", 3), 0) << "any";
    EXPECT_EQ(ask(opcode::remove_watches, "/", 3), -121);

    EXPECT_EQ(ask(opcode::add_watch, "/d", 0), 0);
    EXPECT_EQ(ask(opcode::add_watch, "/d/e", 1), 0);
    ensemble_.create("/d/e");
    ensemble_.create("/d/e/f");
    ensemble_.set("/d/e/f", "x");
    ensemble_.set("/d", "x");
    ensemble_.remove("/d/e/f");
    EXPECT_THAT(events(c, 6), ElementsAre("1/d/e", "4/d", "1/d/e/f", "3/d/e/f", "3/d", "2/d/e/f"))
        << "those that last tell all that happens";
    EXPECT_EQ(ask(opcode::remove_watches, "/d/e", 5), 0);
    EXPECT_EQ(ask(opcode::remove_watches, "/d", 4), 0);
    EXPECT_EQ(ask(opcode::check_watches, "/d", 3), -121);
    EXPECT_EQ(ensemble_.open_watches(), 0U);
}

TEST_F(ProtocolRequests, AreCountedInBytesAsTheyAreOnTheWire) {
    wire_client& c = client();
    ensemble_.reset_counters();
    std::vector<std::string> frames{wire_client::create(1, "/a", "data", opcode::create2),
                                    wire_client::create(2, "/a/child", "", opcode::create2),
                                    wire_client::read(3, opcode::get_data, "/a", true),
                                    wire_client::read(4, opcode::get_children2, "/a", false),
                                    wire_client::read(5, opcode::exists, "/a", false),
                                    wire_client::read(6, opcode::exists, "/none", false),
                                    header_of(7, opcode::sync).text("/a").take(),
                                    header_of(8, opcode::get_acl).text("/a").take()};
    for (const char* const path : {"/a/child", "/none"}) {
        jute_writer out = header_of(9, opcode::multi);
        put_create(part(out, opcode::create2), "/b");
        frames.push_back(
            transaction(
                out, {request::check(path), request::set("/a/child", "new"), request::remove("/b")})
                .take());
    }
    frames.push_back(header_of(10, opcode::set_data).text("/a").text("x").number(-1).take());
    std::size_t sent = 0;
    std::size_t received = 0;
    for (const std::string& frame : frames) {
        sent += frame.size();
        c.say(frame);
        received += 4 + c.frame().size();
    }
    received += 4 + c.frame().size();  // the event
    EXPECT_EQ(ensemble_.count().watch_events, 1U);
    EXPECT_EQ(ensemble_.count().bytes_in, sent);
    EXPECT_EQ(ensemble_.count().bytes_out, received);
}

}  // namespace
}  // namespace latchkey::test
