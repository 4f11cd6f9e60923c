#include "group_recipe.hpp"

#include "group_judge.hpp"
#include "group_worker.hpp"
#include "program.hpp"
#include "stage.hpp"

#include <utility>

namespace latchkey::simulation {

std::shared_ptr<caller> group_recipe::make_caller(program& of,
                                                  std::size_t object,
                                                  std::string name) const {
    return std::make_shared<group_worker>(of, object, std::move(name));
}

std::unique_ptr<judge> group_recipe::judge_of(stage& s) const {
    return std::make_unique<group_judge>(s);
}

}  // namespace latchkey::simulation
