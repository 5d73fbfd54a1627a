import pg from 'pg';

export interface StoredIssue {
  number: number;
  title: string;
  state: string;
  labels: string[];
  isBlocked: boolean;
  isPaused: boolean;
}

export interface StoredPull {
  number: number;
  issue: number;
  merged: boolean;
  mergeSha: string | null;
  headSha: string;
}

export interface Open {
  done: number;
  tasks: number;
  /** Scans that are due and not enqueued yet. */
  scans: number;
  projections: number;
  deliveries: number;
}

/** Content of the store, read by plain SQL: the checks must not lean on the code they check. */
export class StoreView {
  readonly #url: string;
  readonly #connectWithinMs: number;

  /** @param connectWithinMs default 2 s, for a store that may be away. */
  constructor(url: string, connectWithinMs = 2_000) {
    this.#url = url;
    this.#connectWithinMs = connectWithinMs;
  }

  /** One connection per question: the server may have been killed since the last one. */
  async rows<T extends object>(sql: string): Promise<T[]> {
    const client = new pg.Client({ connectionString: this.#url, connectionTimeoutMillis: this.#connectWithinMs });
    client.on('error', () => undefined);
    try {
      await client.connect();
      await client.query('set search_path = pipeline, public');
      return (await client.query<T>(sql)).rows;
    } finally {
      await client.end().catch(() => undefined);
    }
  }

  issues(): Promise<StoredIssue[]> {
    return this.rows(`select issue_number::int "number", title, state, labels, is_blocked "isBlocked",
      is_paused "isPaused" from issues order by issue_number`);
  }

  pulls(): Promise<StoredPull[]> {
    return this.rows(`select p.number::int, i.issue_number::int issue, p.merged, p.merge_sha "mergeSha",
      p.head_sha "headSha" from pull_requests p join issues i on i.tenant_id = p.tenant_id and i.id = p.issue_id
      order by p.number`);
  }

  /** Issues that went through each state. */
  async visits(): Promise<Record<string, number>> {
    const rows = await this.rows<{ state: string; n: number }>(
      'select to_state state, count(distinct issue_id)::int n from transitions group by 1',
    );
    return Object.fromEntries(rows.map(({ state, n }) => [state, n]));
  }

  /** Per issue: whether it is merged, its retrospectives, and those that name its files. */
  retrospectives(): Promise<{ issue: number; merged: boolean; count: number; withFiles: number }[]> {
    return this.rows(`select i.issue_number::int issue, count(r.id)::int count,
        exists (select from pull_requests p where p.tenant_id = i.tenant_id and p.issue_id = i.id and p.merged) merged,
        count(r.id) filter (where r.outcome_classification is not null and r.planned_files -> 'files' is not null
          and r.actual_files -> 'files' is not null)::int as "withFiles"
      from issues i left join retrospectives r on r.tenant_id = i.tenant_id and r.issue_id = i.id
      group by i.tenant_id, i.id, i.issue_number order by 1`);
  }

  /** `path sha` of every file of the code map. */
  async repoFiles(): Promise<string[]> {
    const rows = await this.rows<{ file: string }>(`select path || ' ' || sha file from repo_files order by path`);
    return rows.map(({ file }) => file);
  }

  /** Ids of those tasks whose report the store does not have. */
  lostReports(ids: Iterable<string>): Promise<string[]> {
    return this.#withoutRun(ids, "status = 'finished'");
  }

  /** Ids of those tasks that the store does not know as claimed, now or before. */
  lostClaims(ids: Iterable<string>): Promise<string[]> {
    return this.#withoutRun(ids, 'true');
  }

  async #withoutRun(ids: Iterable<string>, condition: string): Promise<string[]> {
    const rows = await this.rows<{ id: string }>(`select wanted.id
      from unnest('{${[...ids].join(',')}}'::uuid[]) wanted (id)
      where not exists (select from runs r where r.task_id = wanted.id and ${condition})`);
    return rows.map(({ id }) => id);
  }

  /** Counts what still has to happen: nothing of it is left when a journey is over. */
  async open(): Promise<Open> {
    const [row] = await this.rows<Open>(`select
      (select count(*)::int from issues where state = 'done') done,
      (select count(*)::int from tasks) tasks,
      (select count(*)::int from repo_scans where due_at <= now()) scans,
      (select count(*)::int from projections where status = 'pending') projections,
      (select count(*)::int from webhook_deliveries where processed_at is null) deliveries`);
    return row ?? { done: 0, tasks: 0, scans: 0, projections: 0, deliveries: 0 };
  }
}
