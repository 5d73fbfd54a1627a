import { DEFAULT_SETTINGS } from '@pipeline/domain';
import { type Engine, runDetectors, watchKpis } from '@pipeline/engine';
import type { Store } from '@pipeline/store';
import { sql } from 'kysely';

/**
 * Writes what the loops of a monitor derive from a history: KPIs and alerts. @returns how long the guard took, in ms.
 */
export async function prepare(store: Store): Promise<{ guardMs: number; detectorsMs: number }> {
  const engine: Engine = { store, notify: () => undefined, settings: () => DEFAULT_SETTINGS, random: Math.random };
  const began = performance.now();
  while ((await watchKpis(engine)).more);
  const guarded = performance.now();
  const failed = await runDetectors(engine, { driftByRepo: null, limitedMinutes: new Map() }, { refresh: true });
  const [first] = failed;
  if (first) throw new Error(`the detector ${first.detector} failed`, { cause: first.error });
  const done = performance.now();
  await sql`analyze`.execute(store.fleet);
  return { guardMs: guarded - began, detectorsMs: done - guarded };
}
