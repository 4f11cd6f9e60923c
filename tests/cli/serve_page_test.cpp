#include <latchkey/mutex.hpp>

#include "browser.hpp"
#include "serve_fixture.hpp"

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// The page of `latchkey serve`, in a browser. With LATCHKEY_PICTURES=FOLDER, pictures of it are
// written there.

namespace latchkey::test {
namespace {

class ServePage : public serve_fixture {
protected:
    void SetUp() override {
        if (browser::installed().empty()) {
            GTEST_SKIP() << "no chromium here: scripts/install-packages installs it";
        }
        browser_.emplace();
        browser_->set_screen({});
    }

    void TearDown() override {
        if (browser_) {
            EXPECT_EQ(browser_->complaints(), allowed_complaints_);
        }
    }

    void open(const std::string& fragment = "") {
        browser_->open("http://127.0.0.1:" + std::to_string(port_) + "/" + fragment);
        ASSERT_TRUE(browser_->eventually_true("document.readyState === 'complete'"));
    }

    /// How many elements of the page match.
    [[nodiscard]] nlohmann::json count_of(const std::string& selector) {
        return browser_->evaluate("document.querySelectorAll('" + selector + "').length");
    }

    [[nodiscard]] bool eventually_has(int count, const std::string& selector) {
        return eventually([&] { return count_of(selector) == count; });
    }

    [[nodiscard]] bool eventually_is(const std::string& state) {
        return browser_->eventually_true("document.getElementById('status').dataset.state === '" +
                                         state + "'");
    }

    [[nodiscard]] nlohmann::json focused(const std::string& property) {
        return browser_->evaluate("document.activeElement." + property);
    }

    [[nodiscard]] bool shows(const std::string& text) {
        return browser_->eventually_true("document.body.innerText.includes(" +
                                         nlohmann::json(text).dump() + ")");
    }

    /// The browser complains of this, and nothing is said against all that it complains of.
    void expect_complaint(const std::string& text) {
        EXPECT_TRUE(eventually([&] {
            browser_->evaluate("0");
            return browser_->complaints().find(text) != std::string::npos;
        }));
        allowed_complaints_ = browser_->complaints();
    }

    /// The paths of the rows of the tree, without those that are closed.
    [[nodiscard]] nlohmann::json rows() {
        return browser_->evaluate(
            "[...document.querySelectorAll('[role=treeitem]')].map((r) => r.dataset.path)");
    }

    /// One with the name of a picture: light and dark, wide and narrow.
    void picture(const std::string& name) {
        const char* const folder = std::getenv("LATCHKEY_PICTURES");
        if (folder == nullptr) {
            return;
        }
        for (const int width : {1280, 400}) {
            for (const bool dark : {false, true}) {
                browser_->set_screen(
                    {.width = width, .height = width == 400 ? 800 : 860, .dark = dark});
                browser_->evaluate("new Promise((r) => setTimeout(r, 400))");
                browser_->save_picture(std::filesystem::path(folder) /
                                       ("serve-" + name + '-' + std::to_string(width) +
                                        (dark ? "-dark" : "-light") + ".png"));
            }
        }
        browser_->set_screen({});
    }

    std::optional<browser> browser_;
    std::string allowed_complaints_;
};

TEST_F(ServePage, ShowsTheTreeAndFollowsALock) {
    mutex nightly(one_, "/jobs/nightly");
    mutex weekly(one_, "/jobs/weekly");
    const hold held = nightly.acquire();
    serve();  // now: its first look could find the directory without the holder
    open();
    ASSERT_TRUE(eventually_has(1, "[data-path=\"/jobs/nightly\"]"));
    ASSERT_TRUE(eventually_is("live"));
    picture("tree");
    hold also = weekly.acquire();
    ASSERT_TRUE(eventually_has(1, "[data-path=\"/jobs/weekly\"]"));
    EXPECT_EQ(rows(), nlohmann::json::parse(R"(["/jobs", "/jobs/nightly", "/jobs/weekly"])"));
    open("#lock=%2Fjobs%2Fnightly");
    EXPECT_TRUE(shows("Nothing has changed since this page was opened"));
    std::stop_source stop;
    mutex other(two_, "/jobs/nightly");
    auto waits = queued_until(stop.get_token(), other);
    EXPECT_TRUE(shows("began to wait"));
    EXPECT_TRUE(eventually_has(2, ".queue tbody tr"));
    picture("lock");
    stop.request_stop();
    static_cast<void>(waits.get());
    EXPECT_TRUE(shows("stopped waiting"));
}

TEST_F(ServePage, DrawsADeadlockInRed) {
    serve();
    const two_that_wait both(one_, two_, "/jobs");
    open("#waits");
    EXPECT_TRUE(eventually_has(4, ".node[data-red]"));
    EXPECT_EQ(count_of(".edge[data-red]"), 4);
    picture("deadlock");
    open("#problems");
    EXPECT_TRUE(shows("Deadlock"));
    picture("problems");
    open("#lock=%2Fjobs%2Fa");
    EXPECT_TRUE(shows("in a deadlock"));
    picture("deadlocked-lock");
}

TEST_F(ServePage, DrawsClientsThatOnlyWaitAsOne) {
    serve();
    mutex nightly(one_, "/jobs/eu/nightly");
    const hold held = nightly.acquire();
    std::vector<running_program> others;
    for (const char* holder : {"lock /jobs/eu/hourly",
                               "lock /jobs/us/weekly",
                               "lock -N 2 --limit 3 /pools/database",
                               "lock -N 1 /pools/database",
                               "lock -s /files/index",
                               "elect --id billing-1 --data 10.0.0.1:8443 /services/billing"}) {
        others.push_back(run(holder));
        ASSERT_TRUE(eventually_prints(others.back(), "\n")) << others.back()->err();
    }
    for (const char* waiter : {"lock -N 1 /pools/database",
                               "lock -x /files/index",
                               "elect --id billing-2 /services/billing"}) {
        others.push_back(run(waiter));
    }
    for (int i = 0; i < 6; ++i) {
        others.push_back(run("lock /jobs/eu/nightly"));
    }
    std::stop_source stop;
    mutex chain(one_, "/jobs/eu/hourly");
    auto waits = queued_until(stop.get_token(), chain);
    ASSERT_TRUE(eventually_shown("/api/graph", "/files/index"));
    open("#waits");
    EXPECT_TRUE(shows("6 clients"));
    EXPECT_TRUE(shows("client waits for lock"));
    EXPECT_EQ(count_of(".node[data-red]"), 0);
    picture("waits");
    open("#lock=%2Fjobs%2Feu%2Fnightly");
    EXPECT_TRUE(eventually_has(7, ".queue tbody tr"));
    picture("queue");
    open("#lock=%2Fservices%2Fbilling");
    EXPECT_TRUE(shows("10.0.0.1:8443"));
    picture("election");
    open();
    EXPECT_TRUE(shows("hourly"));
    picture("locks");
    const nlohmann::json wide = browser_->evaluate(
        "document.documentElement.scrollWidth <= document.documentElement.clientWidth");
    EXPECT_EQ(wide, true) << "the page scrolls sideways";
    stop.request_stop();
    static_cast<void>(waits.get());
}

TEST_F(ServePage, TakesTextOfOthersForText) {
    serve();
    const std::string evil = "<img src=x onerror='document.title=1'>";
    servers_.create("/<b id=evil>", "");
    servers_.create("/<b id=evil>/_c_0f8fad5b-d9cb-469f-a165-70867728950e-lock-0000000001", evil);
    open("#lock=" + std::string("%2F%3Cb%20id%3Devil%3E"));
    EXPECT_TRUE(shows(evil));
    EXPECT_TRUE(shows("/<b id=evil>"));
    EXPECT_EQ(count_of("#evil, img[src=x]"), 0);
    open("#problems");
    EXPECT_TRUE(shows("Holder without a session"));
    open("#waits");
    EXPECT_TRUE(shows("No client waits"));
}

TEST_F(ServePage, IsUsedByKeyboard) {
    serve();
    mutex a(one_, "/jobs/a");
    mutex b(one_, "/jobs/b");
    const hold one = a.acquire();
    const hold two = b.acquire();
    open();
    ASSERT_TRUE(eventually_has(3, "[role=treeitem]"));
    for (int i = 0; i < 20 && focused("role") != "treeitem"; ++i) {
        browser_->press("Tab");
    }
    ASSERT_EQ(focused("dataset.path"), "/jobs");
    EXPECT_EQ(browser_->evaluate("getComputedStyle(document.activeElement).outlineStyle"), "solid");
    browser_->press("ArrowLeft");
    EXPECT_EQ(focused("ariaExpanded"), "false");
    EXPECT_EQ(rows().size(), 1U);
    browser_->press("ArrowRight");
    EXPECT_EQ(rows().size(), 3U);
    browser_->press("End");
    EXPECT_EQ(focused("dataset.path"), "/jobs/b");
    browser_->press("Enter");
    EXPECT_TRUE(browser_->eventually_true("location.hash === '#lock=%2Fjobs%2Fb'"));
    EXPECT_EQ(focused("ariaSelected"), "true");
    browser_->set_screen({.width = 400});
    open();
    ASSERT_TRUE(browser_->eventually_true(
        "document.querySelector('[data-path=\"/jobs/a\"]')?.offsetHeight > 0"));
    browser_->evaluate("document.querySelector('[data-path=\"/jobs/a\"]').focus()");
    browser_->press("Enter");
    EXPECT_TRUE(browser_->eventually_true("document.activeElement.className === 'back'"));
    browser_->press("Enter");
    EXPECT_TRUE(browser_->eventually_true("document.activeElement.dataset.path === '/jobs/a'"));
}

TEST_F(ServePage, SaysThatThereAreNoLocks) {
    serve();
    open();
    EXPECT_TRUE(shows("No locks"));
    picture("empty");
}

TEST_F(ServePage, SaysWhenTheReadingsAreStaleAndWhenTheServerIsGone) {
    serve("-t 1");
    mutex nightly(one_, "/jobs/nightly");
    {
        const hold held = nightly.acquire();
        open();
        EXPECT_TRUE(shows("nightly"));
    }
    servers_.stop_server(0);
    EXPECT_TRUE(shows("The servers cannot be read"));
    EXPECT_TRUE(eventually_is("stale"));
    picture("stale");
    servers_.start_server(0);
    EXPECT_TRUE(eventually_is("live"));
    program_.reset();
    EXPECT_TRUE(shows("latchkey serve does not answer"));
    picture("unreachable");
    expect_complaint("ERR_CONNECTION_REFUSED");
}

TEST_F(ServePage, AsksForTheTokenOrTakesItFromTheAddress) {
    serve(with_token("0123456789abcdef\n"));
    mutex nightly(one_, "/jobs/nightly");
    const hold held = nightly.acquire();
    open();
    EXPECT_TRUE(shows("This server asks for a token"));
    picture("token");
    for (const char* malformed : {"#token=%", "#token=%E0%A4%A", "#lock=%E0%A4%A", "#lock=%"}) {
        open(malformed);
        EXPECT_TRUE(shows("This server asks for a token")) << malformed;
    }
    open("#token=0123456789abcdef");
    EXPECT_TRUE(shows("nightly"));
    EXPECT_EQ(browser_->evaluate("location.href.includes('token')"), false);
    expect_complaint("401");
}

}  // namespace
}  // namespace latchkey::test
