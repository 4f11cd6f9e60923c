#include "tcp_proxy.hpp"

#include <array>
#include <atomic>
#include <deque>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/connect.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>

namespace latchkey::test {
namespace {

using boost::asio::ip::tcp;
using boost::system::error_code;
using clock = std::chrono::steady_clock;
using direction = tcp_proxy::direction;
using ending = tcp_proxy::ending;

/// One direction as the test wants it, for all connections.
struct road {
    bool stalled = false;
    std::chrono::milliseconds delay{0};
    std::uint64_t delivered = 0;
};

using roads = std::array<road, 2>;

road& of(roads& all, direction way) {
    return all.at(static_cast<std::size_t>(way));
}

void close(tcp::socket& socket, ending how) {
    error_code ignored;
    if (how == ending::rst) {
        socket.set_option(boost::asio::socket_base::linger(true, 0), ignored);
    }
    socket.close(ignored);
}

/// A client's connection and ours to the server.
class connection : public std::enable_shared_from_this<connection> {
public:
    connection(tcp::socket client, roads& all)
        : client_(std::move(client)),
          server_(client_.get_executor()),
          up_(client_, server_, of(all, direction::to_server)),
          down_(server_, client_, of(all, direction::to_client)) {}

    /// The client's side is read before there is a server's: a black hole swallows.
    void begin() { read(up_); }

    void reach(const tcp::resolver::results_type& server) {
        if (std::exchange(reached_, true)) {
            return;
        }
        boost::asio::async_connect(
            server_, server, [self = shared_from_this()](error_code error, const tcp::endpoint&) {
                if (error) {
                    self->end(ending::rst);
                    return;
                }
                self->server_.set_option(tcp::no_delay(true));
                self->connected_ = true;
                self->read(self->down_);
                self->deliver();
            });
    }

    void deliver() {
        deliver(up_);
        deliver(down_);
    }

    void end(ending how) {
        close(client_, how);
        close(server_, how);
        up_.timer.cancel();
        down_.timer.cancel();
    }

    [[nodiscard]] bool is_open() const { return client_.is_open(); }

private:
    /// Bytes, or the end of the stream, and when they are to arrive.
    struct parcel {
        clock::time_point due;
        error_code end;
        std::vector<char> bytes;
    };

    struct pump {
        pump(tcp::socket& source, tcp::socket& target, road& on)
            : from(source), to(target), way(on), timer(source.get_executor()) {}

        tcp::socket& from;
        tcp::socket& to;
        road& way;
        boost::asio::steady_timer timer;
        std::array<char, 16384> buffer{};
        std::deque<parcel> parcels;
        bool busy = false;
    };

    /// Reads whatever is held back or late: only the delivery waits.
    void read(pump& p) {
        p.from.async_read_some(
            boost::asio::buffer(p.buffer),
            [self = shared_from_this(), &p](error_code error, std::size_t size) {
                p.parcels.push_back(
                    {clock::now() + p.way.delay, error, {p.buffer.data(), p.buffer.data() + size}});
                self->deliver(p);
                if (!error) {
                    self->read(p);
                }
            });
    }

    void deliver(pump& p) {
        if (!connected_ || p.busy || p.way.stalled || p.parcels.empty() || !p.to.is_open()) {
            return;
        }
        p.busy = true;
        p.timer.expires_at(p.parcels.front().due);
        p.timer.async_wait([self = shared_from_this(), &p](error_code) {
            p.busy = false;
            if (!p.way.stalled && p.to.is_open()) {
                self->hand_over(p);
            }
        });
    }

    void hand_over(pump& p) {
        if (const error_code end_of_stream = p.parcels.front().end) {
            p.parcels.pop_front();
            finish(p, end_of_stream);
            return;
        }
        p.busy = true;
        boost::asio::async_write(p.to,
                                 boost::asio::buffer(p.parcels.front().bytes),
                                 [self = shared_from_this(), &p](error_code error, std::size_t n) {
                                     p.busy = false;
                                     p.way.delivered += n;
                                     p.parcels.pop_front();
                                     if (error) {
                                         self->end(ending::rst);
                                     } else {
                                         self->deliver(p);
                                     }
                                 });
    }

    void finish(pump& p, error_code why) {
        if (why != boost::asio::error::eof) {
            end(ending::rst);
        } else if (++finished_ == 2) {
            end(ending::fin);
        } else {
            error_code ignored;
            p.to.shutdown(tcp::socket::shutdown_send, ignored);
        }
    }

    tcp::socket client_;
    tcp::socket server_;
    pump up_;
    pump down_;
    bool reached_ = false;
    bool connected_ = false;
    int finished_ = 0;
};

}  // namespace

/// Everything but the constructor and `run` happens on its thread.
class tcp_proxy::engine {
public:
    engine(const std::string& server, const std::string& listening_address) {
        const auto colon = server.rfind(':');
        if (colon == std::string::npos) {
            throw std::invalid_argument("not host:port: " + server);
        }
        server_ =
            tcp::resolver(context_).resolve(server.substr(0, colon), server.substr(colon + 1));
        here_ = tcp::endpoint(boost::asio::ip::make_address(listening_address), 0);
        bind();
        here_ = acceptor_.local_endpoint();
        listen();
        thread_ = std::thread([this] { context_.run(); });
    }

    ~engine() {
        context_.stop();
        thread_.join();
    }

    engine(const engine&) = delete;
    engine& operator=(const engine&) = delete;

    [[nodiscard]] std::string address() const {
        return here_.address().to_string() + ":" + std::to_string(here_.port());
    }

    /// Runs `action()` on the loop and returns what it returns.
    template <class Action>
    auto run(Action action) {
        std::packaged_task<decltype(action())()> task(std::move(action));
        auto result = task.get_future();
        boost::asio::post(context_, [&task] { task(); });
        return result.get();
    }

    road& way(direction which) { return of(roads_, which); }

    void forward() {
        if (!listening_) {
            listen();
        }
        for (const auto& link : alive()) {
            link->reach(server_);
            link->deliver();
        }
    }

    /// The port stays bound, so that nobody else gets it: what is bound and does not listen
    /// refuses.
    void refuse() {
        if (std::exchange(listening_, false)) {
            bind();
        }
    }

    void cut(ending how) {
        for (const auto& link : alive()) {
            link->end(how);
        }
    }

    [[nodiscard]] std::size_t accepted() const { return accepted_; }

    [[nodiscard]] std::size_t open() { return alive().size(); }

private:
    void bind() {
        error_code ignored;
        acceptor_.close(ignored);
        acceptor_.open(here_.protocol());
        acceptor_.set_option(tcp::acceptor::reuse_address(true));
        acceptor_.bind(here_);
    }

    void listen() {
        acceptor_.listen();
        listening_ = true;
        accept();
    }

    void accept() {
        acceptor_.async_accept([this](error_code error, tcp::socket client) {
            if (error == boost::asio::error::operation_aborted) {
                return;
            }
            if (!error) {
                begin(std::move(client));
            }
            accept();
        });
    }

    void begin(tcp::socket client) {
        ++accepted_;
        error_code ignored;
        client.set_option(tcp::no_delay(true), ignored);
        const auto link = std::make_shared<connection>(std::move(client), roads_);
        connections_.push_back(link);
        link->begin();
        if (!way(direction::to_server).stalled || !way(direction::to_client).stalled) {
            link->reach(server_);
        }
    }

    std::vector<std::shared_ptr<connection>> alive() {
        std::vector<std::shared_ptr<connection>> result;
        for (const auto& weak : connections_) {
            if (auto link = weak.lock(); link && link->is_open()) {
                result.push_back(std::move(link));
            }
        }
        connections_.assign(result.begin(), result.end());
        return result;
    }

    roads roads_;
    boost::asio::io_context context_;
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{
        context_.get_executor()};
    tcp::acceptor acceptor_{context_};
    tcp::resolver::results_type server_;
    tcp::endpoint here_;
    bool listening_ = false;
    std::size_t accepted_ = 0;
    std::vector<std::weak_ptr<connection>> connections_;
    std::thread thread_;
};

namespace {

std::string next_address() {
    static std::atomic<int> count{0};
    return "127.0.1." + std::to_string(1 + count++ % 254);
}

}  // namespace

tcp_proxy::tcp_proxy(const std::string& server) : tcp_proxy(server, next_address()) {}

tcp_proxy::tcp_proxy(const std::string& server, const std::string& listening_address)
    : engine_(std::make_unique<engine>(server, listening_address)), address_(engine_->address()) {}

tcp_proxy::~tcp_proxy() = default;

void tcp_proxy::pass() {
    engine_->run([this] {
        engine_->way(direction::to_server).stalled = false;
        engine_->way(direction::to_client).stalled = false;
        engine_->forward();
    });
}

void tcp_proxy::black_hole() {
    engine_->run([this] {
        engine_->way(direction::to_server).stalled = true;
        engine_->way(direction::to_client).stalled = true;
    });
}

void tcp_proxy::stall(direction way) {
    engine_->run([this, way] { engine_->way(way).stalled = true; });
}

void tcp_proxy::refuse() {
    engine_->run([this] { engine_->refuse(); });
}

void tcp_proxy::cut(ending how) {
    engine_->run([this, how] { engine_->cut(how); });
}

void tcp_proxy::delay(std::chrono::milliseconds each_way) {
    delay(direction::to_server, each_way);
    delay(direction::to_client, each_way);
}

void tcp_proxy::delay(direction way, std::chrono::milliseconds time) {
    engine_->run([this, way, time] { engine_->way(way).delay = time; });
}

std::size_t tcp_proxy::accepted() const {
    return engine_->run([this] { return engine_->accepted(); });
}

std::size_t tcp_proxy::open() const {
    return engine_->run([this] { return engine_->open(); });
}

std::uint64_t tcp_proxy::delivered(direction way) const {
    return engine_->run([this, way] { return engine_->way(way).delivered; });
}

}  // namespace latchkey::test
