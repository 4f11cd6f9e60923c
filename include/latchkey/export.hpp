#pragma once

/// Marks what liblatchkey.so offers to programs. Everything else stays inside.
#define LATCHKEY_EXPORT __attribute__((visibility("default")))

/// Marks the inside of an exported class.
#define LATCHKEY_HIDDEN __attribute__((visibility("hidden")))

/// Marks the few internals that liblatchkey_testing.so uses. Not for programs; they may change at
/// any time.
#define LATCHKEY_EXPORT_FOR_TESTING LATCHKEY_EXPORT
