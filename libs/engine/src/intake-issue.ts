import { ENQUEUE_LABEL, type HostEvent, type HostIssue, PAUSED_LABEL } from '@pipeline/domain';
import {
  findIssue,
  hasOpenProjections,
  type IssueRow,
  lastCompletedAt,
  lockIssueByNumber,
  pullRequestsOf,
  updateIssue,
} from '@pipeline/store';
import { admit, admitNew } from './admit.ts';
import { inTenant, type Unit } from './context.ts';
import type { Intake } from './intake.ts';
import { takePullRequest } from './intake-pull-request.ts';
import { perform } from './issue-actions.ts';
import { moveBy } from './move.ts';
import { type Actor, type Subject, subjectOf } from './subject.ts';

type IssueEvent = Extract<HostEvent, { kind: 'issue' }>;

/** Takes up an issue as the host shows it: lets it in, follows people's changes, closes and reopens with the host. */
export async function takeIssue(intake: Intake, event: IssueEvent): Promise<void> {
  const { engine, repo } = intake;
  if (event.issue.state === 'closed') await lookForMerge(intake, event);
  await inTenant(engine, repo.tenant_id, async (unit) => {
    const row = await lockIssueByNumber(unit.tx, unit.tenantId, repo.id, event.issue.number);
    if (row) return follow(unit, await subjectOf(unit, row), event);
    if (wantsIn(event.issue)) await admitNew(unit, repo.id, event.issue);
  });
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

async function follow(unit: Unit, subject: Subject, event: IssueEvent): Promise<void> {
  const current = await isCurrent(unit, subject.issue, event);
  const issue = { ...subject.issue, ...facts(subject.issue, event, current) };
  await updateIssue(unit.tx, unit.tenantId, issue.id, facts(subject.issue, event, current));
  const actor: Actor = { type: 'operator', id: event.sender, agent: null, reason: 'on the host' };
  if (!current) return;
  const after = { ...subject, issue };
  if (event.issue.state === 'closed') return closed(unit, after, actor);
  if (issue.state === 'done') return comeBack(unit, after, event, actor);
  const shownPaused = issue.labels.includes(PAUSED_LABEL);
  if (shownPaused === issue.is_paused) return;
  await perform(unit, after, shownPaused ? 'pause' : 'resume', actor);
}

/**
 * A webhook tells what somebody else just did. A poll shows the host as it is, which may be older than our own word:
 * it counts only when nothing of ours is under way and the host changed after our last write.
 */
async function isCurrent(unit: Unit, issue: IssueRow, event: IssueEvent): Promise<boolean> {
  if (event.action !== 'seen') return true;
  if (await hasOpenProjections(unit.tx, issue)) return false;
  const written = await lastCompletedAt(unit.tx, unit.tenantId, issue.id);
  return written === null || Date.parse(event.issue.updatedAt) > Date.parse(written);
}

function facts(issue: IssueRow, event: IssueEvent, current: boolean) {
  const { title, body, url, updatedAt } = event.issue;
  return { title, body, url, host_updated_at: updatedAt, ...(current && { labels: labelsAfter(issue, event) }) };
}

/** A webhook's list may miss what we are about to write, so only the one label it is about is taken over. */
function labelsAfter(issue: IssueRow, event: IssueEvent): string[] {
  const { action, label } = event;
  if (action === 'seen') return event.issue.labels;
  if (label === null) return issue.labels;
  const others = issue.labels.filter((name) => name !== label);
  return action === 'labeled' ? [...others, label] : action === 'unlabeled' ? others : issue.labels;
}

async function closed(unit: Unit, subject: Subject, actor: Actor): Promise<void> {
  if (subject.issue.state === 'done') return;
  await moveBy(unit, subject, { cause: { trigger: 'host-closed' }, actor: actor });
}

/** A person reopened a finished issue, or asked for it again by label: it starts anew. */
async function comeBack(unit: Unit, subject: Subject, event: IssueEvent, actor: Actor): Promise<void> {
  const reopened = event.action === 'reopened' || (event.action === 'seen' && event.issue.stateReason === 'reopened');
  if (!reopened && !subject.issue.labels.includes(ENQUEUE_LABEL)) return;
  const { subject: fresh } = await moveBy(unit, subject, { cause: { trigger: 'reopened' }, actor: actor });
  await admit(unit, fresh);
}
