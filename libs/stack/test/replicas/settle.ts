import { sleep } from '@pipeline/runtime';
import { finish, take } from './agent-commands.ts';
import { issuePath, REPO, type Scene } from './scene.ts';

const WITHIN_MS = 120_000;

/** Everybody does their work well, and an operator deals with whatever stands still, until every issue is done. */
export async function settle(scene: Scene): Promise<void> {
  const end = performance.now() + WITHIN_MS;
  for (let round = 0; !(await isQuiet(scene)); round += 1) {
    if (performance.now() > end) throw new Error(`still open: ${JSON.stringify(await scene.issues())}`);
    await scene.host.sandbox.flushWebhooks();
    // What a worker held in its earlier life is given back.
    scene.workers = [await scene.register('w1'), await scene.register('w2')];
    for (const id of scene.workers) await scene.operate('POST', `/api/workers/${id}/drain`, { drain: false });
    for (let held = await take(scene, scene.workers[0] ?? ''); held; held = await take(scene, scene.workers[0] ?? ''))
      await finish(scene, held, { outcome: 0, blocking: false, usd: 1 });
    await sleep(300);
    if (round % 3 === 2) await help(scene, round);
  }
}

/** Nothing of a run is left to be done; scans of the repo are not part of it. */
async function isQuiet({ database, base }: Scene): Promise<boolean> {
  const { db } = database;
  const open = db.selectFrom('issues').where('state', '<>', 'done').where('issue_number', '>', base);
  const tasks = db.selectFrom('tasks').where('task_type', '<>', 'code-map-scan');
  const writes = db.selectFrom('projections').where('status', 'in', ['pending', 'failed']);
  const found = await Promise.all([
    open.select('issue_number').limit(1).execute(),
    tasks.select('id').limit(1).execute(),
    writes.select('id').limit(1).execute(),
  ]);
  return found.flat().length === 0;
}

async function help(scene: Scene, round: number): Promise<void> {
  const open = await scene.database.db
    .selectFrom('projections')
    .select('id')
    .where((eb) => eb.or([eb('status', '=', 'failed'), eb('retry_after', 'is not', null)]))
    .where('status', 'in', ['pending', 'failed'])
    .execute();
  for (const { id } of open) await scene.operate('POST', `/api/projections/${id}/retry`);
  const letters = await scene.database.db
    .selectFrom('dead_letters')
    .select('id')
    .where('resolved_at', 'is', null)
    .execute();
  for (const { id } of letters) await scene.operate('POST', `/api/dead-letters/${id}/retry`);
  for (const issue of await scene.issues()) if (issue.state !== 'done') await helpOne(scene, issue, round);
}

type Issue = Awaited<ReturnType<Scene['issues']>>[number];

async function helpOne(scene: Scene, { number, state, paused, blocked }: Issue, round: number): Promise<void> {
  const path = issuePath(number);
  if (paused) await scene.operate('POST', `${path}/resume`);
  // Whoever meets the same obstacle again has the work done anew.
  if (round % 12 === 11) await scene.person('POST', `${REPO}/issues/${number}/comments`, { body: '/svc:reimplement' });
  else if (blocked) await scene.operate('POST', `${path}/unblock`);
  else if (state === 'needs-clarification' || state === 'human-review-ready')
    await scene.operate('POST', `${path}/transition`, { targetState: 'done', reason: 'enough' });
  else await scene.operate('POST', `${path}/retry`);
}
