import { ENQUEUE_LABEL, type HostEvent, type HostIssue, PAUSED_LABEL } from '@pipeline/domain';
import {
  findIssue,
  hasOpenProjections,
  type IssueRow,
  lockIssueByNumber,
  pullRequestsOf,
  resolveEdgesAtEnd,
  resolveEdgesToHost,
  updateIssue,
} from '@pipeline/store';
import { admit, admitNew } from './admit.ts';
import { inTenant, type Unit } from './context.ts';
import type { Intake } from './intake.ts';
import { takePullRequest } from './intake-pull-request.ts';
import { perform } from './issue-actions.ts';
import { moveBy } from './move.ts';
import { mayMissOurWrites } from './own-writes.ts';
import { askAboutParents, type HostWord, nothingAsked } from './parents-on-host.ts';
import { projectIssue, queueProjections } from './project.ts';
import { type Actor, type Subject, subjectOf } from './subject.ts';
import { followText } from './text-dependencies.ts';

type IssueEvent = Extract<HostEvent, { kind: 'issue' }>;

/**
 * Takes up an issue as the host shows it: lets it in, follows people's changes, closes and reopens with the host.
 * @returns later = what was seen may be older than our own writes under way; it must be looked at again after them.
 */
export async function takeIssue(intake: Intake, event: IssueEvent): Promise<'taken' | 'later'> {
  const { engine, repo } = intake;
  if (event.issue.state === 'closed') await lookForMerge(intake, event);
  const asked = await askBefore(intake, event);
  return inTenant(engine, repo.tenant_id, async (unit) => {
    const row = await lockIssueByNumber(unit.tx, unit.tenantId, repo.id, event.issue.number);
    if (row) return follow(unit, await subjectOf(unit, row), { ...event, asked });
    if (wantsIn(event.issue)) await admitNew(unit, repo.id, event.issue, asked);
    else if (event.issue.state === 'closed') await endedElsewhere(unit, repo.id, event.issue.number);
    return 'taken';
  });
}

/** What the host says of the issues that the text newly names; nothing is asked for a text that does not count. */
async function askBefore(intake: Intake, { issue }: IssueEvent): Promise<HostWord> {
  const { engine, repo } = intake;
  if (issue.state === 'closed') return nothingAsked;
  const known = await findIssue(engine.store.tenant, repo.tenant_id, repo.id, issue.number);
  if (!known && !wantsIn(issue)) return nothingAsked;
  return askAboutParents(intake, issue, known && known.state !== 'done' ? known.body : null);
}

/** Issues may depend on one that the pipeline has no record of: its close is all they wait for. */
async function endedElsewhere(unit: Unit, repoId: number, number: number): Promise<void> {
  if (await resolveEdgesToHost(unit.tx, unit.tenantId, { repoId, number }, 'closed')) unit.ring('svc_cache');
  await resolveEdgesAtEnd(unit.tx, unit.tenantId, { repoId, number }, 'cancelled');
}

const wantsIn = (issue: HostIssue): boolean => issue.state === 'open' && issue.labels.includes(ENQUEUE_LABEL);

/** A close may be the shadow of a merge that is not known yet; the merge is what counts, so it is asked for first. */
async function lookForMerge(intake: Intake, event: IssueEvent): Promise<void> {
  const { engine, repo, host } = intake;
  const db = engine.store.tenant;
  const known = await findIssue(db, repo.tenant_id, repo.id, event.issue.number);
  if (!known || known.state === 'done') return;
  for (const pr of await pullRequestsOf(db, repo.tenant_id, known.id)) {
    const pullRequest = pr.state === 'open' ? await host.getPullRequest(repo, pr.number) : null;
    if (!pullRequest?.merged) continue;
    await takePullRequest(intake, { kind: 'pull-request', action: 'merged', repo, pullRequest, sender: event.sender });
  }
}

type AskedEvent = IssueEvent & { asked: HostWord };

async function follow(unit: Unit, subject: Subject, event: AskedEvent): Promise<'taken' | 'later'> {
  const standing = await standingOf(unit, subject.issue, event);
  const current = standing === 'current';
  const isNewer = Date.parse(event.issue.updatedAt) >= Date.parse(subject.issue.host_updated_at);
  const news = { ...(isNewer && facts(event.issue)), ...(current && { labels: labelsAfter(subject.issue, event) }) };
  const issue = { ...subject.issue, ...news };
  await updateIssue(unit.tx, unit.tenantId, issue.id, news);
  const actor: Actor = { type: 'operator', id: event.sender, agent: null, reason: 'on the host' };
  const counts = isNewer && event.issue.state === 'open' && issue.state !== 'done';
  const text = { before: subject.issue.body, asked: event.asked };
  const after = counts ? await followText(unit, { ...subject, issue }, text) : { ...subject, issue };
  if (current) await followChange(unit, after, event, actor);
  return standing === 'later' ? 'later' : 'taken';
}

async function followChange(unit: Unit, after: Subject, event: AskedEvent, actor: Actor): Promise<void> {
  const { issue } = after;
  if (issue.state === 'done') return comeBack(unit, after, event, actor);
  if (event.issue.state === 'closed') return closed(unit, after, actor);
  const shownPaused = issue.labels.includes(PAUSED_LABEL);
  if (shownPaused === issue.is_paused) return;
  await perform(unit, after, shownPaused ? 'pause' : 'resume', actor);
  if (event.action === 'seen') return;
  // Webhooks come late, or overtake a write of ours that is under way: what the host carries out last shows the flag.
  const label = [PAUSED_LABEL];
  const last = shownPaused ? { add: label, remove: [] } : { add: [], remove: label };
  queueProjections(unit, after, [{ type: 'swapLabels', ...last }]);
}

/**
 * A webhook tells what somebody else just did. A poll shows the host as it was when it was read, which may be older
 * than our own word: it counts only when nothing of ours is under way and it was read after our last write was done.
 * A write that failed for good holds it until a person deals with the write.
 */
async function standingOf(unit: Unit, issue: IssueRow, event: IssueEvent): Promise<'current' | 'later' | 'held'> {
  if (event.action !== 'seen') return 'current';
  if (await mayMissOurWrites(unit, issue, event.readAt ?? event.issue.updatedAt)) return 'later';
  return (await hasOpenProjections(unit.tx, issue, ['failed'])) ? 'held' : 'current';
}

const facts = ({ title, body, url, updatedAt }: HostIssue) => ({ title, body, url, host_updated_at: updatedAt });

/** A webhook's list may miss what we are about to write, so only the one label it is about is taken over. */
function labelsAfter(issue: IssueRow, event: IssueEvent): string[] {
  const { action, label } = event;
  if (action === 'seen') return event.issue.labels;
  if (label === null) return issue.labels;
  const others = issue.labels.filter((name) => name !== label);
  return action === 'labeled' ? [...others, label] : action === 'unlabeled' ? others : issue.labels;
}

async function closed(unit: Unit, subject: Subject, actor: Actor): Promise<void> {
  await moveBy(unit, subject, { cause: { trigger: 'host-closed' }, actor: actor });
}

/** A person reopened a finished issue, or asked for it again by label: it starts anew. */
async function comeBack(unit: Unit, subject: Subject, event: AskedEvent, actor: Actor): Promise<void> {
  const isOpen = event.issue.state === 'open';
  const seenOpen = event.action === 'seen' && event.issue.stateReason === 'reopened';
  const reopened = isOpen && (event.action === 'reopened' || seenOpen);
  const wanted = subject.issue.labels.includes(ENQUEUE_LABEL) && event.action !== 'closed';
  // Nothing else changes a finished issue; what people put on it beside its label goes.
  if (!reopened && !wanted) return projectIssue(unit, subject);
  const { subject: fresh } = await moveBy(unit, subject, { cause: { trigger: 'reopened' }, actor: actor });
  await admit(unit, fresh, event.asked);
  // Asked by label only, the host still shows it closed, or is about to.
  if (!reopened) queueProjections(unit, fresh, [{ type: 'reopenIssue' }]);
}
