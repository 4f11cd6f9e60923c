#include "queue/protected_create.hpp"

#include "client/until_answered.hpp"
#include "text/guid.hpp"
#include "text/path.hpp"
#include "znode/session_task.hpp"
#include "znode/stray_znode.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace latchkey::inline v0 {
namespace {

std::string new_prefix(client_core& core, const queue_recipe& recipe) {
    return protected_prefix(guid(core.loop())) +
           std::string(recipe.options().lock_delay.count() > 0 ? delay_mark : "");
}

task<bool> look_for_late_creates(std::shared_ptr<client_core> core,
                                 std::shared_ptr<const queue_recipe> recipe,
                                 std::string prefix,
                                 loop::clock::time_point since) {
    const std::vector<std::string> directories = recipe->directories();
    while (true) {
        auto connection = core->next_connection();
        co_await connection;
        auto asked = core->lists().list_all(directories);
        const std::vector<directory_lists::answer> listed = co_await asked;
        bool answered = true;
        for (std::size_t i = 0; i < listed.size(); ++i) {
            const listing& l = *listed[i];
            answered = answered && (l.code == result_code::ok || l.code == result_code::no_node);
            if (l.code == result_code::ok) {
                for (const std::string& name : queue_of(l, recipe->markers).with_prefix(prefix)) {
                    core->deletes().add(join_path(directories[i], name), nullptr);
                }
            }
        }
        if (answered && too_old_to_come(*core, since)) {
            co_return true;
        }
    }
}

}  // namespace

protected_create::protected_create(std::shared_ptr<client_core> core,
                                   std::shared_ptr<const queue_recipe> recipe,
                                   bool directory_known)
    : core_(std::move(core)),
      recipe_(std::move(recipe)),
      directories_(recipe_->directories()),
      prefix_(new_prefix(*core_, *recipe_)),
      directory_known_(directory_known),
      retry_(core_->loop()) {}

task<protected_create::joined> protected_create::run(std::function<void()> sent) {
    bool searched = false;
    while (true) {
        auto connected = core_->connection_made();
        co_await connected;
        auto room = core_->room_to_send();
        co_await room;
        if (given_up_) {
            co_return joined{.why = refused_};  // nothing is there
        }
        if (!core_->connected()) {
            continue;
        }
        sent_ = true;
        if (!directory_known_) {
            create_directories();
        }
        auto creating = core_->send(creation());
        std::optional<oneshot<reply>> looking;
        if (directories_.size() > 1) {
            // The answer to a transaction does not contain its zxid. Our creation is the last
            // change that this can see, or there was a later one.
            looking.emplace(core_->send(request::get(directories_.front())));
        }
        auto listing = core_->lists().list_all(directories_, sent);
        const reply created = co_await creating;
        std::int64_t zxid = created.stat.czxid;
        if (looking) {
            auto& first = *looking;
            const reply seen = co_await first;
            zxid = seen.stat.pzxid;
        }
        std::vector<directory_lists::answer> lists = co_await listing;
        if (created.ok()) {
            co_return joined_from(created, zxid, std::move(lists));
        }
        const next then = after_refusal(created);
        if (then == next::refuse) {
            co_return joined{.why = refused_};
        }
        if (created.code == result_code::no_node) {
            // A directory does not exist: it was not created yet, or it was empty for a while and
            // the servers have removed it. If the creates of the directory were sent just now, the
            // next create follows soon. If they cannot succeed, the answer to the last step's early
            // question may refuse the attempt meanwhile.
            sent_ = false;
            const bool soon = std::ranges::all_of(made_, &directory_creation::repeated);
            auto pause = until_called_back([this, soon](loop::task resume) {
                soon ? retry_.soon(std::move(resume)) : retry_.later(std::move(resume));
            });
            co_await pause;
            continue;
        }
        const bool repeated = then == next::create_again || std::exchange(searched, true);
        if (repeated && core_->connected()) {
            auto pause = retry_.pause();
            co_await pause;
        }
        if (then == next::search) {
            auto searching = search();
            std::optional<joined> found = co_await searching;
            if (found) {
                co_return *std::move(found);
            }
        }
    }
}

// ---- creating ----

/// Those behind it can reach this client, if it may be of use.
std::string protected_create::data() const {
    std::string record = recipe_->data(recipe_->mode);
    const auto contact = core_->direct() != nullptr && recipe_->may_hand_on()
                             ? core_->direct()->contact_of(prefix_)
                             : std::nullopt;
    return contact ? with_contact(std::move(record), *contact) : record;
}

request protected_create::creation() const {
    const auto in = [this](const std::string& directory) {
        return request::create(
            join_path(directory, prefix_ + std::string(marker_of(recipe_->markers, recipe_->mode))),
            data(),
            create_mode::ephemeral_sequential,
            *recipe_->access);
    };
    if (directories_.size() == 1) {
        return in(directories_.front());
    }
    std::vector<request> together;
    std::transform(directories_.begin(), directories_.end(), std::back_inserter(together), in);
    return request::multi(std::move(together));
}

void protected_create::create_directories() {
    made_.resize(directories_.size());
    for (std::size_t i = 0; i < made_.size(); ++i) {
        made_[i] = made_[i].then(
            recipe_->step_maker ? recipe_->step_maker->create_directories(*core_, *recipe_)
                                : core_->create_directories(directories_[i], *recipe_->access));
    }
}

protected_create::joined protected_create::joined_from(
    const reply& created, std::int64_t zxid, std::vector<directory_lists::answer> lists) const {
    joined j{.zxid = zxid, .listed = !lists.empty(), .lists = std::move(lists)};
    if (created.results.empty()) {
        j.paths.push_back(created.path);
    }
    for (const reply& one : created.results) {
        j.paths.push_back(one.path);
    }
    bool is_last = true;  // everywhere
    for (std::size_t i = 0; i < j.lists.size(); ++i) {
        const listing& l = *j.lists[i];
        j.listed = j.listed && l.code == result_code::ok;
        if (refused_for_good(l.code)) {
            j.why = failure_of(l.code, directories_[i]);
        }
        is_last = is_last && queue_of(l, recipe_->markers).is_last(name_of(j.paths[i]));
    }
    if (directories_.size() > 1 && !(is_last && j.listed)) {
        j.zxid = 0;
    }
    return j;
}

/// What follows when the create was not answered with success.
protected_create::next protected_create::after_refusal(const reply& created) {
    const std::size_t directory = created.refused_operation().value_or(0);
    const std::string& where = directories_.at(directory);
    if (refused_for_good(created.code)) {
        refused_ = failure_of(created.code, where);
        return next::refuse;
    }
    switch (created.code) {
        case result_code::no_node: {
            // The directory was removed a moment ago, or could not be created.
            const result_code why =
                made_.empty() ? created.code : made_.at(directory).cause_of(created.code);
            if (why != result_code::no_node) {
                refused_ = failure_of(why, where);
                return next::refuse;
            }
            directory_known_ = false;
            return next::create_again;
        }
        case result_code::throttled:
            return next::create_again;
        case result_code::node_exists:
            refused_ = {errc::sequence_exhausted,
                        "\"" + escaped(where) +
                            "\": the servers have no sequence number left for it; use another "
                            "path"};
            return next::refuse;
        case result_code::marshalling_error:
            // The server failed before or after it applied the create. The attempt is refused once
            // it is known what is there.
            refused_ = failure_of(created.code, where);
            given_up_ = true;
            return next::search;
        default:
            // The outcome is unknown, or the code is: the znode may be there.
            return next::search;
    }
}

// ---- searching ----

/// Returns what a create whose outcome is unknown has made. Nothing: it has made nothing until now,
/// and may be applied later.
task<std::optional<protected_create::joined>> protected_create::search() {
    bool partly_deleted = false;
    while (true) {
        auto connected = core_->connection_made();
        co_await connected;
        auto asked = core_->lists().list_all(directories_);
        auto lists = co_await asked;
        std::optional<candidates> found = candidates_in(lists);
        bool conclusive = found.has_value();
        if (conclusive) {
            std::vector<std::string> paths;
            std::ranges::transform(*found, std::back_inserter(paths), &candidate::path);
            auto reading = read_all(*core_, std::move(paths));
            std::vector<reply> stats = co_await reading;
            for (std::size_t i = 0; i < stats.size(); ++i) {
                conclusive = conclusive && stats[i].ok();
                (*found)[i].found = std::move(stats[i]);
            }
        }
        bool again_at_once = false;
        if (conclusive) {
            std::optional<joined> whole = whole_creation(*found);
            if (whole && !partly_deleted) {
                whole->lists = std::move(lists);
                co_return whole;
            }
            // One of several znodes is missing: another client has deleted it, or it appeared after
            // its directory was listed. All are deleted, and the search repeated until it finds
            // none.
            if (!delete_ours(*found)) {
                resolve_absent();
                co_return std::nullopt;
            }
            again_at_once = !std::exchange(partly_deleted, true);
        }
        if (!again_at_once && core_->connected()) {
            auto pause = retry_.pause();
            co_await pause;
        }
    }
}

/// All znodes that have this GUID; nothing if a list was not answered.
std::optional<protected_create::candidates> protected_create::candidates_in(
    const std::vector<directory_lists::answer>& lists) const {
    candidates found;
    for (std::size_t i = 0; i < lists.size(); ++i) {
        const listing& l = *lists[i];
        if (l.code != result_code::ok && l.code != result_code::no_node) {
            return std::nullopt;
        }
        for (const std::string& name : queue_of(l, recipe_->markers).with_prefix(prefix_)) {
            found.push_back({.path = join_path(directories_[i], name), .directory = i});
        }
    }
    return found;
}

/// The creation, if it is there in every directory.
std::optional<protected_create::joined> protected_create::whole_creation(
    const candidates& found) const {
    joined j{.why = refused_, .listed = true, .found = true};
    for (const candidate& c : found) {
        if (is_ours(c) && c.directory == j.paths.size()) {
            j.zxid = c.found.stat.czxid;
            j.paths.push_back(c.path);
        }
    }
    return j.paths.size() == directories_.size() ? std::optional(std::move(j)) : std::nullopt;
}

/// Returns whether there were any.
bool protected_create::delete_ours(const candidates& found) {
    bool any = false;
    for (const candidate& c : found) {
        if (is_ours(c)) {
            core_->deletes().add(c.path, nullptr);
            any = true;
        }
    }
    return any;
}

/// The create has made nothing, and may be applied later: the next one has another GUID. In a
/// directory that was removed and created again, numbers start anew, so that a late create, or a
/// delete that is repeated or waits in a server's queue, could be that of a new znode under the
/// same name.
void protected_create::resolve_absent() {
    delete_late_creates(core_, recipe_, prefix_, core_->loop().now());
    prefix_ = new_prefix(*core_, *recipe_);
}

void delete_late_creates(const std::shared_ptr<client_core>& core,
                         std::shared_ptr<const queue_recipe> recipe,
                         std::string prefix,
                         loop::clock::time_point since) {
    std::make_shared<session_task>(core)->run(
        look_for_late_creates(core, std::move(recipe), std::move(prefix), since));
}

}  // namespace latchkey::inline v0
