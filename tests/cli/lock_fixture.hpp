#pragma once

#include <latchkey/client.hpp>
#include <latchkey/mutex.hpp>

#include "eventually.hpp"
#include "program.hpp"
#include "real_ensemble.hpp"
#include "world.hpp"

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace latchkey::test {

/// What tests of `latchkey lock` share: a folder for the files that commands write ($DIR), a lock
/// of their own, and a client of their own that sees the lock's queue.
class lock_fixture : public ::testing::Test {
protected:
    using words = std::vector<std::string>;

    explicit lock_fixture(std::string servers) : servers_(std::move(servers)) {
        auto name = (std::filesystem::temp_directory_path() / "lockXXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) {
            throw std::system_error(errno, std::generic_category(), name);
        }
        folder_ = name;
    }

    ~lock_fixture() override {
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
    }

    /// "latchkey lock OPTIONS PATH REST", with the servers in the environment.
    std::unique_ptr<program> lock(const words& options,
                                  const words& rest = {},
                                  const program_surroundings& around = {}) const {
        return start("lock", options, rest, around);
    }

    /// The same for another of latchkey's commands.
    std::unique_ptr<program> start(const char* command,
                                   words options,
                                   const words& rest,
                                   program_surroundings around) const {
        options.insert(options.begin(), command);
        options.push_back(path_);
        options.insert(options.end(), rest.begin(), rest.end());
        around.environment.emplace("LATCHKEY_SERVERS", servers_);
        around.environment.emplace("DIR", folder_.string());
        return std::make_unique<program>(options, around);
    }

    /// The same with a command for /bin/sh.
    std::unique_ptr<program> lock_sh(const words& options, const std::string& script) const {
        return lock(options, {"--", "/bin/sh", "-c", script});
    }

    [[nodiscard]] std::size_t participants() { return queue().participants().size(); }

    [[nodiscard]] bool eventually_participants(std::size_t count) {
        return eventually([&] { return participants() == count; });
    }

    [[nodiscard]] mutex& queue() {
        if (!queue_) {
            client_ = std::make_unique<client>(client::connect(servers_));
            queue_ = std::make_unique<mutex>(*client_, path_);
        }
        catch_up(*client_);
        return *queue_;
    }

    [[nodiscard]] bool exists(const char* name) const {
        return std::filesystem::exists(folder_ / name);
    }

    [[nodiscard]] bool eventually_exists(const char* name) const {
        return eventually([&] { return exists(name); });
    }

    /// Waits for a line with a process id in a file.
    [[nodiscard]] pid_t pid_in(const char* name) const {
        EXPECT_TRUE(eventually([&] {
            return content_of(folder_ / name).find('\n') != std::string::npos;
        })) << name;
        return std::atoi(content_of(folder_ / name).c_str());
    }

    std::string servers_;
    std::string path_ = real_ensemble::fresh_path();
    std::filesystem::path folder_;

private:
    std::unique_ptr<client> client_;
    std::unique_ptr<mutex> queue_;
};

/// Starts one process in the command's group and one that leaves group, session and parent. Writes
/// their process ids to files. Neither process ends by itself.
inline constexpr const char* family =
    "setsid sh -c '(trap \"\" TERM HUP INT; exec sh -c \"echo \\$\\$; exec sleep 1000\" "
    ">$DIR/stray) &'"
    "& echo $$ >$DIR/main; exec sleep 1000";

}  // namespace latchkey::test
