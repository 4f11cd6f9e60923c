#include "browser.hpp"

#include "eventually.hpp"
#include "words.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <openssl/evp.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace latchkey::test {

namespace {

/// The browser reads from 3 and writes to 4.
[[noreturn]] void become_browser(const std::string& program,
                                 const std::filesystem::path& folder,
                                 int reads,
                                 int writes) {
    const int high_reads = ::fcntl(reads, F_DUPFD, 10);
    const int high_writes = ::fcntl(writes, F_DUPFD, 10);
    const int nothing = ::open("/dev/null", O_RDWR);
    for (const int standard : {0, 1, 2}) {
        ::dup2(nothing, standard);
    }
    ::dup2(high_reads, 3);
    ::dup2(high_writes, 4);
    ::setpgid(0, 0);
    const std::string profile = "--user-data-dir=" + folder.string();
    std::vector<std::string> words{program,
                                   "--headless=new",
                                   "--no-sandbox",
                                   "--disable-gpu",
                                   "--disable-dev-shm-usage",
                                   "--disable-background-networking",
                                   "--disable-extensions",
                                   "--no-first-run",
                                   "--hide-scrollbars",
                                   "--remote-debugging-pipe",
                                   profile,
                                   "about:blank"};
    std::vector<char*> pointers;
    for (std::string& word : words) {
        pointers.push_back(word.data());
    }
    pointers.push_back(nullptr);
    ::execv(program.c_str(), pointers.data());
    ::_exit(127);
}

/// With up to two zeros at its end, which a picture may have.
std::string decoded_base64(const std::string& text) {
    const auto* const in = reinterpret_cast<const unsigned char*>(text.data());
    std::string bytes(text.size(), '\0');
    auto* const out = reinterpret_cast<unsigned char*>(bytes.data());
    const int size = ::EVP_DecodeBlock(out, in, static_cast<int>(text.size()));
    bytes.resize(static_cast<std::size_t>(std::max(size, 0)));
    return bytes;
}

}  // namespace

std::string browser::installed() {
    const char* const folders = std::getenv("PATH");
    for (const std::string& folder : parts_of(folders != nullptr ? folders : "", ':')) {
        for (const char* name : {"chromium", "chromium-browser", "google-chrome"}) {
            const std::string program = folder + '/' + name;
            if (::access(program.c_str(), X_OK) == 0) {
                return program;
            }
        }
    }
    return {};
}

browser::browser() {
    std::array<int, 2> down{};
    std::array<int, 2> up{};
    if (::pipe2(down.data(), O_CLOEXEC) != 0 || ::pipe2(up.data(), O_CLOEXEC) != 0) {
        throw std::system_error(errno, std::generic_category(), "browser");
    }
    const std::string program = installed();
    pid_ = ::fork();
    if (pid_ == 0) {
        become_browser(program, folder_.path(), down[0], up[1]);
    }
    ::close(down[0]);
    ::close(up[1]);
    to_ = down[1];
    from_ = up[0];
    try {
        const auto page = command("Target.createTarget", {{"url", "about:blank"}});
        const auto attached =
            command("Target.attachToTarget", {{"targetId", page["targetId"]}, {"flatten", true}});
        session_ = attached["sessionId"];
        command("Page.enable");
        command("Runtime.enable");
        command("Log.enable");
    } catch (...) {
        end();
        throw;
    }
}

browser::~browser() {
    end();
}

void browser::end() noexcept {
    ::kill(-pid_, SIGKILL);
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    ::close(to_);
    ::close(from_);
}

nlohmann::json browser::next_message() {
    for (;;) {
        if (const auto end = unread_.find('\0'); end != std::string::npos) {
            auto message = nlohmann::json::parse(unread_.substr(0, end));
            unread_.erase(0, end + 1);
            return message;
        }
        pollfd waiting{from_, POLLIN, 0};
        std::array<char, 65536> bytes{};
        const bool readable = ::poll(&waiting, 1, 600'000) > 0;
        const ssize_t size = readable ? ::read(from_, bytes.data(), bytes.size()) : 0;
        if (size <= 0) {
            throw std::runtime_error("the browser does not answer");
        }
        unread_.append(bytes.data(), static_cast<std::size_t>(size));
    }
}

void browser::note(const nlohmann::json& message) {
    const std::string method = message.value("method", "");
    if (method == "Runtime.exceptionThrown") {
        complaints_ += message["params"]["exceptionDetails"].dump() + '\n';
    } else if (method == "Log.entryAdded" && message["params"]["entry"]["level"] == "error") {
        complaints_ += message["params"]["entry"].value("text", "") + '\n';
    }
}

nlohmann::json browser::command(const std::string& method, nlohmann::json parameters) {
    nlohmann::json sent{{"id", ++id_}, {"method", method}};
    sent["params"] = parameters.is_null() ? nlohmann::json::object() : std::move(parameters);
    if (!session_.empty()) {
        sent["sessionId"] = session_;
    }
    const std::string text = sent.dump();
    if (::write(to_, text.c_str(), text.size() + 1) != static_cast<ssize_t>(text.size() + 1)) {
        throw std::runtime_error("the browser has ended");
    }
    for (;;) {
        auto message = next_message();
        if (message.value("id", 0) != id_) {
            note(message);
        } else if (message.contains("error")) {
            throw std::runtime_error(method + ": " + message["error"].dump());
        } else {
            return std::move(message["result"]);
        }
    }
}

void browser::set_screen(const screen& s) {
    command("Emulation.setDeviceMetricsOverride",
            {{"width", s.width},
             {"height", s.height},
             {"deviceScaleFactor", 1},
             {"mobile", s.width < 600}});
    const nlohmann::json scheme{{"name", "prefers-color-scheme"},
                                {"value", s.dark ? "dark" : "light"}};
    command("Emulation.setEmulatedMedia", {{"features", nlohmann::json::array({scheme})}});
}

void browser::open(const std::string& url) {
    command("Page.navigate", {{"url", url}});
}

nlohmann::json browser::evaluate(const std::string& expression) {
    const auto answer =
        command("Runtime.evaluate",
                {{"expression", expression}, {"returnByValue", true}, {"awaitPromise", true}});
    if (answer.contains("exceptionDetails")) {
        throw std::runtime_error(answer["exceptionDetails"].dump());
    }
    return answer["result"].value("value", nlohmann::json());
}

bool browser::eventually_true(const std::string& expression) {
    return eventually([&] { return evaluate("Boolean(" + expression + ")") == true; });
}

void browser::press(const std::string& key) {
    static const nlohmann::json codes{{"Tab", 9},
                                      {"Enter", 13},
                                      {"End", 35},
                                      {"Home", 36},
                                      {"ArrowLeft", 37},
                                      {"ArrowUp", 38},
                                      {"ArrowRight", 39},
                                      {"ArrowDown", 40}};
    nlohmann::json event{{"type", "keyDown"},
                         {"key", key},
                         {"code", key},
                         {"windowsVirtualKeyCode", codes.value(key, 0)}};
    if (key == "Enter") {
        event["text"] = "\r";
    }
    command("Input.dispatchKeyEvent", event);
    event["type"] = "keyUp";
    command("Input.dispatchKeyEvent", event);
}

void browser::save_picture(const std::filesystem::path& file) {
    const auto answer =
        command("Page.captureScreenshot", {{"format", "png"}, {"captureBeyondViewport", true}});
    std::ofstream(file, std::ios::binary)
        << decoded_base64(answer["data"].get_ref<const std::string&>());
}

}  // namespace latchkey::test
