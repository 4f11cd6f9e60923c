#include "queue/stray_creates.hpp"

#include "queue/queue_list_of.hpp"
#include "text/path.hpp"
#include "znode/stray_znode.hpp"

#include <algorithm>
#include <utility>

namespace latchkey::inline v0 {
namespace {

template <class Keeps>
void delete_what_begins_with(std::string_view prefix,
                             const listing& l,
                             client_core& core,
                             const queue_recipe& as,
                             const std::string& directory,
                             Keeps is_kept) {
    for (const std::string& name : queue_of(l, as.markers).with_prefix(prefix)) {
        if (!is_kept(name)) {
            core.deletes().add(join_path(directory, name), nullptr);
        }
    }
}

}  // namespace

void delete_strays(client_core& core,
                   const queue_recipe& as,
                   std::string_view prefix,
                   const std::string& own,
                   const listing& l) {
    const auto is_own = [&own](const std::string& name) { return name == name_of(own); };
    delete_what_begins_with(prefix, l, core, as, std::string(parent_of(own)), is_own);
}

std::shared_ptr<stray_creates> stray_creates::await(std::shared_ptr<client_core> core,
                                                    std::shared_ptr<const queue_recipe> as,
                                                    std::string prefix) {
    std::shared_ptr<stray_creates> made(
        new stray_creates(std::move(core), std::move(as), std::move(prefix)));
    made->core_->attach(made);
    return made;
}

stray_creates::stray_creates(std::shared_ptr<client_core> core,
                             std::shared_ptr<const queue_recipe> as,
                             std::string prefix)
    : core_(std::move(core)),
      as_(std::move(as)),
      prefix_(std::move(prefix)),
      since_(core_->loop().now()) {}

void stray_creates::session_connected() {
    if (!kept_) {
        return;  // the attempt still looks itself
    }
    for (const std::string& directory : as_->directories()) {
        core_->lists().ask(
            {.directory = directory,
             .answered = [self = shared_from_this(), directory](const directory_lists::answer& a) {
                 self->on_listed(directory, *a);
             }});
    }
}

void stray_creates::on_listed(const std::string& directory, const listing& l) {
    if (l.code != result_code::ok && l.code != result_code::no_node) {
        return;  // the next connection looks again
    }
    const auto kept = [this, &directory](const std::string& name) {
        return is_kept(join_path(directory, name));
    };
    delete_what_begins_with(prefix_, l, *core_, *as_, directory, kept);
    if (too_old_to_come(*core_, since_)) {
        core_->detach(this);
    }
}

/// Also as the reader that the writer has become: a directory gives each number once.
bool stray_creates::is_kept(const std::string& path) const {
    const auto number = [this](const std::string& p) { return place_of(p, as_->markers).sequence; };
    return std::any_of(kept_->begin(), kept_->end(), [&](const std::string& kept) {
        return parent_of(kept) == parent_of(path) && number(kept) == number(path);
    });
}

}  // namespace latchkey::inline v0
