#include "call/exceptions.hpp"

namespace latchkey::inline v0 {

std::exception_ptr exception_of(const failure& why) {
    return std::make_exception_ptr(error(why.code, why.detail));
}

bool has_code(const std::exception_ptr& what, const std::error_code& code) {
    try {
        std::rethrow_exception(what);
    } catch (const error& e) {
        return e.code() == code;
    } catch (...) {
        return false;
    }
}

std::string words_of(const std::exception_ptr& what) {
    try {
        std::rethrow_exception(what);
    } catch (const std::exception& e) {
        return e.what();
    } catch (...) {
        return "not an exception";
    }
}

}  // namespace latchkey::inline v0
