#include "cli_supervisor_fixture.hpp"
#include "options/auth_file.hpp"
#include "run/supervised_run.hpp"

#include <functional>
#include <memory>
#include <new>

namespace latchkey::cli {

namespace {

class SupervisedRun : public supervisor_fixture {
protected:
    /// Valid for an hour. `on_end` is called when it is released.
    static held_resource valid_for_an_hour(const std::function<void()>& on_valid_until,
                                           const std::function<void()>& on_end) {
        const std::shared_ptr<void> owner(nullptr, [on_end](void*) { on_end(); });
        return {.valid = [] { return true; },
                .valid_until =
                    [on_valid_until, owner, end = boottime_clock::now() + 1h] {
                        on_valid_until();
                        return end;
                    },
                .why_lost = [] { return loss_reason::none; },
                .token = 42,
                .nodes = {"/a/b"}};
    }
};

TEST_F(SupervisedRun, ThatFailsReleasesWhenTheCommandIsDead) {
    bool released = false;
    const auto no_memory = [&] {
        if (has_line("stray") && has_line("main")) {
            throw std::bad_alloc();
        }
    };
    const auto release = [&] {
        released = true;
        EXPECT_TRUE(dead(pid_in("main")) && dead(pid_in("stray")));
    };
    run_options options;
    options.servers = "127.0.0.1:1";
    options.path = "/a";
    options.command = shell(with_stray_grandchild);
    // Without servers: it is acquired at once.
    const run_kind at_once{.acquire = [&](client&, const std::stop_token&, const place_listener&) {
        return valid_for_an_hour(no_memory, release);
    }};
    const status_output output(false, false);
    forget_credentials();
    EXPECT_THROW(static_cast<void>(supervised_run(options, at_once, output).execute()),
                 std::bad_alloc);
    EXPECT_TRUE(released);
}

}  // namespace

}  // namespace latchkey::cli
