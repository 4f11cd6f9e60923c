#include "session_contract.hpp"

#include <string>

namespace latchkey::test {
namespace {

TEST_P(SessionContract, ListsOfAccessAreKept) {
    expect_kept({
        {"ACreatorOnlyZnodeIsClosedToOthers",
         "alice: create a=data for creator; "
         "get a -> no_auth; set a -> no_auth; list a -> no_auth; "
         "create a/b -> no_auth; check a -> no_auth: no_auth; "
         "bob: get a -> no_auth; bob: set a -> no_auth; bob: list a -> no_auth; "
         "bob: create a/b -> no_auth; bob: check a -> no_auth: no_auth; alice: get a -> data"},
        {"RemoveNeedsPermissionOnTheParentAndNotOnTheZnode",
         "alice: create mine for creator; remove mine; "
         "create d for rc; create d/c; remove d/c -> no_auth"},
        {"ReadAllowsToReadOnly",
         "create r for r; get r -> nothing; list r -> nothing; check r; "
         "set r -> no_auth; create r/c -> no_auth"},
        {"WriteAllowsToWriteOnly", "create w for w; set w; get w -> no_auth"},
        {"CreateAllowsToCreateOnly",
         "create c for c; create c/c; remove c/c -> no_auth; list c -> no_auth"},
        {"AListIsNotInherited", "create d for c; create d/c=x; get d/c -> x"},
        {"WithoutAnIdentityThereIsNoCreator",
         "create a for creator -> invalid_acl; exists a -> no_node"},
        {"ExistsTellsWhatIsNotThere",
         "alice: create a for creator; alice: exists a; exists none -> no_node"},
    });
}

TEST_P(SessionContract, TheSameIdentityIsLetInOnAnySession) {
    const session_options::identity alice{"digest", "alice:secret"};
    ASSERT_TRUE(another({alice})->ask(create(at("a"), plain, "data", creator_only_acl())).ok());
    const auto same = another({{"digest", "bob:secret"}, alice});
    catch_up(*same);
    EXPECT_EQ(same->ask(request::get(at("a"))).data, "data");
    EXPECT_EQ(same->ask(request::set(at("a"), "new")).code, result_code::ok);
    same->on_loop([&] { same->reconnect(); });
    ASSERT_TRUE(same->wait_for("connected", 2));
    EXPECT_EQ(same->ask(request::get(at("a"))).data, "new") << "also on the next connection";
    catch_up(*main_);
    EXPECT_EQ(main_->ask(request::exists(at("a"))).code,
              ensemble_->exists_needs_read() ? result_code::no_auth : result_code::ok)
        << "it needs the permission on newer servers, and nothing on older ones";
}

TEST_P(SessionContract, ADigestAclIsMetByTheSecretBehindIt) {
    const acl access{{"digest", "user:smGaoVKd/cQkjm7b88GyorAUz20=", permission::all}};
    main_->ask(create(at("a"), plain, "data", access));
    EXPECT_EQ(main_->ask(request::get(at("a"))).code, result_code::no_auth);
    const auto user = another({{"digest", "user:pass"}});
    catch_up(*user);
    EXPECT_EQ(user->ask(request::get(at("a"))).data, "data");
}

TEST_P(SessionContract, CredentialsThatTheServersRefuseEndTheSession) {
    subject s(*ensemble_, {{"no-such-scheme", "id"}});
    ASSERT_TRUE(s.wait_for("auth_failed"));
    EXPECT_EQ(s.ask(request::exists(base())).code, result_code::session_expired);
    EXPECT_EQ(s.count("auth_failed"), 1U);
    EXPECT_LE(s.count("connected"), 1U) << "it does not try again";
}

}  // namespace
}  // namespace latchkey::test
