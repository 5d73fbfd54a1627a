import pg from 'pg';
import { inLanes, requireEqual } from '../measure/lanes.ts';
import type { Sample } from '../measure/sample.ts';
import { Stopwatch } from '../measure/stopwatch.ts';
import type { Bench } from '../runner/model.ts';

/** The least a queue can be: one table, one partial index, two named statements; finished jobs stay. */
const SCHEMA = `
  create table job (
    id bigint generated always as identity primary key,
    queue text not null,
    priority integer not null default 0,
    state text not null default 'ready',
    payload jsonb not null,
    created_at timestamptz not null default now(),
    claimed_by text,
    claimed_at timestamptz,
    finished_at timestamptz
  ) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
    autovacuum_vacuum_cost_delay = 0);
  create index job_claim on job (queue, priority desc, id) where state = 'ready'`;

const CLAIM = {
  name: 'claim',
  text: `
    update job set state = 'claimed', claimed_by = $2, claimed_at = now()
    where id = any(array(
      select id from job where queue = $1 and state = 'ready'
      order by priority desc, id limit 1 for update skip locked))
    returning id, payload`,
};

const COMPLETE = { name: 'complete', text: `update job set state = 'done', finished_at = now() where id = $1` };

/** A queue written by hand, in this process: what a claim and a completion cost at least. */
export interface HandSql {
  /** Works off so many jobs one by one, claim and complete, in so many lanes. */
  workSingly(jobs: number, lanes: number): Promise<Sample>;
}

export async function openHandSql(bench: Bench, name: string): Promise<HandSql> {
  const pool = new pg.Pool({ connectionString: await bench.server.emptyDatabase(name), max: 16 });
  bench.stack.add('hand SQL', () => pool.end());
  await pool.query(SCHEMA);
  return {
    async workSingly(jobs, lanes) {
      await pool.query('truncate job');
      await pool.query(`insert into job (queue, payload) select 'q', '{}' from generate_series(1, $1)`, [jobs]);
      await pool.query('analyze job');
      const seen = new Set<string>();
      const watch = new Stopwatch(bench.server.pid);
      watch.begin();
      await inLanes(lanes, async (lane) => {
        const { rows } = await pool.query<{ id: string }>({ ...CLAIM, values: ['q', `w${lane}`] });
        const [job] = rows;
        if (!job) return false;
        seen.add(job.id);
        await pool.query({ ...COMPLETE, values: [job.id] });
        return true;
      });
      const sample = watch.rate(jobs);
      requireEqual('hand SQL: distinct jobs claimed', seen.size, jobs);
      return sample;
    },
  };
}
