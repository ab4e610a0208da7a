// Marks a function whose plain loops are compiled once per instruction set and chosen when the program starts. Results do not
// depend on the choice as long as the loops neither reassociate sums nor round products before adding them. Thread-sanitizer builds
// do without: the choice would run before the sanitizer is ready.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__)
#define SCANTLING_VECTORIZED __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define SCANTLING_VECTORIZED
#endif
