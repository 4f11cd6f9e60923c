#include "session_contract.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace latchkey::test {
namespace {

const session_options::identity alice{"digest", "alice:secret"};
const session_options::identity bob{"digest", "bob:secret"};

acl only_world_may(permission p) {
    return {{"world", "anyone", p}};
}

TEST_P(SessionContract, ACreatorOnlyZnodeIsClosedToOthers) {
    const auto owner = another({alice});
    ASSERT_EQ(owner->ask(create(at("a"), plain, "data", creator_only_acl())).code, result_code::ok);
    for (const auto& stranger : {another(), another({bob})}) {
        catch_up(*stranger);
        EXPECT_EQ(stranger->ask(request::get(at("a"))).code, result_code::no_auth);
        EXPECT_EQ(stranger->ask(request::set(at("a"), "")).code, result_code::no_auth);
        EXPECT_EQ(stranger->ask(request::children(at("a"))).code, result_code::no_auth);
        EXPECT_EQ(stranger->ask(create(at("a/b"))).code, result_code::no_auth);
        EXPECT_EQ(stranger->ask(request::multi({request::check(at("a"))})).code,
                  result_code::no_auth);
    }
    EXPECT_EQ(owner->ask(request::get(at("a"))).data, "data");
}

TEST_P(SessionContract, TheSameIdentityIsLetInOnAnySession) {
    ASSERT_EQ(another({alice})->ask(create(at("a"), plain, "data", creator_only_acl())).code,
              result_code::ok);
    const auto same = another({bob, alice});
    catch_up(*same);
    EXPECT_EQ(same->ask(request::get(at("a"))).data, "data");
    EXPECT_EQ(same->ask(request::set(at("a"), "new")).code, result_code::ok);
    same->on_loop([&] { same->reconnect(); });
    ASSERT_TRUE(same->wait_for("connected", 2));
    EXPECT_EQ(same->ask(request::get(at("a"))).data, "new") << "also on the next connection";
}

TEST_P(SessionContract, ExistsNeedsReadOnNewerServersAndNothingOnOlderOnes) {
    const auto owner = another({alice});
    owner->ask(create(at("a"), plain, "data", creator_only_acl()));
    catch_up(*main_);
    EXPECT_EQ(main_->ask(request::exists(at("a"))).code,
              ensemble_->exists_needs_read() ? result_code::no_auth : result_code::ok);
    EXPECT_EQ(main_->ask(request::exists(at("none"))).code, result_code::no_node);
    EXPECT_EQ(owner->ask(request::exists(at("a"))).code, result_code::ok);
}

TEST_P(SessionContract, RemoveNeedsPermissionOnTheParentAndNotOnTheZnode) {
    const auto owner = another({alice});
    owner->ask(create(at("mine"), plain, "", creator_only_acl()));
    EXPECT_EQ(main_->ask(request::remove(at("mine"))).code, result_code::ok);

    main_->ask(create(at("d"), plain, "", only_world_may(permission::read | permission::create)));
    main_->ask(create(at("d/c")));
    EXPECT_EQ(main_->ask(request::remove(at("d/c"))).code, result_code::no_auth);
}

TEST_P(SessionContract, EachPermissionAllowsOneThing) {
    main_->ask(create(at("r"), plain, "", only_world_may(permission::read)));
    EXPECT_EQ(main_->ask(request::get(at("r"))).code, result_code::ok);
    EXPECT_EQ(main_->ask(request::children(at("r"))).code, result_code::ok);
    EXPECT_EQ(main_->ask(request::multi({request::check(at("r"))})).code, result_code::ok);
    EXPECT_EQ(main_->ask(request::set(at("r"), "")).code, result_code::no_auth);
    EXPECT_EQ(main_->ask(create(at("r/c"))).code, result_code::no_auth);

    main_->ask(create(at("w"), plain, "", only_world_may(permission::write)));
    EXPECT_EQ(main_->ask(request::set(at("w"), "")).code, result_code::ok);
    EXPECT_EQ(main_->ask(request::get(at("w"))).code, result_code::no_auth);

    main_->ask(create(at("c"), plain, "", only_world_may(permission::create)));
    EXPECT_EQ(main_->ask(create(at("c/c"))).code, result_code::ok);
    EXPECT_EQ(main_->ask(request::remove(at("c/c"))).code, result_code::no_auth);
    EXPECT_EQ(main_->ask(request::children(at("c"))).code, result_code::no_auth);
}

TEST_P(SessionContract, AnAclIsNotInherited) {
    main_->ask(create(at("d"), plain, "", only_world_may(permission::create)));
    main_->ask(create(at("d/c"), plain, "x"));
    EXPECT_EQ(main_->ask(request::get(at("d/c"))).data, "x");
}

TEST_P(SessionContract, ADigestAclIsMetByTheSecretBehindIt) {
    const acl access{{"digest", "user:smGaoVKd/cQkjm7b88GyorAUz20=", permission::all}};
    main_->ask(create(at("a"), plain, "data", access));
    EXPECT_EQ(main_->ask(request::get(at("a"))).code, result_code::no_auth);
    const auto user = another({{"digest", "user:pass"}});
    catch_up(*user);
    EXPECT_EQ(user->ask(request::get(at("a"))).data, "data");
}

TEST_P(SessionContract, InvalidAclsAreRefused) {
    const std::vector<acl> invalid{creator_only_acl(),  // by one who has no identity
                                   {{"digest", "no-colon", permission::all}},
                                   {{"no-such-scheme", "id", permission::all}},
                                   {{"world", "somebody", permission::all}}};
    for (const acl& access : invalid) {
        EXPECT_EQ(main_->ask(create(at("a"), plain, "", access)).code, result_code::invalid_acl)
            << access.front().scheme;
    }
    EXPECT_TRUE(gone(*main_, at("a")));
}

TEST_P(SessionContract, CredentialsThatTheServersRefuseEndTheSession) {
    subject s(*ensemble_, {{"no-such-scheme", "id"}});
    ASSERT_TRUE(s.wait_for("auth_failed"));
    EXPECT_EQ(s.ask(request::exists(base())).code, result_code::session_expired);
}

}  // namespace
}  // namespace latchkey::test
