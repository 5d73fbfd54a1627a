export * from './cut-proxy.ts';
export * from './repo-facts.ts';
export * from './test-database.ts';
export * from './test-processes.ts';
export * from './until.ts';
