#include "recipe_test.hpp"

latchkey::test::world_kind latchkey::test::this_world() {
    return world_kind::real;
}
