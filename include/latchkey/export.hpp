#pragma once

#if __cplusplus < 202002L
#error "Latchkey needs C++20: compile with -std=c++20 or newer"
#endif

/// Marks what liblatchkey.so offers to programs. Everything else stays inside.
#define LATCHKEY_EXPORT [[gnu::visibility("default")]]

/// Marks the inside of an exported class.
#define LATCHKEY_HIDDEN [[gnu::visibility("hidden")]]

/// Marks what a caller of an object without a name does not mean. Compilers warn there.
#define LATCHKEY_UNNAMED [[deprecated("give it a name: it ends before the next statement")]]

/// Marks the few internals that liblatchkey_testing.so uses. Not for programs; they may change at
/// any time.
#define LATCHKEY_EXPORT_FOR_TESTING LATCHKEY_EXPORT
