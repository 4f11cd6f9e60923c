#pragma once

#include "cli_folder.hpp"

#include <array>
#include <cstddef>
#include <cstring>
#include <optional>
#include <string>

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>
#include <unistd.h>

namespace latchkey::test {

/// The socket of a service manager, in a folder of its own. As systemd does with NotifyAccess=main,
/// it knows who has sent a message.
class service_socket {
public:
    struct message {
        std::string text;
        pid_t sender = 0;
    };

    service_socket() {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::strncpy(address.sun_path, path().c_str(), sizeof address.sun_path - 1);
        EXPECT_EQ(::bind(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
        const int on = 1;
        EXPECT_EQ(::setsockopt(fd_, SOL_SOCKET, SO_PASSCRED, &on, sizeof on), 0);
    }

    service_socket(const service_socket&) = delete;
    service_socket& operator=(const service_socket&) = delete;

    ~service_socket() { ::close(fd_); }

    [[nodiscard]] std::string path() const { return folder_ / "notify"; }

    /// The next message, if one comes within the limit.
    [[nodiscard]] std::optional<message> receive(int milliseconds) const {
        pollfd waiting{fd_, POLLIN, 0};
        if (::poll(&waiting, 1, milliseconds) != 1) {
            return std::nullopt;
        }
        std::array<char, 4096> text{};
        alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(ucred))> about{};
        iovec part{text.data(), text.size()};
        msghdr header{};
        header.msg_iov = &part;
        header.msg_iovlen = 1;
        header.msg_control = about.data();
        header.msg_controllen = about.size();
        const auto size = ::recvmsg(fd_, &header, 0);
        ucred sender{};
        std::memcpy(&sender, CMSG_DATA(CMSG_FIRSTHDR(&header)), sizeof sender);
        return message{{text.data(), size > 0 ? static_cast<std::size_t>(size) : 0}, sender.pid};
    }

    /// The text of the next message that begins so.
    [[nodiscard]] std::string next(const std::string& beginning) const {
        while (const auto one = receive(600'000)) {
            if (one->text.starts_with(beginning)) {
                return one->text;
            }
        }
        return "";
    }

private:
    const temporary_folder folder_;
    const int fd_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
};

}  // namespace latchkey::test
