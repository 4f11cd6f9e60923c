#include "queue/queue_front.hpp"

#include "directories/directory_lists.hpp"
#include "text/path.hpp"

#include <utility>

namespace latchkey::inline v0 {
namespace {

/// Only data that another program has not put there is replaced, and only while `own` is there: so
/// a request that arrives late never finds another directory of that name.
void write_front(client_core& core,
                 const std::shared_ptr<const queue_recipe>& recipe,
                 const std::string& own,
                 std::int32_t version) {
    core.submit(
        request::multi({request::check(own),
                        request::set(recipe->directory, front_mark(name_of(own)), version)}),
        [notes = recipe->notes](const reply& r) {
            notes->data_is_foreign = notes->data_is_foreign || refused_for_good(r.code);
        });
}

/// The version of data that may be replaced by a mark.
std::optional<std::int32_t> version_to_replace(const reply& r, directory_notes& notes) {
    if (!r.ok()) {
        return std::nullopt;
    }
    if (!r.data.empty() && named_by_front_mark(r.data).empty()) {
        notes.data_is_foreign = true;
        return std::nullopt;
    }
    return r.stat.version;
}

}  // namespace

void queue_front::note_list(const listing& l, const queue_verdict& v) {
    length_ = l.names.size();
    if (v.what != queue_verdict::answer::acquired) {
        version_.reset();
    }
}

/// A holder with a lock_delay leaves a record. Whether it did, only a list shows.
bool queue_front::may_prove(std::string_view predecessor) const noexcept {
    return is_used() && length_ >= recipe_->notes->long_from &&
           !place_of(predecessor, recipe_->markers).delays;
}

task<bool> queue_front::proves_was_first(std::string predecessor) {
    auto asked = core_->send(request::get(recipe_->directory));
    const reply r = co_await asked;
    version_ = version_to_replace(r, *recipe_->notes);
    const bool was_first = version_ && named_by_front_mark(r.data) == predecessor;
    if (was_first) {
        length_ = std::size_t(r.stat.num_children);
    }
    co_return was_first;
}

/// A participant that has read the data was in a long queue once, and so were those behind it: they
/// will read it, too, however short the queue has become.
void queue_front::write(const std::string& own) {
    constexpr std::size_t one_behind = 2;
    if (!is_used() || recipe_->options().lock_delay.count() > 0 ||
        length_ < (version_ ? one_behind : recipe_->notes->long_from)) {
        return;
    }
    if (version_) {
        write_front(*core_, recipe_, own, *version_);
        return;
    }
    core_->submit(request::get(recipe_->directory),
                  [core = std::weak_ptr(core_), recipe = recipe_, own](const reply& r) {
                      const auto alive = core.lock();
                      const auto version = version_to_replace(r, *recipe->notes);
                      if (alive && version) {
                          write_front(*alive, recipe, own, *version);
                      }
                  });
}

}  // namespace latchkey::inline v0
