stencil = None
