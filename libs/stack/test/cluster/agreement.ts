import { expect } from '@jest/globals';
import type { TestDatabase } from '@pipeline/testing';
import type { Cluster } from './cluster.ts';

/** Lists that each monitor holds in memory, and the loops that read them. */
const LISTS = ['/api/dead-letters', '/api/consistency', '/api/blocked-issues', '/api/task-queue'];
const LOOPS = ['dead-letters', 'consistency', 'blocked-issues', 'task-queue', 'stream'];

/** Checks that both monitors show the rows of the store. */
export async function checkAgreement(cluster: Cluster, { db }: TestDatabase): Promise<void> {
  await cluster.tickMonitors(LOOPS);
  for (const list of LISTS) {
    const [one, other] = await cluster.readBoth(list);
    expect({ list, shows: one }).toEqual({ list, shows: other });
  }
  const open = await db.selectFrom('dead_letters').select('id').where('resolved_at', 'is', null).execute();
  expect((await cluster.readBoth('/api/dead-letters')).map(idsIn)).toEqual(Array(2).fill(idsIn({ items: open })));
}

/** Checks that no delivery and no poll failed. */
export async function checkIntake({ db }: TestDatabase): Promise<void> {
  const lost = await db.selectFrom('webhook_deliveries').select('error').where('error', 'is not', null).execute();
  const failing = await db.selectFrom('repo_sync').select('error').where('error', 'is not', null).execute();
  expect({ lost, failing }).toEqual({ lost: [], failing: [] });
}

const idsIn = (list: unknown): string[] => (list as { items: { id: string }[] }).items.map(({ id }) => id).sort();
