/**
 * What `@jest/globals` is inside tests. Each test file has its own `test`, `describe` and so on, but helpers that import
 * them are loaded once per worker: they see the present ones, because imports are live bindings.
 */
type Globals = typeof import('@jest/globals');

export let afterAll: Globals['afterAll'];
export let afterEach: Globals['afterEach'];
export let beforeAll: Globals['beforeAll'];
export let beforeEach: Globals['beforeEach'];
export let describe: Globals['describe'];
export let expect: Globals['expect'];
export let it: Globals['it'];
export let jest: Globals['jest'];
export let test: Globals['test'];

/** Called by the runtime before it loads a test file. */
export function setGlobals(globals: Globals): void {
  ({ afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest, test } = globals);
}
