import { INTELLIGENCE_KINDS, INTELLIGENCE_STATUSES } from '@pipeline/domain';
import type { Db } from '@pipeline/store';
import { sql } from 'kysely';
import { iso } from './story.ts';

/** Adds what repos have beside their issues: files, knowledge about them, self-improvement tracks with their issues. */
export async function addBeside(db: Db, { start, end }: { start: Date; end: Date }): Promise<void> {
  const began = sql`${iso(start.getTime())}::timestamptz`;
  const ended = sql`${iso(end.getTime())}::timestamptz`;
  await sql`
    insert into repo_files (tenant_id, repo_id, path, symbols, updated_at)
    select tenant_id, id, 'src/part-' || n || '.ts', '[]', ${began} from repos, generate_series(1, 40) n`.execute(db);
  await sql`
    insert into intelligence_items (tenant_id, id, repo_id, kind, title, summary, status, confidence, source, metadata, tags,
      fingerprint, first_observed_at, last_observed_at, observation_count, created_at, updated_at)
    select r.tenant_id, overlay(overlay(md5(r.id || '/' || n) placing '7' from 13) placing '8' from 17)::uuid, r.id, (${[...INTELLIGENCE_KINDS]}::text[])[1 + n % ${INTELLIGENCE_KINDS.length}::int],
      'What part ' || n || ' is about', 'Part ' || n || ' of issue handling rests on part ' || n + 1 || '.',
      (${[...INTELLIGENCE_STATUSES]}::text[])[1 + (r.id + n) % ${INTELLIGENCE_STATUSES.length}::int], 0.5 + n / 50.0, 'retrospective',
      '{}', array['part-' || n], 'history-' || n, ${began}, ${ended} - make_interval(hours => n), n, ${began}, ${began}
    from repos r, generate_series(1, 20) n`.execute(db);
  await sql`
    insert into tracks (tenant_id, repo_id, name, label, cooldown_minutes, enabled, weight, cadence_kind, cron_expr,
      schedule_since, last_run_at, next_run_at, created_at, updated_at)
    select r.tenant_id, r.id, t.name, 'track:' || t.name, 60, r.id % 7 <> 0, 1, t.cadence, t.cron, ${began},
      ${ended} - make_interval(mins => (r.id % 90)::int), ${ended} - make_interval(mins => (r.id % 90)::int - 60), ${began}, ${began}
    from repos r, (values ('tests', 'cooldown', null), ('docs', 'cron', '0 3 * * 1')) t (name, cadence, cron)`.execute(
    db,
  );
  await sql`
    insert into si_issues (tenant_id, repo_id, issue_number, track_name, created_at, completed_at, track_id)
    select i.tenant_id, i.repo_id, i.issue_number, t.name, i.created_at,
      case when i.state = 'done' and i.issue_number % 4 > 0 then i.state_entered_at end, t.id
    from tracks t join issues i on i.tenant_id = t.tenant_id and i.repo_id = t.repo_id
    where t.name = 'tests' and i.issue_number between 2 and 9`.execute(db);
}
