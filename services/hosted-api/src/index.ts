export { createHostedApp } from './app.ts';
export { createHostedContext, type HostedContext, type HostedOptions } from './context.ts';
export { hostedEnv } from './env.ts';
