// SPDX-License-Identifier: Apache-2.0
// What saxpy.cubin was made of: README.md says how.
#include <cuda_fp16.h>

__device__ __forceinline__ float scaled(float x) { return x * 1.5f + 2.0f; }

__device__ __forceinline__ float twice_scaled(float x) {
  return scaled(scaled(x)) + __half2float(__float2half_rn(x));
}

__device__ __noinline__ float polynomial(float x) {
  float sum = scaled(x);
  for (int i = 0; i < 64; ++i) {
    sum = sum * x + twice_scaled(sum);
  }
  return sum;
}

template <typename T>
__global__ void saxpy(int n, T a, const T* x, T* y) {
  __shared__ T tile[256];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = i < n ? x[i] : T(0);
  __syncthreads();
  if (i < n) {
    y[i] = a * tile[255 - threadIdx.x] + polynomial(x[i]);
  }
}

__global__ void fill(int n, float value, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = value;
}

template __global__ void saxpy<float>(int, float, const float*, float*);
