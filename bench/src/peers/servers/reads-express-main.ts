import { createHash } from 'node:crypto';
import type { TaskType } from '@pipeline/domain';
import express, { type RequestHandler } from 'express';
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { type IssueColumns, listedIssue } from '../listed-issue.ts';

/** The columns that are read; times are timestamps, ids bigints. */
interface Tables {
  oauth_tokens: { hash: Buffer; kind: string; connection_id: string; expires_at: Date };
  oauth_connections: {
    id: string;
    tenant_id: string;
    user_id: string;
    scope: string;
    expires_at: Date;
    revoked_at: Date | null;
  };
  users: { id: string; email: string; disabled_at: Date | null };
  memberships: { tenant_id: string; user_id: string; role: string };
  repo_grants: { tenant_id: string; user_id: string; repo_id: string };
  tenants: { id: string; external_id: string; name: string; created_at: Date };
  repos: {
    id: string;
    tenant_id: string;
    slug_key: string;
    owner: string;
    name: string;
    default_branch: string;
    vcs_host: string;
    enabled: boolean;
  };
  issues: IssueColumns & { id: string; tenant_id: string; repo_id: string };
  issue_counts: { tenant_id: string; repo_id: string; state: string; n: string };
  tasks: { id: string; tenant_id: string; issue_id: string; task_type: TaskType; status: string; priority: number };
  projections: {
    id: string;
    tenant_id: string;
    repo_id: string;
    issue_number: number;
    status: string;
    error: string | null;
  };
  dead_letters: { id: string; tenant_id: string; issue_id: string; error: string; resolved_at: Date | null };
  issue_edges: {
    id: string;
    tenant_id: string;
    kind: string;
    active: boolean;
    child_repo_id: string;
    child_issue_number: number;
    parent_repo_id: string;
    parent_issue_number: number;
  };
  findings: {
    id: string;
    tenant_id: string;
    issue_id: string;
    title: string;
    blocks_progress: boolean;
    status: string;
  };
  transitions: {
    id: string;
    tenant_id: string;
    issue_id: string;
    from_state: string | null;
    to_state: string;
    at: Date;
    trigger: string;
  };
  runs: { id: string; tenant_id: string; issue_id: string; error_message: string | null };
  pull_requests: {
    tenant_id: string;
    issue_id: string;
    number: number;
    state: string;
    agent_authored: boolean;
    merged: boolean;
  };
}

/** Server that one would write first: stock express, kysely, a query for each thing, rights and rows as ours. */
const options = '-c search_path=pipeline,public';
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 8, options });
const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
const app = express();

const checkToken: RequestHandler = async (request, response, next) => {
  const token = request.headers.authorization?.replace(/^Bearer /, '') ?? '';
  const viewer = await db
    .selectFrom('oauth_tokens as t')
    .innerJoin('oauth_connections as c', 'c.id', 't.connection_id')
    .innerJoin('users as u', 'u.id', 'c.user_id')
    .select(['c.tenant_id', 'c.user_id', 'c.scope', 'u.email'])
    .where('t.hash', '=', createHash('sha256').update(token).digest())
    .where('t.kind', '=', 'AccessToken')
    .where('t.expires_at', '>', new Date())
    .where('c.expires_at', '>', new Date())
    .where('c.revoked_at', 'is', null)
    .where('u.disabled_at', 'is', null)
    .executeTakeFirst();
  const member = viewer && (await membership(viewer.tenant_id, viewer.user_id));
  if (!member) return void response.status(401).json({ error: 'UNAUTHENTICATED' });
  response.locals.viewer = { ...viewer, role: member.role };
  next();
};

async function membership(tenantId: string, userId: string) {
  const member = await db
    .selectFrom('memberships')
    .select('role')
    .where('tenant_id', '=', tenantId)
    .where('user_id', '=', userId)
    .executeTakeFirst();
  if (!member) return undefined;
  const grants = await db
    .selectFrom('repo_grants')
    .select('repo_id')
    .where('tenant_id', '=', tenantId)
    .where('user_id', '=', userId)
    .execute();
  return { role: member.role, grants };
}

const repoOf = (tenantId: string, slug: unknown) =>
  db
    .selectFrom('repos')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('slug_key', '=', String(slug).toLowerCase())
    .where('enabled', '=', true)
    .executeTakeFirst();

app.get('/health', (_request, response) => void response.json({ status: 'healthy' }));
app.use('/api', checkToken);

app.get('/api/cli/bootstrap', async (request, response) => {
  const { tenant_id: tenantId, user_id: userId, email, role, scope } = response.locals.viewer;
  const org = await db.selectFrom('tenants').selectAll().where('id', '=', tenantId).executeTakeFirst();
  const repos = await db
    .selectFrom('repos')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('enabled', '=', true)
    .orderBy('slug_key')
    .execute();
  const shown = repos.map((repo) => ({
    id: Number(repo.id),
    slug: `${repo.owner}/${repo.name}`,
    owner: repo.owner,
    name: repo.name,
    defaultBranch: repo.default_branch,
    vcsHost: repo.vcs_host,
    enabled: repo.enabled,
  }));
  const viewer = { userId, login: email, role, scopes: scope.split(' ') };
  const repo = shown.find(({ slug }) => slug.toLowerCase() === String(request.query.repo).toLowerCase());
  response.json({ org, repos: shown, repo, viewer, serverTimestamp: new Date() });
});

app.get('/api/cli/issues', async (request, response) => {
  const tenantId = response.locals.viewer.tenant_id;
  const repo = await repoOf(tenantId, request.query.repo);
  if (!repo) return void response.status(404).json({ error: 'REPO_NOT_FOUND' });
  const issues = await db
    .selectFrom('issues')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('repo_id', '=', repo.id)
    .where('state', '<>', 'done')
    .orderBy('state_entered_at')
    .orderBy('issue_number')
    .limit(Number(request.query.limit))
    .execute();
  const [tasks, pullRequests, edges] = await Promise.all([
    tasksOf({ tenantId, issueIds: issues.map(({ id }) => id) }),
    pullRequestsOf({ tenantId, issueIds: issues.map(({ id }) => id) }),
    ownEdgesOf({ tenantId, repoId: repo.id, numbers: issues.map((issue) => issue.issue_number) }),
  ]);
  const counted = await db
    .selectFrom('issue_counts')
    .select((eb) => eb.fn.sum('n').as('total'))
    .where('tenant_id', '=', tenantId)
    .where('repo_id', '=', repo.id)
    .where('state', '<>', 'done')
    .executeTakeFirst();
  const items = issues.map((issue) => {
    const task = tasks.find(({ issue_id, task_type }) => issue_id === issue.id && task_type !== 'retrospect');
    const parents = (kind: string) =>
      edges.filter((edge) => edge.kind === kind && edge.child_issue_number === issue.issue_number);
    return listedIssue(issue, {
      task,
      prNumber: pullRequests.find(({ issue_id }) => issue_id === issue.id)?.number ?? null,
      parent: parents('subtask')[0]?.parent_issue_number ?? null,
      dependsOn: parents('depends_on').map((edge) => edge.parent_issue_number),
    });
  });
  response.json({ items, page: { total: Number(counted?.total ?? 0) } });
});

app.get('/api/cli/issues/:number/why', async (request, response) => {
  const tenantId = response.locals.viewer.tenant_id;
  const repo = await repoOf(tenantId, request.query.repo);
  if (!repo) return void response.status(404).json({ error: 'REPO_NOT_FOUND' });
  const number = Number(request.params.number);
  const issue = await db
    .selectFrom('issues')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('repo_id', '=', repo.id)
    .where('issue_number', '=', number)
    .executeTakeFirst();
  if (!issue) return void response.status(404).json({ error: 'ISSUE_NOT_FOUND' });
  const ofIssue = { tenantId, repoId: repo.id, number, issueId: issue.id };
  const [tasks, transitions, projections, deadLetters, waitsFor, subtasks, blockers, failed, pr] = await Promise.all([
    tasksOf({ tenantId, issueIds: [issue.id] }),
    db
      .selectFrom('transitions')
      .selectAll()
      .where('tenant_id', '=', tenantId)
      .where('issue_id', '=', issue.id)
      .orderBy('id', 'desc')
      .limit(20)
      .execute(),
    db
      .selectFrom('projections')
      .select(['id', 'status', 'error'])
      .where('tenant_id', '=', tenantId)
      .where('repo_id', '=', repo.id)
      .where('issue_number', '=', number)
      .where('status', 'in', ['pending', 'failed'])
      .execute(),
    db
      .selectFrom('dead_letters')
      .select(['id', 'error'])
      .where('tenant_id', '=', tenantId)
      .where('issue_id', '=', issue.id)
      .where('resolved_at', 'is', null)
      .execute(),
    edgesOf(ofIssue, 'depends_on', 'child'),
    edgesOf(ofIssue, 'subtask', 'parent'),
    blockersOf(ofIssue),
    db
      .selectFrom('runs')
      .select(['id', 'error_message'])
      .where('tenant_id', '=', tenantId)
      .where('issue_id', '=', issue.id)
      .where('error_message', 'is not', null)
      .orderBy('id', 'desc')
      .limit(1)
      .execute(),
    db
      .selectFrom('pull_requests')
      .select('number')
      .where('tenant_id', '=', tenantId)
      .where('issue_id', '=', issue.id)
      .where('state', '=', 'open')
      .where('agent_authored', '=', true)
      .execute(),
  ]);
  response.json({ issue, tasks, transitions, projections, deadLetters, waitsFor, subtasks, blockers, failed, pr });
});

interface OfIssue {
  tenantId: string;
  repoId: string;
  number: number;
  issueId: string;
}

interface OfIssues {
  tenantId: string;
  issueIds: string[];
}

const tasksOf = ({ tenantId, issueIds }: OfIssues) =>
  db
    .selectFrom('tasks')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('issue_id', 'in', issueIds)
    .orderBy('priority')
    .orderBy('id')
    .execute();

const pullRequestsOf = ({ tenantId, issueIds }: OfIssues) =>
  db
    .selectFrom('pull_requests')
    .select(['issue_id', 'number'])
    .where('tenant_id', '=', tenantId)
    .where('issue_id', 'in', issueIds)
    .where((eb) => eb.or([eb('agent_authored', '=', true), eb('merged', '=', true)]))
    .orderBy((eb) => eb('state', '=', 'open'), 'desc')
    .orderBy('number', 'desc')
    .execute();

const ownEdgesOf = ({ tenantId, repoId, numbers }: { tenantId: string; repoId: string; numbers: number[] }) =>
  db
    .selectFrom('issue_edges')
    .select(['kind', 'child_issue_number', 'parent_issue_number'])
    .where('tenant_id', '=', tenantId)
    .where('kind', 'in', ['subtask', 'depends_on'])
    .where('child_repo_id', '=', repoId)
    .where('child_issue_number', 'in', numbers)
    .where('parent_repo_id', '=', repoId)
    .orderBy('id')
    .execute();

const blockersOf = ({ tenantId, issueId }: OfIssue) =>
  db
    .selectFrom('findings')
    .select(['id', 'title'])
    .where('tenant_id', '=', tenantId)
    .where('issue_id', '=', issueId)
    .where('blocks_progress', '=', true)
    .where('status', 'in', ['open', 'accepted'])
    .execute();

const edgesOf = ({ tenantId, repoId, number }: OfIssue, kind: string, own: 'child' | 'parent') =>
  db
    .selectFrom('issue_edges')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('kind', '=', kind)
    .where('active', '=', true)
    .where(`${own}_repo_id`, '=', repoId)
    .where(`${own}_issue_number`, '=', number)
    .execute();

app.listen(Number(process.env.PORT), '127.0.0.1');
