#include "peer.hpp"

#include "eventually.hpp"

#include <algorithm>
#include <csignal>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace latchkey::test {
namespace {

/// A JVM starts slowly.
constexpr auto start_up = std::chrono::seconds(60);

template <class... Words>
std::string command(const Words&... words) {
    std::ostringstream line;
    const char* between = "";
    ((line << std::exchange(between, " ") << words), ...);
    return line.str();
}

/// The words behind "ok".
std::istringstream details_of(peer_answer answer) {
    std::istringstream words(answer_of(std::move(answer)));
    std::string ok;
    words >> ok;
    return words;
}

}  // namespace

// ---- peer_lock ----

peer_answer peer_lock::acquire(int permits) const {
    return peer_->ask(command("acquire", name_, permits));
}

bool peer_lock::try_acquire(std::chrono::milliseconds limit, int permits) const {
    return answer_of(peer_->ask(command("try", name_, permits, limit.count()))) == "ok";
}

void peer_lock::release() const {
    answer_of(leave());
}

peer_answer peer_lock::leave() const {
    return peer_->ask(command("release", name_));
}

void peer_lock::set() const {
    answer_of(peer_->ask(command("set", name_)));
}

std::vector<std::string> peer_lock::participants() const {
    std::istringstream words = details_of(peer_->ask(command("participants", name_)));
    return {std::istream_iterator<std::string>(words), {}};
}

std::future<intervals> peer_lock::contend(std::chrono::milliseconds time,
                                          const std::string& counter,
                                          int permits) const {
    auto answer = peer_->ask(command("contend", name_, permits, time.count(), counter));
    return std::async(std::launch::deferred, [answer = std::move(answer)]() mutable {
        std::istringstream words = details_of(std::move(answer));
        intervals all;
        for (held_interval i; words >> i.begin >> i.end;) {
            all.push_back(i);
        }
        return all;
    });
}

bool peer_lock::says(const std::string& event) const {
    return peer_->says(command(event, name_));
}

// ---- peer ----

std::vector<std::string> peer::curator(const std::string& servers) {
    return {"java",
            "-XX:TieredStopAtLevel=1",
            "-XX:+UseSerialGC",
            "-XX:-UsePerfData",
            "-Xmx128m",
            "-cp",
            LATCHKEY_CURATOR_CLASS_PATH,
            "CuratorPeer",
            servers};
}

std::vector<std::string> peer::kazoo(const std::string& servers) {
    return {"/usr/bin/python3", LATCHKEY_KAZOO_PEER, servers};
}

peer::peer(std::vector<std::string> words)
    : process_(words, true), reader_([this] {
          while (const auto line = process_.hear()) {
              on_line(*line);
          }
          const std::lock_guard lock(guard_);
          for (auto& [number, answer] : awaited_) {
              answer.set_value("error it has ended");
          }
          awaited_.clear();
      }) {
    if (!says("ready")) {
        process_.send(SIGKILL);
        reader_.join();
        throw std::runtime_error(words[0] + " does not start, or finds no servers");
    }
}

peer::~peer() {
    process_.hang_up();
    if (!eventually([this] { return !process_.running(); }, std::chrono::seconds(10))) {
        process_.send(SIGKILL);
    }
    reader_.join();
}

void peer::on_line(const std::string& line) {
    const std::size_t space = line.find(' ');
    const std::string number = line.substr(0, space);
    const std::string text = space == std::string::npos ? "" : line.substr(space + 1);
    const std::lock_guard lock(guard_);
    if (number == "-") {
        events_.push_back(text);
    } else if (const auto found = awaited_.find(number); found != awaited_.end()) {
        found->second.set_value(text);
        awaited_.erase(found);
    }
}

peer_answer peer::ask(const std::string& what) {
    const std::lock_guard lock(guard_);
    const std::string number = std::to_string(++asked_);
    peer_answer answer = awaited_[number].get_future();
    process_.say(command(number, what));
    return answer;
}

peer_lock peer::open(const std::string& kind,
                     const std::string& path,
                     int limit,
                     std::string name) {
    if (name.empty()) {
        name = kind + std::to_string(asked_);
    }
    answer_of(ask(command("open", name, kind, path, limit)));
    return {*this, name};
}

void peer::revoke(const std::string& znode) {
    answer_of(ask(command("revoke", znode)));
}

bool peer::says(const std::string& event) {
    return eventually(
        [&] {
            const std::lock_guard lock(guard_);
            const auto found = std::find(events_.begin(), events_.end(), event);
            if (found == events_.end()) {
                return false;
            }
            events_.erase(found);
            return true;
        },
        start_up);
}

std::string answer_of(peer_answer answer) {
    if (!eventually([&] { return is_ready(answer); }, start_up)) {
        throw std::runtime_error("no answer");
    }
    std::string text = answer.get();
    if (text.starts_with("error")) {
        throw std::runtime_error("a peer's " + text);
    }
    return text;
}

}  // namespace latchkey::test
