import express from 'express';
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';

interface Anchor {
  anchor_issues: {
    id: number;
    org_id: number;
    issue_number: number;
    title: string;
    url: string;
    state: string;
    is_blocked: boolean;
    is_paused: boolean;
    labels: string[];
    created_at: Date;
    updated_at: Date;
  };
}

/** What one would write first: express, kysely, fifty rows, res.json. */
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 8 });
const db = new Kysely<Anchor>({ dialect: new PostgresDialect({ pool }) });
const app = express();
app.get('/health', (_request, response) => void response.json({ status: 'healthy' }));
app.get('/issues', async (request, response) => {
  const { org, before } = request.query as { org: string; before: string };
  const rows = await db
    .selectFrom('anchor_issues')
    .selectAll()
    .where('org_id', '=', Number(org))
    .where('updated_at', '<', new Date(before))
    .orderBy('updated_at', 'desc')
    .orderBy('id', 'desc')
    .limit(50)
    .execute();
  response.json({ items: rows });
});
app.listen(Number(process.env.PORT), '127.0.0.1');
