#include "ensemble/wire/four_letter_words.hpp"

#include "ensemble/cluster.hpp"

#include <array>
#include <cstdio>

namespace latchkey::model {
namespace {

constexpr const char* not_serving = "This ZooKeeper instance is not currently serving requests\n";

const char* mode_of(const server& s, const cluster& all) {
    if (all.size() == 1) {
        return "standalone";
    }
    return s.now_is() == server::role::leading ? "leader" : "follower";
}

/// Tools look for the lines by their names.
std::string report(const server& s, const cluster& all, bool clients) {
    std::array<char, 32> zxid{};
    std::snprintf(
        zxid.data(), zxid.size(), "0x%llx", static_cast<unsigned long long>(s.applied().zxid()));
    const std::string requests = std::to_string(all.counted().total().requests());
    std::string text = "Zookeeper version: ";
    text += all.how().exists_needs_read ? "3.9.3" : "3.8.0";
    text += "-latchkey-in-memory, built on 2022-02-25 08:49 UTC\n";
    text += clients ? "Clients:\n\n" : "";
    text += "Latency min/avg/max: 0/0.0/0\n";
    text += "Received: " + requests + "\nSent: " + requests + "\n";
    text += "Connections: " + std::to_string(s.clients().connections()) + "\nOutstanding: 0\n";
    text += std::string("Zxid: ") + zxid.data() + "\nMode: " + mode_of(s, all) + "\n";
    return text + "Node count: " + std::to_string(s.applied().size()) + "\n";
}

}  // namespace

std::optional<std::string> answer_to_word(std::string_view word, cluster& all, int server) {
    const model::server& s = all.at(server);
    const bool known = word == "ruok" || word == "srvr" || word == "stat" || word == "isro";
    if (!known) {
        return std::nullopt;
    }
    if (s.now_is() == model::server::role::stopped) {
        return "";
    }
    if (word == "ruok") {
        return "imok";
    }
    if (word == "isro") {
        return s.serving() ? "rw" : "null";
    }
    return s.serving() ? report(s, all, word == "stat") : not_serving;
}

}  // namespace latchkey::model
