#include "direct/direct_handoffs.hpp"

#include "direct/handoff_rule.hpp"
#include "ensemble/virtual/virtual_loop.hpp"
#include "story.hpp"

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// A name as the servers give it.
std::string name_of(int number) {
    const std::string n = std::to_string(number);
    return "_c_11111111-2222-3333-4444-" + std::string(12 - n.size(), '0') + n + "-lock-000000000" +
           n;
}

task<bool> until_told(direct_handoffs::waiting& w) {
    auto message = until_called_back([&w](resumption r) { w.at_message(std::move(r)); });
    co_await message;
    co_return w.take_message() != nullptr;
}

class wire;

class wired_socket final : public datagram_socket {
public:
    wired_socket(wire& w, std::string own) : wire_(w), own_{std::move(own)} {}

    ~wired_socket() override;

    [[nodiscard]] const std::vector<std::string>& addresses() const noexcept override {
        return own_;
    }

    [[nodiscard]] std::string new_secret() override { return "secret of " + own_.front(); }

    void receive(receiver r) override;
    void send(const std::string& to, std::string_view message) override;

private:
    wire& wire_;
    const std::vector<std::string> own_;
};

/// Datagrams arrive at once, or never.
class wire {
public:
    struct datagram {
        std::string from;
        std::string to;
        std::string text;
    };

    void deliver(const datagram& d) {
        if (const auto found = receivers.find(d.to); found != receivers.end()) {
            found->second(d.from, d.text);
        }
    }

    /// "waits 2 behind 1" or "1 hands on to 2", for each that was sent.
    [[nodiscard]] std::vector<std::string> told() const {
        std::vector<std::string> all;
        for (const datagram& d : sent) {
            const auto m = read_direct_message(d.text);
            all.push_back(!m ? "?"
                          : m->what == direct_message::kind::waits
                              ? d.from + " waits for " + d.to
                              : d.from + " hands on to " + d.to);
        }
        return all;
    }

    bool works = true;
    std::vector<datagram> sent;
    std::map<std::string, datagram_socket::receiver> receivers;
};

wired_socket::~wired_socket() {
    wire_.receivers.erase(own_.front());
}

void wired_socket::receive(receiver r) {
    wire_.receivers[own_.front()] = std::move(r);
}

void wired_socket::send(const std::string& to, std::string_view message) {
    wire_.sent.push_back({own_.front(), to, std::string(message)});
    if (wire_.works) {
        wire_.deliver(wire_.sent.back());
    }
}

class DirectHandoffs : public ::testing::Test {
protected:
    struct party {
        party(loop& l, wire& w, const std::string& address)
            : messages(l, std::make_unique<wired_socket>(w, address), 1s) {
            messages.open();
        }

        direct_handoffs messages;
    };

    /// The second one begins to wait for the first one.
    std::unique_ptr<direct_handoffs::waiting> wait(party& second, const party& first) const {
        return wait(second, name_of(2), first, name_of(1));
    }

    static std::unique_ptr<direct_handoffs::waiting> wait(party& second,
                                                          const std::string& behind,
                                                          const party& first,
                                                          const std::string& ahead) {
        return std::make_unique<direct_handoffs::waiting>(
            second.messages, behind, ahead, first.messages.contact_of(ahead).value());
    }

    const std::shared_ptr<virtual_loop> loop = virtual_loop::make(virtual_loop::mode::stepped, 1);
    wire all;
    party a{*loop, all, "a"};
    party b{*loop, all, "b"};
    party c{*loop, all, "c"};
};

TEST_F(DirectHandoffs, TheOneThatWaitsIsTold) {
    const auto waits = wait(b, a);
    EXPECT_FALSE(waits->take_message());
    a.messages.hand_on(name_of(1));
    EXPECT_TRUE(waits->take_message());
    EXPECT_FALSE(waits->take_message()) << "it was taken";
    EXPECT_THAT(all.told(), ElementsAre("b waits for a", "a hands on to b"));
}

TEST_F(DirectHandoffs, ItIsToldOnceAndForThatParticipantOnly) {
    const auto waits = wait(b, a);
    a.messages.hand_on(name_of(3));
    EXPECT_FALSE(waits->take_message());
    a.messages.hand_on(name_of(1));
    a.messages.hand_on(name_of(1));
    EXPECT_THAT(all.told(), ElementsAre("b waits for a", "a hands on to b"));
}

TEST_F(DirectHandoffs, NobodyIsToldWhoIsNotKnown) {
    a.messages.hand_on(name_of(1));
    EXPECT_THAT(all.told(), IsEmpty());
}

TEST_F(DirectHandoffs, AnAnnouncementIsRepeatedLessAndLessOften) {
    const auto waits = wait(b, a);
    std::string at = "0";
    for (int second = 1; second <= 100; ++second) {
        const std::size_t before = all.sent.size();
        loop->run_for(1s);
        at += all.sent.size() > before ? ' ' + std::to_string(second) : "";
    }
    EXPECT_EQ(at, "0 1 3 7 15 31 63 95");
}

TEST_F(DirectHandoffs, ALostAnnouncementIsMadeGood) {
    all.works = false;
    const auto waits = wait(b, a);
    all.works = true;
    loop->run_for(1500ms);
    a.messages.hand_on(name_of(1));
    EXPECT_TRUE(waits->take_message());
}

TEST_F(DirectHandoffs, WhoWaitsNoMoreAnnouncesNothingAndIsToldNothing) {
    auto waits = wait(b, a);
    waits.reset();
    loop->run_for(100s);
    EXPECT_THAT(all.told(), ElementsAre("b waits for a"));
    a.messages.hand_on(name_of(1));
    EXPECT_THAT(all.told(), ElementsAre("b waits for a")) << "it was forgotten";
}

TEST_F(DirectHandoffs, TheNewestAnnouncementCounts) {
    auto first = wait(b, a);
    const auto second = wait(c, name_of(3), a, name_of(1));
    first.reset();
    a.messages.hand_on(name_of(1));
    EXPECT_TRUE(second->take_message());
}

TEST_F(DirectHandoffs, AMessageForAnEarlierZnodeIsIgnored) {
    auto waits = wait(b, a);
    a.messages.hand_on(name_of(1));
    const wire::datagram late = all.sent.back();
    waits = wait(b, name_of(4), a, name_of(1));
    all.deliver(late);
    EXPECT_FALSE(waits->take_message());
}

TEST_F(DirectHandoffs, AMessageOfAnotherParticipantIsIgnored) {
    auto waits = wait(b, a);
    a.messages.hand_on(name_of(1));
    const wire::datagram late = all.sent.back();
    waits = wait(b, name_of(2), c, name_of(3));
    all.deliver(late);
    EXPECT_FALSE(waits->take_message());
}

TEST_F(DirectHandoffs, AMessageNamesBothParticipants) {
    const auto waits = wait(b, a);
    a.messages.hand_on(name_of(1));
    EXPECT_EQ(*waits->take_message(),
              (direct_message{direct_message::kind::hands_on, name_of(1), name_of(2)}));
}

TEST_F(DirectHandoffs, WhatOneWithoutTheKeySaysIsIgnored) {
    const direct_key guessed = direct_key_of("guessed", name_of(1)).value();
    const auto waits = wait(b, a);
    all.deliver(
        {"c",
         "b",
         write_direct_message({direct_message::kind::hands_on, name_of(1), name_of(2)}, guessed)});
    EXPECT_FALSE(waits->take_message());
    all.deliver(
        {"c",
         "a",
         write_direct_message({direct_message::kind::waits, name_of(1), name_of(5)}, guessed)});
    a.messages.hand_on(name_of(1));
    EXPECT_TRUE(waits->take_message()) << "the forged announcement counted";
}

TEST_F(DirectHandoffs, WhoKnowsTheKeyAndAsksIsAnswered) {
    const direct_message question{direct_message::kind::asks, name_of(1), "doctor"};
    const direct_key key = a.messages.contact_of(name_of(1)).value().key;
    all.deliver({"c", "a", write_direct_message(question, key)});
    ASSERT_EQ(all.sent.size(), 1U);
    EXPECT_EQ(all.sent.back().to, "c");
    EXPECT_TRUE(authenticates(all.sent.back().text, key));
    EXPECT_EQ(read_direct_message(all.sent.back().text),
              (direct_message{direct_message::kind::answers, name_of(1), "doctor"}));
    all.deliver(all.sent.back());
    const direct_key guessed = direct_key_of("guessed", name_of(1)).value();
    all.deliver({"c", "a", write_direct_message(question, guessed)});
    EXPECT_EQ(all.sent.size(), 1U) << "who asks without the key, and an answer, gets no answer";
    EXPECT_EQ(a.messages.successor_of(name_of(1)), "");
}

TEST_F(DirectHandoffs, WhatIsNoMessageIsIgnored) {
    const auto waits = wait(b, a);
    for (const std::string& text :
         {std::string(), std::string(512, '\0'), std::string("latchkey\x01\x02")}) {
        all.deliver({"c", "a", text});
        all.deliver({"c", "b", text});
    }
    EXPECT_FALSE(waits->take_message());
}

TEST_F(DirectHandoffs, TheAnswerGoesWhereTheAnnouncementCameFrom) {
    all.works = false;
    const auto waits = wait(b, a);
    wire::datagram translated = all.sent.back();
    translated.from = "gateway";
    all.deliver(translated);
    a.messages.hand_on(name_of(1));
    EXPECT_EQ(all.told().back(), "a hands on to gateway");
}

TEST_F(DirectHandoffs, AMessageResumesTheOneThatWaitsForIt) {
    const auto waits = wait(b, a);
    int resumed = 0;
    running_task running;
    running.start(until_told(*waits), [&resumed](bool) { ++resumed; });
    EXPECT_EQ(resumed, 0);
    a.messages.hand_on(name_of(1));
    EXPECT_EQ(resumed, 1);
}

TEST_F(DirectHandoffs, ParticipantsWithoutAGuidHaveNoContact) {
    EXPECT_EQ(a.messages.contact_of("lock-0000000001"), std::nullopt);
    const direct_contact contact = a.messages.contact_of(name_of(1)).value();
    EXPECT_THAT(contact.addresses, ElementsAre("a"));
}

TEST_F(DirectHandoffs, NothingIsSentBehindAClose) {
    const auto waits = wait(b, a);
    a.messages.close();
    a.messages.hand_on(name_of(1));
    b.messages.close();
    loop->run_for(10s);
    EXPECT_THAT(all.told(), ElementsAre("b waits for a"));
    EXPECT_EQ(a.messages.contact_of(name_of(1)), std::nullopt);
}

// ---- the rule ----

TEST(HandoffRule, WhoHeldAloneAndWithNothingUnansweredMayTell) {
    const handing_on fine{.exclusive = true, .valid = true, .unanswered = false};
    EXPECT_TRUE(fine.may_tell());
    EXPECT_FALSE(handing_on{}.may_tell());
    for (const auto wrong : {&handing_on::exclusive, &handing_on::valid, &handing_on::unanswered}) {
        handing_on changed = fine;
        changed.*wrong = !(changed.*wrong);
        EXPECT_FALSE(changed.may_tell());
    }
}

TEST(HandoffRule, WhoWaitsBehindItUndisturbedMayHold) {
    const direct_message told{direct_message::kind::hands_on, "a", "b"};
    const taking_over fine{.own = "b", .ahead = "a", .unchanged = true, .watched = true};
    EXPECT_TRUE(fine.may_hold(told));
    for (const auto wrong : {&taking_over::unchanged, &taking_over::watched}) {
        taking_over changed = fine;
        changed.*wrong = false;
        EXPECT_FALSE(changed.may_hold(told));
    }
    EXPECT_FALSE(fine.may_hold({direct_message::kind::hands_on, "a", "c"}));
    EXPECT_FALSE(fine.may_hold({direct_message::kind::hands_on, "c", "b"}));
}

}  // namespace
}  // namespace latchkey::test
