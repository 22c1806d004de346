// Arithmetic of simulated kernels: sums as real units make them, in binary32 or coarser.
#pragma once

#include <cstdint>

#include "judge/accumulation.h"

namespace assay::num {

// One block of a matrix unit: the terms and the running sum are cut below the largest one, added exactly, cut
// to 24 bits. The definition; the functions below are held equal to it by tests.
float mma_block(float sum, const double* terms, int count, int fraction_bits);

// Σ x_i·y_i of n products in the declared order. Order unknown: eight lanes, added pairwise.
float dot_in_order(const Accumulation& order, const float* x, const float* y, std::int64_t n);

// The same of one x with several y.
void dots_in_order(const Accumulation& order, const float* x, const float* const* y, std::int64_t count,
                   std::int64_t n, float* to);

// sums[d] += Σ_j weights[j]·rows[j][d]: row after row, or in the matrix unit's blocks of rows.
void add_rows_in_order(const Accumulation& order, const float* weights, const float* const* rows,
                       std::int64_t count, std::int64_t dims, float* sums);

}  // namespace assay::num
