"""How code that compiled code calls is compiled: without what it has no use for.

numba optimises and emits every function by itself, and then once more inside each caller: with
parts inside parts the same body passes LLVM many times. A part is never called by itself, so here
it is only lowered; LLVM sees it once, in its kernel.

numba also counts a reference for every name that an array gets. Whoever calls a function holds its
arguments until it returns, so a function that makes no array, and returns none, need not count: a
twelfth of the time of a particle filter were calls that counted nothing, as arrays are borrowed.

Custom pipelines are numba's documented door; the library class behind it is not, so a numba that
has changed there compiles parts as it would (`PIPELINE` and `LEAN` are then empty): slower, with
the same results.
"""

try:
    from numba.core import types
    from numba.core.codegen import JITCodeLibrary
    from numba.core.compiler import CompilerBase, DefaultPassBuilder
    from numba.core.compiler_machinery import register_pass
    from numba.core.typed_passes import NativeLowering
    from numba.extending import _Intrinsic as Intrinsic

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

PACKAGE = __name__.partition(".")[0] + "."
VIEWS = {"getitem", "static_getitem", "typed_getitem", "getiter", "iternext", "build_tuple"}
PIPELINE, LEAN = {}, {}

if FOUND:

    def owns(state):
        """Does a function make something that has an owner, or return it?

        Views and named tuples have the owners of what they are made from, and arrays of our
        intrinsics have none; all other calls may return something new. Arrays that an index makes
        are no views, but without counting numba refuses to make them.
        """
        models = state.targetctx.data_model_manager
        made = [state.return_type]
        for expr, signature in state.calltypes.items():
            op = getattr(expr, "op", None)  # statements have none
            if signature is None or op is None or op in VIEWS:
                continue
            if op == "call":
                function = state.typemap[expr.func.name]
                if isinstance(function, types.NamedTupleClass) or _is_ours(function):
                    continue
            made.append(signature.return_type)
        return any(models[kind].contains_nrt_meminfo() for kind in made)

    def _is_ours(function):
        key = getattr(function, "typing_key", None)
        return isinstance(key, Intrinsic) and key._defn.__module__.startswith(PACKAGE)

    @register_pass(mutates_CFG=True, analysis_only=False)
    class LeanLowering(NativeLowering):
        """numba's lowering; references are counted only where something has an owner."""

        _name = "infinimix_lean_lowering"

        def run_pass(self, state):
            """Lower."""
            context = state.targetctx
            if not owns(state):
                state.targetctx = context.subtarget(enable_nrt=False)
            try:
                return super().run_pass(state)
            finally:
                state.targetctx = context

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
    class PartLowering(LeanLowering):
        """The same, into a library of our own."""

        _name = "infinimix_part_lowering"

        def run_pass(self, state):
            """Lower."""
            if state.library is None:
                codegen = state.targetctx.codegen()
                state.library = PartLibrary(codegen, state.func_id.func_qualname)
            return super().run_pass(state)

    class LeanCompiler(CompilerBase):
        """numba's pipeline with a lowering of ours in the place of its own."""

        lowering = LeanLowering

        def define_pipelines(self):
            """Return the one pipeline there is."""
            passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
            passes.add_pass_after(self.lowering, NativeLowering)
            passes.passes = [(p, text) for p, text in passes.passes if p is not NativeLowering]
            passes.finalize()
            return [passes]

    class PartCompiler(LeanCompiler):
        """The same for parts."""

        lowering = PartLowering

    PIPELINE, LEAN = {"pipeline_class": PartCompiler}, {"pipeline_class": LeanCompiler}
