#include "zookeeper/frame_check.hpp"

#include "frame_writer.hpp"

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
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

std::string body_of(const frame_writer& w) {
    return body_of(w.frame());
}

frame_writer with_stat(frame_writer w, std::int32_t data = 0, std::int32_t children = 0) {
    for (int i = 0; i < 4; ++i) {
        w.long_number(1);
    }
    w.number(0).number(-1).number(0).long_number(0).number(data).number(children);
    return w.long_number(1);
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

struct exchange {
    std::string request;
    std::string answer;
};

frame_writer create_request(opcode type, std::string_view path) {
    auto w = request_of(1, type).text(path).text("data");
    return w.number(1).number(31).text("world").text("anyone").number(2);
}

std::string multi_request() {
    auto w = request_of(1, opcode::multi).number(opcode::check).flag(false).number(-1);
    w.text("/a").number(3).number(opcode::create).flag(false).number(-1);
    w.text("/a/n-").text("x").number(1).number(31).text("world").text("anyone").number(2);
    w.number(opcode::set_data).flag(false).number(-1).text("/a").text("y").number(-1);
    w.number(opcode::remove).flag(false).number(-1).text("/b").number(-1);
    return body_of(w.number(-1).flag(true).number(-1));
}

frame_writer result(frame_writer w, opcode type) {
    return w.number(type).flag(false).number(0);
}

frame_writer last_result(frame_writer w) {
    return w.number(-1).flag(true).number(-1);
}

std::string multi_answer() {
    auto w = result(result(answer_to(1), opcode::check), opcode::create).text("/a/n-0000000007");
    w = with_stat(result(w, opcode::set_data));
    return body_of(last_result(result(w, opcode::remove)));
}

std::string failed_multi_answer(const std::vector<std::int32_t>& errors) {
    auto w = answer_to(1);
    for (const std::int32_t error : errors) {
        w = result(w, opcode::error).number(error);
    }
    return body_of(last_result(w));
}

std::vector<exchange> right_exchanges() {
    const auto asked = [](opcode type) {
        return body_of(request_of(1, type).text("/a").flag(false));
    };
    const auto names = answer_to(1).number(2).text("a-0000000001").text("b");
    const auto list = answer_to(1).number(1).number(31).text("world").text("anyone");
    return {
        {asked(opcode::exists), body_of(with_stat(answer_to(1)))},
        {asked(opcode::get_data), body_of(with_stat(answer_to(1).text("data")))},
        {asked(opcode::get_data), body_of(with_stat(answer_to(1).number(-1)))},
        {asked(opcode::set_data), body_of(with_stat(answer_to(1)))},
        {asked(opcode::get_acl), body_of(with_stat(list))},
        {asked(opcode::get_children2), body_of(with_stat(names))},
        {asked(opcode::get_children2), body_of(with_stat(answer_to(1).number(0)))},
        {asked(opcode::sync), body_of(answer_to(1).text("/a"))},
        {asked(opcode::remove), body_of(answer_to(1))},
        {body_of(create_request(opcode::create2, "/a/n-")),
         body_of(with_stat(answer_to(1).text("/a/n-0000000007")))},
        {body_of(create_request(opcode::create_container, "/a")),
         body_of(with_stat(answer_to(1).text("/a")))},
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
            for (const std::int32_t value : {-1,
                                             -2,
                                             -5,
                                             std::numeric_limits<std::int32_t>::min(),
                                             std::numeric_limits<std::int32_t>::max(),
                                             50'000'000}) {
                std::string wrong = right;
                wrong.replace(at, 4, body_of(frame_writer().number(value)));
                EXPECT_LT(connection({request}).received(wrong).size(), 200U);
            }
        }
    }
}

TEST(FrameCheck, RefusesAnAnswerToNoRequestOrToAnother) {
    EXPECT_THAT(connection().received(body_of(answer_to(1))), HasSubstr("none is open"));
    EXPECT_THAT(connection().received(body_of(answer_to(-2))), HasSubstr("ping"));
    EXPECT_THAT(connection().received(body_of(answer_to(-4))), HasSubstr("credentials"));
    auto check = connection({body_of(request_of(1, opcode::remove).text("/a").number(-1)),
                             body_of(request_of(2, opcode::remove).text("/b").number(-1))});
    EXPECT_THAT(check.received(body_of(answer_to(2))), HasSubstr("to request 2 instead of 1"));
}

TEST(FrameCheck, TakesPingsAndCredentialsOutOfTurn) {
    auto check = connection({body_of(request_of(1, opcode::remove).text("/a").number(-1)),
                             body_of(request_of(-2, opcode::ping)),
                             body_of(request_of(-4, opcode::auth).number(0))});
    EXPECT_EQ(check.received(body_of(answer_to(-2))), "");
    EXPECT_EQ(check.received(body_of(answer_to(-4, -115))), "");
    EXPECT_EQ(check.received(body_of(answer_to(1))), "");
    EXPECT_NE(check.received(body_of(answer_to(-2))), "") << "one ping has one answer";
}

TEST(FrameCheck, RefusesResultsThatDoNotFitTheirOperations) {
    const auto wrong = [](const std::string& results) {
        return connection({multi_request()}).received(results);
    };
    EXPECT_THAT(wrong(body_of(last_result(answer_to(1)))), HasSubstr("fewer results"));
    EXPECT_THAT(wrong(failed_multi_answer({0, 0, 0, 0})), HasSubstr("contradict"));
    EXPECT_THAT(wrong(failed_multi_answer({-2, -2, -2, -2})), HasSubstr("contradict"));
    EXPECT_THAT(wrong(failed_multi_answer({-101, -2, -2, -2, -2})), HasSubstr("more results"));
    EXPECT_THAT(wrong(body_of(result(answer_to(1), opcode::create).text("/a"))),
                HasSubstr("a result of type 1 for check"));
    auto mixed = result(result(answer_to(1), opcode::error).number(-101), opcode::create);
    mixed = with_stat(result(mixed.text("/a/n-0000000007"), opcode::set_data));
    EXPECT_THAT(wrong(body_of(last_result(result(mixed, opcode::remove)))),
                HasSubstr("contradict"));
}

TEST(FrameCheck, RefusesNamesAndPathsThatNoZnodeHas) {
    using namespace std::string_view_literals;
    const auto list = body_of(request_of(1, opcode::get_children2).text("/a").flag(false));
    for (const auto name : {""sv, "a/b"sv, "a\0b"sv}) {
        EXPECT_NE(
            connection({list}).received(body_of(with_stat(answer_to(1).number(1).text(name)))), "");
    }
    const auto create = body_of(create_request(opcode::create2, "/a/n-"));
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
