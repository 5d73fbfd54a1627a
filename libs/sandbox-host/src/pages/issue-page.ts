import { Html, html, linkedIssueNumber, withoutTrailing } from '@pipeline/domain';
import { micromark } from 'micromark';
import { gfm, gfmHtml } from 'micromark-extension-gfm';
import { latestRuns, latestStatuses } from '../checks/verdicts.ts';
import { isPull } from '../issues/changes.ts';
import { diffRange } from '../pulls/files.ts';
import type { IssueRecord, PullIssue, RepoRecord, Sandbox } from '../state/model.ts';
import { ago, labels, link, stateOf, titleOf } from './parts.ts';

/** The page loads no pictures: an image stays a link. */
const NO_IMAGES = { disable: { null: ['labelStartImage'] } };

/** A paragraph in small print, which the pipeline ends its comments with. */
const SMALL_PRINT = /^<p>&lt;sub&gt;(.*)&lt;\/sub&gt;<\/p>$/gm;

/** More lines than a person reads on one page. */
const MAX_LINES = 2_000;
const MAX_LINE = 500;

/** An issue or a pull request: its state, its comments, its checks and its changes. */
export async function issuePage(
  sandbox: Sandbox,
  { repo, issue, monitorUrl }: { repo: RepoRecord; issue: IssueRecord; monitorUrl: string | undefined },
): Promise<Html> {
  const state = stateOf(issue);
  const number = isPull(issue) ? issueOf(repo, issue) : issue.number;
  const inMonitor =
    monitorUrl === undefined || number === null
      ? html``
      : html`<a class="monitor" href="${monitorUrl}/#/issues${link(repo)}/${number}">${
          isPull(issue) ? html`Show issue #${number} in the monitor` : html`Show in the monitor`
        }</a>`;
  return html`<p><span class="state ${state}">${state}</span> ${labels(sandbox, repo, issue)}${inMonitor}</p>
${isPull(issue) ? branches(repo, issue) : pulls(sandbox, repo, issue)}${children(sandbox, repo, issue)}${comments(sandbox, repo, issue)}
${isPull(issue) ? await changes(sandbox, repo, issue) : html``}`;
}

/** The issue that a pull request is about; the branch names it only where it is of this repository. */
const issueOf = (repo: RepoRecord, { body, pull }: PullIssue): number | null =>
  linkedIssueNumber({ headRef: pull.headRef, body: body ?? '' }, (pull.headRepoId ?? repo.id) === repo.id);

function comments(sandbox: Sandbox, repo: RepoRecord, issue: IssueRecord): Html[] {
  const { state } = sandbox;
  const entries = [
    { author: issue.author, at: issue.createdAt, body: issue.body ?? '', note: 'opened' },
    ...state
      .list('comment', repo.id, issue.number)
      .map(({ author, createdAt, body }) => ({ author, at: createdAt, body, note: 'commented' })),
    ...state.list('review', repo.id, issue.number).map(({ author, submittedAt, body, ...review }) => ({
      author,
      at: submittedAt,
      body,
      note: NOTES[review.state],
    })),
  ].sort((a, b) => a.at.localeCompare(b.at));
  return entries.map(
    ({ author, at, body, note }) =>
      html`<article><header><strong>${author}</strong> ${note} ${ago(sandbox, at)}</header>
<div class="body">${markdown(withoutMarkers(body))}</div></article>`,
  );
}

const NOTES = {
  APPROVED: 'approved',
  CHANGES_REQUESTED: 'requested changes',
  COMMENTED: 'reviewed',
  DISMISSED: 'reviewed (dismissed)',
} as const;

function children({ state }: Sandbox, repo: RepoRecord, issue: IssueRecord): Html {
  const items = state
    .list('issue', repo.id, issue.number)
    .map(
      (child) =>
        html`<li><a href="${link(repo)}/issues/${child.number}">#${child.number} ${titleOf(child.title)}</a></li>`,
    );
  return items.length > 0 ? html`<h2>Sub-issues</h2><ul>${items}</ul>` : html``;
}

/** A body as a reader sees it: without markers and the empty lines before them. */
const withoutMarkers = (body: string): string =>
  body
    .split(/<!-- svc:[^<>]* -->/)
    .map((part, index, { length }) => (index === length - 1 ? part : withoutTrailing(part, '\n')))
    .join('');

function branches(repo: RepoRecord, issue: PullIssue): Html {
  const { headRef, headSha, baseRef, mergeSha, mergedBy } = issue.pull;
  const number = issueOf(repo, issue);
  return html`<p><code>${headRef}</code> (${headSha.slice(0, 12)}) into <code>${baseRef}</code>${
    mergeSha ? html`, merged as ${mergeSha.slice(0, 12)} by ${mergedBy ?? ''}` : null
  }${number === null ? null : html`, for <a href="${link(repo)}/issues/${number}">issue #${number}</a>`}</p>`;
}

/** The pull requests about an issue. */
function pulls({ state }: Sandbox, repo: RepoRecord, issue: IssueRecord): Html {
  const found = state.list('issue', repo.id).filter((each) => isPull(each) && issueOf(repo, each) === issue.number);
  const links = found.map(
    (each) =>
      html`<li><a href="${link(repo)}/pull/${each.number}">#${each.number} ${titleOf(each.title)}</a>
<span class="state ${stateOf(each)}">${stateOf(each)}</span></li>`,
  );
  return links.length > 0 ? html`<h2>Pull requests</h2><ul>${links}</ul>` : html``;
}

async function changes(sandbox: Sandbox, repo: RepoRecord, issue: PullIssue): Promise<Html> {
  const { headSha } = issue.pull;
  const checks = [
    ...latestRuns(sandbox, repo, headSha).map(({ name, status, conclusion }) => [name, conclusion ?? status] as const),
    ...latestStatuses(sandbox, repo, headSha).map(({ context, state }) => [context, state] as const),
  ].map(
    ([name, result]) =>
      html`<li>${name}: <strong class="${toneOf(result)}">${result.replaceAll('_', ' ')}</strong></li>`,
  );
  return html`<h2>Checks</h2>${checks.length > 0 ? html`<ul>${checks}</ul>` : html`<p>No check has reported.</p>`}
<h2>Changes</h2>${await diffOf(sandbox, repo, issue)}`;
}

const TONES: Readonly<Record<string, string>> = { success: 'open', failure: 'bad', error: 'bad', timed_out: 'bad' };

/** Class of the result of a check. */
const toneOf = (result: string): string => TONES[result] ?? '';

/** Renders what the branch of a pull request changed since it left the base, line by line. */
async function diffOf(sandbox: Sandbox, repo: RepoRecord, issue: PullIssue): Promise<Html> {
  const { git } = sandbox;
  const range = await diffRange(sandbox, repo, issue);
  const text = await git.run(git.dir(repo), ['diff', '--no-renames', '--no-color', range]);
  if (text === '') return html`<p>No file has changed.</p>`;
  const lines = text.split('\n');
  const shown = lines.slice(0, MAX_LINES).map(
    (line) => html`<span class="${kindOf(line)}">${line.slice(0, MAX_LINE)}
</span>`,
  );
  const rest = lines.length > MAX_LINES ? html`<p>${lines.length - MAX_LINES} more lines are not shown.</p>` : html``;
  return html`<pre class="diff" tabindex="0" role="region" aria-label="Changes">${shown}</pre>${rest}`;
}

function kindOf(line: string): 'file' | 'hunk' | 'added' | 'removed' | 'same' {
  if (/^(?:diff |index |--- |\+\+\+ |new file|deleted file)/.test(line)) return 'file';
  if (line.startsWith('@@')) return 'hunk';
  if (line.startsWith('+')) return 'added';
  return line.startsWith('-') ? 'removed' : 'same';
}

/**
 * Renders Markdown of GitHub's flavour. Raw HTML is shown as text, except a paragraph in `<sub>`; links with other
 * protocols lose their target.
 */
const markdown = (text: string): Html =>
  Html.trusted(
    micromark(text, { extensions: [gfm(), NO_IMAGES], htmlExtensions: [gfmHtml()] }).replace(
      SMALL_PRINT,
      '<p class="small">$1</p>',
    ),
  );
