import { createHash } from 'node:crypto';
import type { TaskType } from '@pipeline/domain';
import fastify from 'fastify';
import pg from 'pg';
import { type IssueColumns, listedIssue } from '../listed-issue.ts';
import { BOOTSTRAP, ISSUES, RIGHTS, STORED_ISSUES, WHY } from '../reads-sql.ts';

/** Server that an expert would write by hand: fastify, and one named statement of pg for the data of a request. */
const options = '-c search_path=pipeline,public';
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 8, options });
const app = fastify();

const rowsOf = async (name: string, text: string, values: unknown[]) => (await pool.query({ name, text, values })).rows;
const rowOf = async (name: string, text: string, values: unknown[]) => (await rowsOf(name, text, values))[0];

interface Asked {
  Querystring: { repo: string; limit?: string };
  Params: { number: string };
}

app.addHook('onRequest', async (request, reply) => {
  if (request.url === '/health') return;
  const token = request.headers.authorization?.replace(/^Bearer /, '') ?? '';
  const viewer = await rowOf('rights', RIGHTS, [createHash('sha256').update(token).digest()]);
  if (!viewer) return reply.code(401).send({ error: 'UNAUTHENTICATED' });
  request.viewer = viewer;
});
app.decorateRequest('viewer');

declare module 'fastify' {
  interface FastifyRequest {
    viewer: { tenant_id: string; user_id: string; scope: string; email: string; role: string };
  }
}

const slugOf = ({ repo }: Asked['Querystring']) => repo.toLowerCase();

app.get('/health', async () => ({ status: 'healthy' }));

app.get<Asked>('/api/cli/bootstrap', async ({ viewer, query }) => {
  const { org, repos, now } = await rowOf('bootstrap', BOOTSTRAP, [viewer.tenant_id, slugOf(query)]);
  const shown = { userId: viewer.user_id, login: viewer.email, role: viewer.role, scopes: viewer.scope.split(' ') };
  return { org, repos, viewer: shown, serverTimestamp: now };
});

app.get<Asked>('/api/cli/issues', async ({ viewer, query }) => {
  const rows = await rowsOf('issues', ISSUES, [viewer.tenant_id, slugOf(query), query.limit]);
  return { items: rows.map(itemOf), page: { total: Number(rows[0]?.total ?? 0) } };
});

app.get<Asked>('/stored/api/cli/issues', async ({ viewer, query }, reply) => {
  const page = await rowOf('stored-issues', STORED_ISSUES, [viewer.tenant_id, slugOf(query), query.limit]);
  if (!page) return reply.code(404).send({ error: 'REPO_NOT_FOUND' });
  reply.type('application/json; charset=utf-8');
  return `{"items":[${page.items ?? ''}],"page":{"total":${page.total}}}`;
});

interface IssueRow extends IssueColumns {
  task_type: TaskType | null;
  task_status: string;
  pr_number: number | null;
  parent: number | null;
  depends_on: number[];
}

const itemOf = ({ task_type, task_status: status, pr_number, parent, depends_on, ...issue }: IssueRow) => {
  const task = task_type && { task_type, status };
  return listedIssue(issue, { task, prNumber: pr_number, parent, dependsOn: depends_on });
};

app.get<Asked>('/api/cli/issues/:number/why', async ({ viewer, query, params }, reply) => {
  const issue = await rowOf('why', WHY, [viewer.tenant_id, slugOf(query), params.number]);
  return issue ?? reply.code(404).send({ error: 'ISSUE_NOT_FOUND' });
});

await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' });
