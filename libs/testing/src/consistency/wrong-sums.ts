import { checkRollups } from '@pipeline/store';
import type { TestDatabase } from '../databases/interface.ts';

const EVER = { from: '2000-01-01T00:00:00Z', to: '2100-01-01T00:00:00Z' };

/** Rollups that differ from the history, by table; none is expected. */
export async function wrongSums({ db }: Pick<TestDatabase, 'db'>): Promise<Record<string, unknown>> {
  const checks = await checkRollups(db, EVER, false);
  return Object.fromEntries(checks.filter(({ wrong }) => wrong > 0).map(({ table, examples }) => [table, examples]));
}
