import { POOL_SERVER } from '../databases/borrow.ts';
import { type PoolServer, startPoolServer } from '../databases/pool-server.ts';

/** Key under which setup leaves the pool server for teardown; both run in Jest's main process. */
export const HANDOVER = Symbol.for('pipeline.testing.databases');
export type Handover = { [HANDOVER]?: PoolServer };

export default async function setup(): Promise<void> {
  const server = await startPoolServer(process.env);
  process.env[POOL_SERVER] = server.socket;
  (globalThis as Handover)[HANDOVER] = server;
}
