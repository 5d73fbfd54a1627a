import { branchOf, DEFAULT_WORKFLOW, ENQUEUE_LABEL, STATES, type State, validTargets } from '@pipeline/domain';
import type { Person } from '@pipeline/engine/model';
import { take } from './agent-commands.ts';
import { issuePath, REPO, type Scene } from './scene.ts';

const targetOf = (from: State, data: { target: number; valid?: boolean }): State => {
  const offered = validTargets(DEFAULT_WORKFLOW, from);
  const targets = data.valid === false ? STATES.filter((state) => !offered.includes(state)) : offered;
  return targets[data.target % targets.length] as State;
};

const REPAIRS: Record<string, string> = {
  stale_blocked: 'clear-flag',
  stale_subtask_edge: 'resolve-subtask-edges',
  orphan_dependency_edge: 'delete-orphan-edges',
};

/** What the model's operator steps are over HTTP, by their names. */
export const OPERATOR_COMMANDS = {
  async act(scene: Scene, data: { issue: number; action: string }) {
    const number = await scene.pick(data.issue);
    if (data.action !== 'reimplement') await scene.operate('POST', `${issuePath(number)}/${data.action}`);
    // Operators have no such route: it is said on the host.
    else await scene.person('POST', `${REPO}/issues/${number}/comments`, { body: '/svc:reimplement' });
  },
  async transition(scene: Scene, data: { issue: number; target: number; valid: boolean }) {
    const issues = await scene.issues();
    const issue = issues[data.issue % Math.max(1, issues.length)];
    if (!issue) return;
    const targetState = targetOf(issue.state, data);
    await scene.operate('POST', `${issuePath(issue.number)}/transition`, { targetState, reason: 'because' });
  },
  async moveUnderAWorker(scene: Scene, data: { target: number; retry: boolean }) {
    const held = await take(scene, scene.workers[0] ?? '');
    const number = held?.task.issueNumber ?? 0;
    const issue = (await scene.issues()).find((one) => one.number === number);
    if (!issue) return;
    const targetState = targetOf(issue.state, data);
    await scene.operate('POST', `${issuePath(number)}/transition`, { targetState, reason: 'because' });
    if (data.retry) await scene.operate('POST', `${issuePath(number)}/retry`);
    await take(scene, scene.workers[1] ?? '');
  },
  async deadLetter(scene: Scene, data: { index: number; retry: boolean }) {
    const { body } = await scene.operate('GET', '/api/dead-letters');
    const letter = body.items[data.index % Math.max(1, body.items.length)];
    if (letter) await scene.operate('POST', `/api/dead-letters/${letter.id}/${data.retry ? 'retry' : 'resolve'}`);
  },
  async projection(scene: Scene, data: { back: number; to: string }) {
    const { projections } = (await scene.operate('GET', '/api/projections')).body;
    const entry = projections[data.back % Math.max(1, projections.length)];
    if (entry) await scene.operate('POST', `/api/projections/${entry.id}/${data.to}`);
  },
  async worker(scene: Scene, data: { worker: number; deed: string }) {
    const path = `/api/workers/${scene.workers[data.worker]}`;
    if (data.deed === 'reclaim') await scene.operate('POST', `${path}/reclaim`);
    else await scene.operate('POST', `${path}/drain`, { drain: data.deed === 'drain' });
  },
  async repair(scene: Scene, index: number) {
    const { body } = await scene.operate('GET', '/api/consistency');
    const finding = body.items[index % Math.max(1, body.items.length)];
    const repair = finding && REPAIRS[finding.kind];
    if (repair) await scene.operate('POST', `/api/consistency/${encodeURIComponent(finding.id)}/${repair}`);
  },
};

interface Pull {
  number: number;
  state: string;
  head: { ref: string };
}

const pullOf = async ({ host }: Scene, branch: string): Promise<Pull | undefined> =>
  (await host.api<Pull[]>('GET', `${REPO}/pulls?state=all&per_page=100`)).find(({ head }) => head.ref === branch);

async function touch(scene: Scene, number: number, { deed, person }: { deed: string; person: Person }): Promise<void> {
  const pull = await pullOf(scene, branchOf(number));
  if (deed === 'open another') {
    const head = `by-hand-${number}`;
    await scene.host.push(head);
    await scene.person('POST', `${REPO}/pulls`, { title: 'By hand', body: `Fixes #${number}`, head, base: 'main' });
  }
  if (!pull) return;
  const path = `${REPO}/pulls/${pull.number}`;
  if (deed === 'merge') await scene.person('PUT', `${path}/merge`, {});
  if (deed === 'close') await scene.person('PATCH', path, { state: 'closed' });
  if (deed === 'reopen') await scene.person('PATCH', path, { state: 'open' });
  if (deed === 'push' && pull.state === 'open') await scene.host.push(pull.head.ref);
  const event = { approve: 'APPROVE', 'request changes': 'REQUEST_CHANGES' }[deed];
  if (event) await scene.person('POST', `${path}/reviews`, { event, body: 'I say so' }, person);
}

/** What the model's people do on the host, by their names. */
export const PEOPLE_COMMANDS = {
  async openIssue(scene: Scene, person: Person) {
    const draft = { title: 'Please', body: 'Do it.' };
    const { number } = await scene.host.api<{ number: number }>('POST', `${REPO}/issues`, draft, person);
    await scene.person('POST', `${REPO}/issues/${number}/labels`, { labels: [ENQUEUE_LABEL] });
  },
  async label(scene: Scene, data: { issue: number; label: string; on: boolean }) {
    const path = `${REPO}/issues/${await scene.pick(data.issue)}/labels`;
    if (data.on) await scene.person('POST', path, { labels: [data.label] });
    else await scene.person('DELETE', `${path}/${encodeURIComponent(data.label)}`);
  },
  async comment(scene: Scene, data: { issue: number; person: Person; text: string }) {
    const path = `${REPO}/issues/${await scene.pick(data.issue)}/comments`;
    await scene.person('POST', path, { body: data.text }, data.person);
  },
  async setOpen(scene: Scene, data: { issue: number; open: boolean }) {
    const path = `${REPO}/issues/${await scene.pick(data.issue)}`;
    await scene.person('PATCH', path, { state: data.open ? 'open' : 'closed' });
  },
  async pull(scene: Scene, data: { issue: number; deed: string; person: Person }) {
    await touch(scene, await scene.pick(data.issue), data);
  },
  async endHandMade(scene: Scene, data: { issue: number; merge: boolean }) {
    const pull = await pullOf(scene, `by-hand-${await scene.pick(data.issue)}`);
    if (!pull) return;
    const path = `${REPO}/pulls/${pull.number}`;
    if (data.merge) await scene.person('PUT', `${path}/merge`, {});
    else await scene.person('PATCH', path, { state: 'closed' });
  },
};
