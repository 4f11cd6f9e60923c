#include "scripted_server.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <future>
#include <optional>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>

#include <arpa/inet.h>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <sys/socket.h>
#include <unistd.h>

namespace latchkey::test {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using bytes = std::vector<std::uint8_t>;

void put(bytes& out, std::uint64_t value, int size) {
    for (int shift = 8 * (size - 1); shift >= 0; shift -= 8) {
        out.push_back(static_cast<std::uint8_t>(value >> static_cast<unsigned>(shift)));
    }
}

std::uint64_t get(const bytes& in, std::size_t at, std::size_t size) {
    std::uint64_t value = 0;
    for (std::size_t i = at; i < at + size && i < in.size(); ++i) {
        value = value << 8U | in[i];
    }
    return value;
}

bytes framed(const bytes& body) {
    bytes out;
    put(out, body.size(), 4);
    out.insert(out.end(), body.begin(), body.end());
    return out;
}

std::atomic<std::uint64_t> next_session{0x5100000000000001U};

}  // namespace

class scripted_server::engine {
public:
    engine(greeting g, const std::string& host)
        : greeting_(g), acceptor_(io_, tcp::endpoint(asio::ip::make_address(host), 0)) {
        accept();
        thread_ = std::thread([this] { io_.run(); });
    }

    ~engine() {
        io_.stop();
        thread_.join();
    }

    [[nodiscard]] std::uint16_t port() const { return acceptor_.local_endpoint().port(); }

    template <class F>
    auto run(F f) {
        std::packaged_task<decltype(f())()> work(std::move(f));
        auto result = work.get_future();
        asio::post(io_, [&work] { work(); });
        return result.get();
    }

    void reset_all() {
        for (const auto& c : connections_) {
            c->socket.set_option(asio::socket_base::linger(true, 0));
            c->socket.close();
        }
        connections_.clear();
    }

    greeting greeting_;
    bool answering_ = true;
    std::int32_t credentials_code_ = 0;
    std::optional<std::vector<std::string>> lists_;
    std::string word_answer_;
    std::size_t words_ = 0;
    std::size_t handshakes_ = 0;
    std::size_t read_only_ = 0;
    std::size_t accepted_ = 0;
    std::size_t hung_up_ = 0;
    std::vector<std::int32_t> requests_;

private:
    struct connection {
        explicit connection(tcp::socket s) : socket(std::move(s)) {}

        tcp::socket socket;
        bool greeted = false;
        std::array<std::uint8_t, 4> length{};
        bytes frame;
    };

    using connection_ptr = std::shared_ptr<connection>;

    void accept() {
        acceptor_.async_accept([this](boost::system::error_code ec, tcp::socket s) {
            if (ec) {
                return;
            }
            ++accepted_;
            auto c = std::make_shared<connection>(std::move(s));
            connections_.insert(c);
            read(c);
            accept();
        });
    }

    void read(const connection_ptr& c) {
        asio::async_read(c->socket,
                         asio::buffer(c->length),
                         [this, c](boost::system::error_code ec, std::size_t) {
                             if (ec) {
                                 ended(c);
                                 return;
                             }
                             if (std::equal(c->length.begin(), c->length.end(), "srvr")) {
                                 answer_word(c);
                                 return;
                             }
                             c->frame.resize(get({c->length.begin(), c->length.end()}, 0, 4));
                             read_body(c);
                         });
    }

    void read_body(const connection_ptr& c) {
        asio::async_read(c->socket,
                         asio::buffer(c->frame),
                         [this, c](boost::system::error_code ec, std::size_t) {
                             if (ec) {
                                 ended(c);
                                 return;
                             }
                             if (std::exchange(c->greeted, true)) {
                                 request(c);
                             } else {
                                 greet(c);
                             }
                             read(c);
                         });
    }

    void answer_word(const connection_ptr& c) {
        ++words_;
        if (!word_answer_.empty()) {
            boost::system::error_code ignored;
            asio::write(c->socket, asio::buffer(word_answer_), ignored);
            hang_up(c);
        }
    }

    void ended(const connection_ptr& c) {
        if (connections_.erase(c) != 0) {
            ++hung_up_;
        }
    }

    void greet(const connection_ptr& c) {
        constexpr std::size_t without_the_flag = 4 + 8 + 4 + 8 + 4 + 16;
        ++handshakes_;
        read_only_ += c->frame.size() > without_the_flag && c->frame[without_the_flag] != 0 ? 1 : 0;
        if (greeting_ == greeting::silence) {
            return;
        }
        if (greeting_ == greeting::nonsense) {
            boost::system::error_code ignored;
            asio::write(c->socket, asio::buffer("\xff\xff\xff\xff", 4), ignored);
            return;
        }
        auto id = get(c->frame, 16, 8);
        auto timeout = get(c->frame, 12, 4);
        if (greeting_ == greeting::refuse_session) {
            id = timeout = 0;
        } else if (id == 0 || greeting_ == greeting::another_session) {
            id = next_session++;
        }
        bytes hello;
        put(hello, 0, 4);
        put(hello, timeout, 4);
        put(hello, id, 8);
        put(hello, 16, 4);
        hello.resize(hello.size() + 16);
        hello.push_back(0);
        write(c, hello);
        if (greeting_ == greeting::refuse_session) {
            hang_up(c);
        }
    }

    void request(const connection_ptr& c) {
        const auto xid = get(c->frame, 0, 4);
        const auto type = static_cast<std::int32_t>(get(c->frame, 4, 4));
        requests_.push_back(type);
        if (!answering_) {
            return;
        }
        std::int32_t code = -101;
        if (type == type_delete || type == type_ping || type == type_close ||
            (type == type_children && lists_)) {
            code = 0;
        } else if (type == type_credentials) {
            code = credentials_code_;
        }
        bytes answer;
        put(answer, xid, 4);
        put(answer, 1, 8);
        put(answer, static_cast<std::uint32_t>(code), 4);
        if (type == type_children && lists_) {
            put(answer, lists_->size(), 4);
            for (const std::string& name : *lists_) {
                put(answer, name.size(), 4);
                answer.insert(answer.end(), name.begin(), name.end());
            }
            constexpr std::size_t stat_length = 68;
            answer.resize(answer.size() + stat_length);
        }
        write(c, answer);
        if (type == type_close || (type == type_credentials && code != 0)) {
            hang_up(c);
        }
    }

    static void write(const connection_ptr& c, const bytes& body) {
        boost::system::error_code ignored;
        asio::write(c->socket, asio::buffer(framed(body)), ignored);
    }

    void hang_up(const connection_ptr& c) {
        boost::system::error_code ignored;
        c->socket.shutdown(tcp::socket::shutdown_both, ignored);
        connections_.erase(c);
    }

    asio::io_context io_;
    tcp::acceptor acceptor_;
    std::set<connection_ptr> connections_;
    std::thread thread_;
};

scripted_server::scripted_server(greeting g, const std::string& host)
    : engine_(std::make_unique<engine>(g, host)),
      address_(host + ":" + std::to_string(engine_->port())) {}

scripted_server::~scripted_server() = default;

std::uint16_t scripted_server::port() const {
    return engine_->port();
}

void scripted_server::greet(greeting g) {
    engine_->run([&] { engine_->greeting_ = g; });
}

void scripted_server::answer(bool on) {
    engine_->run([&] { engine_->answering_ = on; });
}

void scripted_server::answer_credentials(std::int32_t code) {
    engine_->run([&] { engine_->credentials_code_ = code; });
}

void scripted_server::answer_lists(std::vector<std::string> names) {
    engine_->run([&] { engine_->lists_ = std::move(names); });
}

void scripted_server::answer_word(std::string text) {
    engine_->run([&] { engine_->word_answer_ = std::move(text); });
}

std::size_t scripted_server::words() const {
    return engine_->run([&] { return engine_->words_; });
}

void scripted_server::reset_connections() {
    engine_->run([&] { engine_->reset_all(); });
}

std::size_t scripted_server::handshakes() const {
    return engine_->run([&] { return engine_->handshakes_; });
}

std::size_t scripted_server::read_only_handshakes() const {
    return engine_->run([&] { return engine_->read_only_; });
}

std::size_t scripted_server::accepted() const {
    return engine_->run([&] { return engine_->accepted_; });
}

std::size_t scripted_server::hung_up() const {
    return engine_->run([&] { return engine_->hung_up_; });
}

std::vector<std::int32_t> scripted_server::requests() const {
    return engine_->run([&] { return engine_->requests_; });
}

std::size_t scripted_server::count(std::int32_t type) const {
    const auto all = requests();
    return static_cast<std::size_t>(std::count(all.begin(), all.end(), type));
}

full_listener::full_listener() {
    const int listening = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockets_.push_back(listening);
    sockaddr_in a{};
    a.sin_family = AF_INET;
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof a;
    auto* address = reinterpret_cast<sockaddr*>(&a);
    if (::bind(listening, address, size) != 0 || ::listen(listening, 0) != 0 ||
        ::getsockname(listening, address, &size) != 0) {
        throw std::runtime_error("cannot listen");
    }
    address_ = "127.0.0.1:" + std::to_string(ntohs(a.sin_port));
    // More than the kernel queues for a backlog of 0.
    for (int i = 0; i < 8; ++i) {
        const int s = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        sockets_.push_back(s);
        static_cast<void>(::connect(s, address, size));
    }
}

full_listener::~full_listener() {
    for (const int s : sockets_) {
        ::close(s);
    }
}

}  // namespace latchkey::test
