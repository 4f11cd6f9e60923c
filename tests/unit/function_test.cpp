#include <latchkey/function.hpp>

#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include <gtest/gtest.h>

namespace latchkey {
namespace {

using text_function = move_only_function<std::string(std::string)>;

static_assert(!std::is_copy_constructible_v<text_function>);
static_assert(std::is_nothrow_move_constructible_v<text_function>);
static_assert(std::is_nothrow_move_assignable_v<text_function>);
static_assert(std::is_constructible_v<text_function, std::function<std::string(std::string)>>);
static_assert(!std::is_constructible_v<text_function, std::function<void(int*)>>);
static_assert(!std::is_constructible_v<text_function, int>);

std::string twice(std::string s) {
    return s + s;
}

TEST(MoveOnlyFunction, IsEmptyAtFirstAndFromNothing) {
    EXPECT_FALSE(text_function());
    EXPECT_FALSE(text_function(nullptr));
    EXPECT_FALSE(text_function(static_cast<std::string (*)(std::string)>(nullptr)));
    EXPECT_FALSE(text_function(std::function<std::string(std::string)>()));
    EXPECT_FALSE(text_function(move_only_function<const char*(const std::string&)>()));
}

TEST(MoveOnlyFunction, ThrowsWhenItIsCalledEmpty) {
    text_function f;
    EXPECT_THROW(static_cast<void>(f("a")), std::bad_function_call);
    f = &twice;
    EXPECT_EQ(f("a"), "aa");
    f = nullptr;
    EXPECT_THROW(static_cast<void>(f("a")), std::bad_function_call);
}

TEST(MoveOnlyFunction, CallsEveryKindOfCallable) {
    EXPECT_EQ(text_function(twice)("a"), "aa");
    EXPECT_EQ(text_function(std::function<std::string(std::string)>(&twice))("a"), "aa");
    EXPECT_EQ((move_only_function<std::size_t(const std::string&)>(&std::string::size)("abc")), 3U);
    int calls = 0;
    move_only_function<void()> counts = [&calls] { return ++calls; };  // the result is dropped
    counts();
    counts();
    EXPECT_EQ(calls, 2);
}

TEST(MoveOnlyFunction, TakesAndPassesOnWhatCanOnlyBeMoved) {
    move_only_function<std::unique_ptr<int>(std::unique_ptr<int>)> f =
        [kept = std::make_unique<int>(1)](std::unique_ptr<int> p) {
            *p += *kept;
            return p;
        };
    EXPECT_EQ(*f(std::make_unique<int>(2)), 3);
}

TEST(MoveOnlyFunction, KeepsTheStateOfItsTarget) {
    move_only_function<int()> f = [n = 0]() mutable { return ++n; };
    EXPECT_EQ(f(), 1);
    move_only_function<int()> moved = std::move(f);
    EXPECT_FALSE(f);  // NOLINT: what a move leaves is what is tested
    EXPECT_EQ(moved(), 2);
}

TEST(MoveOnlyFunction, DestroysItsTargetOnce) {
    const auto witness = std::make_shared<int>(0);
    {
        move_only_function<void()> f = [witness] {};
        move_only_function<void()> moved = std::move(f);
        EXPECT_EQ(witness.use_count(), 2);
        moved = nullptr;
        EXPECT_EQ(witness.use_count(), 1);
        moved = [witness] {};
        moved = [] {};
        EXPECT_EQ(witness.use_count(), 1);
        f = [witness] {};
    }
    EXPECT_EQ(witness.use_count(), 1);
}

}  // namespace
}  // namespace latchkey
