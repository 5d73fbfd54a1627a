import { expect } from '@jest/globals';
import type { TestDatabase } from '@pipeline/testing';
import type { Twins } from './twins.ts';

/** What each monitor keeps in memory, and the loops that read it. */
const LISTS = ['/api/dead-letters', '/api/consistency', '/api/blocked-issues', '/api/task-queue'];
const LOOPS = ['dead-letters', 'consistency', 'blocked-issues', 'task-queue', 'stream'];

/** Whichever monitor is asked, it says what the store says. */
export async function checkAgreement(twins: Twins, { db }: TestDatabase): Promise<void> {
  await twins.tickMonitors(LOOPS);
  for (const list of LISTS) {
    const [one, other] = await twins.readBoth(list);
    expect({ list, shows: one }).toEqual({ list, shows: other });
  }
  const letters = await db.selectFrom('dead_letters').select('id').where('resolved_at', 'is', null).execute();
  expect((await twins.readBoth('/api/dead-letters')).map(idsIn)).toEqual(Array(2).fill(idsIn({ items: letters })));
}

/** Nothing that came in was given up or put off, and no poll failed. */
export async function checkIntake({ db }: TestDatabase): Promise<void> {
  const lost = await db.selectFrom('webhook_deliveries').select('error').where('error', 'is not', null).execute();
  const failing = await db.selectFrom('repo_sync').select('error').where('error', 'is not', null).execute();
  expect({ lost, failing }).toEqual({ lost: [], failing: [] });
}

const idsIn = (list: unknown): string[] => (list as { items: { id: string }[] }).items.map(({ id }) => id).sort();
