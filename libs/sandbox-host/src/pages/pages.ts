import { type Html, html } from '@pipeline/domain';
import { type Request, type Response, Router } from 'express';
import { notFound } from '../http/failure.ts';
import { PAGE_POLICY, page } from '../http/page.ts';
import { numberParam } from '../http/request.ts';
import { isPull, issueOf } from '../issues/changes.ts';
import { GLOBAL, type IssueRecord, type RepoRecord, type Sandbox } from '../state/model.ts';
import { findKnownRepo } from '../state/sandbox.ts';
import { issuePage } from './issue-page.ts';
import { ago, labels, link, stateOf } from './parts.ts';

/**
 * Pages for a person to see what the pipeline did: repos, issues, pull requests. Read only, no script.
 * @param monitorUrl address of the monitor, which has a page of each issue; undefined = no links.
 */
export function pageRoutes(sandbox: Sandbox, monitorUrl: string | undefined): Router {
  const router = Router();
  const { state } = sandbox;

  router.use((_req, res, next) => {
    res.set('Content-Security-Policy', PAGE_POLICY);
    next();
  });
  router.get('/', (_req, res) => {
    const repos = state.list('repo', GLOBAL).filter((repo) => !repo.private);
    const items = repos.map(
      (repo) => html`<h2><a href="${link(repo)}">${repo.owner}/${repo.name}</a></h2>${table(sandbox, repo)}`,
    );
    const monitor = monitorUrl === undefined ? html`` : html`<p><a href="${monitorUrl}">Open the monitor</a></p>`;
    res.send(page('Repositories', html`${monitor}${items}`));
  });
  const list = (which: Which) => (req: Request, res: Response) => {
    const repo = publicRepo(sandbox, req);
    const clone = html`<p><code>git clone ${sandbox.url()}${link(repo)}.git</code></p>`;
    res.send(page(`${repo.owner}/${repo.name}`, html`${clone}${tabs(repo, which)}${table(sandbox, repo, which)}`));
  };
  router.get('/:owner/:repo', list('all'));
  router.get('/:owner/:repo/issues', list('issues'));
  router.get('/:owner/:repo/pulls', list('pulls'));
  const show = async (req: Request, res: Response) => {
    const repo = publicRepo(sandbox, req);
    const issue = issueOf(sandbox, repo, numberParam(req, 'number'));
    res.send(page(`${issue.title} #${issue.number}`, await issuePage(sandbox, { repo, issue, monitorUrl })));
  };
  router.get('/:owner/:repo/issues/:number', show);
  router.get('/:owner/:repo/pull/:number', show);
  return router;
}

function publicRepo(sandbox: Sandbox, req: Request): RepoRecord {
  const [owner, name] = [String(req.params.owner), String(req.params.repo)];
  const repo = findKnownRepo(sandbox, owner, name);
  if (!repo || repo.private) throw notFound();
  return repo;
}

/** What a list of a repository shows. */
type Which = 'all' | 'issues' | 'pulls';
const TABS = [
  ['all', '', 'All'],
  ['issues', '/issues', 'Issues'],
  ['pulls', '/pulls', 'Pull requests'],
] as const;

function tabs(repo: RepoRecord, shown: Which): Html {
  const items = TABS.map(([which, path, name]) =>
    which === shown ? html`<strong>${name}</strong> ` : html`<a href="${link(repo)}${path}">${name}</a> `,
  );
  return html`<p>${items}</p>`;
}

function table(sandbox: Sandbox, repo: RepoRecord, which: Which = 'all'): Html {
  const all = sandbox.state.list('issue', repo.id);
  const issues = all.filter((issue) => which === 'all' || isPull(issue) === (which === 'pulls'));
  if (issues.length === 0) return html`<p>${which === 'pulls' ? 'No pull requests yet.' : 'No issues yet.'}</p>`;
  const rows = issues.reverse().map((issue) => row(sandbox, repo, issue));
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Issues of ${repo.owner}/${repo.name}"><table>
<thead><tr><th>Number</th><th>Title</th><th>State</th><th>Comments</th><th>Changed</th></tr></thead>
<tbody>${rows}</tbody></table></div>`;
}

function row(sandbox: Sandbox, repo: RepoRecord, issue: IssueRecord): Html {
  const state = stateOf(issue);
  return html`<tr><td>${issue.pull ? 'PR' : 'issue'} #${issue.number}</td>
<td><a href="${link(repo)}/${issue.pull ? 'pull' : 'issues'}/${issue.number}">${issue.title}</a>
${labels(sandbox, repo, issue)}</td>
<td><span class="state ${state}">${state}</span></td><td>${issue.comments}</td><td>${ago(sandbox, issue.updatedAt)}</td></tr>`;
}
