// SPDX-License-Identifier: Apache-2.0
#pragma once

// Tensors as a pointer and a layout, in the manner of CuTe and far smaller: a layout is a shape and
// a stride for each of two modes, and a tile, or a thread's part of one, is again a tensor. What is
// known when the kernel is compiled is part of the type and costs nothing. NVRTC needs no include
// path for it.
namespace layout {

#define LAYOUT_BOTH __host__ __device__ __forceinline__ constexpr

// A number that the compiler knows. Where one of two is not known, their product is an int.
template <int number>
struct Int {
  LAYOUT_BOTH operator int() const { return number; }
};
template <int a, int b>
LAYOUT_BOTH Int<a * b> operator*(Int<a>, Int<b>) {
  return {};
}
template <int a, int b>
LAYOUT_BOTH Int<a / b> operator/(Int<a>, Int<b>) {
  static_assert(a % b == 0, "parts are all of one size");
  return {};
}

template <typename Rows, typename Columns>
struct Modes {
  Rows rows;
  Columns columns;
};
template <typename Rows, typename Columns>
LAYOUT_BOTH Modes<Rows, Columns> modes(Rows rows, Columns columns) {
  return {rows, columns};
}

template <typename Shape, typename Stride>
struct Layout {
  Shape shape;
  Stride stride;
  LAYOUT_BOTH int operator()(int row, int column) const {
    return row * stride.rows + column * stride.columns;
  }
};
template <typename Shape, typename Stride>
LAYOUT_BOTH Layout<Shape, Stride> make_layout(Shape shape, Stride stride) {
  return {shape, stride};
}

template <typename T, typename Map>
struct Tensor {
  T* data;
  Map map;
  LAYOUT_BOTH T& operator()(int row, int column) const { return data[map(row, column)]; }
};
template <typename T, typename Map>
LAYOUT_BOTH Tensor<T, Map> make_tensor(T* data, Map map) {
  return {data, map};
}

// The tile of this shape at these tile coordinates.
template <typename T, typename Map, typename Shape>
LAYOUT_BOTH auto tile(const Tensor<T, Map>& from, Shape shape, int row, int column) {
  return make_tensor(&from(row * shape.rows, column * shape.columns),
                     make_layout(shape, from.map.stride));
}

// What thread `index` of a grid of threads has of it: each takes every rows-th row and every
// columns-th column, so that neighbours have neighbours.
template <typename T, typename Map, typename Grid>
LAYOUT_BOTH auto part(const Tensor<T, Map>& from, Grid threads, int index) {
  const auto& shape = from.map.shape;
  const auto& stride = from.map.stride;
  return make_tensor(
      &from(index / threads.columns, index % threads.columns),
      make_layout(modes(shape.rows / threads.rows, shape.columns / threads.columns),
                  modes(stride.rows * threads.rows, stride.columns * threads.columns)));
}

#undef LAYOUT_BOTH

}  // namespace layout
