import { runService } from '@pipeline/runtime';
import { monitorEnv } from './env.ts';
import { startMonitor } from './start.ts';

await runService({
  name: 'monitor',
  schema: monitorEnv,
  env: process.env,
  start: async (context) => {
    await startMonitor(context, process.env);
  },
});
