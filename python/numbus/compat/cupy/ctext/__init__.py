"""The C text of ElementwiseKernel and ReductionKernel, parsed and written as Python that compiles.

tokens → parser → translate. What comes out goes through Numbus's own front end for kernels, so that
it runs on both devices.
"""
