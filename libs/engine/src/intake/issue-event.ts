import {
  type ActedOn,
  compareStamps,
  findRequest,
  type HistoryEvent,
  type HostIssue,
  humanAssignee,
  type IssueText,
  PAUSED_LABEL,
  sameText,
} from '@pipeline/domain';
import {
  actedAt,
  findIssue,
  type HostFactsRow,
  hasOpenProjections,
  hostFactsOfNumber,
  type IssueRow,
  pullRequestsOf,
  resolveEdgesAtEnd,
  resolveEdgesToHost,
  saveHostFacts,
  storeNow,
} from '@pipeline/store';
import { inTenant, type TransactionContext } from '../context/context.ts';
import type { Actor, IssueContext } from '../context/issue-context.ts';
import { lockIssueContext } from '../context/load-issue.ts';
import { performAction } from '../issues/issue-actions.ts';
import { projectIssue, queueProjections } from '../outbox/project.ts';
import type { Intake } from '../repos/repo-address.ts';
import { admit, admitNew } from '../workflow/admit.ts';
import { moveBy } from '../workflow/move.ts';
import { applyTextEdit } from '../workflow/text-edit.ts';
import { isBefore, type Order, orderOf, pollStatus } from './event-order.ts';
import { changesPause, type Evidence, evidenceFor, firstEvidence, mayBeRequest, wantsIn } from './evidence.ts';
import {
  factsOf,
  firstFacts,
  type IssueEvent,
  isClose,
  labelsAfter,
  latest,
  stateTime,
  timesAfter,
  withAssignee,
} from './host-facts.ts';
import { applyPullRequestEvent } from './pull-request-event.ts';
import { refuseEnqueue } from './refuse-enqueue.ts';
import { isNews, readText, recordText, shownChange } from './text-changes.ts';

/**
 * - unclear: the host's timestamps have a resolution of one second, and this event has that of another applied one.
 *   Only the issue itself shows which was last.
 * - unprepared: evidence is missing, or the issue has changed since it was read.
 */
type Outcome = 'applied' | 'later' | 'unclear' | 'unprepared';

/** The first one assumes that no evidence is needed. */
const MAX_ATTEMPTS = 5;

/**
 * Applies the host state of an issue: admits it, follows people's changes, closes and reopens with the host. A change
 * applies only when it is newer, by the host's time, than the last applied one of its kind; on equal timestamps the
 * issue is read from the host again.
 * @returns later = the event may be older than our own writes in flight; the issue must be read again after them.
 */
export async function applyIssueEvent(intake: Intake, given: IssueEvent): Promise<'applied' | 'later'> {
  let event = given;
  if (event.issue.state === 'closed') await applyMissedMerge(intake, event);
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const evidence = await (attempt === 0 ? firstEvidence : evidenceFor)(intake, event);
    const outcome = await applyOnce(intake, { event, evidence, applied: event.action !== 'seen' || event !== given });
    if (outcome === 'applied' || outcome === 'later') return outcome;
    if (outcome === 'unprepared') continue;
    const shown = await readNow(intake, event);
    if (!shown) return 'applied';
    event = shown;
  }
  throw new Error(`issue #${event.issue.number} changed while it was read`);
}

async function applyOnce(
  { engine, repo }: Intake,
  { event, evidence, applied }: Pick<Fact, 'event' | 'evidence' | 'applied'>,
): Promise<Outcome> {
  const { issue } = event;
  const { workerLogins } = engine.settings().review;
  const own = evidence.isPerson ? workerLogins : [evidence.self, ...workerLogins];
  return inTenant(engine, repo.tenant_id, async (unit) => {
    const place = { repoId: repo.id, number: issue.number };
    const [subject, facts] = await Promise.all([
      lockIssueContext(unit, place),
      hostFactsOfNumber(unit.tx, unit.tenantId, place),
    ]);
    if (subject) {
      const known = facts ?? firstFacts(subject.issue);
      return applyToIssue(unit, subject, { event, evidence, applied, own, facts: known });
    }
    if (issue.state === 'closed') await resolveEdgesToClosed(unit, repo.id, issue.number);
    if (!wantsIn(issue)) return 'applied';
    if (!evidence.text) return 'unprepared';
    if (evidence.text.title && evidence.text.body) {
      const assignee = issue.assignees && humanAssignee(issue.assignees, own);
      const fresh = { ...issue, acceptedBy: evidence.text.acceptedBy, ...(assignee !== undefined && { assignee }) };
      await admitNew(unit, repo.id, fresh, evidence.hostStates);
    } else await refuseEnqueue(unit, repo, event, evidence.text);
    return 'applied';
  });
}

/** The current issue on the host, in the form of a poll. null when the host has none. */
export async function readNow({ engine, repo, host }: Intake, event: IssueEvent): Promise<IssueEvent | null> {
  const readAt = await storeNow(engine.store.db);
  const issue = await host.getIssue(repo, event.issue.number);
  return issue && { kind: 'issue', action: 'seen', repo: event.repo, issue, sender: null, label: null, readAt };
}

/** Issues may depend on one without a record: they wait only for its close. */
async function resolveEdgesToClosed(unit: TransactionContext, repoId: number, number: number): Promise<void> {
  if (await resolveEdgesToHost(unit.tx, unit.tenantId, { repoId, number }, 'closed')) unit.notify('svc_cache');
  await resolveEdgesAtEnd(unit.tx, unit.tenantId, { repoId, number }, 'cancelled');
}

/** A close may be caused by a merge that is not known yet; the merge decides, so it is read first. */
async function applyMissedMerge(intake: Intake, event: IssueEvent): Promise<void> {
  const { engine, repo, host } = intake;
  const db = engine.store.db;
  const known = await findIssue(db, repo.tenant_id, repo.id, event.issue.number);
  if (!known || known.state === 'done') return;
  for (const pr of await pullRequestsOf(db, repo.tenant_id, known.id)) {
    const pullRequest = pr.state === 'open' ? await host.getPullRequest(repo, pr.number) : null;
    if (!pullRequest?.merged) continue;
    await applyPullRequestEvent(intake, {
      kind: 'pull-request',
      action: 'merged',
      repo,
      pullRequest,
      sender: event.sender,
    });
  }
}

/** State of an issue on the host, with all that its effect depends on. */
interface Fact {
  event: IssueEvent;
  evidence: Evidence;
  /** It comes from a webhook: earlier polls of the issue are older. */
  applied: boolean;
  /** Logins of the pipeline and its workers. */
  own: readonly string[];
  /** Facts that were applied before. */
  facts: HostFactsRow;
}

async function applyToIssue(unit: TransactionContext, subject: IssueContext, fact: Fact): Promise<Outcome> {
  const { event, evidence, facts } = fact;
  const { issue } = subject;
  const age = compareStamps(event.issue.updatedAt, issue.host_updated_at);
  if (event.action === 'seen' && age < 0) return 'applied';
  if (!fact.applied && age === 0 && isBefore(event, facts)) return 'later';
  const status = await pollStatus(unit, issue, event);
  const order = status === 'current' ? orderOf(event, issue, facts) : 'old';
  if (order === 'unclear') return 'unclear';
  if (!isPrepared(subject, fact)) return 'unprepared';
  const text = readText(event, { stored: issue, facts }, evidence.text);
  const labels = status === 'current' ? labelsAfter(issue, event, facts) : issue.labels;
  const news = { ...(age >= 0 && hostFacts(event.issue)), ...shownChange(text.facts), labels };
  const renewed = { ...subject, issue: storeView(unit, issue, news, text.accepted) };
  const reported = status === 'current' ? timesAfter(text.facts, event) : text.facts;
  await saveHostFacts(unit.tx, withAssignee(reported, event, fact.own), fact.applied);
  recordText(unit, renewed, facts, text.facts);
  const isFollowed = text.accepted !== null && event.issue.state === 'open' && issue.state !== 'done';
  const after = isFollowed ? await applyTextEdit(unit, renewed, issue.body, evidence.hostStates) : renewed;
  const showsText = isNews(text, facts);
  if (status === 'current') await applyChange(unit, after, { ...fact, order, showsText });
  else if (showsText) await projectIssue(unit, after);
  return status === 'later' ? 'later' : 'applied';
}

type HostView = Pick<IssueRow, 'url' | 'host_updated_at' | 'labels' | 'text_changed_at' | 'text_changed_by'>;

/** Stores what the host shows, and the text that agents get from now on; null = the same. @returns the issue with both. */
function storeView(
  unit: TransactionContext,
  issue: IssueRow,
  news: Partial<HostView>,
  text: IssueText | null,
): IssueRow {
  const renewed = { ...issue, ...news, ...text };
  unit.rows.setIssue(issue.id, { ...news, ...text });
  return renewed;
}

/** Returns whether all data that the event's effect depends on was read before. */
function isPrepared({ issue }: IssueContext, { event, evidence, facts }: Fact): boolean {
  if (issue.state === 'done' && mayBeRequest(event, facts) && !evidence.history) return false;
  if (changesPause(event, issue, facts) && !evidence.pause) return false;
  return evidence.text !== null || sameText(event.issue, issue);
}

const hostFacts = ({ url, updatedAt }: HostIssue) => ({ url, host_updated_at: updatedAt });

interface OrderedFact extends Fact {
  order: Order;
  /** The status comment is to be renewed because of the text. */
  showsText: boolean;
}

const hostActor = (id: string | null): Actor => ({ type: 'operator', id, agent: null, reason: 'on the host' });

/** Follows a person's change of a label or of the state of an issue on the host. */
async function applyChange(unit: TransactionContext, after: IssueContext, followed: OrderedFact): Promise<void> {
  const { event, evidence, order, showsText } = followed;
  const { issue } = after;
  const actor = hostActor(event.sender);
  if (issue.state === 'done') return restart(unit, after, followed);
  if (event.issue.state === 'closed') {
    if (order === 'new' && isClose(event)) await closed(unit, after, event);
    return;
  }
  const shownPaused = issue.labels.includes(PAUSED_LABEL);
  if (shownPaused === issue.is_paused) {
    if (showsText) await projectIssue(unit, after);
    return;
  }
  // The label goes back to what it was.
  if (!evidence.pause?.isAllowed) return projectIssue(unit, after);
  const at = event.action === 'seen' ? null : event.issue.updatedAt;
  await performAction(unit, after, shownPaused ? 'pause' : 'resume', { ...actor, id: evidence.pause.by, at });
  if (event.action === 'seen') return;
  // Webhooks arrive late, or overtake a write of ours in flight: the last write on the host decides the flag.
  const label = [PAUSED_LABEL];
  const last = shownPaused ? { add: label, remove: [] } : { add: [], remove: label };
  await queueProjections(unit, after, [{ type: 'swapLabels', ...last }]);
}

/** A reopening of ours in flight would open the issue again after this, so a close is queued behind it. */
async function closed(unit: TransactionContext, subject: IssueContext, event: IssueEvent): Promise<void> {
  const actor = hostActor(event.sender);
  const { subject: ended } = await moveBy(unit, subject, { cause: { trigger: 'host-closed' }, actor });
  await actedAt(unit.tx, ended.issue, stateTime(event));
  if (await hasOpenProjections(unit.tx, ended.issue, ['pending'], ['issue'])) {
    await queueProjections(unit, ended, [{ type: 'closeIssue', reason: 'not_planned', comment: null }]);
  }
}

/** A person reopened a finished issue, or added the label for intake again: it restarts. */
async function restart(
  unit: TransactionContext,
  subject: IssueContext,
  { event, evidence, facts }: OrderedFact,
): Promise<void> {
  const { history, requesters } = evidence;
  const acted: ActedOn = { at: facts.acted_at, eventId: facts.acted_event_id };
  const request = history && mayBeRequest(event, facts) ? findRequest(history.events, requesters, acted) : null;
  // Nothing else changes a finished issue; other labels that people add are removed.
  if (!request) return projectIssue(unit, subject);
  const stored = await factsOf(unit, subject.issue);
  await saveHostFacts(unit.tx, factsAfterRestart(stored, request, history?.events.at(-1)?.id ?? request.id), false);
  const { subject: fresh } = await moveBy(unit, subject, {
    cause: { trigger: 'reopened' },
    actor: hostActor(request.actor),
  });
  await admit(unit, fresh, evidence.hostStates);
  // Requested by label only, the host still shows it closed; and a close of ours may still be in flight.
  const closes = await hasOpenProjections(unit.tx, fresh.issue, ['pending'], ['issue']);
  if (request.kind !== 'reopened' || closes) await queueProjections(unit, fresh, [{ type: 'reopenIssue' }]);
}

const factsAfterRestart = (facts: HostFactsRow, { at }: HistoryEvent, eventId: number): HostFactsRow => ({
  ...facts,
  acted_at: at,
  acted_event_id: eventId,
  state_at: latest(facts.state_at, at),
  pause_at: latest(facts.pause_at, at),
  command_at: latest(facts.command_at, at),
});
