/**
 * Starts and stops the programs of an image once during the build, so that Node writes the V8 code cache to
 * NODE_COMPILE_CACHE. Node writes it only on a clean exit and only for executed functions, so the script requests the
 * health of each service first.
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
/** Unreachable address: the service starts without its store. */
const NO_STORE = 'postgres://nobody@127.0.0.1:1/none';

const [service, folder = '.'] = process.argv.slice(2);
for (const file of readdirSync(folder).filter((name) => name.endsWith('.cjs'))) {
  if (file === 'main.cjs' && service !== 'migrate') await startAndStop(join(folder, file));
  else await runOnce(join(folder, file)); // without its variables it loads, reports the error and exits
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
