#include "zookeeper/frame_check.hpp"

#include "wire_frames.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace latchkey::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string body_of(const std::string& frame) {
    return frame.substr(4);
}

std::string body_of(jute_writer w) {
    return body_of(w.take());
}

jute_writer with_stat(jute_writer w) {
    for (int i = 0; i < 4; ++i) {
        w.long_number(1);
    }
    return w.number(0).number(-1).number(0).long_number(0).number(0).number(0).long_number(1);
}

/// A connection whose session is granted, with these requests open.
frame_check connection(const std::vector<std::string>& requests = {}) {
    frame_check check(false);
    EXPECT_EQ(check.received(body_of(connected_frame(7))), "");
    for (const std::string& r : requests) {
        check.sent(r);
    }
    return check;
}

std::string create_request(opcode type, std::string_view path) {
    auto w = header_of(1, type);
    return body_of(put_create(w, path, "data", 2));
}

std::string remove_request(std::int32_t xid) {
    return body_of(header_of(xid, opcode::remove).text("/a").number(-1));
}

std::string multi_request() {
    return body_of(transaction(
        header_of(1, opcode::multi),
        {request::check("/a", 3),
         request::create("/a/n-", "x", create_mode::persistent_sequential, open_unsafe_acl()),
         request::set("/a", "y"),
         request::remove("/b")}));
}

std::string multi_answer() {
    auto w = answer_to(1);
    part(w, opcode::check, 0);
    w = with_stat(part(part(w, opcode::create, 0).text("/a/n-0000000007"), opcode::set_data, 0));
    return body_of(end_of(part(w, opcode::remove, 0)));
}

std::string failed_multi_answer(const std::vector<std::int32_t>& errors) {
    auto w = answer_to(1);
    for (const std::int32_t error : errors) {
        part(w, opcode::error, 0).number(error);
    }
    return body_of(end_of(w));
}

struct exchange {
    std::string request;
    std::string answer;
};

std::vector<exchange> right_exchanges() {
    const auto asked = [](opcode type) {
        return body_of(header_of(1, type).text("/a").flag(false));
    };
    const auto with_a_stat = [](jute_writer w) { return body_of(with_stat(std::move(w))); };
    const auto list = answer_to(1).number(1).number(31).text("world").text("anyone");
    return {
        {asked(opcode::exists), with_a_stat(answer_to(1))},
        {asked(opcode::get_data), with_a_stat(answer_to(1).text("data"))},
        {asked(opcode::get_data), with_a_stat(answer_to(1).none())},
        {asked(opcode::set_data), with_a_stat(answer_to(1))},
        {asked(opcode::get_acl), with_a_stat(list)},
        {asked(opcode::get_children2), with_a_stat(answer_to(1).texts({"a-0000000001", "b"}))},
        {asked(opcode::get_children2), with_a_stat(answer_to(1).number(0))},
        {asked(opcode::sync), body_of(answer_to(1).text("/a"))},
        {asked(opcode::remove), body_of(answer_to(1))},
        {create_request(opcode::create2, "/a/n-"),
         with_a_stat(answer_to(1).text("/a/n-0000000007"))},
        {create_request(opcode::create_container, "/a"), with_a_stat(answer_to(1).text("/a"))},
        {multi_request(), multi_answer()},
        {multi_request(), failed_multi_answer({0, -110, -2, -2})},
    };
}

TEST(FrameCheck, TakesWhatServersAnswer) {
    for (const auto& [request, right] : right_exchanges()) {
        EXPECT_EQ(connection({request}).received(right), "");
        EXPECT_EQ(connection({request}).received(body_of(answer_to(1, -101))), "") << "a refusal";
    }
}

TEST(FrameCheck, RefusesEachBeginningOfAnAnswerAndWhatIsLonger) {
    for (const auto& [request, right] : right_exchanges()) {
        for (std::size_t size = 0; size < right.size(); ++size) {
            EXPECT_THAT(connection({request}).received(std::string_view(right).substr(0, size)),
                        StartsWith("malformed answer"))
                << size << " of " << right.size();
        }
        EXPECT_NE(connection({request}).received(right + '\0'), "");
    }
}

/// In each place: it may stand for a count, a length, a type, or a part of a time.
TEST(FrameCheck, EndsWithEachNumberInEachPlace) {
    for (const auto& [request, right] : right_exchanges()) {
        for (std::size_t at = 0; at + 4 <= right.size(); ++at) {
            for (const std::int32_t value : {-1, -2, -5, INT32_MIN, INT32_MAX, 50'000'000}) {
                std::string wrong = right;
                wrong.replace(at, 4, body_of(jute_writer().number(value)));
                EXPECT_LT(connection({request}).received(wrong).size(), 200U);
            }
        }
    }
}

TEST(FrameCheck, RefusesAnAnswerToNoRequestOrToAnother) {
    EXPECT_THAT(connection().received(body_of(answer_to(1))), HasSubstr("none is open"));
    EXPECT_THAT(connection().received(body_of(answer_to(-2))), HasSubstr("ping"));
    EXPECT_THAT(connection().received(body_of(answer_to(-4))), HasSubstr("credentials"));
    EXPECT_THAT(connection().received(body_of(answer_to(-8))), HasSubstr("none is open"));
    auto check = connection({remove_request(1), remove_request(2)});
    EXPECT_THAT(check.received(body_of(answer_to(3))),
                HasSubstr("malformed answer: to request 3 instead of 1"));
    EXPECT_FALSE(check.answer_left_out());
}

TEST(FrameCheck, SaysThatAnAnswerWasLeftOut) {
    auto check = connection({remove_request(1), remove_request(2)});
    EXPECT_THAT(check.received(body_of(answer_to(2))),
                HasSubstr("an answer was left out: to request 2 instead of 1"));
    EXPECT_TRUE(check.answer_left_out());
}

TEST(FrameCheck, TakesPingsAndCredentialsOutOfTurn) {
    auto check = connection({remove_request(1),
                             body_of(header_of(-2, opcode::ping)),
                             body_of(header_of(-4, opcode::auth).number(0))});
    EXPECT_EQ(check.received(body_of(answer_to(-2))), "");
    EXPECT_EQ(check.received(body_of(answer_to(-4, -115))), "");
    EXPECT_EQ(check.received(body_of(answer_to(1))), "");
    EXPECT_NE(check.received(body_of(answer_to(-2))), "") << "one ping has one answer";
}

TEST(FrameCheck, RefusesResultsThatDoNotFitTheirOperations) {
    auto mixed = answer_to(1);
    part(part(mixed, opcode::error, 0).number(-101), opcode::create, 0).text("/a/n-0000000007");
    mixed = with_stat(part(mixed, opcode::set_data, 0));
    const std::vector<std::pair<std::string, std::string>> wrong{
        {"fewer results", body_of(end_of(answer_to(1)))},
        {"contradict", failed_multi_answer({0, 0, 0, 0})},
        {"contradict", failed_multi_answer({-2, -2, -2, -2})},
        {"contradict", body_of(end_of(part(mixed, opcode::remove, 0)))},
        {"more results", failed_multi_answer({-101, -2, -2, -2, -2})}};
    for (const auto& [reason, results] : wrong) {
        EXPECT_THAT(connection({multi_request()}).received(results), HasSubstr(reason));
    }
    auto other = answer_to(1);
    EXPECT_THAT(
        connection({multi_request()}).received(body_of(part(other, opcode::create, 0).text("/a"))),
        HasSubstr("a result of type 1 for check"));
}

TEST(FrameCheck, RefusesNamesAndPathsThatNoZnodeHas) {
    using namespace std::string_view_literals;
    const auto list = body_of(header_of(1, opcode::get_children2).text("/a").flag(false));
    for (const auto name : {""sv, "a/b"sv, "a\0b"sv}) {
        EXPECT_NE(
            connection({list}).received(body_of(with_stat(answer_to(1).number(1).text(name)))), "");
    }
    const auto create = create_request(opcode::create2, "/a/n-");
    for (const auto path : {""sv, "/b/n-0000000001"sv, "/a/n-123456789012"sv, "/a/n-\0"sv}) {
        EXPECT_NE(connection({create}).received(body_of(with_stat(answer_to(1).text(path)))), "");
    }
    EXPECT_NE(connection().received(body_of(event_frame("a"))), "");
    EXPECT_NE(connection().received(body_of(event_frame(""))), "");
    EXPECT_EQ(connection().received(body_of(event_frame("/a"))), "");
}

TEST(FrameCheck, RefusesASessionThatIsNone) {
    EXPECT_THAT(frame_check(false).received(body_of(connected_frame(0))), HasSubstr("no session"));
    EXPECT_EQ(frame_check(true).received(body_of(connected_frame(0, 0))), "") << "it has expired";
    EXPECT_NE(frame_check(true).received(body_of(connected_frame(7, 0))), "");
    EXPECT_NE(frame_check(true).received(body_of(connected_frame(7, -1))), "");
    const auto right = body_of(connected_frame(7));
    for (std::size_t size = 0; size + 1 < right.size(); ++size) {
        EXPECT_NE(frame_check(false).received(std::string_view(right).substr(0, size)), "");
    }
    EXPECT_EQ(frame_check(false).received(std::string_view(right).substr(0, right.size() - 1)), "")
        << "old servers do not say whether they only read";
}

}  // namespace
}  // namespace latchkey::test
