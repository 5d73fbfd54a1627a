import { expect } from '@jest/globals';
import { runDetectors } from '@pipeline/engine';
import type { TestDatabase } from '@pipeline/testing';
import type { Bench } from './bench.ts';

/** Returns the payloads of the pipeline events of one type of the repository. */
export async function eventsOfRepo({ db }: TestDatabase, { repo }: Bench, eventType: string): Promise<unknown[]> {
  const events = await db
    .selectFrom('pipeline_events')
    .select('payload')
    .where('repo_id', '=', repo.id)
    .where('event_type', '=', eventType)
    .execute();
  return events.map(({ payload }) => payload);
}

/** Runs the detectors. @returns the alerts that the repository is unavailable. */
export async function unavailableAlerts(
  { db }: TestDatabase,
  { engine, repo }: Bench,
): Promise<{ message: string; isOpen: boolean }[]> {
  const failed = await runDetectors(engine, { driftByRepo: null, limitedMinutes: new Map() }, { refresh: true });
  expect(failed).toEqual([]);
  const alerts = await db
    .selectFrom('alerts')
    .select(['message', 'resolved_at'])
    .where('detector', '=', 'repo_unavailable')
    .where('fingerprint', '=', `repo_unavailable:${repo.id}`)
    .execute();
  return alerts.map(({ message, resolved_at }) => ({ message, isOpen: resolved_at === null }));
}
