#include <latchkey/ensemble.hpp>
#include <latchkey/mutex.hpp>

#include "client/blocking_read.hpp"
#include "client/client_core.hpp"
#include "program_output.hpp"

#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace latchkey::test {
namespace {

constexpr const char* hidden_name = "_c_01234567-89ab-4cde-8f01-23456789abcd-lock-0000000000";

/// Commands of a client without credentials, on servers whose `exists` needs READ, and on older
/// ones.
class HiddenZnodes : public ::testing::TestWithParam<bool> {
protected:
    HiddenZnodes() {
        servers_.create("/jobs");
        servers_.create("/jobs/nightly");
        const reply r = blocking_read(*client_core::of(owner_),
                                      request::create("/jobs/nightly/" + std::string(hidden_name),
                                                      "secret",
                                                      create_mode::ephemeral,
                                                      creator_only_acl()));
        EXPECT_TRUE(r.ok());
    }

    [[nodiscard]] running_program run(const words& all) const {
        return std::make_unique<program>(
            all, program_surroundings{.environment = {{"LATCHKEY_SERVERS", address_}}});
    }

    ::latchkey::testing::ensemble servers_{{.servers = 1, .exists_needs_read = GetParam()}};
    const std::string address_ = servers_.serve();
    client owner_ = servers_.connect({.auth = {{"digest", "owner:password"}}});
};

TEST_P(HiddenZnodes, AreNoObstacleForPing) {
    servers_.set_acl("/", {{"digest", "root:nobody knows", permission::all}});
    EXPECT_THAT(
        out_of(run({"ping", "-n", "2"})),
        AllOf(HasSubstr("  read                2 "), HasSubstr("  quorum write        2 ")));
}

TEST_P(HiddenZnodes, AreShownByNameToWho) {
    EXPECT_THAT(out_of(run({"who", "/jobs/nightly"})),
                AllOf(HasSubstr("mutex, 1 holding, 0 waiting"),
                      HasSubstr("hidden by its access control list"),
                      HasSubstr(hidden_name),
                      Not(HasSubstr("no session")),
                      Not(HasSubstr("secret"))));
    const auto seen = object_of(run({"who", "--json", "/jobs/nightly"}));
    const auto& holder = seen["participants"][0];
    EXPECT_EQ(holder["state"], "holds");
    EXPECT_EQ(holder["readable"], false);
    for (const auto& field : words_of("session ephemeral session_alive created token")) {
        EXPECT_EQ(holder[field].is_null(), GetParam()) << field << holder[field];
    }
}

TEST_P(HiddenZnodes, AreCountedByTree) {
    EXPECT_THAT(out_of(run({"tree", "/jobs"})),
                AllOf(HasSubstr("mutex"), HasSubstr("hidden by its access control list")));
}

TEST_P(HiddenZnodes, HaveNoFaultThatDoctorFinds) {
    EXPECT_THAT(out_of(run({"doctor", "/jobs"})), Not(HasSubstr("holder_without_session")));
}

TEST_P(HiddenZnodes, CanBeBrokenByWhoeverMayDeleteThem) {
    const words deletes{"break", "--yes", "--reason", "its host is gone"};
    EXPECT_THAT(out_of(run(joined(deletes, {"/jobs/nightly", hidden_name}))),
                HasSubstr("deleted /jobs/nightly/"));
    EXPECT_TRUE(servers_.children("/jobs/nightly").empty());
}

INSTANTIATE_TEST_SUITE_P(Of, HiddenZnodes, ::testing::Bool(), [](const auto& p) {
    return p.param ? "NewerServers" : "OlderServers";
});

}  // namespace
}  // namespace latchkey::test
