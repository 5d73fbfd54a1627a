export { monitorEnv } from './env.ts';
export { startMonitor } from './start.ts';
