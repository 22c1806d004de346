// For inner loops: one function, several instruction sets, chosen when the program is loaded; multiply-adds
// may be fused. Results of binary64 loops then differ between machines by their last bits, so this is never
// used where bytes of inputs are made.
#pragma once

#if defined(__GNUC__) && !defined(__clang__)
#define ASSAY_FUSED __attribute__((optimize("fp-contract=fast,tree-vectorize")))
#else
#define ASSAY_FUSED
#endif

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define ASSAY_VECTORIZED \
  ASSAY_FUSED __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define ASSAY_VECTORIZED ASSAY_FUSED
#endif
