import { withoutTrailing } from '@pipeline/domain';
import { type Request, type Response, Router } from 'express';
import { notFound } from '../http/failure.ts';
import { type Html, html, page } from '../http/html.ts';
import { numberParam } from '../http/request.ts';
import { isPull, issueOf } from '../issues/changes.ts';
import { GLOBAL, type IssueRecord, type RepoRecord, type Sandbox } from '../state/model.ts';
import { findRepo } from '../state/sandbox.ts';

/** Pages for a person who wants to see what the pipeline did: repos, issues, pull requests. Read only, no script. */
export function pageRoutes(sandbox: Sandbox): Router {
  const router = Router();
  const { state } = sandbox;

  router.use((_req, res, next) => {
    res.set('Content-Security-Policy', "default-src 'none'; style-src 'unsafe-inline'");
    next();
  });
  router.get('/', (_req, res) => {
    const repos = state.list('repo', GLOBAL).filter((repo) => !repo.private);
    const items = repos.map(
      (repo) =>
        html`<h2><a href="${link(repo)}">${repo.owner}/${repo.name}</a></h2>${table(state.list('issue', repo.id), repo)}`,
    );
    res.send(page('Repositories', html`${items}`));
  });
  router.get('/:owner/:repo', (req, res) => {
    const repo = publicRepo(sandbox, req);
    const clone = html`<p>git clone ${sandbox.url()}${link(repo)}.git</p>`;
    res.send(page(`${repo.owner}/${repo.name}`, html`${clone}${table(state.list('issue', repo.id), repo)}`));
  });
  const show = (req: Request, res: Response) => {
    const repo = publicRepo(sandbox, req);
    const issue = issueOf(sandbox, repo, numberParam(req, 'number'));
    res.send(page(`${issue.title} #${issue.number}`, issuePage(sandbox, repo, issue)));
  };
  router.get('/:owner/:repo/issues/:number', show);
  router.get('/:owner/:repo/pull/:number', show);
  return router;
}

function publicRepo(sandbox: Sandbox, req: Request): RepoRecord {
  const repo = findRepo(sandbox, String(req.params.owner), String(req.params.repo));
  if (!repo || repo.private) throw notFound();
  return repo;
}

const link = (repo: RepoRecord): string => `/${repo.owner}/${repo.name}`;

const stateOf = (issue: IssueRecord): string => (issue.pull?.mergedAt ? 'merged' : issue.state);

const labels = (issue: IssueRecord): Html[] => issue.labels.map((name) => html`<span class="label">${name}</span>`);

function table(issues: IssueRecord[], repo: RepoRecord): Html {
  if (issues.length === 0) return html`<p>No issues yet.</p>`;
  const rows = issues.reverse().map(
    (issue) => html`<tr><td>${issue.pull ? 'PR' : 'issue'} #${issue.number}</td>
<td><a href="${link(repo)}/${issue.pull ? 'pull' : 'issues'}/${issue.number}">${issue.title}</a> ${labels(issue)}</td>
<td>${stateOf(issue)}</td><td>${issue.comments}</td><td>${issue.updatedAt}</td></tr>`,
  );
  return html`<table><thead><tr><th>Number</th><th>Title</th><th>State</th><th>Comments</th><th>Changed</th></tr></thead>
<tbody>${rows}</tbody></table>`;
}

function issuePage({ state }: Sandbox, repo: RepoRecord, issue: IssueRecord): Html {
  const entries = [
    { author: issue.author, at: issue.createdAt, body: issue.body ?? '', note: 'opened' },
    ...state
      .list('comment', repo.id, issue.number)
      .map(({ author, createdAt, body }) => ({ author, at: createdAt, body, note: 'commented' })),
    ...state
      .list('review', repo.id, issue.number)
      .map(({ author, submittedAt, body, ...review }) => ({ author, at: submittedAt, body, note: review.state })),
  ].sort((a, b) => a.at.localeCompare(b.at));
  const articles = entries.map(
    ({ author, at, body, note }) =>
      html`<article><header>${author} ${note} at ${at}</header><pre>${withoutMarkers(body)}</pre></article>`,
  );
  const subIssues = state
    .list('issue', repo.id, issue.number)
    .map((child) => html`<li><a href="${link(repo)}/issues/${child.number}">#${child.number} ${child.title}</a></li>`);
  return html`<p>${stateOf(issue)} ${labels(issue)}</p>${isPull(issue) ? branches(issue.pull) : html``}
${subIssues.length > 0 ? html`<ul>${subIssues}</ul>` : html``}${articles}`;
}

/** A body as a reader sees it: without markers and the empty lines before them. */
const withoutMarkers = (body: string): string =>
  body
    .split(/<!-- svc:[^<>]* -->/)
    .map((part, index, { length }) => (index === length - 1 ? part : withoutTrailing(part, '\n')))
    .join('');

const branches = (pull: NonNullable<IssueRecord['pull']>): Html =>
  html`<p>${pull.headRef} (${pull.headSha.slice(0, 12)}) into ${pull.baseRef}${
    pull.mergeSha ? html`, merged as ${pull.mergeSha.slice(0, 12)} by ${pull.mergedBy ?? ''}` : html``
  }</p>`;
