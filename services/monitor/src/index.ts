export { createAuthentication } from './auth/authentication.ts';
export { createMonitorApp } from './process/app.ts';
export { monitorEnv } from './process/env.ts';
export { createPipeline, type Pipeline } from './process/pipeline.ts';
export { startMonitor } from './process/start.ts';
export { ConfigInForce } from './settings/config-in-force.ts';
