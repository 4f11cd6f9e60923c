// A service of which one process at a time does the work: it hands out tickets, each with a greater
// number than all before it. Every process answers. Those that do not lead forward the request to
// the address that the leader has published.
//
//     example_singleton_service 127.0.0.1:2181 one &
//     example_singleton_service 127.0.0.1:2181 two &
//     exec 3<>/dev/tcp/127.0.0.1/PORT; echo ticket >&3; cat <&3
#include <latchkey/client.hpp>
#include <latchkey/leader_latch.hpp>
#include <latchkey/leader_observer.hpp>

#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

namespace {

// ---- one line of request, one line of answer ----

sockaddr_in loopback(int port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

/// Waits at most a second: two processes that take each other for the leader would wait for ever.
std::string read_line(int socket) {
    const timeval second{1, 0};
    ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &second, sizeof second);
    std::string line;
    for (char c = 0; line.size() < 100 && ::recv(socket, &c, 1, 0) == 1 && c != '\n';) {
        line += c;
    }
    return line;
}

void write_line(int socket, const std::string& line) {
    const std::string text = line + '\n';
    ::send(socket, text.data(), text.size(), MSG_NOSIGNAL);
}

std::string ask(int port, const std::string& question) {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_in address = loopback(port);
    std::string answer;
    if (::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
        write_line(socket, question);
        answer = read_line(socket);
    }
    ::close(socket);
    return answer.empty() ? "no answer, try again" : answer;
}

class server {
public:
    server() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in address = loopback(0);
        socklen_t size = sizeof address;
        auto* const any = reinterpret_cast<sockaddr*>(&address);
        if (::bind(socket_, any, size) != 0 || ::listen(socket_, 64) != 0 ||
            ::getsockname(socket_, any, &size) != 0) {
            throw std::runtime_error("cannot listen on 127.0.0.1");
        }
        port_ = ntohs(address.sin_port);
    }

    ~server() { ::close(socket_); }

    [[nodiscard]] int port() const { return port_; }

    /// Until `stop` is requested.
    template <class Answer>
    void run(const std::stop_token& stop, Answer answer) {
        const std::stop_callback end(stop, [this] { ::shutdown(socket_, SHUT_RDWR); });
        for (int asked = 0; (asked = ::accept(socket_, nullptr, nullptr)) >= 0; ::close(asked)) {
            write_line(asked, answer(read_line(asked)));
        }
    }

private:
    int socket_;
    int port_ = 0;
};

// ---- the service ----

class ticket_office {
public:
    ticket_office(const latchkey::client& zk, const std::string& name, int port)
        : name_(name),
          latch_(zk, "/tickets/leader", {.id = name, .data = std::to_string(port)}),
          leader_(zk, "/tickets/leader") {}

    /// What the leader does until `stop` is requested. Here it only reports that it leads.
    void lead(const std::stop_token& stop) {
        while (!stop.stop_requested()) {
            const latchkey::leadership term = latch_.wait(stop);
            if (!term) {
                continue;  // `stop` was requested, or the term is over already
            }
            std::cout << name_ << " leads with token " << term.token() << std::endl;
            std::atomic<bool> over = false;
            const auto end = [&over] {
                over = true;
                over.notify_all();
            };
            const std::stop_callback lost(term.lost(), end);
            const std::stop_callback wanted(term.hand_over_requested(), end);
            const std::stop_callback stopped(stop, end);
            over.wait(false);
            std::cout << name_ << " no longer leads" << std::endl;
            latch_.resign();
        }
    }

    /// On any thread.
    std::string answer(const std::string& question) {
        if (const auto term = latch_.term(); term) {
            return ticket(term);
        }
        if (question == "ticket") {
            if (const auto leader = leader_.current(); leader && !leader->data.empty()) {
                return ask(std::atoi(leader->data.c_str()), "forwarded");
            }
        }
        return "no leader, try again";
    }

private:
    /// The token increases from term to term, and the count within a term. A leader that was
    /// paused, and does not know yet that another one leads, gives late tickets, but none twice.
    std::string ticket(const latchkey::leadership& term) {
        return term.token().to_string() + ' ' + std::to_string(++given_) + ' ' + name_;
    }

    const std::string name_;
    latchkey::leader_latch latch_;
    latchkey::leader_observer leader_;
    std::atomic<int> given_ = 0;
};

/// Requests `stop` when the process is told to end.
class ending {
public:
    ending() {
        sigset_t signals;
        ::sigemptyset(&signals);
        ::sigaddset(&signals, SIGINT);
        ::sigaddset(&signals, SIGTERM);
        ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);  // before there are other threads
        waiting_ = std::jthread([this, signals] {
            int which = 0;
            ::sigwait(&signals, &which);
            stop_.request_stop();
        });
    }

    ~ending() { ::pthread_kill(waiting_.native_handle(), SIGTERM); }

    [[nodiscard]] std::stop_token requested() const { return stop_.get_token(); }

private:
    std::stop_source stop_;
    std::jthread waiting_;
};

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        std::cerr << "usage: " << argv[0] << " SERVERS NAME\n";
        return 2;
    }
    try {
        // Not on the stack: g++ 12 warns falsely of a std::stop_source there.
        const auto end = std::make_unique<ending>();
        auto zk = latchkey::client::connect(argv[1]);
        server requests;
        ticket_office office(zk, argv[2], requests.port());
        std::cout << argv[2] << " answers on " << requests.port() << std::endl;
        const std::jthread answering([&](const std::stop_token& stop) {
            requests.run(stop, [&](const std::string& q) { return office.answer(q); });
        });
        office.lead(end->requested());
    } catch (const std::exception& e) {
        std::cerr << "stopped: " << e.what() << '\n';
        return 1;
    }
    return 0;
}
