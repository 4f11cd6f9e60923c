#include "ensemble/wire/port_server.hpp"

#include <latchkey/error.hpp>

#include "ensemble/wire/protocol_connection.hpp"
#include "loop/background_thread.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <set>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>

namespace latchkey::model {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

std::string text_of(const tcp::endpoint& e) {
    const std::string host = e.address().to_string();
    return (e.address().is_v6() ? "[" + host + "]" : host) + ":" + std::to_string(e.port());
}

/// One client. Its socket is used on the thread of the ports, its protocol on the loop.
class port_client final : public std::enable_shared_from_this<port_client>,
                          private protocol_connection::transport {
public:
    port_client(std::shared_ptr<asio::io_context> io,
                tcp::socket s,
                std::shared_ptr<virtual_process> loop)
        : io_(std::move(io)), socket_(std::move(s)), loop_(std::move(loop)) {}

    // On the thread of the ports.
    void begin(const std::shared_ptr<cluster>& all,
               const std::shared_ptr<client_process>& process,
               int server,
               std::function<void()> gone) {
        gone_ = std::move(gone);
        error_code ignored;
        socket_.set_option(tcp::no_delay(true), ignored);
        const auto peer = socket_.remote_endpoint(ignored);
        on_loop([this, all, process, server, address = peer.address().to_string()] {
            protocol_ = std::make_unique<protocol_connection>(
                all, process, server, address, static_cast<transport&>(*this));
        });
        read();
    }

    void close() {
        error_code ignored;
        socket_.close(ignored);
        on_loop([this] { protocol_.reset(); });
        if (const auto gone = std::exchange(gone_, nullptr)) {
            gone();
        }
    }

private:
    template <class F>
    void on_loop(F f) {
        loop_->post([self = shared_from_this(), f = std::move(f)]() mutable { f(); });
    }

    template <class F>
    void on_ports(F f) {
        asio::post(*io_, [self = shared_from_this(), f = std::move(f)]() mutable { f(); });
    }

    void read() {
        socket_.async_read_some(asio::buffer(buffer_),
                                [this, self = shared_from_this()](error_code ec, std::size_t n) {
                                    if (ec) {
                                        return close();
                                    }
                                    on_loop([this, bytes = std::string(buffer_.data(), n)] {
                                        waits_to_read_ = true;
                                        if (protocol_ != nullptr) {
                                            protocol_->receive(bytes);
                                        }
                                    });
                                });
    }

    void write() {
        if (writing_.empty() && !to_write_.empty()) {
            writing_.swap(to_write_);
            asio::async_write(socket_,
                              asio::buffer(writing_),
                              [this, self = shared_from_this()](error_code ec, std::size_t n) {
                                  written(ec, n);
                              });
        } else if (writing_.empty() && ends_) {
            close();
        }
    }

    void written(error_code ec, std::size_t n) {
        if (ec) {
            return close();
        }
        writing_.clear();
        unsent_ -= n;
        on_loop([this] {
            if (protocol_ != nullptr) {
                protocol_->proceed();
            }
        });
        write();
    }

    // protocol_connection::transport, on the loop.
    void send(std::string bytes) override {
        unsent_ += bytes.size();
        on_ports([this, bytes = std::move(bytes)] {
            to_write_ += bytes;
            write();
        });
    }

    void hang_up() override {
        on_ports([this] {
            ends_ = true;
            write();
        });
    }

    [[nodiscard]] std::size_t unsent() const override { return unsent_; }

    void read_on() override {
        if (std::exchange(waits_to_read_, false)) {
            on_ports([this] { read(); });
        }
    }

    const std::shared_ptr<asio::io_context> io_;  ///< destroyed after the socket
    tcp::socket socket_;
    std::function<void()> gone_;
    std::array<char, 16'384> buffer_{};
    std::string writing_;
    std::string to_write_;
    bool ends_ = false;
    std::atomic<std::size_t> unsent_{0};

    std::shared_ptr<virtual_process> loop_;
    std::unique_ptr<protocol_connection> protocol_;
    bool waits_to_read_ = false;
};

}  // namespace

class port_server::engine {
public:
    engine(std::shared_ptr<virtual_loop> loop, std::shared_ptr<cluster> all)
        : loop_(std::move(loop)), all_(std::move(all)) {}

    /// Returns the address where it listens.
    std::string listen(const std::string& address, std::uint16_t port, int server) {
        try {
            const tcp::endpoint at(asio::ip::make_address(address), port);
            listening_port& p = *ports_.emplace_back(std::make_unique<listening_port>(*io_, at));
            p.server = server;
            loop_->call([&] { p.process = all_->make_process(); });
            p.process->remote = true;
            accept(p);
            return text_of(p.acceptor.local_endpoint());
        } catch (const boost::system::system_error& e) {
            throw error(e.code(), "cannot listen on " + address + ":" + std::to_string(port));
        }
    }

    void run() { io_->run(); }

    void stop() { io_->stop(); }

    /// After the thread has ended.
    void drop_everything() {
        ports_.clear();
        for (const auto& client : std::set(clients_)) {
            client->close();
        }
        io_->restart();
        io_->poll();
        // Their protocols end on the loop, and hand over nothing after that.
        loop_->call([] {});
        io_->restart();
        io_->poll();
    }

private:
    struct listening_port {
        listening_port(asio::io_context& io, const tcp::endpoint& at)
            : acceptor(io, at), pause(io) {}

        tcp::acceptor acceptor;
        asio::steady_timer pause;
        int server = 0;
        std::shared_ptr<client_process> process;
    };

    void accept(listening_port& p) {
        p.acceptor.async_accept([this, &p](error_code ec, tcp::socket s) {
            if (ec == asio::error::operation_aborted) {
                return;
            }
            if (ec) {
                return accept_later(p);
            }
            const auto client = std::make_shared<port_client>(io_, std::move(s), p.process->loop);
            clients_.insert(client);
            client->begin(all_, p.process, p.server, [this, weak = std::weak_ptr(client)] {
                clients_.erase(weak.lock());
            });
            accept(p);
        });
    }

    /// Most likely there are no more descriptors. Some may be closed soon.
    void accept_later(listening_port& p) {
        p.pause.expires_after(std::chrono::milliseconds(100));
        p.pause.async_wait([this, &p](error_code ec) {
            if (!ec) {
                accept(p);
            }
        });
    }

    const std::shared_ptr<virtual_loop> loop_;
    const std::shared_ptr<cluster> all_;
    const std::shared_ptr<asio::io_context> io_ = std::make_shared<asio::io_context>(1);
    std::vector<std::unique_ptr<listening_port>> ports_;
    std::set<std::shared_ptr<port_client>> clients_;
};

port_server::port_server(std::shared_ptr<virtual_loop> loop,
                         std::shared_ptr<cluster> all,
                         const std::string& address,
                         std::uint16_t port)
    : engine_(std::make_shared<engine>(std::move(loop), all)) {
    for (int server = 0; server < all->size(); ++server) {
        const auto own = static_cast<std::uint16_t>(port == 0 ? 0 : port + server);
        connect_string_ += server == 0 ? "" : ",";
        connect_string_ += engine_->listen(address, own, server);
    }
    thread_ = background_thread("latchkey-ports", [engine = engine_] { engine->run(); });
}

port_server::~port_server() {
    engine_->stop();
    thread_.join();
    engine_->drop_everything();
}

}  // namespace latchkey::model
