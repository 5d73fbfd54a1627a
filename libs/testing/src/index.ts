export * from './cut-proxy.ts';
export * from './test-database.ts';
