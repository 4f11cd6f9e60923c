#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include <sys/types.h>

namespace latchkey::test {

/// A process of its own that runs a program, perhaps this one again with other arguments; it never
/// shared this one's memory: a client does not survive a fork. Killed, if it still runs, with this
/// object.
class child_process {
public:
    /// `talks`: its standard input and output are pipes, for the last three members.
    explicit child_process(std::vector<std::string> command, bool talks = false);
    ~child_process();
    child_process(const child_process&) = delete;
    child_process& operator=(const child_process&) = delete;

    void send(int signal) const;

    [[nodiscard]] pid_t pid() const noexcept { return pid_; }

    /// SIGSTOP; all of it stands still on return.
    void stop() const;

    [[nodiscard]] bool running();
    /// Whether a signal has stopped it.
    [[nodiscard]] bool stopped() const;

    /// Waits for its end: the exit status, 128+n for a signal.
    int wait();

    void say(const std::string& line) const;
    /// The next line that it says. Blocks; nothing at its end.
    [[nodiscard]] std::optional<std::string> hear();
    /// Ends what it reads.
    void hang_up();

private:
    void reap(int options);

    pid_t pid_ = 0;
    int status_ = 0;
    bool ended_ = false;
    int input_ = -1;
    int output_ = -1;
    std::string pending_;
};

template <class T>
[[nodiscard]] std::string word_of(const T& value) {
    if constexpr (std::is_same_v<T, std::string>) {
        return value;
    } else if constexpr (std::is_enum_v<T>) {
        return std::to_string(static_cast<int>(value));
    } else if constexpr (requires { value.count(); }) {
        return std::to_string(value.count());
    } else {
        return std::to_string(value);
    }
}

template <class T>
void read_word(const std::string& word, T& value) {
    if constexpr (std::is_same_v<T, std::string>) {
        value = word;
    } else if constexpr (requires { value.count(); }) {
        value = T(std::stoll(word));
    } else {
        value = static_cast<T>(std::stoull(word));
    }
}

/// What a test program is when it is started again with an order, whose `fields()` are the
/// arguments: main() calls run_if_named() first.
template <class Order>
struct child_program {
    std::string name;
    void (*run)(const Order&);

    [[nodiscard]] std::vector<std::string> command(Order o) const {
        return std::apply(
            [this](const auto&... each) {
                return std::vector<std::string>{"/proc/self/exe", name, word_of(each)...};
            },
            o.fields());
    }

    /// Runs it, and says whether the arguments name it.
    [[nodiscard]] bool run_if_named(int argc, char** argv) const {
        if (argc < 2 || argv[1] != name) {
            return false;
        }
        Order o;
        char** next = argv + 2;
        std::apply([&next](auto&... each) { (read_word(*next++, each), ...); }, o.fields());
        run(o);
        return true;
    }
};

}  // namespace latchkey::test
