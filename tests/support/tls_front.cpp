#include "tls_front.hpp"

#include <array>
#include <future>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>

namespace latchkey::test {
namespace {

using boost::asio::ip::tcp;
using boost::system::error_code;
namespace ssl = boost::asio::ssl;

std::shared_ptr<ssl::context> context_of(const tls_front::options& how) {
    auto made = std::make_shared<ssl::context>(ssl::context::tls_server);
    const auto buffer = [](const std::string& text) { return boost::asio::buffer(text); };
    made->use_certificate_chain(buffer(how.own.certificate));
    made->use_private_key(buffer(how.own.key), ssl::context::pem);
    if (!how.client_authority.empty()) {
        made->add_certificate_authority(buffer(how.client_authority));
        made->set_verify_mode(ssl::verify_peer | ssl::verify_fail_if_no_peer_cert);
    }
    SSL_CTX* native = made->native_handle();
    if (how.only == tls_front::version::tls_1_1) {
        SSL_CTX_set_security_level(native, 0);
        SSL_CTX_set_min_proto_version(native, TLS1_1_VERSION);
        SSL_CTX_set_max_proto_version(native, TLS1_1_VERSION);
    } else if (how.only == tls_front::version::tls_1_2) {
        SSL_CTX_set_max_proto_version(native, TLS1_2_VERSION);
    } else if (how.only == tls_front::version::tls_1_3) {
        SSL_CTX_set_min_proto_version(native, TLS1_3_VERSION);
    }
    return made;
}

struct front_counts {
    std::size_t handshakes = 0;
    std::uint64_t from_clients = 0;
    std::string asked_for;
};

/// One connection of a client, and the one to the server that belongs to it.
class front_link : public std::enable_shared_from_this<front_link> {
public:
    front_link(tcp::socket client, std::shared_ptr<ssl::context> how, front_counts& counts)
        : how_(std::move(how)),
          counts_(counts),
          client_(std::move(client), *how_),
          server_(client_.get_executor()) {}

    void begin(const tcp::endpoint& server) {
        client_.async_handshake(
            ssl::stream_base::server, [self = shared_from_this(), server](error_code error) {
                const char* name =
                    SSL_get_servername(self->client_.native_handle(), TLSEXT_NAMETYPE_host_name);
                self->counts_.asked_for = name != nullptr ? name : "";
                if (!error) {
                    ++self->counts_.handshakes;
                    self->server_.async_connect(server, [self](error_code refused) {
                        refused ? self->end() : self->forward();
                    });
                } else {
                    self->end();
                }
            });
    }

private:
    template <class From, class To>
    void copy(From& from, To& to, std::array<char, 65536>& buffer, std::uint64_t* count) {
        from.async_read_some(
            boost::asio::buffer(buffer),
            [self = shared_from_this(), &from, &to, &buffer, count](error_code error,
                                                                    std::size_t size) {
                if (error) {
                    return self->end();
                }
                if (count != nullptr) {
                    *count += size;
                }
                boost::asio::async_write(
                    to,
                    boost::asio::buffer(buffer, size),
                    [self, &from, &to, &buffer, count](error_code failed, std::size_t) {
                        failed ? self->end() : self->copy(from, to, buffer, count);
                    });
            });
    }

    void forward() {
        server_.set_option(tcp::no_delay(true));
        copy(client_, server_, outward_, &counts_.from_clients);
        copy(server_, client_, inward_, nullptr);
    }

    void end() {
        error_code ignored;
        client_.lowest_layer().shutdown(tcp::socket::shutdown_both, ignored);
        client_.lowest_layer().close(ignored);
        server_.close(ignored);
    }

    std::shared_ptr<ssl::context> how_;
    front_counts& counts_;
    ssl::stream<tcp::socket> client_;
    tcp::socket server_;
    std::array<char, 65536> outward_{};
    std::array<char, 65536> inward_{};
};

}  // namespace

class tls_front::engine {
public:
    engine(const std::string& server, const options& how) : how_(context_of(how)) {
        const auto colon = server.rfind(':');
        if (colon == std::string::npos) {
            throw std::invalid_argument("not host:port: " + server);
        }
        server_ = *tcp::resolver(context_)
                       .resolve(server.substr(0, colon), server.substr(colon + 1))
                       .begin();
        accept();
        thread_ = std::thread([this] { context_.run(); });
    }

    engine(const engine&) = delete;
    engine& operator=(const engine&) = delete;

    ~engine() {
        context_.stop();
        thread_.join();
    }

    [[nodiscard]] std::string address() const {
        return "127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port());
    }

    template <class Action>
    auto run(Action action) {
        std::packaged_task<decltype(action())()> task(std::move(action));
        auto result = task.get_future();
        boost::asio::post(context_, [&task] { task(); });
        return result.get();
    }

    void change(const options& how) { how_ = context_of(how); }

    front_counts counts;

private:
    void accept() {
        acceptor_.async_accept([this](error_code error, tcp::socket client) {
            if (error == boost::asio::error::operation_aborted) {
                return;
            }
            if (!error) {
                client.set_option(tcp::no_delay(true), error);
                std::make_shared<front_link>(std::move(client), how_, counts)->begin(server_);
            }
            accept();
        });
    }

    boost::asio::io_context context_;
    tcp::acceptor acceptor_{context_, {boost::asio::ip::address_v4::loopback(), 0}};
    tcp::endpoint server_;
    std::shared_ptr<ssl::context> how_;
    std::thread thread_;
};

tls_front::tls_front(const std::string& server, const options& how)
    : engine_(std::make_unique<engine>(server, how)), address_(engine_->address()) {}

tls_front::~tls_front() = default;

void tls_front::change(const options& how) {
    engine_->run([this, &how] { engine_->change(how); });
}

std::size_t tls_front::handshakes() const {
    return engine_->run([this] { return engine_->counts.handshakes; });
}

std::uint64_t tls_front::from_clients() const {
    return engine_->run([this] { return engine_->counts.from_clients; });
}

std::string tls_front::asked_for() const {
    return engine_->run([this] { return engine_->counts.asked_for; });
}

}  // namespace latchkey::test
