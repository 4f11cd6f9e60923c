// What the checker knows of readers, upgraders and writers: histories that are fine, and each with
// one thing wrong.
#include "history.hpp"
#include "story.hpp"

#include <string>

#include <gtest/gtest.h>

namespace latchkey::history {
namespace {

/// Two readers together, then a writer.
struct reading_and_writing : story {
    turn& one = queued(1, 10, 1, lock_mode::shared);
    turn& two = queued(2, 11, 1, lock_mode::shared);
    turn& writer = queued(3, 12, 1.2, lock_mode::exclusive);

    reading_and_writing() {
        told().laid_out = layout::readers_writer;
        granted(one, 1.1, 4);
        granted(two, 1.1, 4);
        saw(one, 1.9, true, 4);
        ended(one, 1.9);
        gone(one, 13, 1.901);
        saw(two, 2, true, 5);
        ended(two, 2);
        gone(two, 14, 2.001);
        granted(writer, 2.1, 5);
        saw(writer, 2.9, true, 5);
        ended(writer, 3);
        gone(writer, 15, 3.001);
    }

    turn& queued(int worker, std::int64_t zxid, double at, lock_mode m) {
        turn& t = asked(worker, zxid, at, {.locks = {lock}, .mode = m});
        created(t, zxid, at, named(zxid, m));
        return t;
    }

    /// One more, that leaves at 4 s.
    turn& adds(double at, double granted_at, lock_mode m) {
        turn& t = queued(4, 16, at, m);
        granted(t, granted_at, 6);
        ended(t, 4);
        gone(t, 17, 4.001);
        return t;
    }

    static std::string named(std::int64_t number, lock_mode m) {
        return znode(number, m == lock_mode::shared ? "/_c_x-__READ__" : "/_c_x-__WRIT__");
    }
};

TEST(HistoryModes, FindNothingWrongWithReadersTogetherAndAWriterAlone) {
    reading_and_writing s;
    const verdict v = s.judged();
    EXPECT_EQ(broken(v), "") << v.violations.front().text;
    EXPECT_EQ(v.grants, 3U);
    EXPECT_EQ(v.overlaps, 0U);
    EXPECT_EQ(v.hand_over.count(), 1U) << "the writer's";
}

TEST(HistoryModes, FindEachThingThatIsWrong) {
    expect_broken<reading_and_writing>({
        {"a reader's belief beside a writer's",
         [](auto& s) { s.two.observations.back().at = s.time(2.2); },
         "overlap"},
        {"a writer's belief beside a reader's, behind it",
         [](auto& s) { s.adds(2.5, 2.8, lock_mode::shared); },
         "overlap, order"},
        {"a reader behind a writer that stays, and believes no more",
         [](auto& s) { s.adds(2.4, 2.95, lock_mode::shared); },
         "order"},
        {"a writer's token below an earlier one",
         [](auto& s) { s.adds(2.5, 3.1, lock_mode::exclusive).token = 11; },
         "token"},
    });
}

TEST(HistoryModes, CountAReaderThatWorkedOnWithoutBelieving) {
    reading_and_writing s;
    story::saw(s.two, 2.2, false, 2.05);
    s.ended(s.two, 2.3);
    const verdict v = s.judged();
    EXPECT_EQ(broken(v), "") << v.violations.front().text;
    EXPECT_EQ(v.overlaps, 1U);
}

TEST(HistoryModes, KnowThatNumbersBeginAnewInANewDirectory) {
    reading_and_writing s;
    s.told().transactions.push_back(
        {.zxid = 16,
         .wall_ms = 4'000,
         .changes = {{.what = znode_change::kind::removed, .path = story::lock},
                     {.what = znode_change::kind::created, .path = story::lock}}});
    turn& again = s.queued(4, 17, 4.5, lock_mode::exclusive);
    again.znodes.back() = s.told().transactions.back().changes.back().path =
        reading_and_writing::named(1, lock_mode::exclusive);
    s.granted(again, 4.6, 7);
    s.ended(again, 5);
    s.gone(again, 18, 5.001);
    EXPECT_EQ(broken(s.judged()), "");
}

TEST(HistoryModes, RefuseTwoUpgradersAtOnceAndAllowReadersBesideOne) {
    const auto beside = [](lock_mode first) {
        story s;
        s.told().laid_out = layout::readers_writer;
        turn& a = s.asked(1, 10, 1, {.locks = {story::lock}, .mode = first});
        s.created(a, 10, 1, reading_and_writing::named(10, first));
        turn& b = s.asked(2, 11, 1, {.locks = {story::lock}, .mode = lock_mode::upgrade});
        s.created(b, 11, 1, reading_and_writing::named(11, lock_mode::upgrade));
        for (turn* t : {&a, &b}) {
            s.granted(*t, 1.1, 4);
            s.saw(*t, 1.9, true, 4);
            s.ended(*t, 2);
            s.gone(*t, 12 + t->worker, 2.001);
        }
        return broken(s.judged());
    };
    EXPECT_EQ(beside(lock_mode::shared), "");
    EXPECT_EQ(beside(lock_mode::upgrade), "overlap, order");
}

/// A writer becomes a reader in its own place, and lets the reader behind it in.
struct downgrade : reading_and_writing {
    turn& behind = queued(4, 16, 2.5, lock_mode::shared);
    turn& as_reader =
        asked(3, 17, 2.95, {.locks = {lock}, .mode = lock_mode::shared, .converts = 12});

    downgrade() {
        told().transactions.erase(told().transactions.begin() + 5);  // the writer's end
        writer.ended = time(2.95);
        created(as_reader, 18, 2.96, named(12, lock_mode::shared));
        gone(writer, 18, 2.96);
        granted(as_reader, 2.97, 5);
        as_reader.token = 12;
        granted(behind, 3, 5);
        saw(behind, 3.4, true, 5);
        saw(as_reader, 3.5, true, 5);
        ended(as_reader, 3.5);
        gone(as_reader, 19, 3.501);
        ended(behind, 3.5);
        gone(behind, 20, 3.501);
    }
};

TEST(HistoryModes, FindNothingWrongWithADowngrade) {
    downgrade s;
    const verdict v = s.judged();
    EXPECT_EQ(broken(v), "") << v.violations.front().text;
}

TEST(HistoryModes, RefuseAConversionThatChangesTheToken) {
    downgrade s;
    s.as_reader.token = 18;
    EXPECT_EQ(broken(s.judged()), "token");
}

TEST(HistoryModes, AllowAReaderThatWasAWriterToGoOnWhenItIsToldNo) {
    downgrade s;
    turn& goes_on =
        s.asked(3, 30, 3.5, {.locks = {story::lock}, .mode = lock_mode::shared, .converts = 17});
    s.granted(goes_on, 3.5, 6);
    goes_on.token = 12;
    goes_on.znodes = s.as_reader.znodes;
    s.ended(goes_on, 3.501);
    EXPECT_EQ(broken(s.judged()), "");
}

TEST(HistoryModes, RefuseAReaderWhoCameToBeWriterWithTheTokenItHadAsAReader) {
    story s;
    s.told().laid_out = layout::readers_writer;
    turn& reader = s.asked(1, 10, 1, {.locks = {story::lock}, .mode = lock_mode::shared});
    s.created(reader, 10, 1, reading_and_writing::named(10, lock_mode::shared));
    s.granted(reader, 1.1, 4);
    s.ended(reader, 1.5);
    turn& upgrader =
        s.asked(1, 11, 1.5, {.locks = {story::lock}, .mode = lock_mode::upgrade, .converts = 10});
    s.created(upgrader, 12, 1.6, reading_and_writing::named(11, lock_mode::upgrade));
    s.gone(reader, 13, 1.7);
    s.granted(upgrader, 1.8, 4);
    s.ended(upgrader, 2);
    s.gone(upgrader, 14, 2.001);
    upgrader.token = 12;
    EXPECT_EQ(broken(s.judged()), "");
    upgrader.token = 10;
    EXPECT_EQ(broken(s.judged()), "token");
}

TEST(HistoryModes, FindAReaderThatWasNotWoken) {
    reading_and_writing s;
    turn& late = s.queued(4, 16, 2.5, lock_mode::shared);
    turn& behind = s.queued(5, 17, 2.6, lock_mode::shared);
    s.granted(late, 3.1, 6);
    s.ended(late, 30);
    s.gone(late, 18, 30.001);
    s.granted(behind, 8, 10);
    s.ended(behind, 9);
    s.gone(behind, 19, 9.001);
    EXPECT_EQ(broken(s.judged()), "lost wake-up") << "with only readers ahead";
    behind.granted = story::time(6.5);
    behind.observations.front().at = story::time(6.5);
    EXPECT_EQ(broken(s.judged()), "");
}

}  // namespace
}  // namespace latchkey::history
