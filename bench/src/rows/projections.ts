import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { Octokit } from '@octokit/rest';
import { silentLogger, sleep, withDeadline } from '@pipeline/runtime';
import { Notifications } from '@pipeline/store';
import { counter, inLanes, requireEqual } from '../measure/lanes.ts';
import type { Sample } from '../measure/sample.ts';
import { Stopwatch } from '../measure/stopwatch.ts';
import { type OurStore, openOurStore } from '../ours/store.ts';
import type { Bench, Row } from '../runner/model.ts';
import { buildService } from '../services/build.ts';
import { startChild } from '../services/child.ts';
import { type SandboxHost, startSandboxHost } from '../services/sandbox-host.ts';

const ISSUES = 50;
/** Number of issues that the monitor writes to concurrently by default. */
const LANES = 8;
const DRAINED_WITHIN_MS = 120_000;

/**
 * Goal 17: comments from the outbox to a host, drained by the built monitor: each is marked as being sent, sent, and
 * settled with the context of its issue. Over fifty issues of one repo, eight at a time. Its anchor: the same number of comments
 * by bare Octokit, eight calls at a time, from this process to the same host, each followed by one statement that settles
 * its entry. A sandbox host asks for no restraint.
 * Checked: every comment stands on the host once, and nothing is left in the outbox.
 */
export const projectionsRow: Row = {
  goal: 17,
  title: 'projections',
  async open(bench) {
    const host = await startSandboxHost(bench, 'bench/repo-0');
    const peer = new Octokit({ baseUrl: host.url, auth: host.tokens.peer });
    for (let n = 0; n < ISSUES; n += 1) await peer.rest.issues.create({ ...at(host), title: `Issue ${n + 1}` });
    const ours = await openOurStore(bench, 'bench_projections');
    // The host has one repo; the others would be requested again and again.
    await ours.admin.query('update repos set enabled = false where id <> $1', [ours.repoIds[0]]);
    await admitIssues(ours);
    await startMonitor(bench, ours, host);
    const notifications = new Notifications({ directUrl: ours.url, applicationName: 'bench', log: silentLogger });
    notifications.start();
    bench.stack.add('notifications of projections', () => notifications.close());
    const comments = bench.quick ? 200 : 1_000;
    return {
      cases: [
        {
          title: `projections drained, ${LANES} issues at a time`,
          unit: 'comments/s',
          ours: {
            name: 'ours',
            sample: () => counted(peer, host, comments, () => drain(ours, notifications, comments)),
          },
          anchors: [
            {
              contender: {
                name: 'Octokit, one statement each',
                sample: () => counted(peer, host, comments, () => callAndSettle(ours, peer, host, comments)),
              },
              bound: { atLeast: 0.7 },
            },
          ],
        },
      ],
    };
  },
};

const at = ({ slug }: SandboxHost) => ({ owner: slug.split('/')[0] ?? '', repo: slug.split('/')[1] ?? '' });

/** The issues of the host, as the intake would have stored them. */
async function admitIssues({ admin, tenantId, repoIds }: OurStore): Promise<void> {
  await admin.query(
    `insert into issues (tenant_id, repo_id, issue_number, title, body, url, labels, state, host_created_at, host_updated_at)
     select $1, $2, n, 'Issue ' || n, '', '', '{}', 'planning', now(), now() from generate_series(1, $3::int) n`,
    [tenantId, repoIds[0], ISSUES],
  );
}

async function startMonitor(bench: Bench, { url }: OurStore, host: SandboxHost): Promise<void> {
  const child = await startChild({
    args: [await buildService('monitor', bench.workDir)],
    env: {
      DATABASE_URL: url,
      SANDBOX_URL: host.url,
      SANDBOX_TOKEN: host.tokens.ours,
      NODE_ENV: 'production',
      LOG_LEVEL: 'warn',
    },
    logFile: join(bench.workDir, 'monitor-projections.log'),
  });
  bench.stack.add('monitor of projections', () => child.stop());
}

async function counted(
  peer: Octokit,
  host: SandboxHost,
  comments: number,
  write: () => Promise<Sample>,
): Promise<Sample> {
  const count = async () => {
    const issues = Array.from({ length: ISSUES }, (_, n) => peer.rest.issues.get({ ...at(host), issue_number: n + 1 }));
    return (await Promise.all(issues)).reduce((sum, { data }) => sum + data.comments, 0);
  };
  const before = await count();
  const sample = await write();
  requireEqual('comments on the host', (await count()) - before, comments);
  return sample;
}

/** Entries of the outbox, one for each comment. @returns their ids. */
async function addEntries(
  { admin, tenantId, repoIds }: OurStore,
  comments: number,
  status: 'pending' | 'complete',
): Promise<number[]> {
  const { rows } = await admin.query<{ id: number }>(
    `insert into projections (tenant_id, repo_id, issue_id, issue_number, lane, action, max_attempts, client_type,
       idempotency_key, status)
     select $1, $2, i.id, i.issue_number, 'talk', jsonb_build_object('type', 'postComment', 'body', 'Hello',
       'marker', $4 || '-' || n), 10, 'sandbox', $4 || '-' || n, $6
     from generate_series(0, $5::int - 1) n
     join issues i on i.tenant_id = $1 and i.repo_id = $2 and i.issue_number = 1 + n % $3
     returning id::int`,
    [tenantId, repoIds[0], ISSUES, randomUUID(), comments, status],
  );
  return rows.map(({ id }) => id);
}

/** The clock starts when the entries are committed, and ends when none is open. */
async function drain(ours: OurStore, notifications: Notifications, comments: number): Promise<Sample> {
  await addEntries(ours, comments, 'pending');
  const watch = new Stopwatch(ours.pid);
  watch.begin();
  notifications.notify('svc_projections', [ours.tenantId]);
  const drained = async () => {
    while ((await ours.admin.query(ANY_OPEN)).rows.length > 0) await sleep(10);
  };
  await withDeadline(drained(), DRAINED_WITHIN_MS, 'draining the outbox');
  return watch.rate(comments);
}

/** The entries are complete from the start, so that the monitor does not send them. */
async function callAndSettle(ours: OurStore, peer: Octokit, host: SandboxHost, comments: number): Promise<Sample> {
  const ids = await addEntries(ours, comments, 'complete');
  const next = counter(comments);
  const watch = new Stopwatch(ours.pid);
  watch.begin();
  await inLanes(LANES, async () => {
    const n = next();
    if (n === undefined) return false;
    const { data } = await peer.rest.issues.createComment({
      ...at(host),
      issue_number: 1 + (n % ISSUES),
      body: 'Hello',
    });
    await ours.admin.query({ ...SETTLE, values: [ours.tenantId, ids[n], { id: data.id, url: data.html_url }] });
    return true;
  });
  return watch.rate(comments);
}

/** Asked a hundred times a second at the expense of the monitor's side, so it is planned once and ends at the first row. */
const ANY_OPEN = {
  name: 'any-open',
  text: `select 1 from projections where status in ('pending', 'failed') limit 1`,
};

const SETTLE = {
  name: 'settle',
  text: `update projections set status = 'complete', attempts = attempts + 1, result = $3, updated_at = now()
    where tenant_id = $1 and id = $2`,
};
