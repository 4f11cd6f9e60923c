#pragma once

#include <latchkey/client.hpp>
#include <latchkey/mutex.hpp>

#include "cli_processes.hpp"
#include "cli_words.hpp"
#include "eventually.hpp"
#include "program_output.hpp"
#include "real_ensemble.hpp"
#include "world.hpp"

#include <csignal>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace latchkey::test {

/// What tests of the commands share: a folder for the files that commands write ($DIR), a path of
/// their own, and a client that sees what is there.
class command_fixture : public ::testing::Test {
protected:
    explicit command_fixture(std::string servers = real_ensemble::shared().connect_string())
        : servers_(std::move(servers)) {}

    /// "latchkey LINE REST", with the servers in the environment. In the line, PATH is the path of
    /// the test.
    running_program run(const std::string& line,
                        const words& rest = {},
                        program_surroundings around = {}) const {
        around.environment.emplace("LATCHKEY_SERVERS", servers_);
        around.environment.emplace("DIR", folder_.path().string());
        return std::make_unique<program>(joined(with_path(line), rest), around);
    }

    /// The same with a command for /bin/sh.
    running_program run_sh(const std::string& line,
                           const std::string& script,
                           const program_surroundings& around = {}) const {
        return run(line, {"--", "/bin/sh", "-c", script}, around);
    }

    /// A latchkey without a command that has what it asks for.
    running_program holding(const std::string& line,
                            const words& rest = {},
                            const program_surroundings& around = {}) const {
        auto p = run(line, rest, around);
        EXPECT_TRUE(eventually([&] { return !p->out().empty(); })) << p->err();
        return p;
    }

    [[nodiscard]] words with_path(const std::string& line) const {
        words all = words_of(line);
        for (std::string& word : all) {
            if (const auto at = word.find("PATH"); at != std::string::npos) {
                word.replace(at, 4, path_);
            }
        }
        return all;
    }

    [[nodiscard]] client& view() {
        if (!view_) {
            view_ = std::make_unique<client>(client::connect(servers_));
        }
        catch_up(*view_);
        return *view_;
    }

    [[nodiscard]] std::size_t participants() { return mutex(view(), path_).participants().size(); }

    [[nodiscard]] bool eventually_participants(std::size_t count) {
        return eventually([&] { return participants() == count; });
    }

    [[nodiscard]] participant holder() { return mutex(view(), path_).holder().value(); }

    /// Another client deletes a znode.
    void remove_znode(const std::string& path) {
        mutex other(view(), real_ensemble::fresh_path());
        other.acquire().transact({operation::remove(path)});
    }

    const std::string servers_;
    std::string path_ = real_ensemble::fresh_path();
    const command_folder folder_;

private:
    std::unique_ptr<client> view_;
};

/// Has a digest: a user whose znodes are closed to the others.
inline const program_surroundings jo{.environment = {{"LATCHKEY_AUTH", "digest jo:secret"}}};

/// Runs under the next hold: ends with another status than 0 while a process of `family` lives.
inline constexpr const char* fails_beside_the_family =
    "kill -0 $(cat $DIR/main) 2>/dev/null && exit 1; "
    "kill -0 $(cat $DIR/stray) 2>/dev/null && exit 2; exit 0";

/// Writes its process id to a file, and does something at a TERM.
[[nodiscard]] inline std::string at_term(const std::string& action) {
    return "trap '" + action + "' TERM; echo $$ >$DIR/main; while :; do sleep 0.01; done";
}

}  // namespace latchkey::test
