import { createRequire, enableCompileCache, registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import { COMPILE_CACHE } from '../processes/compile-cache.ts';
import { setGlobals } from './globals.ts';

// Its types are those of the CommonJS module.
const { default: Runtime } = createRequire(import.meta.url)('jest-runtime') as typeof import('jest-runtime');
const GLOBALS = import.meta.resolve('./globals.ts');

enableCompileCache(COMPILE_CACHE.NODE_COMPILE_CACHE);
registerHooks({
  resolve: (specifier, context, next) =>
    specifier === '@jest/globals' ? { url: GLOBALS, shortCircuit: true } : next(specifier, context),
});

/**
 * Jest's runtime with Node's own module loader: a test file and all it imports are loaded as a program's modules are,
 * each once per worker and not once per test file. Jest made one for each test file; what it does beside loading (the
 * `jest` object, spies, fake timers) stays. A worker runs a test file once, so the file itself is always evaluated.
 *
 * Goes with ./jest-environment.ts, whose global object is the process's own.
 */
export default class NativeRuntime extends Runtime {
  constructor(...options: ConstructorParameters<typeof Runtime>) {
    const { getBuiltinModule } = process;
    super(...options);
    process.getBuiltinModule = getBuiltinModule; // Jest has put its own there, for the copy of `process` it knows
  }

  override unstable_shouldLoadAsEsm(): boolean {
    return true;
  }

  override async unstable_importModule(path: string): Promise<unknown> {
    try {
      return await import(pathToFileURL(path).href);
    } catch (error) {
      // Jest shows the source of the first frame it does not know: the file that does not load, not this one.
      if (error instanceof Error && error.stack) error.stack = withoutThisFile(error.stack);
      throw error;
    }
  }

  /** Evaluates the module anew, with the modules it requires as they are: it holds the state of one test file. */
  override requireInternalModule<T>(path: string): T {
    const load = createRequire(import.meta.url);
    delete load.cache[path];
    return load(path);
  }

  override setGlobalsForRuntime(globals: Parameters<InstanceType<typeof Runtime>['setGlobalsForRuntime']>[0]): void {
    super.setGlobalsForRuntime(globals);
    setGlobals(this.requireModuleOrMock(import.meta.filename, '@jest/globals'));
  }
}

function withoutThisFile(stack: string): string {
  const lines = stack.split('\n');
  return lines.filter((line) => !line.includes(import.meta.filename)).join('\n');
}
