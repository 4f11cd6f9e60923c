#pragma once

#include "cli_words.hpp"
#include "eventually.hpp"
#include "program.hpp"

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace latchkey::test {

using running_program = std::unique_ptr<program>;

/// What a program has printed when it has ended, with this exit status.
inline std::string out_of(const running_program& p, int status = 0) {
    EXPECT_EQ(p->wait(), status) << p->err();
    return p->out();
}

/// What it has said on stderr.
inline std::string err_of(const running_program& p, int status) {
    EXPECT_EQ(p->wait(), status) << p->err();
    return p->err();
}

/// The objects that it has printed, one on each line.
inline std::vector<nlohmann::json> objects_of(const running_program& p, int status = 0) {
    std::vector<nlohmann::json> all;
    for (const std::string& line : lines_of(out_of(p, status))) {
        all.push_back(nlohmann::json::parse(line));
    }
    return all;
}

/// The only object that it has printed.
inline nlohmann::json object_of(const running_program& p, int status = 0) {
    return nlohmann::json::parse(out_of(p, status));
}

/// The exit status of a program that gets a signal.
inline int status_after(int signal, const running_program& p) {
    p->send(signal);
    return p->wait();
}

/// Waits until a program has printed this.
[[nodiscard]] inline bool eventually_prints(const running_program& p, const std::string& text) {
    return eventually([&] { return p->out().find(text) != std::string::npos; });
}

/// Waits until a program has said this on stderr.
[[nodiscard]] inline bool eventually_says(const running_program& p, const std::string& text) {
    return eventually([&] { return p->err().find(text) != std::string::npos; });
}

/// The connect string, or the address, that a server prints when it listens.
inline std::string listens_on(const program& server) {
    EXPECT_TRUE(eventually([&] { return server.out().find('\n') != std::string::npos; }))
        << server.err();
    return server.out().substr(0, server.out().find('\n'));
}

}  // namespace latchkey::test
