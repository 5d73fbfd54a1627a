import { StartError } from '@pipeline/runtime';

const DISPATCHERS = ['undici.globalDispatcher.2', 'undici.globalDispatcher.1'];

/**
 * A program may be known by the address of its metadata document, which is fetched from here. The OAuth library refuses
 * documents at addresses inside (loopback, private, link-local) by a hook in Node's fetch, and goes on with a
 * mere warning where it does not find the place for it.
 * @throws StartError on a Node where that hook cannot be set.
 */
export function requireInnerAddressGuard(): void {
  // Loads fetch, which sets the dispatcher, here and for the library: it only names `Response`, and a bundler drops that.
  if (!new Response().ok) throw new StartError('this Node has no working fetch');
  const global = globalThis as unknown as Record<symbol, { constructor?: unknown } | undefined>;
  const dispatcher = DISPATCHERS.map((name) => global[Symbol.for(name)]).find((found) => found !== undefined);
  if (typeof dispatcher?.constructor !== 'function')
    throw new StartError(
      'this Node version cannot block outgoing requests to internal addresses; use the version in .nvmrc',
    );
}
