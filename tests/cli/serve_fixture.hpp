#pragma once

#include <latchkey/client.hpp>
#include <latchkey/ensemble.hpp>
#include <latchkey/mutex.hpp>

#include "eventually.hpp"
#include "http_peer.hpp"
#include "program.hpp"
#include "queued.hpp"

#include <cstdint>
#include <fstream>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

namespace latchkey::test {

/// What tests of `latchkey serve` share: one server in this process, two clients, and the program.
class serve_fixture : public ::testing::Test {
protected:
    using words = std::vector<std::string>;

    ~serve_fixture() override {
        one_.close();
        two_.close();
    }

    /// Starts `latchkey serve`, and returns when it listens.
    void serve(words options = {}) {
        options.insert(options.begin(), {"serve", "--listen", "127.0.0.1:0", "--every", "0.1"});
        program_surroundings around;
        around.environment["LATCHKEY_SERVERS"] = connect_string_;
        program_ = std::make_unique<program>(options, around);
        ASSERT_TRUE(eventually([&] {
            return program_->out().find('\n') != std::string::npos || !program_->running();
        }));
        const std::string url = program_->out();
        const auto colon = url.rfind(':');
        ASSERT_NE(colon, std::string::npos) << program_->err();
        port_ = static_cast<std::uint16_t>(std::stoi(url.substr(colon + 1)));
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

    /// What another command prints, its lines as objects.
    [[nodiscard]] std::vector<nlohmann::json> printed_by(const words& command) const {
        program_surroundings around;
        around.environment["LATCHKEY_SERVERS"] = connect_string_;
        program p(command, around);
        p.wait();
        std::vector<nlohmann::json> all;
        std::istringstream lines(p.out());
        for (std::string line; std::getline(lines, line);) {
            all.push_back(nlohmann::json::parse(line));
        }
        return all;
    }

    /// The session of one_ holds /a and waits for /b, that of two_ holds /b and waits for /a.
    class two_that_wait {
    public:
        explicit two_that_wait(const serve_fixture& f)
            : a_one_(f.one_, "/jobs/a"),
              b_one_(f.one_, "/jobs/b"),
              a_two_(f.two_, "/jobs/a"),
              b_two_(f.two_, "/jobs/b"),
              a_(a_one_.acquire()),
              b_(b_two_.acquire()),
              one_waits_(queued_until(stop_.get_token(), b_one_)),
              two_waits_(queued_until(stop_.get_token(), a_two_)) {}

        two_that_wait(const two_that_wait&) = delete;
        two_that_wait& operator=(const two_that_wait&) = delete;

        ~two_that_wait() {
            stop_.request_stop();
            static_cast<void>(one_waits_.get());
            static_cast<void>(two_waits_.get());
        }

    private:
        mutex a_one_, b_one_, a_two_, b_two_;
        hold a_, b_;
        std::stop_source stop_;
        std::future<hold> one_waits_, two_waits_;
    };

    latchkey::testing::ensemble servers_{
        {.servers = 1, .one_way = {}, .tick = std::chrono::seconds(2)}};
    const std::string connect_string_ = servers_.serve();
    client one_ = client::connect(connect_string_);
    client two_ = client::connect(connect_string_);
    std::unique_ptr<program> program_;
    std::uint16_t port_ = 0;
};

/// A file with a token, with these permissions. Deleted in the end.
class token_file {
public:
    explicit token_file(const std::string& text, mode_t mode = 0600) {
        const int fd = ::mkstemp(name_.data());
        static_cast<void>(::write(fd, text.data(), text.size()));
        ::fchmod(fd, mode);
        ::close(fd);
    }

    token_file(const token_file&) = delete;
    token_file& operator=(const token_file&) = delete;

    ~token_file() { ::unlink(name_.c_str()); }

    [[nodiscard]] const std::string& name() const noexcept { return name_; }

private:
    std::string name_ = ::testing::TempDir() + "tokenXXXXXX";
};

}  // namespace latchkey::test
