import { HANDOVER, type Handover } from './global-setup.ts';

export default async function teardown(): Promise<void> {
  await (globalThis as Handover)[HANDOVER]?.close();
}
