export { createMonitorApp } from './app.ts';
export { createAuthentication } from './auth/authentication.ts';
export { ConfigInForce } from './configuration/config-in-force.ts';
export { monitorEnv } from './env.ts';
export { createPipeline, type Pipeline } from './pipeline.ts';
export { startMonitor } from './start.ts';
