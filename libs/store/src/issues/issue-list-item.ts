import { AGENT_OF, LIST_CAPS, WORK_TASK_TYPES } from '@pipeline/domain';
import { type RawBuilder, sql } from 'kysely';
import { wireTime } from '../driver/fragments.ts';

const caps = {
  title: sql.lit(LIST_CAPS.title),
  status: sql.lit(LIST_CAPS.status),
  label: sql.lit(LIST_CAPS.label),
  labels: sql.lit(LIST_CAPS.labels),
  dependsOn: sql.lit(LIST_CAPS.dependsOn),
};

const workTypes = sql.join(WORK_TASK_TYPES.map((type) => sql.lit(type)));
const shortened = (column: string, max: RawBuilder<unknown>) =>
  sql`case when char_length(${sql.ref(column)}) > ${max} then left(${sql.ref(column)}, ${max} - 1) || '…' else ${sql.ref(column)} end`;

/** Edges of `i` to issues of its own repo, which a plain number can identify. */
const ownEdges = (kind: 'subtask' | 'depends_on') => sql`
  select e.parent_issue_number from issue_edges e
  where e.tenant_id = i.tenant_id and e.kind = ${sql.lit(kind)} and e.child_repo_id = i.repo_id
    and e.child_issue_number = i.issue_number and e.parent_repo_id = i.repo_id
  order by e.id`;

/**
 * The list item of each issue `i` as JSON text: a lateral `item (body)` to join to `issues i`. Five index probes per
 * issue. Unbounded texts of people and agents are truncated.
 */
export const listItemOfI: RawBuilder<unknown> = sql`
  left join tasks t on t.tenant_id = i.tenant_id and t.issue_id = i.id and t.task_type in (${workTypes})
  cross join lateral (select row_to_json(f)::text as body from (select
    i.issue_number as "issueNumber",
    ${shortened('i.title', caps.title)} as "title",
    i.url as "url",
    i.state as "state",
    i.is_blocked as "isBlocked",
    i.is_paused as "isPaused",
    i.block_reason as "blockReason",
    i.block_classification as "blockClassification",
    ${wireTime('i.state_entered_at')} as "stateEnteredAt",
    ${shortened('i.current_status', caps.status)} as "currentStatus",
    t.task_type as "activeTaskType",
    case when t.status = 'claimed' then ${sql.lit(JSON.stringify(AGENT_OF))}::jsonb ->> t.task_type end as "assignedAgent",
    (select p.number from pull_requests p where p.tenant_id = i.tenant_id and p.issue_id = i.id
      and (p.agent_authored or p.merged) order by p.state = 'open' desc, p.number desc limit 1) as "prNumber",
    array(select left(label, ${caps.label}) from unnest(i.labels[1:${caps.labels}]) as label) as "labels",
    (${ownEdges('subtask')} limit 1) as "parentIssueNumber",
    array(${ownEdges('depends_on')} limit ${caps.dependsOn}) as "dependsOn",
    trim_scale(round(i.cost_usd, 4)) as "costUsd",
    ${wireTime('i.host_created_at')} as "createdAt",
    ${wireTime('i.updated_at')} as "updatedAt"
  ) f) item`;
