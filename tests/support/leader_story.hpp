#pragma once

#include <latchkey/leader_latch.hpp>

#include <string>
#include <vector>

#include <boost/thread/lock_guard.hpp>
#include <boost/thread/mutex.hpp>

namespace latchkey::test {

/// What was reported to the listeners of a candidate, in order. Any thread.
class leader_story {
public:
    /// A listener that writes it down; the story must outlive it.
    [[nodiscard]] leader_latch::listener teller() {
        return {
            .elected = [this](const leadership&) { add("elected"); },
            .lost =
                [this](const leadership& term, loss_reason why) {
                    add(term.valid() ? "lost, and valid" : std::string("lost: ") + to_string(why));
                },
            .refused = [this](const error& why) { add("refused: " + why.code().message()); },
            .chosen = [this] { add("chosen"); }};
    }

    [[nodiscard]] std::vector<std::string> told() const {
        const boost::lock_guard<boost::mutex> lock(guard_);
        return told_;
    }

    /// How often something that begins so was reported.
    [[nodiscard]] std::size_t count(std::string_view beginning) const {
        std::size_t n = 0;
        for (const std::string& line : told()) {
            n += line.starts_with(beginning) ? 1 : 0;
        }
        return n;
    }

    /// From now on it is that of another candidate.
    void begin_anew() {
        const boost::lock_guard<boost::mutex> lock(guard_);
        told_.clear();
    }

    [[nodiscard]] static std::string lost(loss_reason why) {
        return std::string("lost: ") + to_string(why);
    }

private:
    void add(std::string line) {
        const boost::lock_guard<boost::mutex> lock(guard_);
        told_.push_back(std::move(line));
    }

    mutable boost::mutex guard_;
    std::vector<std::string> told_;
};

}  // namespace latchkey::test
