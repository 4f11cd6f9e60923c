#include "directories/directory_maker.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace latchkey {
namespace {

using ::testing::ElementsAre;
using last_level = directory_maker::last_level;

const acl own = {{"auth", "", permission::all}};
const acl team = {{"digest", "team:hash", permission::all}};

/// Servers with a few znodes and their lists, which answer when they are told to.
class DirectoryMaker : public ::testing::Test {
protected:
    void send(request r, session::completion done) {
        waiting_.emplace_back(std::move(r), std::move(done));
    }

    reply answer(const request& r) {
        reply a;
        const auto found = lists_.find(r.path);
        if (r.what == request::kind::get_acl) {
            a.code = found == lists_.end() ? result_code::no_node : result_code::ok;
            a.access = found == lists_.end() ? acl() : found->second;
            return a;
        }
        const std::string above = r.path.substr(0, std::max<std::size_t>(r.path.rfind('/'), 1));
        if (found != lists_.end()) {
            a.code = result_code::node_exists;
        } else if (!lists_.contains(above)) {
            a.code = result_code::no_node;
        } else if (above == refusing_) {
            a.code = result_code::no_auth;
        } else {
            lists_[r.path] = r.access;
        }
        return a;
    }

    void answer_all() { answer_next(std::numeric_limits<std::size_t>::max()); }

    void answer_next(std::size_t count) {
        for (; count > 0 && !waiting_.empty(); --count) {
            auto first = std::move(waiting_.front());
            waiting_.erase(waiting_.begin());
            first.second(answer(first.first));
        }
    }

    auto made(const std::string& path, last_level last = last_level::access) {
        auto made = maker_.make(path, own, last);
        answer_all();
        return made;
    }

    /// What a make() of "/p/lock" sends: two levels, the directory, and a look at it.
    static constexpr std::size_t looks = 4;

    std::map<std::string, acl> lists_{{"/", open_unsafe_acl()}};
    std::string refusing_;
    std::vector<std::pair<request, session::completion>> waiting_;
    std::vector<std::string> exposed_;
    directory_maker maker_{
        {.send = [this](request r,
                        session::completion done) { send(std::move(r), std::move(done)); },
         .exposed = [this](const std::string& path,
                           const std::string& which) { exposed_.push_back(path + ": " + which); }}};
};

TEST_F(DirectoryMaker, GivesMissingParentsTheListOfTheLevelAbove) {
    lists_["/team"] = team;
    EXPECT_TRUE(made("/team/q/lock").repeated());
    EXPECT_EQ(lists_["/team/q"], team);
    EXPECT_EQ(lists_["/team/q/lock"], own);
    made("/team/a/barrier", last_level::parent);
    EXPECT_EQ(lists_["/team/a"], team);
    EXPECT_EQ(lists_["/team/a/barrier"], team);
    EXPECT_THAT(exposed_, ElementsAre());
}

TEST_F(DirectoryMaker, CreatesTheDirectoryBesideTheLooksIfItsParentsExist) {
    lists_["/p"] = team;
    const auto made = maker_.make("/p/lock", own, last_level::access);
    EXPECT_EQ(waiting_.size(), 4U) << "two levels above, the create, the look at what is there";
    answer_all();
    EXPECT_FALSE(made.repeated());
    EXPECT_EQ(lists_["/p/lock"], own);
    EXPECT_EQ(lists_.size(), 3U);
}

TEST_F(DirectoryMaker, SendsOneCreateForEachLevelWhereAllIsOpen) {
    static_cast<void>(maker_.make("/a/b/c", open_unsafe_acl(), last_level::access));
    EXPECT_EQ(waiting_.size(), 3U);
    answer_all();
    EXPECT_EQ(lists_["/a/b/c"], open_unsafe_acl());
}

TEST_F(DirectoryMaker, CopiesNoListWhoseHashesAreHidden) {
    lists_["/team"] = {{"digest", "team:x", permission::all}};
    made("/team/q/lock");
    EXPECT_EQ(lists_["/team/q"], own);
}

TEST_F(DirectoryMaker, SaysWhyALevelCannotBeCreatedWhenItIsTriedAgain) {
    refusing_ = "/";
    for (int i = 0; i < 2; ++i) {
        EXPECT_EQ(made("/p/lock").cause_of(result_code::no_node), result_code::no_auth);
    }
    const auto before = made("/p/lock");
    const auto again = before.then(maker_.make("/p/lock", own, last_level::access));
    answer_next(looks);
    EXPECT_EQ(again.cause_of(result_code::no_node), result_code::no_auth);
    answer_all();
    EXPECT_EQ(again.cause_of(result_code::no_node), result_code::no_auth);
}

TEST_F(DirectoryMaker, SaysNothingOfWhatAnEarlierCallWasRefused) {
    refusing_ = "/";
    made("/p/lock");
    refusing_.clear();
    const auto later = maker_.make("/p/lock", own, last_level::access);
    answer_next(looks);
    EXPECT_EQ(later.cause_of(result_code::no_node), result_code::no_node);
    answer_all();
    EXPECT_TRUE(later.repeated());
    EXPECT_EQ(later.cause_of(result_code::no_node), result_code::no_node);
    EXPECT_EQ(lists_["/p/lock"], own);
}

TEST_F(DirectoryMaker, SaysNothingOfALevelThatExistsWhenItIsTriedAgain) {
    refusing_ = "/";
    const auto before = made("/p/lock");
    lists_["/p"] = team;
    const auto again = before.then(maker_.make("/p/lock", own, last_level::access));
    answer_all();
    EXPECT_EQ(again.cause_of(result_code::no_node), result_code::no_node);
}

TEST_F(DirectoryMaker, ReportsADirectoryThatIsOpenOnce) {
    lists_["/lock"] = open_unsafe_acl();
    made("/lock");
    made("/lock");
    EXPECT_THAT(exposed_, ElementsAre("/lock: CREATE, DELETE, WRITE, ADMIN"));
}

TEST_F(DirectoryMaker, ReportsOnlyRightsThatTheListOfTheRecipeKeeps) {
    const auto everyone = [](permission p) { return acl_entry{"world", "anyone", p}; };
    lists_["/seen"] = {everyone(permission::read), {"digest", "a:b", permission::all}};
    lists_["/joined"] = {everyone(permission::read | permission::create)};
    lists_["/deleted"] = {everyone(permission::remove)};
    const acl wanted = {everyone(permission::create), {"auth", "", permission::all}};
    for (const char* path : {"/seen", "/joined", "/deleted"}) {
        maker_.look_at(path, wanted);
    }
    answer_all();
    EXPECT_THAT(exposed_, ElementsAre("/deleted: DELETE"));
}

}  // namespace
}  // namespace latchkey
