#include "semaphore/permit_terms.hpp"

#include "semaphore/permit_grant.hpp"
#include "semaphore/permits.hpp"
#include "text/path.hpp"

#include <utility>

namespace latchkey::inline v0 {

std::unique_ptr<last_step> permit_terms::make_step(std::shared_ptr<client_core> core,
                                                   std::shared_ptr<const queue_recipe> as,
                                                   const std::string& prefix,
                                                   std::function<void(failure)> refused) const {
    return std::make_unique<permit_grant>(
        std::move(core), std::move(as), *this, prefix, std::move(refused));
}

directory_creation permit_terms::create_directories(client_core& core,
                                                    const queue_recipe& as) const {
    directory_creation made = leases ? core.create_directories(semaphore, *as.access)
                                     : core.create_parents(semaphore, *as.access);
    if (limit && !leases) {
        core.submit(
            request::create(semaphore, std::to_string(*limit), create_mode::persistent, *as.access),
            made.level());
    }
    core.submit(request::create(as.directory, {}, create_mode::container, *as.access),
                made.level());
    // That of the permits is looked for, and created, by whoever takes one: permit_grant.
    core.submit(request::create(directory, {}, create_mode::container, *as.access),
                [](const reply&) {});
    for (const std::string& each : {semaphore, as.directory, directory}) {
        core.look_at_access(each, *as.access);
    }
    return made;
}

std::uint64_t permit_terms::taken(const std::vector<std::string>& names) const noexcept {
    return leases ? names.size() : permits_taken(names);
}

std::shared_ptr<const queue_recipe> with_permits(const queue_recipe& as,
                                                 const permit_terms& terms,
                                                 std::uint32_t count) {
    auto mine = std::make_shared<permit_terms>(terms);
    mine->count = count;
    auto with = std::make_shared<queue_recipe>(as);
    with->terms = std::move(mine);
    return with;
}

}  // namespace latchkey::inline v0
