export type { NewApp } from './apps/grants.ts';
export type { Fault } from './http/faults.ts';
export type { NewHook, NewRepo, NewUser } from './repos/admin.ts';
export { type SandboxHost, type SandboxOptions, startSandbox } from './server.ts';
