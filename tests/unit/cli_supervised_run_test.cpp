#include "cli_supervisor_fixture.hpp"
#include "supervised_run.hpp"

#include <functional>
#include <memory>
#include <new>

namespace latchkey::cli {

namespace {

/// Valid for an hour; its functions are told when they are called.
class scripted_tenure final : public held_resource {
public:
    scripted_tenure(std::function<void()> on_valid_until, std::function<void()> on_end)
        : on_valid_until_(std::move(on_valid_until)), on_end_(std::move(on_end)) {}

    ~scripted_tenure() override { on_end_(); }

    [[nodiscard]] bool valid() const override { return true; }

    [[nodiscard]] boottime_clock::time_point valid_until() const override {
        on_valid_until_();
        return end_;
    }

    [[nodiscard]] std::stop_token lost() const override { return {}; }

    [[nodiscard]] loss why_lost() const override { return loss::none; }

    [[nodiscard]] std::int64_t token() const override { return 42; }

    [[nodiscard]] std::vector<std::string> nodes() const override { return {"/a/b"}; }

    [[nodiscard]] std::stop_token wanted() const override { return {}; }

private:
    std::function<void()> on_valid_until_;
    std::function<void()> on_end_;
    boottime_clock::time_point end_ = boottime_clock::now() + 1h;
};

class SupervisedRun : public supervisor_fixture {
protected:
    /// Without servers: `granted` is there at once.
    static run_kind at_once(const std::function<std::unique_ptr<held_resource>()>& granted) {
        return {.attempt = [granted](client&, std::stop_token, const place_listener&) {
            return attempt_result{granted()};
        }};
    }
};

TEST_F(SupervisedRun, ThatFailsReleasesWhenTheCommandIsDead) {
    bool released = false;
    const auto no_memory = [&] {
        if (exists("stray") && exists("main")) {
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
    const auto what =
        at_once([&] { return std::make_unique<scripted_tenure>(no_memory, release); });
    supervisor command(options.command, arriving_);
    const status_output told(false, false);
    EXPECT_THROW(
        static_cast<void>(
            supervised_run(options, client_options{}, what, arriving_, &command, told).execute()),
        std::bad_alloc);
    EXPECT_TRUE(released);
}

}  // namespace

}  // namespace latchkey::cli
