import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { build } from 'esbuild';

/** Whose React the page has. */
const DASHBOARD = join(import.meta.dirname, '../../../../services/monitor/web');
const HTML =
  '<!doctype html><title>React alone</title><div id="app"></div><script type="module" src="/app.js"></script>';
const PROGRAM = `
  import { createElement } from 'react';
  import { createRoot } from 'react-dom/client';
  createRoot(document.getElementById('app')).render(createElement('h2', null, 'React alone'));`;

/**
 * Serves a page on which the React of the dashboard renders one heading: what any page of React takes on this machine.
 * @returns its address, and a function that ends it.
 */
export async function serveBarePage(): Promise<{ url: string; stop(): Promise<void> }> {
  const script = brotliCompressSync(await bundled());
  const server = createServer((request, response) => {
    if (request.url !== '/app.js') return response.setHeader('content-type', 'text/html').end(HTML);
    response.setHeader('content-type', 'text/javascript').setHeader('content-encoding', 'br').end(script);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** @returns the program and React as the dashboard is built: for production, minified. */
async function bundled(): Promise<Uint8Array> {
  const { outputFiles } = await build({
    stdin: { contents: PROGRAM, resolveDir: DASHBOARD },
    bundle: true,
    minify: true,
    format: 'esm',
    define: { 'process.env.NODE_ENV': '"production"' },
    write: false,
  });
  const [file] = outputFiles;
  if (file === undefined) throw new Error('nothing was bundled');
  return file.contents;
}
