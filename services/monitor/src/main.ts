import { runService } from '@pipeline/runtime';
import { monitorEnv } from './env.ts';
import { startMonitor } from './start.ts';

// Not awaited at top level: the bundle is CommonJS, which knows no such await.
void runService({
  name: 'monitor',
  schema: monitorEnv,
  env: process.env,
  start: async (context) => {
    await startMonitor(context, process.env);
  },
});
