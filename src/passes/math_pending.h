// Placeholders until passes/math has them (a declaration there wins over these). Not accurate.
#pragma once
namespace numbus::math_pending {
#define P1(n) template <class B> typename B::V n(B& b, typename B::V x) { return b.sqrt(x); }
P1(exp2) P1(expm1) P1(log2) P1(log10) P1(log1p) P1(tan) P1(arcsin) P1(arccos) P1(arctan) P1(sinh) P1(cosh) P1(arcsinh) P1(arccosh) P1(arctanh) P1(cbrt)
#undef P1
#define P2(n) template <class B> typename B::V n(B& b, typename B::V x, typename B::V y) { return b.sqrt(b.add(b.mul(x, x), b.mul(y, y))); }
P2(pow) P2(hypot) P2(arctan2) P2(logaddexp) P2(logaddexp2)
#undef P2
}  // namespace numbus::math_pending
namespace numbus::math { using namespace numbus::math_pending; }
