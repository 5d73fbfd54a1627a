import { BROKER } from '../databases/borrow.ts';
import { type Broker, startBroker } from '../databases/broker.ts';

/** Where setup leaves the broker for teardown; both run in Jest's main process. */
export const HANDOVER = Symbol.for('pipeline.testing.broker');
export type Handover = { [HANDOVER]?: Broker };

export default async function setup(): Promise<void> {
  const broker = await startBroker(process.env);
  process.env[BROKER] = broker.socket;
  (globalThis as Handover)[HANDOVER] = broker;
}
