#include "wire_client.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace latchkey::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(ProtocolRequests, AnswersEachRequestInOrderUnderItsXid) {
    wire_client& c = client();
    c.say(wire_client::create(1, "/a", "data") +
          wire_client::read(2, opcode::get_data, "/a", false) +
          wire_client::request(-2, opcode::ping).take() +
          wire_client::request(3, opcode::sync).text("/a").take() +
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
    EXPECT_EQ(body.left(), 68U - 8U);
    EXPECT_EQ(c.next().xid, -2);
    const answer synced = c.next();
    EXPECT_EQ(jute_reader(synced.body).text(), "/a");
    const answer none = c.next();
    EXPECT_EQ(none.code, -101);
    EXPECT_TRUE(none.body.empty());
}

TEST_F(ProtocolRequests, AnswersWhatItCannotReadOrDoWithAnError) {
    wire_client& c = client();
    c.say(wire_client::request(1, opcode::create).number(1000).take());
    EXPECT_EQ(c.next().code, -5);
    c.say(wire_client::create(3, "/ttl", "", opcode::create_ttl, 5));
    EXPECT_EQ(c.next().code, -6);
    c.say(wire_client::request(4, opcode::set_watches).long_number(0).number(1 << 30).take());
    EXPECT_EQ(c.next().code, -5);
    c.say(wire_client::read(5, opcode::exists, "/", false) +
          wire_client::request(6, static_cast<opcode>(77)).take());
    EXPECT_EQ(c.next().xid, 5);
    EXPECT_EQ(c.next().code, -6);
    EXPECT_TRUE(c.ended());
}

TEST_F(ProtocolRequests, AnswersATransactionWithoutAPathAsMalformed) {
    wire_client& c = client();
    jute_writer out = wire_client::request(1, opcode::multi);
    out.number(static_cast<std::int32_t>(opcode::check)).flag(false).number(-1).none().number(-1);
    c.say(out.number(-1).flag(true).number(-1).take());
    EXPECT_EQ(c.next().code, -5);
}

TEST_F(ProtocolRequests, AContainerIsMadeByItsOwnOperationWhateverTheFlagsOfOthersAre) {
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

TEST_F(ProtocolRequests, AWatchSetByExistsTellsOfTheCreation) {
    wire_client& c = client();
    c.say(wire_client::read(1, opcode::exists, "/a", true));
    EXPECT_EQ(c.next().code, -101);
    ensemble_.create("/a");
    const std::string whole = c.frame();
    jute_reader event(whole);
    EXPECT_EQ(event.number(), -1);
    EXPECT_EQ(event.long_number(), -1);
    EXPECT_EQ(event.number(), 0);
    EXPECT_EQ(event.number(), 1) << "created";
    EXPECT_EQ(event.number(), 3) << "connected";
    EXPECT_EQ(event.text(), "/a");
}

TEST_F(ProtocolRequests, SetWatchesTellsWhatWasMissed) {
    ensemble_.create("/there");
    wire_client& c = client();
    jute_writer again = wire_client::request(-8, opcode::set_watches);
    again.long_number(INT64_MAX).texts({"/gone"}).texts({"/there", "/later"}).texts({"/there"});
    c.say(again.take());
    std::vector<std::string> told;
    for (int i = 0; i < 2; ++i) {
        const std::string body = c.next().body;
        jute_reader in(body);
        const std::string type = std::to_string(in.number());
        in.number();
        told.push_back(type + std::string(in.text()));
    }
    EXPECT_THAT(told, ElementsAre("2/gone", "1/there"));
    EXPECT_EQ(c.next().xid, -8);
    ensemble_.create("/later");
    EXPECT_EQ(c.next().xid, -1);
}

TEST_F(ProtocolRequests, WatchesCanBeFoundAndRemoved) {
    wire_client& c = client();
    c.say(wire_client::read(1, opcode::get_data, "/", true));
    EXPECT_EQ(c.next().code, 0);
    const auto ask = [&](opcode what, std::int32_t type) {
        c.say(wire_client::request(2, what).text("/").number(type).take());
        return c.next().code;
    };
    EXPECT_EQ(ask(opcode::check_watches, 1), -121) << "children";
    EXPECT_EQ(ask(opcode::check_watches, 2), 0) << "data";
    EXPECT_EQ(ask(opcode::remove_watches, 3), 0) << "any";
    EXPECT_EQ(ask(opcode::remove_watches, 3), -121);
    EXPECT_EQ(ensemble_.open_watches(), 0U);
}

TEST_F(ProtocolRequests, AWatchThatLastsTellsAllThatHappens) {
    ensemble_.create("/d");
    wire_client& c = client();
    const auto add = [&](const std::string& path, std::int32_t mode) {
        c.say(wire_client::request(1, opcode::add_watch).text(path).number(mode).take());
        const answer a = c.next();
        EXPECT_EQ(jute_reader(a.body).number(), 0);
        return a.code;
    };
    EXPECT_EQ(add("/d", 0), 0);
    EXPECT_EQ(add("/d/e", 1), 0);
    ensemble_.create("/d/e");
    ensemble_.create("/d/e/f");
    ensemble_.set("/d/e/f", "x");
    ensemble_.set("/d", "x");
    ensemble_.remove("/d/e/f");
    std::vector<std::string> told;
    for (int i = 0; i < 6; ++i) {
        const std::string body = c.next().body;
        jute_reader in(body);
        const std::string type = std::to_string(in.number());
        in.number();
        told.push_back(type + std::string(in.text()));
    }
    EXPECT_THAT(told, ElementsAre("1/d/e", "4/d", "1/d/e/f", "3/d/e/f", "3/d", "2/d/e/f"));
    c.say(wire_client::request(2, opcode::remove_watches).text("/d/e").number(5).take() +
          wire_client::request(3, opcode::remove_watches).text("/d").number(4).take() +
          wire_client::request(4, opcode::check_watches).text("/d").number(3).take());
    EXPECT_EQ(c.next().code, 0);
    EXPECT_EQ(c.next().code, 0);
    EXPECT_EQ(c.next().code, -121);
    EXPECT_EQ(ensemble_.open_watches(), 0U);
}

TEST_F(ProtocolRequests, AMultiTellsAStatOnlyWhereItWasAskedFor) {
    const auto part = [](jute_writer& out, opcode what, const std::string& path) -> jute_writer& {
        out.number(static_cast<std::int32_t>(what)).flag(false).number(-1);
        out.text(path).text("").number(1).number(31).text("world").text("anyone");
        return out.number(0);
    };
    jute_writer out = wire_client::request(1, opcode::multi);
    part(part(out, opcode::create, "/a"), opcode::create2, "/b");
    wire_client& c = client();
    c.say(out.number(-1).flag(true).number(-1).take());
    const answer a = c.next();
    EXPECT_EQ(a.code, 0);
    jute_reader in(a.body);
    EXPECT_EQ(in.number(), 1);
    EXPECT_FALSE(in.flag());
    EXPECT_EQ(in.number(), 0);
    EXPECT_EQ(in.text(), "/a");
    EXPECT_EQ(in.number(), 15);
    EXPECT_FALSE(in.flag());
    EXPECT_EQ(in.number(), 0);
    EXPECT_EQ(in.text(), "/b");
    EXPECT_EQ(in.long_number(), a.zxid);
    in.bytes(60);
    EXPECT_EQ(in.number(), -1);
    EXPECT_TRUE(in.flag());
    EXPECT_EQ(in.number(), -1);
    EXPECT_EQ(in.left(), 0U);
}

TEST_F(ProtocolRequests, AMultiThatFailsTellsTheCodeOfEachOperation) {
    jute_writer out = wire_client::request(1, opcode::multi);
    for (const char* const path : {"/", "/none", "/"}) {
        out.number(static_cast<std::int32_t>(opcode::check)).flag(false).number(-1);
        out.text(path).number(-1);
    }
    wire_client& c = client();
    c.say(out.number(-1).flag(true).number(-1).take());
    const answer a = c.next();
    EXPECT_EQ(a.code, 0) << "as ZooKeeper's servers do";
    jute_reader in(a.body);
    for (const std::int32_t code : {0, -101, -2}) {
        EXPECT_EQ(in.number(), -1);
        EXPECT_FALSE(in.flag());
        EXPECT_EQ(in.number(), code);
        EXPECT_EQ(in.number(), code);
    }
}

TEST_F(ProtocolRequests, BytesAreCountedAsTheyAreOnTheWire) {
    wire_client& c = client();
    ensemble_.reset_counters();
    std::size_t sent = 0;
    std::size_t received = 0;
    const auto ask = [&](const std::string& frame) {
        sent += frame.size();
        c.say(frame);
        received += 4 + c.frame().size();
    };
    ask(wire_client::create(1, "/a", "data", opcode::create2));
    ask(wire_client::create(2, "/a/child", "", opcode::create2));
    ask(wire_client::read(3, opcode::get_data, "/a", true));
    ask(wire_client::read(4, opcode::get_children2, "/a", false));
    ask(wire_client::read(5, opcode::exists, "/a", false));
    ask(wire_client::read(6, opcode::exists, "/none", false));
    ask(wire_client::request(7, opcode::sync).text("/a").take());
    ask(wire_client::request(8, opcode::get_acl).text("/a").take());
    for (const char* const path : {"/a/child", "/none"}) {
        jute_writer out = wire_client::request(9, opcode::multi);
        const auto part = [&](opcode what) -> jute_writer& {
            return out.number(static_cast<std::int32_t>(what)).flag(false).number(-1);
        };
        part(opcode::check).text(path).number(-1);
        part(opcode::set_data).text("/a/child").text("new").number(-1);
        part(opcode::create2).text("/b").text("").number(1).number(31).text("world").text("anyone");
        out.number(0);
        part(opcode::remove).text("/b").number(-1);
        ask(out.number(-1).flag(true).number(-1).take());
    }
    ask(wire_client::request(10, opcode::set_data).text("/a").text("x").number(-1).take());
    received += 4 + c.frame().size();  // the event
    EXPECT_EQ(ensemble_.count().watch_events, 1U);
    EXPECT_EQ(ensemble_.count().bytes_in, sent);
    EXPECT_EQ(ensemble_.count().bytes_out, received);
}

TEST_F(ProtocolRequests, CredentialsCountFromTheirRequestOn) {
    wire_client& c = client();
    c.say(wire_client::request(-4, opcode::auth).number(0).text("digest").text("jo:secret").take());
    EXPECT_EQ(c.next().xid, -4);
    jute_writer closed = wire_client::request(1, opcode::create);
    closed.text("/mine").text("").number(1).number(31).text("auth").text("").number(0);
    c.say(closed.take());
    EXPECT_EQ(c.next().code, 0);
    jute_writer weaker = wire_client::request(2, opcode::set_acl).text("/mine");
    weaker.number(1).number(1).text("world").text("anyone").number(0);
    wire_client& other = client();
    other.say(wire_client::read(1, opcode::get_data, "/mine", false));
    EXPECT_EQ(other.next().code, -102);
    c.say(weaker.take());
    EXPECT_EQ(c.next().code, 0);
    other.say(wire_client::request(2, opcode::get_acl).text("/mine").take());
    const answer shown = other.next();
    EXPECT_EQ(shown.code, 0);
    EXPECT_THAT(shown.body, HasSubstr("anyone"));

    wire_client& unknown = client();
    unknown.say(wire_client::request(-4, opcode::auth).number(0).text("sasl").text("x").take());
    EXPECT_EQ(unknown.next().code, -115);
    EXPECT_TRUE(unknown.ended());
}

TEST_F(ProtocolRequests, AClientThatHangsUpLeavesNoWatchAndKeepsItsSession) {
    wire_client& c = client();
    c.say(wire_client::read(1, opcode::get_data, "/", true));
    EXPECT_EQ(c.next().code, 0);
    c.drop();
    ensemble_.run_for(10ms);
    EXPECT_EQ(ensemble_.open_watches(), 0U);
    EXPECT_TRUE(ensemble_.sessions().front().alive);
}

}  // namespace
}  // namespace latchkey::test
