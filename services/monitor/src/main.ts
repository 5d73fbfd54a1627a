import { fileURLToPath } from 'node:url';
import { runService } from '@pipeline/runtime';
import { monitorEnv } from './process/env.ts';
import { startMonitor } from './process/start.ts';

/** The same path from this file and from the bundled program (`bin/main.cjs`). */
const WEB_DIR = fileURLToPath(new URL('../web/dist', import.meta.url));

// Not awaited at top level: the bundle is CommonJS, which knows no such await.
void runService({
  name: 'monitor',
  schema: monitorEnv,
  env: process.env,
  start: async (context) => {
    await startMonitor(context, process.env, WEB_DIR);
  },
});
