#include "late_znode.hpp"

#include "lost_create.hpp"
#include "path.hpp"

#include <utility>

namespace latchkey {

void late_znode::await(std::shared_ptr<client_core> core, std::string path) {
    if (core->closed_why()) {
        return;  // the session ends
    }
    std::shared_ptr<late_znode> made(new late_znode(std::move(core), std::move(path)));
    made->core_->attach(made);
}

late_znode::late_znode(std::shared_ptr<client_core> core, std::string path)
    : core_(std::move(core)), path_(std::move(path)), since_(core_->loop().now()) {}

void late_znode::session_connected() {
    write_ahead(*core_, std::string(parent_of(path_)));
    core_->submit(request::get(path_), [self = shared_from_this()](const reply& r) {
        if (r.ok() && r.stat.ephemeral_owner == self->core_->session_id()) {
            self->core_->deletes().add(self->path_, nullptr);
        }
        if (!outcome_unknown(r.code) && too_old_to_come(*self->core_, self->since_)) {
            self->core_->detach(self.get());
        }
    });
}

}  // namespace latchkey
