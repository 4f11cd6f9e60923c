#pragma once

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <utility>

#include <sys/resource.h>
#include <unistd.h>

namespace latchkey::test {

/// A thread that a test expects to block in some call. The test can wait until it does, and count
/// how often it was woken.
class blocking_thread {
public:
    template <class Work>
    explicit blocking_thread(Work work)
        : thread_([this, work = std::move(work)]() mutable {
              id_ = ::gettid();
              work();
          }) {}

    blocking_thread(const blocking_thread&) = delete;
    blocking_thread& operator=(const blocking_thread&) = delete;

    ~blocking_thread() { join(); }

    void join() {
        if (thread_.joinable()) {
            thread_.join();
        }
    }

    /// Whether it sleeps in the kernel at this moment.
    [[nodiscard]] bool blocks() const { return status("State:").starts_with('S'); }

    /// How often it has gone to sleep: more when it was woken and sleeps again.
    [[nodiscard]] long sleeps() const {
        return std::atol(status("voluntary_ctxt_switches:").c_str());
    }

    /// The same of the thread that asks.
    [[nodiscard]] static long own_sleeps() {
        rusage usage{};
        ::getrusage(RUSAGE_THREAD, &usage);
        return usage.ru_nvcsw;
    }

private:
    /// What the kernel's page on the thread says; empty before it runs and after its end.
    [[nodiscard]] std::string status(const std::string& label) const {
        std::ifstream page("/proc/self/task/" + std::to_string(id_) + "/status");
        for (std::string line; std::getline(page, line);) {
            if (line.starts_with(label)) {
                return line.substr(line.find_first_not_of(" \t", label.size()));
            }
        }
        return {};
    }

    std::atomic<pid_t> id_{0};
    std::thread thread_;
};

}  // namespace latchkey::test
