import { type Html, html } from '@pipeline/domain';
import { type Request, type Response, Router } from 'express';
import { notFound } from '../http/failure.ts';
import { PAGE_POLICY, page } from '../http/page.ts';
import { numberParam } from '../http/request.ts';
import { isPull, issueOf } from '../issues/changes.ts';
import { GLOBAL, type IssueRecord, type RepoRecord, type Sandbox } from '../state/model.ts';
import { findKnownRepo } from '../state/sandbox.ts';
import { issuePage } from './issue-page.ts';
import { ago, labels, link, stateOf, titleOf } from './parts.ts';

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
    const lists = repos.map(
      (repo) => html`<h2><a href="${link(repo)}">${repo.owner}/${repo.name}</a></h2>${items(sandbox, repo)}`,
    );
    const monitor = monitorUrl === undefined ? html`` : html`<p><a href="${monitorUrl}">Open the monitor</a></p>`;
    res.send(page('Repositories', html`${monitor}${lists}`));
  });
  const list = (which: Which) => (req: Request, res: Response) => {
    const repo = publicRepo(sandbox, req);
    const clone = html`<p><code>git clone ${sandbox.url()}${link(repo)}.git</code></p>`;
    res.send(page(`${repo.owner}/${repo.name}`, html`${clone}${tabs(repo, which)}${items(sandbox, repo, which)}`));
  };
  router.get('/:owner/:repo', list('all'));
  router.get('/:owner/:repo/issues', list('issues'));
  router.get('/:owner/:repo/pulls', list('pulls'));
  const show = async (req: Request, res: Response) => {
    const repo = publicRepo(sandbox, req);
    const issue = issueOf(sandbox, repo, numberParam(req, 'number'));
    const heading = html`${titleOf(issue.title)} <span class="about">#${issue.number}</span>`;
    const trail = html` / <a href="${link(repo)}">${repo.owner}/${repo.name}</a>`;
    const body = await issuePage(sandbox, { repo, issue, monitorUrl });
    res.send(page(`${issue.title} #${issue.number}`, body, { heading, trail }));
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

/** Content of a list of a repository. */
type Which = 'all' | 'issues' | 'pulls';
const TABS = [
  ['all', '', 'All'],
  ['issues', '/issues', 'Issues'],
  ['pulls', '/pulls', 'Pull requests'],
] as const;

function tabs(repo: RepoRecord, shown: Which): Html {
  const links = TABS.map(([which, path, name]) =>
    which === shown ? html`<strong>${name}</strong> ` : html`<a href="${link(repo)}${path}">${name}</a> `,
  );
  return html`<p class="tabs">${links}</p>`;
}

function items(sandbox: Sandbox, repo: RepoRecord, which: Which = 'all'): Html {
  const all = sandbox.state.list('issue', repo.id);
  const issues = all.filter((issue) => which === 'all' || isPull(issue) === (which === 'pulls'));
  if (issues.length === 0) return html`<p>${which === 'pulls' ? 'No pull requests yet.' : 'No issues yet.'}</p>`;
  return html`<ul class="items">${issues.reverse().map((issue) => item(sandbox, repo, issue))}</ul>`;
}

function item(sandbox: Sandbox, repo: RepoRecord, issue: IssueRecord): Html {
  const state = stateOf(issue);
  const [kind, path] = issue.pull ? (['Pull request', 'pull'] as const) : (['Issue', 'issues'] as const);
  const comments = issue.comments === 0 ? '' : ` · ${issue.comments} comment${issue.comments === 1 ? '' : 's'}`;
  return html`<li><span class="state ${state}">${state}</span><div>
<a href="${link(repo)}/${path}/${issue.number}">${titleOf(issue.title)}</a> ${labels(sandbox, repo, issue)}
<div class="about">${kind} #${issue.number} · changed ${ago(sandbox, issue.updatedAt)}${comments}</div></div></li>`;
}
