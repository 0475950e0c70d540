// Coefficients of the elementary functions; written by tools/gen_math.py, do not edit.
#pragma once

// clang-format off
namespace numbus::math::coeffs {

// ln 2 in two parts; n * first is exact enough with fma
inline constexpr double ln2_f32[] = {0x1.62e4300000000p-1, -0x1.05c6100000000p-29};
inline constexpr double ln2_f64[] = {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
// ln 2, first part short: k * first is exact for every exponent k
inline constexpr double ln2_short_f32[] = {0x1.62e8000000000p-1, -0x1.e8082e0000000p-16};
inline constexpr double ln2_short_f64[] = {0x1.62e42fefa4000p-1, -0x1.8432a1b0e2634p-43};
// 1 / ln 2
inline constexpr double log2e_f32[] = {0x1.7154760000000p+0, 0x1.4ae0c00000000p-26};
inline constexpr double log2e_f64[] = {0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56};
// pi/2 for Cody-Waite: n * second is exact for n < 2^11 | 2^20
inline constexpr double pio2_f32[] = {0x1.921fb60000000p+0, -0x1.7780000000000p-25,
    0x1.68c2340000000p-39};
inline constexpr double pio2_f64[] = {0x1.921fb54442d18p+0, 0x1.1a62633100000p-54,
    0x1.1701b839a2520p-88};
// 2/pi
inline constexpr double two_over_pi_f32[] = {0x1.45f3060000000p-1};
inline constexpr double two_over_pi_f64[] = {0x1.45f306dc9c883p-1};
// log10(2), first part short: k * first is exact
inline constexpr double log10_2_f32[] = {0x1.3440000000000p-2, 0x1.3509f80000000p-18};
inline constexpr double log10_2_f64[] = {0x1.34413509f8000p-2, -0x1.80433b83b532ap-44};
// 1 / ln 10
inline constexpr double log10e_f32[] = {0x1.bcb7b20000000p-2, -0x1.5b235e0000000p-27};
inline constexpr double log10e_f64[] = {0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57};
// 1/3
inline constexpr double third_f32[] = {0x1.5555560000000p-2};
inline constexpr double third_f64[] = {0x1.5555555555555p-2};
// 1 / cbrt(2)
inline constexpr double rcbrt2_f32[] = {0x1.965fea0000000p-1};
inline constexpr double rcbrt2_f64[] = {0x1.965fea53d6e3dp-1};
// 1 / cbrt(4)
inline constexpr double rcbrt4_f32[] = {0x1.428a300000000p-1};
inline constexpr double rcbrt4_f64[] = {0x1.428a2f98d728bp-1};
// pi as an unevaluated sum
inline constexpr double pi_pair_f32[] = {0x1.921fb60000000p+1, -0x1.777a5c0000000p-24};
inline constexpr double pi_pair_f64[] = {0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53};
// pi/4 as an unevaluated sum
inline constexpr double pio4_f32[] = {0x1.921fb60000000p-1, -0x1.777a5c0000000p-26};
inline constexpr double pio4_f64[] = {0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55};
// 3/4 pi as an unevaluated sum
inline constexpr double pio4x3_f32[] = {0x1.2d97c80000000p+1, -0x1.99bc5c0000000p-28};
inline constexpr double pio4x3_f64[] = {0x1.2d97c7f3321d2p+1, 0x1.a79394c9e8a0ap-54};
// pi/2 as an unevaluated sum
inline constexpr double pio2_pair_f32[] = {0x1.921fb60000000p+0, -0x1.777a5c0000000p-25};
inline constexpr double pio2_pair_f64[] = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54};

// (exp(r) - 1 - r) / r^2, |r| <= ln2/2, for exp; relative error 2^-28.3 | 2^-56.4
inline constexpr double exp_f32[] = {0x1.fffffc0000000p-2, 0x1.5554920000000p-3,
    0x1.5558ae0000000p-5, 0x1.1239800000000p-7, 0x1.6a4f280000000p-10};
inline constexpr double exp_f64[] = {0x1.000000000000ap-1, 0x1.55555555554fap-3,
    0x1.5555555550880p-5, 0x1.1111111127c71p-7, 0x1.6c16c18429319p-10, 0x1.a01a012a23e7cp-13,
    0x1.a0199a0ef7f16p-16, 0x1.71df25cbd1405p-19, 0x1.28ad705e3308bp-22, 0x1.ad7ea9228ffd4p-26};
// the same, for functions that need exp(r) - 1; relative error 2^-31.1 | 2^-59.9
inline constexpr double expm1_f32[] = {0x1.0000000000000p-1, 0x1.5555540000000p-3,
    0x1.5554f80000000p-5, 0x1.1112da0000000p-7, 0x1.6d3a3a0000000p-10, 0x1.9e6ef40000000p-13};
inline constexpr double expm1_f64[] = {0x1.0000000000000p-1, 0x1.5555555555559p-3,
    0x1.555555555553fp-5, 0x1.111111110f6dcp-7, 0x1.6c16c16c1f005p-10, 0x1.a01a01afd2f9bp-13,
    0x1.a01a017bea298p-16, 0x1.71ddf8810bb8ep-19, 0x1.27e535df29313p-22, 0x1.af5e70f75f1edp-26,
    0x1.1ee8ffc9f40c0p-29};
// (log1p(f) - f + f^2/2) / f^3, |f| <= 1/3; relative error 2^-30.1 | 2^-58.7
inline constexpr double log_f32[] = {0x1.5555560000000p-2, -0x1.ffff180000000p-3,
    0x1.9997ee0000000p-3, -0x1.55978c0000000p-3, 0x1.24eb6c0000000p-3, -0x1.f3b02c0000000p-4,
    0x1.b91f500000000p-4, -0x1.06c2ba0000000p-3, 0x1.e9cfc20000000p-4};
inline constexpr double log_f64[] = {0x1.5555555555538p-2, -0x1.fffffffffff36p-3,
    0x1.99999999a009fp-3, -0x1.5555555565103p-3, 0x1.24924920b8bb9p-3, -0x1.fffffff107f29p-4,
    0x1.c71c740979d59p-4, -0x1.99999d534f41ep-4, 0x1.745cb65df8ad2p-4, -0x1.5554c8632d5b2p-4,
    0x1.3b1dacdc4c4dbp-4, -0x1.249f6e2b9bbf1p-4, 0x1.106a01fcec396p-4, -0x1.fe6a6763c35a7p-5,
    0x1.efb6cbac4d4d2p-5, -0x1.d6cbee5a9de78p-5, 0x1.563ca1ae6a627p-5, -0x1.3a7f382a03fc5p-5,
    0x1.5bfccd7c66a20p-4, -0x1.556078361afe9p-4};
// the same, for log, which has no use for more; relative error 2^-27.7 | 2^-56.4
inline constexpr double log_short_f32[] = {0x1.5555060000000p-2, -0x1.fffef80000000p-3,
    0x1.99d05e0000000p-3, -0x1.559c820000000p-3, 0x1.1ed4260000000p-3, -0x1.f333e80000000p-4,
    0x1.1e738e0000000p-3, -0x1.07bbce0000000p-3};
inline constexpr double log_short_f64[] = {0x1.5555555555543p-2, -0x1.0000000000962p-2,
    0x1.999999999e68ap-3, -0x1.555555540cd39p-3, 0x1.249249216b4dep-3, -0x1.000000859bb50p-3,
    0x1.c71c73bbfc183p-4, -0x1.9999620aed55fp-4, 0x1.745cc014eb137p-4, -0x1.555c07813bf5ap-4,
    0x1.3b1ceddac3411p-4, -0x1.2413d32d0e682p-4, 0x1.1073231d75d7bp-4, -0x1.05c4ee028d3a4p-4,
    0x1.ef2f2b3d513d5p-5, -0x1.76af640d1e350p-5, 0x1.586c7cdef6e90p-5, -0x1.613ffb160db87p-4,
    0x1.5a102cb938d59p-4};
// (sin(r) - r) / r^3 in z = r^2, |r| <= pi/4; relative error 2^-27.9 | 2^-57.9
inline constexpr double sin_f32[] = {-0x1.5555460000000p-3, 0x1.1107780000000p-7,
    -0x1.9954040000000p-13};
inline constexpr double sin_f64[] = {-0x1.5555555555548p-3, 0x1.111111110f731p-7,
    -0x1.a01a019be9533p-13, 0x1.71de355567265p-19, -0x1.ae5e4bc3efc75p-26, 0x1.5d8b6ea6c5082p-33};
// (cos(r) - 1 + z/2) / z^2 in z = r^2, |r| <= pi/4; relative error 2^-33.0 | 2^-63.9
inline constexpr double cos_f32[] = {0x1.55554a0000000p-5, -0x1.6c0c280000000p-10,
    0x1.99e80c0000000p-16};
inline constexpr double cos_f64[] = {0x1.555555555554bp-5, -0x1.6c16c16c15013p-10,
    0x1.a01a019c8ed2ap-16, -0x1.27e4f7f144a67p-22, 0x1.1ee9db920d1d1p-29, -0x1.8fa66149d3c30p-37};
// (2^r - 1 - r ln2) / r^2, |r| <= 1/2; relative error 2^-28.3 | 2^-57.6
inline constexpr double exp2_f32[] = {0x1.ebfbdc0000000p-3, 0x1.c6af8a0000000p-5,
    0x1.3b2de80000000p-7, 0x1.5f02fc0000000p-10, 0x1.4162300000000p-13};
inline constexpr double exp2_f64[] = {0x1.ebfbdff82c5a1p-3, 0x1.c6b08d704a046p-5,
    0x1.3b2ab6fba0794p-7, 0x1.5d87fe78c37f2p-10, 0x1.4309130dc4d05p-13, 0x1.ffcbfbc78a515p-17,
    0x1.62bfc9f75729dp-20, 0x1.b526536767803p-24, 0x1.e617b11d6d9a9p-28, 0x1.e7c5fd708b501p-32};
// (sinh(r) - r) / r^3 in z = r^2, |r| <= ln2/2; relative error 2^-34.3 | 2^-61.7
inline constexpr double sinh_f32[] = {0x1.5555560000000p-3, 0x1.110fbe0000000p-7,
    0x1.a2e30a0000000p-13};
inline constexpr double sinh_f64[] = {0x1.5555555555559p-3, 0x1.111111110f623p-7,
    0x1.a01a01b025ceep-13, 0x1.71ddf79b76e39p-19, 0x1.af6021fca83a8p-26};
// (cosh(r) - 1) / z in z = r^2, |r| <= ln2/2; relative error 2^-33.3 | 2^-58.0
inline constexpr double cosh_f32[] = {0x1.0000000000000p-1, 0x1.5554e60000000p-5,
    0x1.6d4f3e0000000p-10};
inline constexpr double cosh_f64[] = {0x1.000000000000bp-1, 0x1.555555555025bp-5,
    0x1.6c16c18540a6ep-10, 0x1.a0199788652c5p-16, 0x1.28af7dc68776dp-22};
// (tanh(r) - r) / r^3 in z = r^2, |r| <= ln2/4; relative error 2^-32.5 | 2^-57.8
inline constexpr double tanh_f32[] = {-0x1.55554e0000000p-2, 0x1.1105940000000p-3,
    -0x1.afd7ca0000000p-5};
inline constexpr double tanh_f64[] = {-0x1.55555555554bcp-2, 0x1.11111110e098dp-3,
    -0x1.ba1ba116be818p-5, 0x1.664ec9d10fee7p-6, -0x1.223c71bccb9fap-7, 0x1.c3834e0cdb2c1p-9};
// (atan(t) - t) / t^3 in z = t^2, 0 <= t <= tan(pi/8); relative error 2^-30.4 | 2^-59.4
inline constexpr double atan_f32[] = {-0x1.55554a0000000p-2, 0x1.9991e20000000p-3,
    -0x1.23b9a20000000p-3, 0x1.b224520000000p-4, -0x1.f2e5760000000p-5};
inline constexpr double atan_f64[] = {-0x1.555555555553dp-2, 0x1.9999999995865p-3,
    -0x1.24924922ad265p-3, 0x1.c71c70e5f2b26p-4, -0x1.745cf8d8c1eabp-4, 0x1.3b1118d6ea033p-4,
    -0x1.10ebb51b444ccp-4, 0x1.df0f1ca11bfc4p-5, -0x1.9cd1eb2d6e4abp-5, 0x1.37d3930aeb6fbp-5,
    -0x1.2565dc7ab6c19p-6};
// (asin(t) - t) / t^3 in z = t^2, 0 <= t <= 1/2; relative error 2^-31.7 | 2^-59.9
inline constexpr double asin_f32[] = {0x1.55554c0000000p-3, 0x1.3338ac0000000p-4,
    0x1.6ca7440000000p-5, 0x1.04d4500000000p-5, 0x1.d4fb840000000p-7, 0x1.34dae60000000p-5};
inline constexpr double asin_f64[] = {0x1.5555555555577p-3, 0x1.333333332e134p-4,
    0x1.6db6db7212370p-5, 0x1.f1c71a9506d5ep-6, 0x1.6e8bdede0bab4p-6, 0x1.1c49f0836ffe6p-6,
    0x1.ca1f89f775470p-7, 0x1.7585a4d27f6dap-7, 0x1.613bfac3d3addp-7, 0x1.e5fdc8f5553dap-9,
    0x1.639a06a1ac023p-6, -0x1.57fa2ab039cdbp-6, 0x1.0b45bafd1bd24p-5};
// (log1p(r) - r + r^2/2) / r^3 where log_table has taken the rest; relative error 2^-39.9 | 2^-66.9
inline constexpr double log_near_f32[] = {0x1.5555540000000p-2, -0x1.fffffe0000000p-3,
    0x1.99d4fa0000000p-3, -0x1.5584b40000000p-3};
inline constexpr double log_near_f64[] = {0x1.5555555555555p-2, -0x1.ffffffffffff8p-3,
    0x1.9999999999989p-3, -0x1.555555557bbd8p-3, 0x1.24924924c8cc5p-3, -0x1.fffff7eea7de3p-4,
    0x1.c71c687eb23b1p-4, -0x1.99f2129b80cfbp-4, 0x1.74b676e00c604p-4};
// 1 / cbrt(m), 1 <= m <= 2; relative error 2^-14.7 | 2^-17.4
inline constexpr double rcbrt_f32[] = {0x1.ab85b40000000p+0, -0x1.2c42580000000p+0,
    0x1.6417660000000p-1, -0x1.c51a940000000p-3, 0x1.d472bc0000000p-6};
inline constexpr double rcbrt_f64[] = {0x1.c7f34f4023a42p+0, -0x1.90e6ecc8cd9bcp+0,
    0x1.3e683a38d8705p+0, -0x1.321ba427c54b2p-1, 0x1.3fa1601ed75a6p-3, -0x1.16d5cb4156197p-6};

// Windows of the bits of 2/pi for Payne-Hanek: 24 bits every 8 | 48 bits every 16.
inline constexpr double two_over_pi_bits_f32[] = {0x1.45f3060000000p-1, 0x1.f306dc0000000p-1,
    0x1.06dc9c0000000p-1, 0x1.b939100000000p-2, 0x1.3910540000000p-2, 0x1.1054a40000000p-2,
    0x1.529fc00000000p-4, 0x1.4fe1380000000p-3, 0x1.f84eae0000000p-1, 0x1.3abe880000000p-3,
    0x1.5f47d40000000p-2, 0x1.a3ea680000000p-1, 0x1.ea69ba0000000p-1, 0x1.a6ee000000000p-3,
    0x1.bb81b60000000p-1, 0x1.81b6c40000000p-1, 0x1.b6c52a0000000p-1, 0x1.8a56640000000p-2,
    0x1.2b32780000000p-1, 0x1.3278860000000p-1, 0x1.e21c800000000p-3, 0x1.0e41040000000p-2,
    0x1.2083fc0000000p-1};
inline constexpr double two_over_pi_bits_f64[] = {0x1.45f306dc9c880p-1, 0x1.06dc9c882a520p-1,
    0x1.391054a7f09c0p-2, 0x1.529fc2757d100p-4, 0x1.f84eafa3ea680p-1, 0x1.5f47d4d377000p-2,
    0x1.ea69bb81b6c40p-1, 0x1.bb81b6c52b320p-1, 0x1.b6c52b3278860p-1, 0x1.2b32788720820p-1,
    0x1.e21c820ff2880p-3, 0x1.2083fca2c7560p-1, 0x1.fca2c757bd760p-1, 0x1.8eaf7aef15840p-2,
    0x1.bd778ac36e480p-1, 0x1.8ac36e48dc740p-1, 0x1.6e48dc74849a0p-1, 0x1.b8e909374b800p-2,
    0x1.09374b8019240p-2, 0x1.a5c00c925dd40p-1, 0x1.924bba8274400p-6, 0x1.77504e8c90e00p-3,
    0x1.3a32439fc3a00p-5, 0x1.2439fc3bd6380p-1, 0x1.fc3bd63962520p-1, 0x1.d63962534e7c0p-1,
    0x1.62534e7dd1040p-1, 0x1.4e7dd1046bea0p-1, 0x1.d1046bea5d760p-1, 0x1.afa975da24200p-3,
    0x1.75da24274ce00p-3, 0x1.1213a671c0980p-2, 0x1.d338e04d68be0p-1, 0x1.c09ad17df9040p-2,
    0x1.68befc8273220p-1, 0x1.f904e64758e40p-2, 0x1.cc8eb1cc1a980p-3, 0x1.ac7306a673e80p-1,
    0x1.06a673e939080p-1, 0x1.cfa4e422fc580p-3, 0x1.3908bf177bf20p-1, 0x1.7e2ef7e4a0ec0p-2,
    0x1.7bf250763ff00p-1, 0x1.41d8ffc4bff80p-3, 0x1.ff897ffde0500p-4, 0x1.2fffbc0b301e0p-1,
    0x1.bc0b301fde5e0p-1, 0x1.301fde5e23160p-1, 0x1.de5e2316b4140p-1, 0x1.18b5a0a6d1f00p-4,
    0x1.6829b47db4d80p-2, 0x1.b47db4d9fb3c0p-2, 0x1.b4d9fb3c9f2c0p-2, 0x1.fb3c9f2c26dc0p-2,
    0x1.3e584dba7a300p-3, 0x1.36e9e8c7ecc00p-5, 0x1.3d18fd9a797c0p-2, 0x1.fb34f2ff51680p-3,
    0x1.3cbfd45aea4e0p-1, 0x1.d45aea4f758e0p-1, 0x1.d49eeb1faf940p-2, 0x1.758fd7cbe2f60p-1,
    0x1.d7cbe2f67a0e0p-1, 0x1.e2f67a0e73ee0p-1, 0x1.e839cfbc52900p-3, 0x1.cfbc529497500p-3,
    0x1.14a525d4d7f60p-1, 0x1.25d4d7f6bf620p-1, 0x1.afed7ec47e340p-2, 0x1.7ec47e3574200p-2};

// c for each 32nd of m, 91/128 to 91/64: m c - 1 is small and exact
inline constexpr double log_table[] = {0x1.6400000000000p+0, 0x1.5c00000000000p+0,
    0x1.5400000000000p+0, 0x1.5000000000000p+0, 0x1.4800000000000p+0, 0x1.4000000000000p+0,
    0x1.3c00000000000p+0, 0x1.3400000000000p+0, 0x1.3000000000000p+0, 0x1.2800000000000p+0,
    0x1.2400000000000p+0, 0x1.2000000000000p+0, 0x1.1c00000000000p+0, 0x1.1400000000000p+0,
    0x1.1000000000000p+0, 0x1.0c00000000000p+0, 0x1.0800000000000p+0, 0x1.0400000000000p+0,
    0x1.0000000000000p+0, 0x1.f000000000000p-1, 0x1.e000000000000p-1, 0x1.d400000000000p-1,
    0x1.c800000000000p-1, 0x1.b800000000000p-1, 0x1.b000000000000p-1, 0x1.a400000000000p-1,
    0x1.9800000000000p-1, 0x1.9000000000000p-1, 0x1.8800000000000p-1, 0x1.7c00000000000p-1,
    0x1.7400000000000p-1, 0x1.6c00000000000p-1};
// -log(c), multiples of 2^-16
inline constexpr double log_table_hi_f32[] = {-0x1.51ac000000000p-2, -0x1.3a64000000000p-2,
    -0x1.2294000000000p-2, -0x1.1674000000000p-2, -0x1.fb90000000000p-3, -0x1.c900000000000p-3,
    -0x1.af40000000000p-3, -0x1.7ab8000000000p-3, -0x1.5ff0000000000p-3, -0x1.2958000000000p-3,
    -0x1.0d78000000000p-3, -0x1.e270000000000p-4, -0x1.a920000000000p-4, -0x1.3420000000000p-4,
    -0x1.f0a0000000000p-5, -0x1.7740000000000p-5, -0x1.f840000000000p-6, -0x1.fc00000000000p-7,
    0.0, 0x1.0420000000000p-5, 0x1.0860000000000p-4, 0x1.7010000000000p-4, 0x1.da70000000000p-4,
    0x1.3660000000000p-3, 0x1.5bf8000000000p-3, 0x1.95a8000000000p-3, 0x1.d100000000000p-3,
    0x1.f990000000000p-3, 0x1.1178000000000p-2, 0x1.3150000000000p-2, 0x1.4718000000000p-2,
    0x1.5d5c000000000p-2};
// the rest of it
inline constexpr double log_table_lo_f32[] = {0x1.278d200000000p-18, -0x1.8aad280000000p-19,
    -0x1.fbcf7a0000000p-22, -0x1.cababa0000000p-18, -0x1.86d5e40000000p-19, 0x1.070cac0000000p-20,
    0x1.b58bfa0000000p-18, -0x1.20421c0000000p-20, -0x1.83853c0000000p-18, 0x1.683f000000000p-18,
    0x1.832f720000000p-23, -0x1.db8abc0000000p-22, -0x1.b4e92c0000000p-18, 0x1.434f220000000p-19,
    -0x1.86008c0000000p-20, -0x1.63d8cc0000000p-19, 0x1.64f1880000000p-18, -0x1.5161f80000000p-20,
    0.0, -0x1.44ec320000000p-18, -0x1.9d29880000000p-18, -0x1.67a8aa0000000p-19,
    0x1.3b1c220000000p-19, -0x1.a7f5380000000p-22, -0x1.fca55e0000000p-18, -0x1.2918480000000p-18,
    0x1.bf932a0000000p-18, 0x1.c6cb3c0000000p-19, 0x1.d044fc0000000p-19, -0x1.c3c5940000000p-19,
    0x1.b84e380000000p-19, -0x1.1053500000000p-21};
// -log(c), multiples of 2^-41
inline constexpr double log_table_hi_f64[] = {-0x1.51aad872e0000p-2, -0x1.3a64c55694000p-2,
    -0x1.22941fbcf8000p-2, -0x1.1675cababa000p-2, -0x1.fb9186d5e4000p-3, -0x1.c8ff7c79a8000p-3,
    -0x1.af3c94e80c000p-3, -0x1.7ab890210c000p-3, -0x1.5ff3070a78000p-3, -0x1.29552f8200000p-3,
    -0x1.0d77e7cd08000p-3, -0x1.e27076e2b0000p-4, -0x1.a926d3a4b0000p-4, -0x1.341d7961c0000p-4,
    -0x1.f0a30c0110000p-5, -0x1.77458f6330000p-5, -0x1.f829b0e780000p-6, -0x1.fc0a8b0fc0000p-7,
    0.0, 0x1.0415d89e70000p-5, 0x1.08598b59e0000p-4, 0x1.700d30aeb0000p-4, 0x1.da72763848000p-4,
    0x1.365fcb0158000p-3, 0x1.5bf406b544000p-3, 0x1.95a5adcf70000p-3, 0x1.d1037f2654000p-3,
    0x1.f991c6cb3c000p-3, 0x1.1178e8227e000p-2, 0x1.314f1e1d36000p-2, 0x1.4718dc271c000p-2,
    0x1.5d5bddf596000p-2};
// the rest of it
inline constexpr double log_table_lo_f64[] = {0x1.f4bd8db0a7cc1p-44, -0x1.7a71cbcd735d0p-44,
    0x1.a6976f5eb0963p-44, -0x1.8380e731f55c4p-44, 0x1.d572aab993c87p-47, -0x1.a21ac25d81ef3p-43,
    0x1.a4e633fcd9066p-52, -0x1.9091be36b2d6ap-43, -0x1.3d3c873e20a07p-43, 0x1.5b967f4471dfcp-44,
    -0x1.cb2cd2ee2f482p-44, 0x1.a342c2af0003cp-45, 0x1.54e4d7a16eab2p-43, 0x1.717b6b33e44f8p-43,
    -0x1.8a9985f325c5cp-43, 0x1.181dce586af09p-44, -0x1.980267c7e09e4p-45, -0x1.f1e7cf6d3a69cp-50,
    0.0, 0x1.1111c05cf1d75p-43, 0x1.d034451fecdfbp-43, -0x1.f8f85c959884bp-43,
    -0x1.caed7fc0b1d1ap-43, 0x1.0162fa8234b73p-43, -0x1.27023eb68981cp-46, 0x1.7f22858a0ff6fp-47,
    0x1.e7b5818a49092p-43, -0x1.90d04cd7cc834p-44, 0x1.1ef78ce2d07f2p-44, -0x1.8e27ad3213cb8p-45,
    0x1.06c18fb4c14c5p-44, -0x1.a0b2a08a465dcp-47};

}  // namespace numbus::math::coeffs
