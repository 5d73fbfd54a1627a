import { DAY_MS, HOUR_MS } from '@pipeline/domain';
import type { StoreView } from '../store-view.ts';
import { RETAINED, type Retained, UNTOUCHED } from './retained.ts';

/** No run takes longer: what becomes due within it is compared with nothing. */
const RUN_MS = 2 * HOUR_MS;

/** Number of rows, and a sum that identifies them. */
export interface Fingerprint {
  what: string;
  rows: number;
  sum: string;
}

export interface SnapshotOptions {
  /** End of the history. */
  end: Date;
  /** Time at which the retention began to work. */
  at: Date;
  tenantIds: readonly number[];
}

/** The oldest time that is kept, as text: the beginning of a month where whole months are dropped. */
export function keptSince({ days, by }: Retained, at: Date): string {
  const time = new Date(at.getTime() - days * DAY_MS).toISOString();
  return by === 'month' ? `${time.slice(0, 7)}-01T00:00:00.000Z` : time;
}

const bounded = (text: string, condition: string) => `${text} ${/ where /.test(text) ? 'and' : 'where'} ${condition}`;
const ofTenants = (ids: readonly number[]) => `tenant_id in (${ids.join(', ')})`;
const ofTable = (one: Retained, ids: readonly number[]) =>
  `${one.table} where ${one.where}${one.table === 'webhook_deliveries' ? '' : ` and ${ofTenants(ids)}`}`;

/**
 * Fingerprints of what must be the same before and after: rows younger than their retention, and tables that keep all.
 */
export async function keptRows(store: StoreView, { end, at, tenantIds }: SnapshotOptions): Promise<Fingerprint[]> {
  const kept = RETAINED.map((one) => {
    const since = keptSince(one, one.by === 'row' ? new Date(at.getTime() + RUN_MS) : at);
    const within = `${one.time} >= '${since}' and ${one.time} <= '${end.toISOString()}'`;
    return { what: `${one.table} since ${since}`, from: `${ofTable(one, tenantIds)} and ${within}`, key: one.key };
  });
  const others = UNTOUCHED.map((one) => ({ ...one, from: bounded(one.from, ofTenants(tenantIds)) }));
  const runs = RETAINED.find(({ table }) => table === 'runs');
  const since = runs === undefined ? '' : keptSince(runs, new Date(at.getTime() + RUN_MS));
  const counts = await counted(store, [
    ...kept,
    ...others,
    {
      what: `model calls of runs since ${since}`,
      from: `agent_invocations i join runs r on r.tenant_id = i.tenant_id and r.id = i.run_id
        where r.finished_at >= '${since}' and r.${ofTenants(tenantIds)}`,
      key: 'run_id',
    },
    {
      what: 'counts of events of kept months',
      from: `event_counts where at >= '${keptSince(RETAINED[0] as Retained, at)}' and ${ofTenants(tenantIds)}`,
      key: 'n',
    },
  ]);
  return counts;
}

/** Fingerprints of the rows that have to be deleted, and of rows that belong to deleted ones. */
export async function dueRows(store: StoreView, { at, tenantIds }: SnapshotOptions): Promise<Fingerprint[]> {
  const due = RETAINED.map((one) => ({
    what: one.table,
    from: `${ofTable(one, tenantIds)} and ${one.time} < '${keptSince(one, at)}'`,
    key: one.key,
  }));
  const orphans = [
    ['agent_invocations', 'runs r', 'run_id'],
    ['projection_attempts', 'projections r', 'projection_id'],
  ].map(([table, parent, id]) => ({
    what: `${table} without ${parent?.split(' ')[0]}`,
    from: `${table} o where o.${ofTenants(tenantIds)}
      and not exists (select from ${parent} where r.tenant_id = o.tenant_id and r.id = o.${id})`,
    key: id ?? '',
  }));
  const counts = {
    what: 'counts of events of dropped months',
    from: `event_counts where at < '${keptSince(RETAINED[0] as Retained, at)}'`,
    key: 'n',
  };
  return counted(store, [...due, ...orphans, counts]);
}

async function counted(
  store: StoreView,
  all: readonly { what: string; from: string; key: string }[],
): Promise<Fingerprint[]> {
  const found: Fingerprint[] = [];
  for (const { what, from, key } of all) {
    const [row] = await store.rows<{ rows: number; sum: string }>(
      `select count(*)::float8 as rows, coalesce(sum(${key}), 0)::text as sum from ${from}`,
    );
    found.push({ what, rows: row?.rows ?? 0, sum: row?.sum ?? '' });
  }
  return found;
}

/** Names of the tables that still have due rows. Reads an index of each. */
export async function stillDue(store: StoreView, { at }: SnapshotOptions): Promise<string[]> {
  const months = RETAINED.filter(({ by }) => by === 'month').map(
    (one) => `select '${one.table}' as table where exists (
      select from pg_inherits h join pg_class c on c.oid = h.inhrelid where h.inhparent = '${one.table}'::regclass
        and c.relname ~ '_\\d{4}_\\d{2}$' and right(c.relname, 7) < '${keptSince(one, at).slice(0, 7).replace('-', '_')}')`,
  );
  const rows = RETAINED.filter(({ by }) => by === 'row').map(
    (one) => `select '${one.table}' where exists (
      select from ${one.table} where ${one.where} and ${one.time} < '${keptSince(one, at)}' limit 1)`,
  );
  return (await store.rows<{ table: string }>([...months, ...rows].join(' union all '))).map(({ table }) => table);
}
