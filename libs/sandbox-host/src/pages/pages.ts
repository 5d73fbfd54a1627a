import { type Html, html } from '@pipeline/domain';
import { type Request, type Response, Router } from 'express';
import { notFound } from '../http/failure.ts';
import { PAGE_POLICY, page } from '../http/page.ts';
import { numberParam } from '../http/request.ts';
import { issueOf } from '../issues/changes.ts';
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
  router.get('/:owner/:repo', (req, res) => {
    const repo = publicRepo(sandbox, req);
    const clone = html`<p><code>git clone ${sandbox.url()}${link(repo)}.git</code></p>`;
    res.send(page(`${repo.owner}/${repo.name}`, html`${clone}${table(sandbox, repo)}`));
  });
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

function table(sandbox: Sandbox, repo: RepoRecord): Html {
  const issues = sandbox.state.list('issue', repo.id);
  if (issues.length === 0) return html`<p>No issues yet.</p>`;
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
