#include "zookeeper/zookeeper_session.hpp"

#include "loop/io_loop.hpp"
#include "zookeeper/zookeeper_driver.hpp"

#include <utility>

namespace latchkey::inline v0 {
namespace {

class zookeeper_session final : public session {
public:
    explicit zookeeper_session(std::shared_ptr<zookeeper_driver> driver)
        : driver_(std::move(driver)) {}

    ~zookeeper_session() override { driver_->abandon(); }

    void submit(request r, completion done) override {
        driver_->submit(std::move(r), nullptr, std::move(done));
    }

    void submit(request r, const std::shared_ptr<watcher>& w, completion done) override {
        driver_->submit(std::move(r), &w, std::move(done));
    }

    void reconnect() override { driver_->reconnect(); }

    void close(std::function<void()> done) override { driver_->close(std::move(done)); }

private:
    std::shared_ptr<zookeeper_driver> driver_;
};

}  // namespace

zookeeper_sessions::zookeeper_sessions(std::shared_ptr<io_loop> loop,
                                       name_resolver resolver,
                                       std::shared_ptr<tls_identity> tls)
    : loop_(std::move(loop)), resolver_(std::move(resolver)), tls_(std::move(tls)) {}

zookeeper_sessions::~zookeeper_sessions() = default;

std::unique_ptr<session> zookeeper_sessions::open(const session_options& options,
                                                  session::event_handler events) {
    auto driver =
        std::make_shared<zookeeper_driver>(loop_, resolver_, options, std::move(events), tls_);
    driver->open();
    return std::make_unique<zookeeper_session>(std::move(driver));
}

}  // namespace latchkey::inline v0
