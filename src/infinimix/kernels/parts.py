"""How parts of kernels are compiled: to LLVM code for the kernels that call them, and no further.

numba optimises and emits every function by itself, and then once more inside each caller: with
parts inside parts the same body passes LLVM many times. A part is never called by itself, so here
it is only lowered; LLVM sees it once, in its kernel. Custom pipelines are numba's documented door;
the library class behind it is not, so a numba that has changed there compiles parts as it would
(`PIPELINE` is then empty): slower to compile, with the same results.
"""

try:
    from numba.core.codegen import JITCodeLibrary
    from numba.core.compiler import CompilerBase, DefaultPassBuilder
    from numba.core.compiler_machinery import register_pass
    from numba.core.typed_passes import NativeLowering

    FOUND = all(
        hasattr(JITCodeLibrary, name)
        for name in (
            "_optimize_final_module",
            "_finalize_final_module",
            "_finalize_dynamic_globals",
        )
    )
except ImportError:
    FOUND = False

PIPELINE = {}

if FOUND:

    class _WithoutEnvironment:
        """A codegen for functions that have no address: nothing can be stored there for them."""

        def __init__(self, codegen):
            self._codegen = codegen

        def set_env(self, name, env):
            """Do nothing."""

        def __getattr__(self, name):
            return getattr(self._codegen, name)

    class PartLibrary(JITCodeLibrary):
        """Code that is only ever linked into other code."""

        def _optimize_final_module(self):
            pass

        def _finalize_final_module(self):
            self._finalize_dynamic_globals()
            self._finalized = True

        def get_pointer_to_function(self, name):
            """Return null: nobody calls a part."""
            self._ensure_finalized()
            return 0

        @property
        def codegen(self):
            """The codegen, but for environments."""
            return _WithoutEnvironment(self._codegen)

    @register_pass(mutates_CFG=True, analysis_only=False)
    class PartLowering(NativeLowering):
        """numba's lowering, into a library of our own."""

        _name = "infinimix_part_lowering"

        def run_pass(self, state):
            """Lower."""
            if state.library is None:
                codegen = state.targetctx.codegen()
                state.library = PartLibrary(codegen, state.func_id.func_qualname)
            return super().run_pass(state)

    class PartCompiler(CompilerBase):
        """numba's pipeline with that lowering in its place."""

        def define_pipelines(self):
            """Return the one pipeline there is."""
            passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
            passes.add_pass_after(PartLowering, NativeLowering)
            passes.passes = [(p, text) for p, text in passes.passes if p is not NativeLowering]
            passes.finalize()
            return [passes]

    PIPELINE = {"pipeline_class": PartCompiler}
