#pragma once

#include "cli_folder.hpp"
#include "eventually.hpp"

#include <cstdlib>
#include <string>

#include <gtest/gtest.h>
#include <sys/types.h>

namespace latchkey::test {

/// The state in /proc, for example 'S' for sleeping; '\0' if there is no such process.
[[nodiscard]] inline char state_of(pid_t pid) {
    const auto text = content_of("/proc/" + std::to_string(pid) + "/stat");
    const auto after_name = text.rfind(')');
    return after_name == std::string::npos ? '\0' : text[after_name + 2];
}

/// Neither running nor stopped. It may be a zombie.
[[nodiscard]] inline bool dead(pid_t pid) {
    const char state = state_of(pid);
    return state == '\0' || state == 'Z';
}

/// Stopped by a signal, with all threads.
[[nodiscard]] inline bool stopped(pid_t pid) {
    return state_of(pid) == 'T';
}

/// A folder for the files that commands write. They know it as $DIR.
class command_folder : public temporary_folder {
public:
    /// A file exists before the command has written to it.
    [[nodiscard]] bool has_line(const std::string& name) const {
        return content(name).find('\n') != std::string::npos;
    }

    [[nodiscard]] bool eventually_has(const std::string& name) const {
        return eventually([&] { return has(name); });
    }

    /// Waits for a line with a process id in a file.
    [[nodiscard]] pid_t pid_in(const std::string& name) const {
        EXPECT_TRUE(eventually([&] { return has_line(name); })) << name;
        return std::atoi(content(name).c_str());
    }
};

/// Starts one process in the command's group and one that leaves group, session and parent: only a
/// subreaper finds it. Writes their process ids to files. Neither process ends by itself.
inline constexpr const char* family =
    "setsid sh -c '(trap \"\" TERM HUP INT; exec sh -c \"echo \\$\\$; exec sleep 1000\" "
    ">$DIR/stray) &'"
    "& echo $$ >$DIR/main; exec sleep 1000";

/// The processes of `family`, once they run.
struct running_family {
    explicit running_family(const command_folder& folder)
        : main(folder.pid_in("main")), stray(folder.pid_in("stray")) {}

    [[nodiscard]] bool is_dead() const { return dead(main) && dead(stray); }

    pid_t main;
    pid_t stray;
};

}  // namespace latchkey::test
