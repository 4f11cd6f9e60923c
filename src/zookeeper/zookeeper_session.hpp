#pragma once

#include "session/session.hpp"
#include "zookeeper/name_resolution.hpp"

#include <memory>

namespace latchkey::inline v0 {

class io_loop;
class tls_identity;

/// Sessions with real servers, through the ZooKeeper C client in its single-threaded form, driven
/// by the loop.
class zookeeper_sessions final : public session_factory {
public:
    /// `tls` encrypts all connections; null: clear text.
    explicit zookeeper_sessions(std::shared_ptr<io_loop> loop,
                                name_resolver resolver = &resolve_name,
                                std::shared_ptr<tls_identity> tls = nullptr);
    ~zookeeper_sessions() override;

    [[nodiscard]] std::unique_ptr<session> open(const session_options& options,
                                                session::event_handler events) override;

private:
    std::shared_ptr<io_loop> loop_;
    name_resolver resolver_;
    std::shared_ptr<tls_identity> tls_;
};

}  // namespace latchkey::inline v0
