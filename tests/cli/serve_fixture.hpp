#pragma once

#include <latchkey/client.hpp>
#include <latchkey/ensemble.hpp>
#include <latchkey/mutex.hpp>

#include "cli_folder.hpp"
#include "eventually.hpp"
#include "http_peer.hpp"
#include "program_output.hpp"
#include "queued.hpp"
#include "two_that_wait.hpp"

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

namespace latchkey::test {

/// A client that has asked for events.
class events_peer : public http_peer {
public:
    explicit events_peer(std::uint16_t port) : http_peer(port) {
        send("GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
        answer_ = reply(false);
        EXPECT_EQ(answer_.status, 200);
    }

    [[nodiscard]] std::string header(const std::string& name) const {
        return answer_.headers.at(name);
    }

    /// The next event of that name: its data.
    [[nodiscard]] nlohmann::json next(const std::string& name) {
        const std::string begin = "event: " + name + "\ndata: ";
        for (;;) {
            const std::string event = read_until("\n\n");
            if (event.empty()) {
                return nullptr;
            }
            if (event.starts_with(begin)) {
                return nlohmann::json::parse(event.substr(begin.size()));
            }
        }
    }

private:
    http_reply answer_;
};

/// What tests of `latchkey serve` share: one server in this process, two clients, and the program.
class serve_fixture : public ::testing::Test {
protected:
    ~serve_fixture() override {
        one_.close();
        two_.close();
    }

    [[nodiscard]] running_program run(const std::string& line) const {
        return std::make_unique<program>(
            words_of(line),
            program_surroundings{.environment = {{"LATCHKEY_SERVERS", connect_string_}}});
    }

    /// Starts `latchkey serve`, and returns when it listens.
    void serve(const std::string& options = {}) {
        program_ = run("serve --listen 127.0.0.1:0 --every 0.1 " + options);
        const std::string url = listens_on(*program_);
        const auto colon = url.rfind(':');
        ASSERT_NE(colon, std::string::npos) << program_->err();
        port_ = static_cast<std::uint16_t>(std::stoi(url.substr(colon + 1)));
    }

    /// The option that names a new file with a token, with these permissions.
    [[nodiscard]] std::string with_token(const std::string& text, mode_t mode = 0600) const {
        const std::string name = std::to_string(mode) + std::to_string(text.size());
        folder_.write(name, text);
        EXPECT_EQ(::chmod((folder_ / name).c_str(), mode), 0);
        return "--token-file " + (folder_ / name);
    }

    [[nodiscard]] http_reply get(const std::string& target) const { return ask(port_, target); }

    [[nodiscard]] nlohmann::json json(const std::string& target) const {
        return nlohmann::json::parse(get(target).body, nullptr, false);
    }

    /// Waits for a reading that shows so many locks.
    [[nodiscard]] bool eventually_locks(std::size_t count) const {
        return eventually([&] {
            const auto all = json("/api/locks");
            return all.contains("locks") && all["locks"].size() == count;
        });
    }

    [[nodiscard]] bool eventually_shown(const std::string& target, const std::string& text) const {
        return eventually([&] { return get(target).body.find(text) != std::string::npos; });
    }

    latchkey::testing::ensemble servers_{
        {.servers = 1, .one_way = {}, .tick = std::chrono::seconds(2)}};
    const std::string connect_string_ = servers_.serve();
    client one_ = client::connect(connect_string_);
    client two_ = client::connect(connect_string_);
    const temporary_folder folder_;
    running_program program_;
    std::uint16_t port_ = 0;
};

}  // namespace latchkey::test
