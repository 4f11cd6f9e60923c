#include "znode/stray_znode.hpp"

#include "loop/paced_retry.hpp"
#include "znode/session_task.hpp"

#include <utility>

namespace latchkey::inline v0 {
namespace {

/// In session timeouts. A server that holds a request for longer than a few of its own limits is no
/// longer part of the ensemble.
constexpr int patience = 10;

class stray_znode final : public session_task {
public:
    stray_znode(std::shared_ptr<client_core> core,
                std::string path,
                std::shared_ptr<znode_creates> creates)
        : session_task(std::move(core)), path_(std::move(path)), creates_(std::move(creates)) {}

    task<bool> remove(bool is_ours) {
        const auto since = core_->loop().now();
        paced_retry again(core_->loop());
        if (!creates_->may_exist) {
            auto connection = core_->next_connection();
            co_await connection;
        }
        while (true) {
            auto connected = core_->connection_made();
            co_await connected;
            bool is_gone = false;
            if (!is_ours) {
                auto asked = core_->send(request::get(path_));
                const reply r = co_await asked;
                is_ours = r.ok() && r.stat.ephemeral_owner == core_->session_id();
                is_gone = !is_ours && r.tells_whether_there();
            }
            if (std::exchange(is_ours, false)) {
                auto sent = core_->send(request::remove(path_));
                const reply r = co_await sent;
                is_gone = r.ok() || r.code == result_code::no_node;
            }
            if (is_gone && (!creates_->may_come || too_old_to_come(*core_, since))) {
                co_return true;
            }
            if (is_gone) {
                auto connection = core_->next_connection();
                co_await connection;
            } else if (core_->connected()) {
                auto pause = first_of(core_->next_connection(), again.pause());
                co_await pause;
            }
        }
    }

private:
    /// A delete that was sent is ahead of the create that follows.
    void znode_wanted(const std::string& path, std::shared_ptr<znode_creates>& creates) override {
        if (path == path_) {
            creates_->may_exist = true;
            creates_->may_come = creates_->may_come || creates->may_come;
            creates = creates_;
            stop();
        }
    }

    const std::string path_;
    const std::shared_ptr<znode_creates> creates_;
};

}  // namespace

bool too_old_to_come(client_core& core, loop::clock::time_point sent) {
    return core.loop().now() > sent + patience * core.session_timeout();
}

void delete_stray(const std::shared_ptr<client_core>& core,
                  std::string path,
                  std::shared_ptr<znode_creates> creates,
                  bool is_ours) {
    const auto stray = std::make_shared<stray_znode>(core, std::move(path), std::move(creates));
    stray->run(stray->remove(is_ours && core->connected()));
}

}  // namespace latchkey::inline v0
