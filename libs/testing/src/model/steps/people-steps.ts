import { branchOf, ENQUEUE_LABEL, PAUSED_LABEL } from '@pipeline/domain';
import fc from 'fast-check';
import { openByHand } from '../host/by-hand.ts';
import { PEOPLE, type Person } from '../host/state.ts';
import { nextSha, type World } from '../world/world.ts';
import { onHost, type Step } from './step.ts';
import { NOTHING } from './verdict.ts';

const who: fc.Arbitrary<Person> = fc.constantFrom(...(Object.keys(PEOPLE) as Person[]));

const MOST_ISSUES = 3;

const opens: fc.Arbitrary<Step> = who.map((person) => ({
  name: 'openIssue',
  data: person,
  onIssue: false,
  async run(_model, { host }) {
    const own = [...host.state.issues.values()].filter(({ author }) => author !== null && author in PEOPLE);
    if (own.length >= MOST_ISSUES) return NOTHING;
    // A person with read permission cannot add labels; another person enqueues the issue.
    const labels = PEOPLE[person] === 'write' ? [ENQUEUE_LABEL] : [];
    const { number } = host.state.openIssue({ title: 'Please', body: 'Do it.', labels }, person);
    host.state.label(number, { add: [ENQUEUE_LABEL] }, 'anna');
    return NOTHING;
  },
}));

const labels: fc.Arbitrary<Step> = fc
  .record({ issue: fc.nat(4), label: fc.constantFrom(PAUSED_LABEL, ENQUEUE_LABEL), on: fc.boolean() })
  .map((data) =>
    onHost('label', data, ({ host }, issue) =>
      host.state.label(issue(data.issue), data.on ? { add: [data.label] } : { remove: [data.label] }, 'anna'),
    ),
  );

const COMMENTS = [
  ...['/svc:pause', '/svc:resume', '/svc:retry', '/svc:unblock', '/svc:cancel because', '/svc:reimplement'],
  ...['/approve-plan', '/approve-plan v1 fine', '/reject-plan because', '/edit-plan\nDo it in two steps.'],
  ...['/svc:nonsense', 'Take the first one.', 'Take the first one.'],
];

const comments: fc.Arbitrary<Step> = fc
  .record({ issue: fc.nat(4), person: who, text: fc.constantFrom(...COMMENTS) })
  .map((data) =>
    onHost('comment', data, ({ host }, issue) => host.state.say(issue(data.issue), data.text, data.person)),
  );

const opensAndCloses: fc.Arbitrary<Step> = fc
  .record({ issue: fc.nat(4), open: fc.boolean() })
  .map((data) =>
    onHost('setOpen', data, ({ host }, issue) => host.state.setOpen(issue(data.issue), data.open, 'anna')),
  );

type PullAction = 'merge' | 'close' | 'reopen' | 'push' | 'approve' | 'request changes' | 'open another';

function touchPull({ host, ...world }: World, number: number, action: PullAction, person: Person): void {
  const { state } = host;
  const pull = state.pullsOf(branchOf(number)).at(-1);
  if (action === 'open another') openByHand(state, number, nextSha(world as World));
  if (!pull) return;
  if (action === 'merge') state.endPull(pull, true, 'anna');
  if (action === 'close') state.endPull(pull, false, 'anna');
  if (action === 'reopen') state.reopenPull(pull, 'anna');
  if (action === 'push' && state.branches.has(pull.headRef)) state.push(pull.headRef, nextSha(world as World), 'anna');
  if (action === 'approve') state.review(pull, 'approved', person);
  if (action === 'request changes') state.review(pull, 'changes_requested', person);
}

const ACTIONS: PullAction[] = [
  'merge',
  'close',
  'reopen',
  'push',
  'approve',
  'approve',
  'request changes',
  'open another',
];

const pulls: fc.Arbitrary<Step> = fc
  .record({ issue: fc.nat(4), action: fc.constantFrom(...ACTIONS), person: who })
  .map((data) => onHost('pull', data, (world, issue) => touchPull(world, issue(data.issue), data.action, data.person)));

/** A pull request opened by hand may also be closed or merged. */
const handMade: fc.Arbitrary<Step> = fc.record({ issue: fc.nat(4), merge: fc.boolean() }).map((data) =>
  onHost('endHandMade', data, ({ host }, issue) => {
    for (const pull of host.state.openPullsOf(`by-hand-${issue(data.issue)}`))
      host.state.endPull(pull, data.merge, 'anna');
  }),
);

export const PEOPLE_STEPS: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: opens },
  { weight: 3, arbitrary: labels },
  { weight: 4, arbitrary: comments },
  { weight: 2, arbitrary: opensAndCloses },
  { weight: 4, arbitrary: pulls },
  { weight: 1, arbitrary: handMade },
);
