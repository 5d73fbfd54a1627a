export type * from './databases/interface.ts';
export { type StreamingPair, startStreamingPair } from './databases/streaming-pair.ts';
export * from './databases/test-database.ts';
export * from './processes/cut-proxy.ts';
export * from './processes/test-processes.ts';
export * from './processes/until.ts';
