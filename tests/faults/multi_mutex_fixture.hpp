#pragma once

#include <latchkey/multi_mutex.hpp>

#include "client/client_core.hpp"
#include "stepped_test.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace latchkey::test {

/// All of several znodes, or none, whatever becomes of requests and answers.
class MultiFaults : public SteppedTest {
protected:
    explicit MultiFaults(const ensemble::options& o = exact()) : SteppedTest(o) {}

    [[nodiscard]] bool nothing_left() const {
        return std::all_of(
            paths_.begin(), paths_.end(), [this](const auto& p) { return in_queue(p) == 0; });
    }

    /// One znode a path, all of one creation: positions in the queues that were taken in different
    /// transactions could wait for each other.
    void expect_whole(const hold& h) {
        EXPECT_TRUE(h.valid());
        std::set<std::int64_t> creations;
        for (const std::string& znode : h.paths()) {
            const auto found = ensemble_.get(znode);
            ASSERT_TRUE(found) << znode;
            EXPECT_EQ(found->ephemeral_owner, a_.session_id());
            creations.insert(found->czxid);
        }
        EXPECT_EQ(h.paths().size(), paths_.size());
        EXPECT_EQ(creations.size(), 1U);
        EXPECT_GE(h.token().zxid, *creations.begin());
    }

    void expect_one_each() {
        EXPECT_TRUE(ensemble_.run_until(
            [this] {
                return std::all_of(paths_.begin(), paths_.end(), [this](const auto& p) {
                    return in_queue(p) == 1;
                });
            },
            60s));
    }

    /// Another creation of the attempt that made `paths` is sent now.
    void arrives_late(const std::vector<std::string>& paths) {
        constexpr std::size_t digits = 10;
        std::vector<request> late;
        for (const std::string& path : paths) {
            late.push_back(request::create(path.substr(0, path.size() - digits),
                                           {},
                                           create_mode::ephemeral_sequential,
                                           open_unsafe_acl()));
        }
        client_core& core = *client_core::of(a_);
        core.post([&core, late] { core.submit(request::multi(late), [](const reply&) {}); });
    }

    static constexpr auto for_ever = std::chrono::nanoseconds::max();

    const std::vector<std::string> paths_{"/x", "/y", "/z"};
    client a_ = connected();
    client b_ = connected();
    multi_mutex mine_{a_, paths_};
    mutex y_{b_, "/y"};
};

}  // namespace latchkey::test
