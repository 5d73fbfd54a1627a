export * from './databases/test-database.ts';
export * from './processes/cut-proxy.ts';
export * from './processes/test-processes.ts';
export * from './processes/until.ts';
