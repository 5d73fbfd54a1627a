export { createHostedContext, type HostedContext, type HostedOptions } from './context/context.ts';
export { createHostedApp } from './process/app.ts';
export { hostedEnv } from './process/env.ts';
