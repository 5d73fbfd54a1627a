import type { StoreView } from './store-view.ts';

/** States in which an issue waits for a person or for something that is no task. */
const WAITING = "('done', 'failure-blocked', 'needs-clarification', 'dependency-blocked', 'human-review-ready')";

/**
 * Counts breaches of what must hold at every committed moment, whatever was killed before; one per line. The same that
 * the engine's own test holds under random interleavings (libs/engine/test/queue/interleavings.test.ts).
 */
const BREACHES = `
  with work as (select * from tasks where issue_id is not null and task_type <> 'retrospect')
  select
    (select count(*)::int from (select tenant_id, issue_id from work group by 1, 2 having count(*) > 1) d)
      as two_tasks_alive,
    (select count(*)::int from issues i where state = 'done' and exists
      (select from work w where w.tenant_id = i.tenant_id and w.issue_id = i.id)) as done_with_a_task,
    (select count(*)::int from issues i where state not in ${WAITING} and not is_paused
      and not exists (select from work w where w.tenant_id = i.tenant_id and w.issue_id = i.id)
      and not exists (select from projections p where p.tenant_id = i.tenant_id and p.issue_id = i.id
        and p.status = 'pending' and p.action ->> 'type' in ('createPR', 'mergePR'))
      and not exists (select from dead_letters d where d.tenant_id = i.tenant_id and d.issue_id = i.id)) as lost,
    (select count(*)::int from (select tenant_id, task_id from runs where status = 'finished' group by 1, 2
      having count(*) > 1) d) as completed_twice,
    (select count(*)::int from tasks w where status = 'claimed' and not exists (select from runs r
      where r.tenant_id = w.tenant_id and r.id = w.run_id and r.status = 'claimed')) as claimed_without_run,
    (select count(*)::int from runs r where r.status = 'claimed' and not exists
      (select from tasks w where w.tenant_id = r.tenant_id and w.run_id = r.id)) as run_without_task,
    abs((select count(*)::int from transitions)
      - (select count(*)::int from pipeline_events where event_type = 'state_transition')) as transitions_without_event,
    (select count(*)::int from dead_letters) as dead_letters,
    (select count(*)::int from projections where status = 'failed') as projections_failed`;

/** @returns a line for each invariant that is broken now. */
export async function breaches(store: StoreView): Promise<string[]> {
  const [row = {}] = await store.rows<Record<string, number>>(BREACHES);
  return Object.entries(row).flatMap(([name, count]) => (count > 0 ? [`${name}: ${count}`] : []));
}
