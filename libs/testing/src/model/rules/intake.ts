import { ENQUEUE_LABEL, type HistoryEvent } from '@pipeline/domain';
import { prepared } from '@pipeline/store';
import { sql } from 'kysely';
import { BOT } from '../host/state.ts';
import type { World } from '../world/world.ts';

/** Violations of an intake rule, one line of text each; empty = none. */
export async function intakeBreaches(world: World): Promise<string[]> {
  return [...untrustedTexts(world), ...(await reopenedByNobody(world))];
}

/** Agents only get texts that a person with write permission has written or enqueued. */
function untrustedTexts({ held, host }: World): string[] {
  return held.flatMap(({ task }) => {
    const { issue } = task.payload;
    if (!issue) return [];
    const { titles, bodies } = host.state.log.of(issue.number);
    const found: string[] = [];
    if (!titles.has(issue.title))
      found.push(`${task.taskType} of #${issue.number} was given the title "${issue.title}"`);
    if (!bodies.has(issue.body)) found.push(`${task.taskType} of #${issue.number} was given the body "${issue.body}"`);
    return found;
  });
}

interface Move {
  number: number;
  to: string;
  trigger: string;
  at: string;
}

const movesAroundDone = prepared(
  'model-moves-around-done',
  () => sql<Move>`
    select i.issue_number as number, t.to_state as "to", t.trigger, t.at
    from transitions t join issues i on i.tenant_id = t.tenant_id and i.id = t.issue_id
    where t.to_state = 'done' or (t.from_state = 'done' and t.trigger = 'reopened') order by t.issue_id, t.id`,
);

/**
 * Nothing is reopened without a request: each time an issue leaves its end, a person has requested it on the host after
 * that end, and each request counts once.
 */
async function reopenedByNobody({ database, host }: World): Promise<string[]> {
  const found: string[] = [];
  const moves = Map.groupBy(await movesAroundDone.all(database.db, {}), ({ number }) => number);
  for (const [number, ofIssue] of moves) {
    const { events } = host.state.log.of(number);
    let used = 0;
    let end: Move | null = null;
    for (const move of ofIssue) {
      if (move.to === 'done') {
        end = move;
        continue;
      }
      const request = events.find(
        (event) => event.id > used && isRequest(event) && (!end || isAfter(event, end, events)),
      );
      if (request) used = request.id;
      else found.push(`#${number} was reopened at ${move.at} without a request`);
    }
  }
  return found;
}

const isRequest = ({ kind, label, actor }: HistoryEvent): boolean =>
  actor !== BOT && (kind === 'reopened' || (kind === 'labeled' && label === ENQUEUE_LABEL));

/** A close on the host may be reported late: its host time counts. */
function isAfter(request: HistoryEvent, end: Move, events: readonly HistoryEvent[]): boolean {
  if (end.trigger !== 'host-closed' && end.trigger !== 'host-merged') {
    return Date.parse(request.at) >= Math.floor(Date.parse(end.at) / 1_000) * 1_000;
  }
  return events.some((event) => event.kind === 'closed' && event.id < request.id) || end.trigger === 'host-merged';
}
