#include <latchkey/error.hpp>

#include "forked_child.hpp"
#include "sanitized.hpp"
#include "tls_fixture.hpp"

#include <functional>
#include <string>

#include <openssl/crypto.h>
#include <unistd.h>

// A program that ends OpenSSL, as exit() may, while clients live.

namespace latchkey::test {
namespace {

class TlsEnd : public tls_fixture {
protected:
    void SetUp() override {
        if (thread_sanitized) {
            GTEST_SKIP() << "the thread sanitizer lets no child start a thread";
        }
    }

    [[nodiscard]] static bool holds_in_a_child(const std::function<bool()>& claim) {
        return holds_in_a_forked_child([&] {
            ::alarm(600);
            return claim();
        });
    }

    [[nodiscard]] static bool is_named_in(const std::string& text) {
        return text.find("the program has ended OpenSSL") != std::string::npos;
    }

    [[nodiscard]] static bool is_refused(const std::string& server, const client_options& how) {
        try {
            const client c = client::connect(server, how);
            return false;
        } catch (const error& e) {
            return e.code() == errc::invalid_argument && is_named_in(e.what());
        }
    }
};

TEST_F(TlsEnd, AConnectionFailsWithAReason) {
    begin_front();
    auto how = trusting();
    how.session_timeout = std::chrono::seconds(2);
    EXPECT_TRUE(holds_in_a_child([&] {
        client c = client::connect(front_->address(), how);
        if (!connects(c)) {
            return false;
        }
        OPENSSL_cleanup();
        const bool told = eventually([&] { return is_named_in(c.last_error()); });
        c.close();
        return told && is_refused(front_->address(), how);
    }));
}

TEST_F(TlsEnd, AClientOfAChildDoesNotWaitForThreadsOfTheParent) {
    begin_front();
    const client c = client::connect(front_->address(), trusting());
    ASSERT_TRUE(connects(c));
    // The parent's threads may be inside OpenSSL when it forks.
    for (int i = 0; i < 20; ++i) {
        EXPECT_TRUE(holds_in_a_child([] {
            OPENSSL_cleanup();
            return true;
        }));
        EXPECT_TRUE(connects(front_->address(), trusting()));
    }
}

}  // namespace
}  // namespace latchkey::test
