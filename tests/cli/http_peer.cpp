#include "http_peer.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <sstream>
#include <system_error>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace latchkey::test {

http_peer::http_peer(std::uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const timeval limit{600, 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(fd_, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) {
        const int why = errno;
        ::close(fd_);
        throw std::system_error(why, std::generic_category(), "connect");
    }
}

http_peer::~http_peer() {
    ::close(fd_);
}

void http_peer::send(std::string_view text) const {
    while (!text.empty()) {
        const ssize_t sent = ::send(fd_, text.data(), text.size(), MSG_NOSIGNAL);
        if (sent <= 0) {
            return;  // the server has hung up, and may have answered
        }
        text.remove_prefix(static_cast<std::size_t>(sent));
    }
}

bool http_peer::read_more() {
    char bytes[4096];
    const ssize_t size = ::recv(fd_, bytes, sizeof bytes, 0);
    if (size <= 0) {
        return false;
    }
    read_.append(bytes, static_cast<std::size_t>(size));
    return true;
}

std::string http_peer::read_until(std::string_view end) {
    std::size_t found = 0;
    while ((found = read_.find(end)) == std::string::npos) {
        if (!read_more()) {
            return std::exchange(read_, {});
        }
    }
    std::string text = read_.substr(0, found + end.size());
    read_.erase(0, found + end.size());
    return text;
}

http_reply http_peer::reply(bool has_body) {
    http_reply r;
    std::istringstream lines(read_until("\r\n\r\n"));
    std::string line;
    std::getline(lines, line);
    if (line.size() > 12) {
        r.status = std::stoi(line.substr(9, 3));
    }
    while (std::getline(lines, line) && line != "\r") {
        const auto colon = line.find(": ");
        std::string name = line.substr(0, colon);
        std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) {
            return static_cast<char>(std::tolower(c));
        });
        r.headers[name] = line.substr(colon + 2, line.size() - colon - 3);
    }
    if (has_body && r.headers.contains("content-length")) {
        const std::size_t size = std::stoul(r.headers["content-length"]);
        while (read_.size() < size && read_more()) {
        }
        r.body = read_.substr(0, size);
        read_.erase(0, size);
    }
    return r;
}

bool http_peer::ended_by_server() {
    while (read_more()) {
        read_.clear();
    }
    return errno != EAGAIN;
}

http_reply ask(std::uint16_t port,
               const std::string& target,
               const std::string& headers,
               const std::string& method) {
    http_peer peer(port);
    peer.send(method + ' ' + target + " HTTP/1.1\r\n" + headers + "Connection: close\r\n\r\n");
    return peer.reply(method != "HEAD");
}

}  // namespace latchkey::test
