#include "tcp_proxy.hpp"

#include "proxied_connection.hpp"

#include <algorithm>
#include <atomic>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>

namespace latchkey::test {
namespace {

using boost::asio::ip::tcp;
using boost::system::error_code;

}  // namespace

/// Everything but the constructor and `run` happens on its thread.
class tcp_proxy::engine {
public:
    engine(const std::string& server, const std::string& listening_address, filter_factory filters)
        : filters_(std::move(filters)) {
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
            if (link->is_halved()) {
                link->end(ending::rst);
            } else {
                link->reach(server_, patience_);
                link->deliver();
            }
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

    void cut(ending how, side whose) {
        for (const auto& link : alive()) {
            if (!link->is_halved()) {
                link->end(how, whose);
            }
        }
    }

    void be_patient(std::chrono::milliseconds time) { patience_ = time; }

    [[nodiscard]] std::size_t accepted() const { return accepted_; }

    [[nodiscard]] std::size_t open() {
        const auto links = alive();
        return static_cast<std::size_t>(std::count_if(
            links.begin(), links.end(), [](const auto& link) { return !link->is_halved(); }));
    }

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
        const auto link = std::make_shared<proxied_connection>(
            std::move(client), roads_, filters_ ? filters_() : nullptr);
        connections_.push_back(link);
        link->begin();
        if (!way(direction::to_server).stalled || !way(direction::to_client).stalled) {
            link->reach(server_, patience_);
        }
    }

    std::vector<std::shared_ptr<proxied_connection>> alive() {
        std::vector<std::shared_ptr<proxied_connection>> result;
        for (const auto& weak : connections_) {
            if (auto link = weak.lock(); link && link->is_open()) {
                result.push_back(std::move(link));
            }
        }
        connections_.assign(result.begin(), result.end());
        return result;
    }

    filter_factory filters_;
    roads roads_;
    boost::asio::io_context context_;
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{
        context_.get_executor()};
    tcp::acceptor acceptor_{context_};
    tcp::resolver::results_type server_;
    tcp::endpoint here_;
    bool listening_ = false;
    std::chrono::milliseconds patience_{0};
    std::size_t accepted_ = 0;
    std::vector<std::weak_ptr<proxied_connection>> connections_;
    std::thread thread_;
};

namespace {

std::string next_address() {
    static std::atomic<int> count{0};
    return "127.0.1." + std::to_string(1 + count++ % 254);
}

}  // namespace

tcp_proxy::tcp_proxy(const std::string& server, filter_factory filters)
    : tcp_proxy(server, next_address(), std::move(filters)) {}

tcp_proxy::tcp_proxy(const std::string& server,
                     const std::string& listening_address,
                     filter_factory filters)
    : engine_(std::make_unique<engine>(server, listening_address, std::move(filters))),
      address_(engine_->address()) {}

tcp_proxy::~tcp_proxy() = default;

void tcp_proxy::pass() {
    engine_->run([this] {
        for (const direction way : {direction::to_server, direction::to_client}) {
            engine_->way(way).stalled = false;
            engine_->way(way).left.reset();
        }
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

void tcp_proxy::cut(ending how, side whose) {
    engine_->run([this, how, whose] { engine_->cut(how, whose); });
}

void tcp_proxy::cut_after(std::uint64_t bytes, direction way, ending how) {
    engine_->run([this, bytes, way, how] {
        engine_->way(way).left = bytes;
        engine_->way(way).cut = how;
    });
}

void tcp_proxy::be_patient(std::chrono::milliseconds time) {
    engine_->run([this, time] { engine_->be_patient(time); });
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
