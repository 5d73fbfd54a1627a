import { fileURLToPath } from 'node:url';
import { runService, withSecretFiles } from '@pipeline/runtime';
import { monitorEnv } from './process/env.ts';
import { startMonitor } from './process/start.ts';

/** The same path from this file and from the bundled program (`bin/main.cjs`). */
const WEB_DIR = fileURLToPath(new URL('../web/dist', import.meta.url));

const environment = withSecretFiles(process.env);

// Not awaited at top level: the bundle is CommonJS, which has no such await.
void runService({
  name: 'monitor',
  schema: monitorEnv,
  env: environment,
  start: async (context) => {
    await startMonitor(context, environment, WEB_DIR);
  },
});
