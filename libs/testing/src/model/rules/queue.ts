import { sql } from 'kysely';
import type { Rule } from './history.ts';

/** Invariants of tasks, claims and runs. `work`, `state_task` and `clock` precede the statement. */
export const QUEUE_RULES: Record<string, Rule> = {
  oneActiveTask: sql`select issue_number || ': ' || count(*) as what from work group by issue_number having count(*) > 1`,

  /** The issue has no task, no host write in flight, and no dead letter. */
  nobodyForgetsAnIssue: sql`
    select i.issue_number || ' in ' || i.state as what from issues i join state_task s on s.state = i.state
    where not i.is_paused and (s.task_type is not null or i.state = 'new')
      and not exists (select from work t where t.issue_id = i.id)
      and not exists (select from projections p where p.issue_id = i.id and p.status = 'pending'
        and p.action ->> 'type' in ('createPR', 'mergePR', 'deleteBranch'))
      and not exists (select from dead_letters d where d.issue_id = i.id
        -- A person who resolves the dead letter has taken the issue upon himself.
        and (d.resolved_at is null or d.resolution = 'resolved' and d.resolved_at >= i.state_entered_at))`,

  doneHasNoTask: sql`
    select i.issue_number as what from issues i join work t on t.issue_id = i.id where i.state = 'done'`,

  taskFitsTheState: sql`
    select i.issue_number || ': ' || t.task_type || ' in ' || i.state as what
    from work t join issues i on i.id = t.issue_id
    left join state_task s on s.state = case i.state when 'failure-blocked' then i.blocked_from_state else i.state end
    where t.task_type is distinct from s.task_type`,

  pauseHoldsTheTask: sql`
    select i.issue_number || ': ' || coalesce(t.held, 'free') as what from work t join issues i on i.id = t.issue_id
    where t.status = 'pending' and i.is_paused <> coalesce(t.held = 'paused', false)`,

  claimedTaskHasItsRun: sql`
    select t.id as what from tasks t left join runs r on r.id = t.run_id and r.task_id = t.id and r.status = 'claimed'
    where (t.status = 'claimed') <> (r.id is not null)`,

  claimedRunHasItsTask: sql`
    select r.id as what from runs r where r.status = 'claimed'
      and not exists (select from tasks t where t.run_id = r.id and t.status = 'claimed')`,

  endedRunSaysWhen: sql`
    select r.id || ' ' || r.status as what from runs r where r.status <> 'claimed'
      and (r.finished_at is null or r.status = 'finished' and r.outcome is null)`,

  completedOnce: sql`
    select work_id || ': ' || count(*) as what from runs where status = 'finished' group by work_id having count(*) > 1`,

  /** A worker whose claim was withdrawn may still be working until it acknowledges or its lease ends. */
  oneAgentOnABranch: sql`
    select t.issue_number as what from work t join runs r on r.issue_id = t.issue_id and r.id <> t.run_id
    where t.status = 'claimed' and r.status = 'cancelled' and r.task_type <> 'retrospect' and r.lease_expires_at > (select now from clock)
      and r.claimed_at <= t.claimed_at`,

  attemptsHaveAnEnd: sql`select id || ': ' || attempt as what from tasks where attempt >= max_attempts`,

  /** Over dependencies and subtasks alike; an issue on the cycle would wait permanently. */
  nobodyWaitsForItself: sql`
    select w.origin as what from (
      with recursive wait (waiting, for_number) as (
        select case kind when 'subtask' then parent_issue_number else child_issue_number end,
          case kind when 'subtask' then child_issue_number else parent_issue_number end
        from issue_edges where active
      ), way (origin, at) as (
        select waiting, for_number from wait
        union
        select way.origin, wait.for_number from way join wait on wait.waiting = way.at
      )
      select origin from way where origin = at
    ) w`,

  nothingBeginsBeforeItsTime: sql`
    select t.id || ' ' || t.status as what from tasks t cross join clock
    where t.status = 'pending' and t.held is null and t.run_after > clock.now
      or t.status = 'claimed' and t.run_after > t.claimed_at`,

  waitsEndSomeTime: sql`
    select id || ' ' || held as what from tasks where held in ('backoff', 'quota', 'handover') and run_after is null`,
};
