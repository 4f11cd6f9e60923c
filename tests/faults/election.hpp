#pragma once

#include <latchkey/leader_latch.hpp>

#include "every_step.hpp"
#include "leader/leader_record.hpp"
#include "leader_story.hpp"
#include "stepped_test.hpp"

#include <algorithm>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace latchkey::test {

/// Candidates on a stepped ensemble, each with a session of its own. After each event it is looked
/// at what must never be: two leaders, a token that does not grow, a term that was not told.
class election : public SteppedTest {
protected:
    struct candidate {
        explicit candidate(client c) : session(std::move(c)) {}

        client session;
        leader_story story;
        std::unique_ptr<leader_latch> latch;
        subscription told;

        [[nodiscard]] std::int64_t id() const { return session.session_id(); }
    };

    struct couple {
        candidate& first;
        candidate& second;
    };

    using SteppedTest::SteppedTest;

    /// A candidate that has not started.
    candidate& add(leader_options o = {}) {
        candidate& added = candidates_.emplace_back(connected());
        added.latch = std::make_unique<leader_latch>(added.session, path, std::move(o));
        added.told = added.latch->on_change(added.story.teller());
        return added;
    }

    /// One that leads.
    candidate& leading(leader_options o = {}) {
        candidate& c = add(std::move(o));
        c.latch->start();
        EXPECT_TRUE(leads(c));
        return c;
    }

    /// One that waits behind those that are there.
    candidate& following(leader_options o = {}) {
        candidate& c = add(std::move(o));
        c.latch->start();
        run_for(100ms);
        EXPECT_FALSE(c.latch->is_leader());
        return c;
    }

    /// One that leads, and one behind it.
    couple leader_and_follower(const leader_options& o = {}) { return {leading(o), following(o)}; }

    /// One that leads with the token of a write, so that the one behind it has to write as well: it
    /// was behind a leader whose record somebody has put back.
    couple leader_by_a_write_and_follower() {
        candidate& before = leading();
        const couple both{following({.id = "first"}), following({.id = "second"})};
        ensemble_.set(path, ensemble_.get(path)->data);
        before.latch.reset();
        EXPECT_TRUE(leads(both.first));
        run_for(100ms);
        return both;
    }

    /// The same client's, as after a start of its process.
    void begin_anew(candidate& c, leader_options o = {}) {
        c.latch = std::make_unique<leader_latch>(c.session, path, std::move(o));
        c.story.begin_anew();
        c.told = c.latch->on_change(c.story.teller());
        c.latch->start();
    }

    bool run_until(const std::function<bool()>& done, ensemble::duration limit = 60s) {
        return ensemble_.run_until(
            [&] {
                look();
                return done();
            },
            limit);
    }

    void run_for(ensemble::duration d) {
        run_until([] { return false; }, d);
    }

    /// Something that is done then, during a round of at_every_moment().
    void at(ensemble::duration then, std::function<void()> act) {
        due_ = then;
        act_ = std::move(act);
    }

    /// As at_every_step(), with a look after each event; no candidate outlives its round.
    template <class Begin, class Happens, class End>
    int at_every_moment(ensemble::duration stretch, Begin begin, Happens happens, End end) {
        return at_every_step({.of = ensemble_,
                              .stretch = stretch,
                              .at_least = one_way / 4,
                              .look = [this] { look(); }},
                             begin,
                             happens,
                             [&](auto& scenario) {
                                 act_ = nullptr;
                                 end(scenario);
                                 candidates_.clear();
                                 EXPECT_TRUE(ensemble_.run_until(
                                     [&] { return ensemble_.children(path).empty(); }, 60s));
                                 if (ensemble_.exists(path)) {
                                     ensemble_.set(path, "");
                                 }
                             });
    }

    bool leads(const candidate& c, ensemble::duration limit = 120s) {
        return run_until([&] { return c.latch->is_leader(); }, limit);
    }

    bool somebody_leads(ensemble::duration limit = 120s) {
        return run_until([&] { return leader() != nullptr; }, limit);
    }

    const candidate* leader() const {
        for (const candidate& c : candidates_) {
            if (c.latch && c.latch->is_leader()) {
                return &c;
            }
        }
        return nullptr;
    }

    /// Somebody ends sessions, or deletes znodes, as ZooKeeper does not by itself. Who leads knows
    /// of it a moment later; meanwhile only the tokens tell him from his successor.
    void by_force(const std::function<void()>& act) {
        act();
        believed_until_ = ensemble_.now() + 1s;
    }

    /// Its session ends on the servers, which say so when the client comes back.
    void replace(const candidate& c) {
        const auto session = c.id();
        ensemble_.replace(session);
        ensemble_.cut(session);
    }

    /// As the servers have it.
    std::optional<leader_record> record() {
        const auto znode = ensemble_.get(path);
        return znode ? read_leader_record(znode->data) : std::nullopt;
    }

    /// The paths of all candidates' znodes.
    std::vector<std::string> znodes() const {
        std::vector<std::string> all = ensemble_.children(path);
        for (std::string& name : all) {
            name.insert(0, path + "/");
        }
        return all;
    }

    void remove_znodes_but(const std::string& kept = {}) {
        for (const std::string& znode : znodes()) {
            if (znode != kept) {
                ensemble_.remove(znode);
            }
        }
    }

    /// The outcome of each proclamation, in the order in which it is reported.
    using outcomes = std::shared_ptr<std::vector<std::error_code>>;

    static outcomes proclaim(const leadership& term, const std::vector<std::string>& all) {
        auto told = std::make_shared<std::vector<std::error_code>>();
        for (const std::string& data : all) {
            term.async_proclaim(data, [told](std::error_code ec) { told->push_back(ec); });
        }
        return told;
    }

    /// It leads in time, and all is as it should be.
    void expect_leads(const candidate& c, ensemble::duration limit = 120s) {
        ASSERT_TRUE(leads(c, limit));
        expect_in_order(c);
        expect_pairs(c);
    }

    /// One znode, and a record that tells of its term.
    void expect_in_order(const candidate& c) {
        run_for(5s);  // what no caller waits for is done
        const leadership term = c.latch->term();
        EXPECT_TRUE(term.valid());
        const auto there = [](const candidate& one) { return one.latch != nullptr; };
        EXPECT_EQ(std::count_if(candidates_.begin(), candidates_.end(), there),
                  std::ptrdiff_t(znodes().size()));
        const auto znode = ensemble_.get(path);
        const auto r = record();
        ASSERT_TRUE(r);
        EXPECT_EQ(path + "/" + r->znode, term.path());
        EXPECT_EQ(r->is, leader_record::state::leading);
        EXPECT_EQ(token_of(*r, znode->mzxid), term.token());
        const auto own = ensemble_.get(term.path());
        EXPECT_EQ(own->version, 0) << "a candidate's znode is never written";
        EXPECT_EQ(own->ephemeral_owner, c.id());
    }

    /// Each term was told, and each end of one.
    void expect_pairs(const candidate& c) {
        run_for(100ms);
        bool leads = false;
        for (const std::string& line : c.story.told()) {
            const bool elected = line == "elected";
            EXPECT_NE(line, "lost, and valid");
            if (elected || line.starts_with("lost")) {
                EXPECT_NE(elected, leads) << line;
                leads = elected;
            }
        }
        if (c.latch) {  // else it was closed without a word
            EXPECT_EQ(leads, c.latch->is_leader());
        }
    }

    static inline const std::string path = "/leader";
    std::list<candidate> candidates_;

private:
    void look() {
        if (act_ && ensemble_.now() >= due_) {
            std::exchange(act_, nullptr)();
        }
        int leaders = 0;
        for (const candidate& c : candidates_) {
            if (!c.latch || !c.latch->is_leader()) {
                continue;
            }
            ++leaders;
            const leadership term = c.latch->term();
            if (ensemble_.now() < believed_until_ && term.token() < last_token_) {
                continue;
            }
            if (term.path() != last_path_) {
                EXPECT_GT(term.token(), last_token_) << term.path();
                last_path_ = term.path();
                last_token_ = term.token();
            }
            EXPECT_EQ(term.token(), last_token_);
        }
        EXPECT_LE(leaders, ensemble_.now() < believed_until_ ? 2 : 1);
    }

    std::string last_path_;
    fencing_token last_token_;
    ensemble::duration believed_until_{};
    ensemble::duration due_{};
    std::function<void()> act_;
};

}  // namespace latchkey::test
