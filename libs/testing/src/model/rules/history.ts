import { type RawBuilder, sql } from 'kysely';
import { PEOPLE, type Person, STRANGER } from '../host/state.ts';

/** Selects violations of the rule, one line of text each. */
export type Rule = RawBuilder<{ what: string }>;

/** People without write permission. */
const READERS = sql.join(
  [...Object.keys(PEOPLE).filter((name) => PEOPLE[name as Person] === 'read'), STRANGER].map((name) => sql.lit(name)),
);

/** Invariants of states, flags, history and costs. `edge` precedes the statement. */
export const HISTORY_RULES: Record<string, Rule> = {
  flagsFollowTheState: sql`
    select issue_number || ' in ' || state as what from issues
    where is_blocked <> (state in ('dependency-blocked', 'failure-blocked'))
      or (is_paused and state = 'done')
      or (is_blocked and block_reason is null)
      or (state = 'needs-clarification' and question is null and blocked_from_state is null)
      or (blocked_from_state is null) = (state in ('dependency-blocked', 'failure-blocked', 'needs-clarification'))`,

  onlyPassingBlocksLiftThemselves: sql`
    select issue_number || ' in ' || state as what from issues
    where auto_unblock_at is not null and (state <> 'failure-blocked' or block_classification not in ('transient', 'quota'))`,

  transitionsAreAChain: sql`
    select issue_number || ': ' || coalesce(came, 'nothing') || ' then ' || from_state as what from (
      select i.issue_number, t.from_state,
        lag(t.to_state, 1, 'new') over (partition by t.issue_id order by t.id) as came
      from transitions t join issues i on i.id = t.issue_id) c
    where from_state is distinct from came`,

  theChainEndsInTheState: sql`
    select i.issue_number || ' in ' || i.state as what from issues i where i.state is distinct from coalesce(
      (select t.to_state from transitions t where t.issue_id = i.id order by t.id desc limit 1), 'new')`,

  /**
   * People may use any edge, host events bypass them, and a retry in failure-blocked is decided from its origin: on the
   * way to the merge it uses no edge.
   */
  transitionsFollowEdges: sql`
    select i.issue_number || ': ' || t.from_state || ' to ' || t.to_state || ' by ' || t.trigger as what
    from transitions t join issues i on i.id = t.issue_id
    where not exists (select from edge e where e.to_state = t.to_state
        and (e.from_state = t.from_state or t.from_state = 'failure-blocked')
        and (e.trigger = t.trigger or t.trigger = 'operator'
          -- an open finding that blocks progress sends an approval, and a merge, to a person
          or (t.trigger, e.trigger) in (('approved', 'needs-human'), ('mergeable', 'protected'))))
      and (t.trigger, t.to_state) not in (('cancelled', 'done'), ('host-merged', 'done'), ('host-closed', 'done'),
        ('reopened', 'new'), ('reimplement', 'ready-for-dev'), ('pr-closed', 'failure-blocked'),
        ('head-moved', 'in-review'), ('review-dismissed', 'human-review-ready'))
      and (t.from_state, t.trigger, t.to_state) is distinct from ('failure-blocked', 'mergeable', 'merge-pending')`,

  doneIsFinal: sql`
    select i.issue_number || ': left done by ' || t.trigger as what from transitions t join issues i on i.id = t.issue_id
    where t.from_state = 'done' and not (t.to_state = 'new' and t.trigger in ('reopened', 'operator'))`,

  /** Only forced transitions are marked as forced. */
  forcedIsMarked: sql`
    select i.issue_number || ': ' || t.trigger as what from transitions t join issues i on i.id = t.issue_id
    where t.forced <> (t.trigger = 'operator')`,

  peopleAreNamed: sql`
    select i.issue_number || ': ' || t.trigger as what from transitions t join issues i on i.id = t.issue_id
    where t.trigger in ('operator', 'cancelled') and (t.actor_type <> 'operator' or t.actor_id is null)`,

  /** A person without write permission may only answer the question of their own issue. */
  onlyWritersAreObeyed: sql`
    select e.issue_number || ': ' || e.agent as what from pipeline_events e
    where e.event_type = 'operator_action' and e.agent in (${READERS})
    union all
    select i.issue_number || ': ' || t.trigger || ' by ' || t.actor_id from transitions t join issues i on i.id = t.issue_id
    where t.actor_id in (${READERS}) and (t.trigger <> 'clarified' or t.actor_id <> i.author)`,

  /** The issue has the number and the status of its latest plan; only that one can wait for an answer. */
  theLatestPlanIsTheIssues: sql`
    select i.issue_number || ': ' || i.plan_version || ' ' || coalesce(i.plan_status, 'none') as what from issues i
    where i.plan_version <> (select count(*) from issue_plans p where p.issue_id = i.id)
      or i.plan_status is distinct from
        (select p.status from issue_plans p where p.issue_id = i.id order by p.version desc limit 1)
      or exists (select from issue_plans p where p.issue_id = i.id and p.status = 'pending' and p.version < i.plan_version)`,

  everyAnswerIsOneMove: sql`
    select i.issue_number as what from issues i where
      (select count(*) from issue_plans p where p.issue_id = i.id and p.status = 'rejected') <>
      (select count(*) from transitions t where t.issue_id = i.id and t.trigger = 'plan-rejected')
      or (select count(*) from issue_plans p where p.issue_id = i.id and p.status = 'approved') <
      (select count(*) from transitions t where t.issue_id = i.id and t.trigger = 'plan-approved')`,

  /** No sequence of outcomes runs for ever: after the limit of its repo an issue waits for a person. */
  roundsAreBounded: sql`
    select i.issue_number || ': ' || t.from_state || ' ' || t.trigger as what
    from transitions t join issues i on i.id = t.issue_id join repos r on r.id = i.repo_id
    where t.trigger in ('changes-requested', 'checks-failed', 'conflict', 'not-ready', 'replan')
      and not exists (select from transitions p where p.issue_id = t.issue_id and p.id > t.id
        and (p.trigger in ('operator', 'reimplement', 'clarified', 'plan-approved', 'plan-rejected', 'review-approved',
          'review-changes-requested', 'reopened') or (p.trigger = 'unblocked' and p.actor_type = 'operator')))
      and not exists (select from pipeline_events e where e.issue_id = t.issue_id and e.event_type = 'operator_action'
        and e.payload ->> 'action' = 'retry' and e.created_at >= t.at)
    group by i.issue_number, t.from_state, t.trigger, r.max_rounds
    -- The last one leads to the person.
    having count(*) > r.max_rounds + 1`,

  everyTransitionHasItsEvent: sql`
    select i.issue_number as what from issues i where
      array(select t.from_state || '>' || t.to_state from transitions t where t.issue_id = i.id order by t.id) <>
      array(select (e.payload ->> 'from') || '>' || (e.payload ->> 'to') from pipeline_events e
        where e.issue_id = i.id and e.event_type = 'state_transition' order by e.id)
      or (select count(*) from transitions t where t.issue_id = i.id) <>
        (select count(*) from issue_events e where e.issue_id = i.id and e.status like 'moved to %')
      or (select count(*) from transitions t where t.issue_id = i.id) <>
        (select count(*) from (
          select event_type, data from stream_outbox
          union all select event_type, data from stream_events -- where a monitor moves it
        ) e where e.event_type = 'state-transition' and (e.data ->> 'issueNumber')::int = i.issue_number)`,

  everyLetterHasItsEvent: sql`
    select i.issue_number as what from issues i where
      (select count(*) from dead_letters d where d.issue_id = i.id) <>
      (select count(*) from pipeline_events e where e.issue_id = i.id and e.event_type = 'dead_letter_created')`,

  costsAreBookedOnce: sql`
    select 'run ' || r.id as what from runs r where r.cost_usd <> coalesce(
        (select sum(amount_usd) from cost_events c where c.run_id = r.id), 0)
      or r.cost_usd <> coalesce((select sum(cost_usd) from agent_invocations a where a.run_id = r.id), 0)
    union all
    select 'issue ' || i.issue_number from issues i where i.cost_usd <> coalesce(
      (select sum(amount_usd) from cost_events c where c.issue_id = i.id), 0)
      or i.unreported_costs <> (
        select count(*) from agent_invocations a join runs r on r.id = a.run_id
        where r.issue_id = i.id and a.cost_usd is null)`,
};
