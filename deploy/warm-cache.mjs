/**
 * Starts and stops the programs of an image once while it is built, so that Node writes what V8 compiled to
 * NODE_COMPILE_CACHE. Node does so at an orderly end only, and for functions that have run: a service is asked for
 * its health first.
 *
 *   node deploy/warm-cache.mjs SERVICE FOLDER
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const PORT = '8099';
const WITHIN_MS = 60_000;
/** Nothing listens there: a service starts all the same and waits for its store. */
const NO_STORE = 'postgres://nobody@127.0.0.1:1/none';

const [service, folder = '.'] = process.argv.slice(2);
for (const file of readdirSync(folder).filter((name) => name.endsWith('.cjs'))) {
  if (file === 'main.cjs' && service !== 'migrate') await startAndStop(join(folder, file));
  else await runOnce(join(folder, file)); // without its variables it loads, complains and ends
}

async function startAndStop(file) {
  const child = spawn(process.execPath, [file], {
    env: { ...process.env, NODE_ENV: 'production', DATABASE_URL: NO_STORE, HOST: '127.0.0.1', PORT },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = once(child, 'exit');
  for (const until = Date.now() + WITHIN_MS; !(await answers('/health')); await sleep(50)) {
    if (child.exitCode !== null) throw new Error(`${file} ended with status ${child.exitCode}`);
    if (Date.now() > until) throw new Error(`${file} did not answer /health within ${WITHIN_MS} ms`);
  }
  await answers('/api/openapi.json');
  child.kill('SIGTERM');
  const [code] = await ended;
  if (code !== 0) throw new Error(`${file} ended with status ${code} after SIGTERM`);
}

async function runOnce(file) {
  const child = spawn(process.execPath, [file], { env: { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE } });
  await once(child, 'exit');
}

function answers(path) {
  return fetch(`http://127.0.0.1:${PORT}${path}`).then(
    async (response) => {
      await response.arrayBuffer();
      return response.ok;
    },
    () => false,
  );
}
